/* What the initrd must hold: the sum of recipes/images/ for what the layout uses, and the workload's own. */
#include <string.h>

#include "base/file.h"
#include "plain.h"
#include "plan_parts.h"

enum { PACKAGES, PROGRAMS, FILES, MODULES, MODULES_WANTED, LISTS };
static const char *const lists[LISTS] = { [PACKAGES] = "packages",
					  [PROGRAMS] = "programs",
					  [FILES] = "files",
					  [MODULES] = "modules",
					  [MODULES_WANTED] = "modules_wanted" };

struct image {
	struct be_strv parts; /* names of image documents */
	struct be_strv lists[LISTS];
};

static void image_free(struct image *image)
{
	be_strv_free(&image->parts);
	for (size_t i = 0; i < LISTS; i++)
		be_strv_free(&image->lists[i]);
}

/* Names of Debian's releases; LKP's own `suite:` is the name of a test suite. */
static bool is_release(const char *suite)
{
	static const char *const names[] = { "buster", "bullseye", "bookworm", "trixie",   "forky",    "duke",
					     "sid",    "stable",   "testing",  "unstable", "oldstable" };
	for (size_t i = 0; i < BE_ARRAY_LEN(names); i++) {
		size_t n = strlen(names[i]);
		if (strncmp(suite, names[i], n) == 0 && (!suite[n] || suite[n] == '-'))
			return true;
	}
	return false;
}

static void choose_parts(const struct be_planner *p, struct image *image)
{
	const struct be_node *layout = be_get(p->plan, "layout"), *devices = be_get(layout, "devices");
	const struct be_node *fs = be_get(layout, "filesystems"), *prefix = be_get_path(p->plan, "workload.prefix");
	static const char *const always[] = { "base", "delivery", "network", "watchdog" };
	for (size_t i = 0; i < BE_ARRAY_LEN(always); i++)
		be_strv_add(&image->parts, always[i]);
	if (be_plan_delivers_to_volume(p))
		be_strv_add(&image->parts, "volume");
	for (size_t i = 0; i < devices->n; i++) {
		const char *kind = be_get_str(devices->items[i], "kind", "");
		if (strcmp(kind, "pmem") == 0) {
			/* A twin makes NVDIMMs where the machine cuts them out of memory. */
			be_strv_add(&image->parts, "pmem-memmap");
			be_strv_add(&image->parts, "pmem-nvdimm");
		} else {
			be_strv_add(&image->parts, kind);
		}
		if (be_starts(be_get_str(devices->items[i], "path", ""), "/dev/vd"))
			be_strv_add(&image->parts, "virtio");
	}
	if (be_get(layout, "arrays")->n)
		be_strv_add(&image->parts, "md");
	if (be_get(layout, "swaps"))
		be_strv_add(&image->parts, "swap");
	for (size_t i = 0; i < fs->n; i++)
		be_strv_add(&image->parts, be_get_str(fs->items[i], "kind", ""));
	for (size_t i = 0; prefix && i < prefix->n; i++)
		if (strcmp(prefix->items[i]->text, "numactl") == 0)
			be_strv_add(&image->parts, "numactl");
	if (be_plan_network_type(p->plan))
		be_strv_add(&image->parts, be_plan_network_type(p->plan));
	be_strv_sort_unique(&image->parts);
}

/* A machine of QEMU's, not the twin of one: it has no other controllers than QEMU makes. */
static bool is_emulated(const struct be_planner *p)
{
	return be_starts(be_get_str(p->host, "model", ""), "qemu-");
}

static int add_part(struct be_planner *p, struct image *image, const char *name, struct be_error *err)
{
	be_autofree char *path = be_strf("%s/images/%s.yaml", p->req->data_dir, name);
	if (!be_exists(path)) {
		be_deviation(p->deviations, "image",
			     "nothing is known of what %s needs in the image: its tools may be missing", name);
		return 0;
	}
	be_autonode struct be_node *doc = be_node_load_file(path, err);
	if (!doc)
		return -1;
	for (size_t i = 0; i < LISTS; i++) {
		bool emulated = i == MODULES_WANTED && be_get(doc, "emulated") && is_emulated(p);
		be_get_strv(doc, emulated ? "emulated" : lists[i], &image->lists[i]);
	}
	return 0;
}

static bool is_sane(const char *list, const char *name)
{
	if (strcmp(list, "files") == 0)
		return *name == '/' && be_is_line(name) && !strstr(name, "/../");
	if (strcmp(list, "modules_wanted") == 0 && be_starts(name, "kernel/")) /* all of a folder */
		return be_ends(name, "/") && be_is_name(name, "+-._/") && !strstr(name, "..");
	return be_is_name(name, "+-._:");
}

/* A name of the job's own list is a name, not an option or a path; the position is the job's. */
static int check_names(const struct be_planner *p, const char *list, const struct be_strv *names, size_t from,
		       struct be_error *err)
{
	const struct be_node *own = be_get(be_get_path(p->plan, "workload.parameters"), list);
	for (size_t i = from; i < names->n; i++) {
		const char *name = names->v[i];
		if (is_sane(list, name))
			continue;
		const char *where = "";
		for (size_t k = 0; own && k < own->n; k++)
			if (own->items[k]->kind == BE_SCALAR && strcmp(own->items[k]->text, name) == 0)
				where = be_where(own->items[k]);
		return be_fail_usage(err, "%s%s%s: '%.60s' is no %s", where, *where ? ": " : "", list, name,
				     strcmp(list, "files") == 0 ? "absolute path" : "plain name");
	}
	return 0;
}

static int add_workload(struct be_planner *p, struct image *image, struct be_error *err)
{
	const struct be_node *workload = be_get(p->plan, "workload");
	for (size_t i = 0; i < LISTS; i++) {
		const char *key = i == PROGRAMS ? "needs" : lists[i];
		size_t before = image->lists[i].n;
		if (be_workload_list(workload, key, p->rules.date, &image->lists[i], err) ||
		    check_names(p, lists[i], &image->lists[i], before, err))
			return -1;
	}
	return 0;
}

static int make(struct be_planner *p, struct image *image, struct be_node *out, struct be_error *err)
{
	const char *suite = be_plan_text_of(p->job, "suite");
	choose_parts(p, image);
	for (size_t i = 0; i < image->parts.n; i++)
		if (add_part(p, image, image->parts.v[i], err))
			return -1;
	if (add_workload(p, image, err))
		return -1;
	if (suite && is_release(suite))
		be_set_str(out, "suite", suite);
	const struct be_node *from = be_get(p->job, "all_modules") ? p->job : p->host,
			     *all = be_get(from, "all_modules");
	bool every = be_get_bool(from, "all_modules", false);
	if (all && every != be_get_bool(from, "all_modules", true))
		return be_fail_usage(err, "%s%sall_modules: is neither true nor false", be_where(all),
				     *be_where(all) ? ": " : "");
	if (every)
		be_strv_add(&image->lists[MODULES_WANTED], "kernel/");
	for (size_t i = 0; i < LISTS; i++) {
		be_strv_sort_unique(&image->lists[i]);
		be_set(out, lists[i], be_node_strv(&image->lists[i]));
	}
	const struct be_node *given = be_get_path(p->plan, "workload.definition.given");
	if (given)
		be_set(out, "given", be_node_clone(given));
	return 0;
}

int be_plan_image(struct be_planner *p, struct be_error *err)
{
	struct image image = { 0 };
	struct be_node *out = be_node_map();
	be_set(p->plan, "image", out);
	int rc = make(p, &image, out, err);
	image_free(&image);
	return rc;
}
