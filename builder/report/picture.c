/*
 * A tree is a list of maps {name, what, mount, below: [...]}. What lies on several devices (an array, a file
 * system) stands below each, and what lies on it in turn only below the first.
 */
#include "builder/report/picture.h"

#include <libsmartcols.h>
#include <string.h>

#include "builder/report/manifest.h"
#include "builder/report/manifest_text.h"
#include "layout_parts.h"
#include "units.h"

#define PLAN_COLUMNS 96
#define NAME_WIDTH 36 /* of a disk's name; its end, which tells disks of a model apart, is kept */
#define NAME_HEAD 20
#define WHAT_WIDTH 30

static struct be_node *line(const char *name, int64_t size, const char *what, const char *mount)
{
	char text[32];
	struct be_node *node = be_node_map();
	size_t n = strlen(name);
	be_autofree char *cut =
		n > NAME_WIDTH ? be_strf("%.*s...%s", NAME_HEAD, name, name + n - (NAME_WIDTH - NAME_HEAD - 3)) : NULL;
	be_set_str(node, "name", cut ? cut : name);
	be_autofree char *full =
		be_strf("%s%s%s", size > 0 ? be_size_text(size, text) : "", size > 0 && *what ? " " : "", what);
	be_text_shorten(full, WHAT_WIDTH);
	be_set_str(node, "what", full);
	be_set_str(node, "mount", mount ? mount : "");
	be_set(node, "below", be_node_seq());
	return node;
}

static struct be_node *add_below(struct be_node *parent, struct be_node *node)
{
	be_add(be_get(parent, "below"), node);
	return node;
}

static void add_testdir(struct be_node *parent, bool is_testdir)
{
	if (is_testdir)
		add_below(parent, line("test directory", 0, "", NULL));
}

/* The line of a list with this name, or NULL. */
static struct be_node *find(const struct be_node *list, const char *name)
{
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(be_get_str(list->items[i], "name", ""), name) == 0)
			return list->items[i];
	return NULL;
}

/* What the lines of devices and arrays are known by while the tree grows: a path or a kernel name. */
struct places {
	struct be_strv keys;
	struct be_node **nodes;
};

static void places_free(struct places *places)
{
	be_strv_free(&places->keys);
	free(places->nodes);
}

static void place(struct places *places, const char *key, struct be_node *node)
{
	places->nodes = be_realloc(places->nodes, places->keys.n + 1, sizeof(struct be_node *));
	places->nodes[places->keys.n] = node;
	be_strv_add(&places->keys, key);
}

static struct be_node *place_of(const struct places *places, const char *key)
{
	for (size_t i = 0; key && i < places->keys.n; i++)
		if (strcmp(places->keys.v[i], key) == 0)
			return places->nodes[i];
	return NULL;
}

/* Puts a line like @node below each of @keys; the first is the one that more can be added to. Takes @node over. */
static struct be_node *add_on_all(struct be_node *tree, const struct places *places, const struct be_strv *keys,
				  struct be_node *node)
{
	struct be_node *first = NULL;
	for (size_t i = 0; i < keys->n; i++) {
		struct be_node *on = place_of(places, keys->v[i]);
		if (on && !first)
			first = add_below(on, node);
		else if (on)
			add_below(on, line(be_get_str(node, "name", ""), 0, "", ""));
	}
	if (!first)
		be_add(tree, node);
	return first ? first : node;
}

/* A partition hangs below its disk, which has one line whatever the number of its partitions. */
static void add_device(struct be_node *tree, struct places *places, const char *key, struct be_node *disk,
		       struct be_node *partition)
{
	struct be_node *known = find(tree, be_get_str(disk, "name", ""));
	if (known)
		be_node_free(disk);
	else
		be_add(tree, known = disk);
	place(places, key, partition ? add_below(known, partition) : known);
}

static void plan_device(struct be_node *tree, struct places *places, const struct be_node *plan,
			const struct be_node *d)
{
	const char *path = be_get_str(d, "path", ""), *name = be_get_str(d, "name", "");
	int64_t partition;
	be_autofree char *id = be_layout_disk_id(path, &partition);
	const struct be_node *known = be_layout_disk(be_get_path(plan, "machine.disks"), id);
	const char *cache = be_get_str(known, "write_cache", NULL);
	be_autofree char *kind = be_strf("%s%s%s", be_get_str(d, "kind", ""), cache ? ", " : "", cache ? cache : "");
	be_autofree char *what = be_strf("%s: %s", name, kind), *part = be_strf("part%lld", (long long)partition);
	struct be_node *disk =
		line(id, be_get_int(known, "size", be_get_int(d, "size", 0)), partition ? kind : what, NULL);
	add_device(tree, places, path, disk, partition ? line(part, 0, name, NULL) : NULL);
}

