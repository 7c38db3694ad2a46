/* Which workload a job runs, with which of its keys, and the steps that they come to on this host. */
#include <inttypes.h>
#include <string.h>

#include "base/file.h"
#include "plan_parts.h"
#include "units.h"

/* All definitions, a map name -> definition. They are few and small. */
static struct be_node *load_definitions(const char *data_dir, struct be_error *err)
{
	const struct be_root root = { .prefix = (char *)"" };
	be_autofree char *dir = be_strf("%s/workloads", data_dir);
	be_autostrv struct be_strv names = { 0 };
	be_autonode struct be_node *all = be_node_map();
	if (be_root_list(&root, dir, &names)) {
		be_fail(err, "%s: the workload definitions cannot be read", dir);
		return NULL;
	}
	for (size_t i = 0; i < names.n; i++) {
		if (!be_ends(names.v[i], ".yaml"))
			continue;
		be_autofree char *path = be_strf("%s/%s", dir, names.v[i]);
		struct be_node *doc = be_node_load_file(path, err);
		if (!doc)
			return NULL;
		be_set(all, be_get_str(doc, "workload", names.v[i]), doc);
	}
	return be_steal(&all);
}

static bool names_program(const struct be_node *definition, const char *key)
{
	const struct be_node *programs = be_get(definition, "programs");
	for (size_t i = 0; programs && i < programs->n; i++)
		if (be_streq(programs->items[i]->text, key))
			return true;
	return false;
}

static const struct be_node *first_named(const struct be_node *map, const struct be_node *all)
{
	for (size_t i = 0; i < map->n; i++)
		for (size_t k = 0; k < all->n; k++)
			if (names_program(all->items[k], map->keys[i]))
				return all->items[k];
	return NULL;
}

/* Programs may stand below a role: `if role client: {netperf: ...}`. */
static bool is_role(const struct be_node *job, size_t i)
{
	return be_starts(job->keys[i], "if ") && job->items[i]->kind == BE_MAP;
}

/* The testcase's own definition, else the first that a key of the job belongs to, else the suite's. */
static const struct be_node *choose(const struct be_planner *p, const struct be_node *all)
{
	const char *testcase = be_plan_text_of(p->job, "testcase"), *suite = be_plan_text_of(p->job, "suite");
	if (testcase && be_get(all, testcase))
		return be_get(all, testcase);
	const struct be_node *found = first_named(p->job, all);
	for (size_t i = 0; !found && i < p->job->n; i++)
		if (is_role(p->job, i))
			found = first_named(p->job->items[i], all);
	return !found && suite ? be_get(all, suite) : found;
}

static const struct be_node *below_program(const struct be_node *map, const struct be_node *definition, const char *key)
{
	const struct be_node *programs = be_get(definition, "programs");
	for (size_t i = 0; programs && i < programs->n; i++) {
		const struct be_node *value = be_get(be_get(map, programs->items[i]->text), key);
		if (value && value->kind != BE_NULL)
			return value;
	}
	return NULL;
}

static const struct be_node *nested(const struct be_planner *p, const struct be_node *definition, const char *key)
{
	const struct be_node *value = below_program(p->job, definition, key);
	for (size_t i = 0; !value && i < p->job->n; i++)
		if (is_role(p->job, i))
			value = below_program(p->job->items[i], definition, key);
	return value;
}

static const struct be_node *given(const struct be_planner *p, const struct be_node *definition, const char *key,
				   bool only_nested)
{
	const struct be_node *value = nested(p, definition, key);
	if (value || only_nested)
		return value;
	value = be_get(p->job, key);
	if (value && value->kind == BE_MAP) /* fs: {fs: ext4, ...} */
		value = be_get(value, key);
	return value && value->kind != BE_NULL ? value : NULL;
}

static struct be_node *parameters(const struct be_planner *p, const struct be_node *definition)
{
	const struct be_node *declared = be_get(definition, "parameters");
	struct be_node *out = be_node_map();
	for (size_t i = 0; declared && i < declared->n; i++) {
		bool only_nested = be_get_bool(declared->items[i], "nested", false);
		const struct be_node *value = given(p, definition, declared->keys[i], only_nested);
		if (value)
			be_set(out, declared->keys[i], be_node_clone(value));
	}
	return out;
}