static void plan_arrays(struct be_node *tree, struct places *places, const struct be_node *arrays)
{
	for (size_t i = 0; arrays && i < arrays->n; i++) {
		const struct be_node *a = arrays->items[i];
		be_autostrv struct be_strv members = { 0 };
		be_get_strv(a, "members", &members);
		const char *chunk = be_get_str(a, "chunk_kib", NULL), *name = be_get_str(a, "name", "?");
		be_autofree char *what = be_strf("%s%s%s%s", be_get_str(a, "level", ""), chunk ? ", chunk " : "",
						 chunk ? chunk : "", chunk ? " KiB" : "");
		be_autofree char *path = be_strf("/dev/%s", name);
		place(places, path, add_on_all(tree, places, &members, line(name, 0, what, NULL)));
	}
}

static bool is_testdir(const struct be_node *layout, const char *mount)
{
	return mount && be_streq(mount, be_get_str(layout, "testdir", NULL));
}

static void plan_filesystems(struct be_node *tree, struct places *places, const struct be_node *plan)
{
	const struct be_node *layout = be_get(plan, "layout"), *list = be_get(layout, "filesystems");
	bool on_disk = false;
	for (size_t i = 0; list && i < list->n; i++) {
		const struct be_node *fs = list->items[i];
		const char *mount = be_get_str(fs, "mount", NULL);
		be_autostrv struct be_strv devices = { 0 };
		be_get_strv(fs, "devices", &devices);
		on_disk = on_disk || is_testdir(layout, mount);
		struct be_node *node =
			add_on_all(tree, places, &devices, line(be_get_str(fs, "kind", "?"), 0, "", mount));
		add_testdir(node, is_testdir(layout, mount));
		if (mount)
			place(places, mount, node);
	}
	if (!on_disk) {
		struct be_node *initrd = line("initrd", 0, be_get_str(be_get(plan, "boot"), "rootfs_type", ""), "/");
		be_add(tree, initrd);
		add_testdir(initrd, true);
	}
}

/* Swap on a device, or a file in the file system that is mounted where its path begins. */
static void swaps(struct be_node *tree, struct places *places, const struct be_node *list)
{
	for (size_t i = 0; list && i < list->n; i++) {
		const char *device = be_get_str(list->items[i], "device", NULL);
		const char *file = be_get_str(list->items[i], "file", "");
		be_autofree char *folder = be_strndup(file, (size_t)(be_layout_base(file) - file));
		size_t n = strlen(folder);
		if (n > 1)
			folder[n - 1] = '\0';
		be_autostrv struct be_strv on = { 0 };
		be_strv_add(&on, device ? device : folder);
		add_on_all(tree, places, &on,
			   line(device ? "swap" : be_layout_base(file), be_get_int(list->items[i], "size", 0),
				device ? "" : "swap", NULL));
	}
}

/* Arrays and disks that a run had, by their kernel names. */
static void run_arrays(struct be_node *tree, struct places *places, const struct be_node *arrays)
{
	for (size_t i = 0; arrays && i < arrays->n; i++) {
		const struct be_node *a = arrays->items[i], *list = be_get(a, "members");
		const char *name = be_get_str(a, "kernel", be_get_str(a, "name", "?"));
		int64_t chunk = be_get_int(a, "chunk_size", 0);
		char text[32];
		be_autofree char *what = be_strf("%s%s%s", be_get_str(a, "level", ""), chunk ? ", chunk " : "",
						 chunk ? be_size_text(chunk, text) : "");
		be_autostrv struct be_strv members = { 0 };
		for (size_t j = 0; list && j < list->n; j++)
			be_strv_add(&members, be_get_str(list->items[j], "device", ""));
		place(places, name,
		      add_on_all(tree, places, &members, line(name, be_get_int(a, "size", 0), what, NULL)));
	}
}

static void run_device(struct be_node *tree, struct places *places, const char *name, const struct be_node *d)
{
	const char *kernel = be_get_str(d, "kernel", "?"), *whole = be_get_str(d, "disk", kernel);
	const char *model = be_get_str(d, "model", NULL);
	be_autofree char *kind = be_strf("%s%s%s", be_get_str(d, "kind", ""), model ? " " : "", model ? model : "");
	be_autofree char *what = be_strf("%s: %s", name, kind);
	bool is_whole = strcmp(kernel, whole) == 0;
	struct be_node *disk = line(whole, be_get_int(d, "disk_size", 0), is_whole ? what : kind, NULL);
	add_device(tree, places, kernel, disk, is_whole ? NULL : line(kernel, be_get_int(d, "size", 0), name, NULL));
}