/* What the host file says of a plain device; 0: not known, or an array, whose level decides. */
static int64_t size_of(const struct be_planner *p, const char *device)
{
	const struct be_node *devices = be_get_path(p->plan, "layout.devices");
	for (size_t i = 0; device && i < devices->n; i++) {
		const struct be_node *d = devices->items[i];
		int64_t partition;
		be_autofree char *id = be_layout_disk_id(be_get_str(d, "path", ""), &partition);
		const struct be_node *disk = be_layout_disk(be_get_path(p->plan, "machine.disks"), id);
		int64_t parts = be_get_int(disk, "partitions", 0);
		if (strcmp(be_get_str(d, "path", ""), device) == 0)
			return be_get_int(d, "size", 0) / (parts > 0 ? parts : 1);
	}
	return 0;
}

static void add_storage(const struct be_planner *p, struct be_node *storages, const char *mount, const char *device)
{
	struct be_node *entry = be_node_map();
	int64_t size = size_of(p, device);
	be_set_str(entry, "mount", mount);
	be_set_str(entry, "device", device);
	if (size)
		be_set_int(entry, "size", size);
	be_add(storages, entry);
}

static bool is_swap(const struct be_node *layout, const char *path)
{
	const struct be_node *swaps = be_get(layout, "swaps");
	for (size_t i = 0; swaps && i < swaps->n; i++)
		if (be_streq(be_get_str(swaps->items[i], "device", NULL), path))
			return true;
	return false;
}

/* Mounted file systems, else the devices themselves, else the initrd where the job chose it. */
static struct be_node *storages(const struct be_planner *p)
{
	const struct be_node *layout = be_get(p->plan, "layout"), *fs = be_get(layout, "filesystems");
	const struct be_node *arrays = be_get(layout, "arrays"), *devices = be_get(layout, "devices");
	struct be_node *out = be_node_seq();
	for (size_t i = 0; i < fs->n; i++) {
		const struct be_node *members = be_get(fs->items[i], "devices");
		add_storage(p, out, be_get_str(fs->items[i], "mount", NULL), members ? members->items[0]->text : NULL);
	}
	if (fs->n)
		return out;
	for (size_t i = 0; i < arrays->n; i++) {
		be_autofree char *path = be_strf("/dev/%s", be_get_str(arrays->items[i], "name", ""));
		if (!is_swap(layout, path))
			add_storage(p, out, NULL, path);
	}
	for (size_t i = 0; !arrays->n && i < devices->n; i++) {
		const char *path = be_get_str(devices->items[i], "path", NULL);
		if (!is_swap(layout, path))
			add_storage(p, out, NULL, path);
	}
	if (!out->n && be_streq(be_plan_text_of(p->job, "testfile"), "initrd"))
		add_storage(p, out, "/", NULL);
	return out;
}

static int step_limit(struct be_planner *p, struct be_node *workload, struct be_error *err)
{
	const struct be_node *node = be_get(p->job, "timeout");
	int64_t seconds;
	if (!node || node->kind == BE_NULL)
		return 0;
	if (node->kind != BE_SCALAR || !be_parse_time(node->text, &seconds) || seconds == 0)
		return be_fail_usage(err, "%s: timeout: not a time such as 600s or 2h", be_where(node));
	be_set_int(workload, "timeout", seconds);
	return 0;
}

/* What the machine's own size makes of a percentage is refused where LKP dies; the guest only states it. */
static int check_values(const struct be_planner *p, const struct be_node *values, struct be_error *err)
{
	for (size_t i = 0; i < values->n; i++) {
		const struct be_node *v = values->items[i];
		int64_t rest = be_get_int(v, "remainder", 0);
		if (!rest)
			continue;
		be_fail_usage(err,
			      "%s: %s of %" PRId64 " CPUs cannot be spread evenly over the storages: %" PRId64
			      " too many",
			      values->keys[i], be_get_str(v, "asked", ""), be_get_int(v, "base", 0), rest);
		return be_hint(err, "set a number, for example --set %s=%" PRId64 " on host %s", values->keys[i],
			       be_get_int(v, "value", 0), p->req->host_name);
	}
	return 0;
}