static void run_filesystems(struct be_node *tree, struct places *places, const struct be_node *list,
			    const char *testdir)
{
	for (size_t i = 0; list && i < list->n; i++) {
		const struct be_node *fs = list->items[i];
		const char *source = be_get_str(fs, "source", ""), *mount = be_get_str(fs, "mount", NULL);
		be_autostrv struct be_strv on = { 0 };
		be_strv_add(&on, be_layout_base(source));
		struct be_node *node = add_on_all(
			tree, places, &on, line(be_get_str(fs, "kind", "?"), be_get_int(fs, "size", 0), "", mount));
		add_testdir(node, mount && be_streq(mount, testdir));
	}
}

static size_t lines_of(const struct be_node *list)
{
	size_t n = list->n;
	for (size_t i = 0; i < list->n; i++)
		n += lines_of(be_get(list->items[i], "below"));
	return n;
}

static void fill(struct libscols_table *table, struct libscols_line *parent, const struct be_node *list, bool public)
{
	static const char *const keys[] = { "name", "what", "mount" };
	for (size_t i = 0; i < list->n; i++) {
		struct libscols_line *ln = scols_table_new_line(table, parent);
		for (size_t k = 0; ln && k < BE_ARRAY_LEN(keys); k++) {
			const char *text = be_get_str(list->items[i], keys[k], "");
			be_autofree char *clean = public ? be_text_public(text) : NULL;
			scols_line_set_data(ln, k, public ? clean : text);
		}
		fill(table, ln, be_get(list->items[i], "below"), public);
	}
}

/* The manifest's form is for mail: narrow, and without serial numbers. */
static int draw(const struct be_node *tree, bool public, struct be_buf *out, struct be_error *err)
{
	static const struct {
		const char *name;
		int flags;
	} columns[] = { { "disk", SCOLS_FL_TREE }, { "what", 0 }, { "mounted on", SCOLS_FL_TRUNC } };
	struct libscols_table *table = scols_new_table();
	char *text = NULL;
	if (!table)
		return be_fail(err, "libsmartcols has no memory for a table");
	scols_table_enable_ascii(table, 1);
	scols_table_set_termforce(table, SCOLS_TERMFORCE_ALWAYS);
	scols_table_set_termwidth(table, public ? BE_MANIFEST_COLUMNS : PLAN_COLUMNS);
	for (size_t i = 0; i < BE_ARRAY_LEN(columns); i++)
		scols_table_new_column(table, columns[i].name, 0, columns[i].flags);
	fill(table, NULL, tree, public);
	int rc = scols_print_table_to_string(table, &text);
	be_autostrv struct be_strv lines = { 0 };
	if (rc == 0)
		be_strv_split(&lines, text, "\n");
	for (size_t i = 0; i < lines.n; i++) {
		size_t n = strlen(lines.v[i]);
		while (n && lines.v[i][n - 1] == ' ')
			n--;
		be_buf_addf(out, "%.*s\n", (int)n, lines.v[i]);
	}
	free(text);
	scols_unref_table(table);
	return rc == 0 ? 0 : be_fail(err, "libsmartcols cannot print the layout");
}

int be_picture_plan(const struct be_node *plan, struct be_buf *out, struct be_error *err)
{
	const struct be_node *layout = be_get(plan, "layout"), *devices = be_get(layout, "devices");
	be_autonode struct be_node *tree = be_node_seq();
	be_cleanup(places_free) struct places places = { 0 };
	for (size_t i = 0; devices && i < devices->n; i++)
		plan_device(tree, &places, plan, devices->items[i]);
	plan_arrays(tree, &places, be_get(layout, "arrays"));
	plan_filesystems(tree, &places, plan);
	swaps(tree, &places, be_get(layout, "swaps"));
	return draw(tree, false, out, err);
}

int be_picture_manifest(const struct be_node *manifest, size_t most, struct be_buf *out, struct be_error *err)
{
	const struct be_node *layout = be_get(manifest, "layout"), *devices = be_get(layout, "devices");
	const char *testdir = be_get_str(layout, "testdir", NULL), *beside = be_get_str(layout, "file", NULL);
	be_autonode struct be_node *tree = be_node_seq();
	be_cleanup(places_free) struct places places = { 0 };
	if (beside) {
		be_buf_addf(out, "layout    in %s, which is not beside this manifest\n", beside);
		return 0;
	}
	for (size_t i = 0; devices && devices->kind == BE_MAP && i < devices->n; i++)
		run_device(tree, &places, devices->keys[i], devices->items[i]);
	run_arrays(tree, &places, be_get(layout, "arrays"));
	run_filesystems(tree, &places, be_get(layout, "filesystems"), testdir);
	if (!tree->n)
		return 0;
	if (most && lines_of(tree) > most) {
		be_buf_addf(out, "layout    a tree of %zu lines: mkbenchenv show --full\n", lines_of(tree));
		return 0;
	}
	return draw(tree, true, out, err);
}