static int render(struct be_planner *p, struct be_node *workload, struct be_error *err)
{
	struct be_node *steps, *values;
	be_autostrv struct be_strv notes = { 0 };
	be_autonode struct be_node *deviations = be_node_seq();
	const char *testdir = be_get_str(be_get(p->plan, "layout"), "testdir", "/");
	if (be_workload_render(workload, testdir, &p->size, p->rules.date, &steps, &values, &notes, err))
		return -1;
	be_set(workload, "values", values);
	be_set(workload, "steps", steps);
	if (check_values(p, values, err))
		return -1;
	for (size_t i = 0; i < notes.n; i++)
		be_deviation(p->deviations, "workload", "%s", notes.v[i]);
	be_autonode struct be_node *metrics = be_node_seq();
	if (be_workload_entries(workload, "deviations", testdir, &p->size, p->rules.date, deviations, err) ||
	    be_workload_entries(workload, "metrics", testdir, &p->size, p->rules.date, metrics, err))
		return -1;
	for (size_t i = 0; i < deviations->n; i++)
		be_add(p->deviations, be_node_clone(deviations->items[i]));
	be_set(be_get(workload, "definition"), "metrics", be_steal(&metrics));
	return 0;
}

/* A user's own metrics (mytest): name -> regular expression. */
static void own_metrics(struct be_node *definition, const struct be_node *metrics)
{
	if (!metrics || metrics->kind != BE_MAP)
		return;
	struct be_node *list = be_node_seq();
	for (size_t i = 0; i < metrics->n; i++) {
		if (metrics->items[i]->kind != BE_SCALAR)
			continue;
		struct be_node *entry = be_node_map();
		be_set(entry, "name", be_node_strf("mytest.%s", metrics->keys[i]));
		be_set_str(entry, "step", "mytest");
		be_set_str(entry, "from", "both");
		be_set_str(entry, "match", metrics->items[i]->text);
		be_set_str(entry, "fold", "mean");
		be_add(list, entry);
	}
	be_set(definition, "metrics", list);
}

static bool drop_caches(const struct be_planner *p, const struct be_node *definition)
{
	for (size_t i = 0; i < p->job->n; i++)
		if (strcmp(p->job->keys[i], "drop_caches") == 0)
			return true;
	return be_get_bool(definition, "drop_caches", false);
}

static void unknown_workload(struct be_planner *p, const struct be_node *all, struct be_node *workload)
{
	const char *testcase = be_get_str(p->plan, "testcase", "unknown"), *near = NULL;
	for (size_t i = 0; i < all->n; i++)
		if (be_distance(testcase, all->keys[i]) <= (strlen(testcase) > 5 ? 2 : 1))
			near = all->keys[i];
	be_set_str(workload, "name", testcase);
	be_set(workload, "definition", be_node_map());
	be_set(workload, "steps", be_node_seq());
	be_plan_warn(p, be_get(p->job, "testcase"), "no workload '%s' is known%s%s: nothing will run", testcase,
		     near ? "; did you mean " : "", near ? near : "");
	be_deviation(p->deviations, "workload", "no definition of the workload %s: the machine is set up, nothing runs",
		     testcase);
}

int be_plan_workload(struct be_planner *p, struct be_error *err)
{
	be_autonode struct be_node *all = load_definitions(p->req->data_dir, err);
	if (!all)
		return -1;
	const struct be_node *definition = choose(p, all);
	struct be_node *workload = be_node_map();
	be_autostrv struct be_strv prefix = { 0 };
	be_set(p->plan, "workload", workload);
	if (!definition) {
		unknown_workload(p, all, workload);
		return 0;
	}
	be_set_str(workload, "name", be_get_str(definition, "workload", ""));
	be_set(workload, "definition", be_node_clone(definition));
	be_set(workload, "parameters", parameters(p, definition));
	be_set(workload, "values", be_node_map());
	struct be_node *places = storages(p);
	be_set(workload, "storages", places);
	if (be_plan_network(p, places, err))
		return -1;
	be_plan_network_steps(places, be_get(workload, "definition"));
	own_metrics(be_get(workload, "definition"), be_get_path(workload, "parameters.metrics"));
	if (be_plan_prefix(p, &prefix, err))
		return -1;
	if (prefix.n)
		be_set(workload, "prefix", be_node_strv(&prefix));
	if (step_limit(p, workload, err) || render(p, workload, err))
		return -1;
	be_set(workload, "drop_caches", be_node_bool(drop_caches(p, definition)));
	return 0;
}
