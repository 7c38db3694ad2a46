#include "initrd/observe/statement.h"

#include <string.h>

#include "disk-setup/use.h"
#include "factor.h"
#include "initrd/machine.h"
#include "initrd/observe/observe.h"

/* Block devices that are no disks: of files, of memory that is compressed, of removable media, of mappings. */
static bool is_disk(const char *name)
{
	static const char *const others[] = { "loop", "ram", "zram", "sr", "fd", "dm-", "md", "nbd", "mtdblock" };
	for (size_t i = 0; i < BE_ARRAY_LEN(others); i++)
		if (be_starts(name, others[i]))
			return false;
	return true;
}

static struct be_node *describe_disk(const struct be_root *root, const char *name)
{
	struct be_node *disk = be_node_map();
	const struct be_instance at = { .key = (char *)name, .kernel = (char *)name };
	const struct be_observer observer = { .root = *root };
	const struct be_look look = { .o = &observer, .scope = BE_SCOPE_DISK, .at = &at };
	struct be_reading kind = be_probe("disk_kind")(&look);
	be_set_str(disk, "name", name);
	be_set_str(disk, "kind", kind.state == BE_READ ? kind.value->text : "unknown");
	be_set(disk, "path", be_node_strf("/dev/%s", name));
	be_reading_free(&kind);
	return disk;
}

static void describe_devices(const struct be_root *root, struct be_node *devices, struct be_node *arrays)
{
	be_autostrv struct be_strv names = { 0 };
	if (be_root_list(root, "/sys/block", &names) != 0)
		return;
	for (size_t i = 0; i < names.n; i++) {
		be_autofree char *path = be_strf("/sys/block/%s/size", names.v[i]);
		be_autofree char *size = be_root_text(root, path);
		if (be_streq(size, "0"))
			continue;
		if (is_disk(names.v[i])) {
			be_add(devices, describe_disk(root, names.v[i]));
		} else if (be_starts(names.v[i], "md")) {
			struct be_node *array = be_node_map();
			be_set_str(array, "name", names.v[i]);
			be_add(arrays, array);
		}
	}
}

static void free_table(struct libmnt_table **table)
{
	mnt_unref_table(*table);
}

static void free_iter(struct libmnt_iter **iter)
{
	mnt_free_iter(*iter);
}

/* File systems of block devices, each once, where it is mounted first. */
static void describe_filesystems(const struct be_root *root, struct be_node *list)
{
	struct be_error ignored = BE_ERROR_INIT;
	be_cleanup(free_table) struct libmnt_table *table = be_use_table(root, "/proc/self/mountinfo", &ignored);
	be_cleanup(free_iter) struct libmnt_iter *iter = mnt_new_iter(MNT_ITER_FORWARD);
	be_autostrv struct be_strv sources = { 0 };
	struct libmnt_fs *fs;
	while (table && iter && mnt_table_next_fs(table, iter, &fs) == 0) {
		const char *source = mnt_fs_get_source(fs), *target = mnt_fs_get_target(fs);
		if (!source || !target || !be_starts(source, "/dev/") || be_strv_has(&sources, source))
			continue;
		be_strv_add(&sources, source);
		struct be_node *entry = be_node_map(), *devices = be_node_seq();
		be_add_str(devices, source);
		be_set_str(entry, "kind", mnt_fs_get_fstype(fs));
		be_set(entry, "devices", devices);
		be_set_str(entry, "mount", target);
		be_add(list, entry);
	}
}

struct be_node *be_statement_plan(const struct be_root *root, const char *testdir, const struct be_node *factors)
{
	struct be_node *plan = be_node_map(), *layout = be_node_map(), *devices = be_node_seq();
	struct be_node *arrays = be_node_seq(), *filesystems = be_node_seq();
	describe_devices(root, devices, arrays);
	describe_filesystems(root, filesystems);
	be_set_str(layout, "testdir", testdir);
	be_set(layout, "devices", devices);
	be_set(layout, "arrays", arrays);
	be_set(layout, "filesystems", filesystems);
	be_set_str(plan, "name", "machine");
	be_set_str(plan, "testcase", "none");
	be_set(plan, "layout", layout);
	be_set(plan, "factors", be_node_clone(factors));
	return plan;
}

/* What belongs to a run, an image or a plan has no place in the statement of a machine. */
static bool is_of_a_run(const struct be_node *factor)
{
	static const char *const kinds[] = { "run", "plan", "builder" };
	const char *kind = be_get_str(be_get(factor, "observe"), "kind", "");
	const char *when = be_get_str(factor, "when", "before");
	for (size_t i = 0; i < BE_ARRAY_LEN(kinds); i++)
		if (strcmp(kind, kinds[i]) == 0)
			return true;
	return strcmp(when, "during") == 0 || strcmp(when, "after") == 0;
}

static struct be_node *observed(const struct be_root *root, const struct be_node *plan, const struct be_node *readings)
{
	be_autoscopes struct be_scopes scopes;
	const struct be_node *factors = be_get(plan, "factors");
	be_scopes_load(&scopes, root, plan, NULL, NULL);
	const struct be_observer observer = { .root = *root, .plan = plan, .scopes = &scopes, .readings = readings };
	struct be_node *environment = be_observe(&observer, BE_BEFORE);
	for (size_t i = 0; factors && i < factors->n; i++) {
		struct be_node *none = be_node_map();
		be_set_str(none, "not_applicable", "no workload of a recipe runs here");
		if (is_of_a_run(factors->items[i]))
			be_set(environment, be_get_str(factors->items[i], "name", ""), be_steal(&none));
		be_node_free(none);
	}
	return environment;
}

static struct be_node *machine(const struct be_root *root)
{
	struct be_machine_size size;
	struct be_node *map = be_node_map();
	be_autofree char *release = be_root_text(root, "/proc/sys/kernel/osrelease");
	be_machine_size(root, &size);
	be_set_str(map, "kernel", release);
	be_set_int(map, "nr_cpu", size.nr_cpu);
	be_set_int(map, "nr_node", size.nr_node);
	be_set_int(map, "memory", size.memory);
	return map;
}

static struct be_node *recording(const struct be_node *plan, const struct be_node *environment)
{
	struct be_node *map = be_node_map();
	be_set_str(map, "testcase", be_get_str(plan, "testcase", NULL));
	be_set(map, "layout", be_node_clone(be_get(plan, "layout")));
	be_set(map, "environment", be_node_clone(environment));
	return map;
}

static struct be_node *map_of(const char *key, const char *value)
{
	struct be_node *map = be_node_map();
	be_set_str(map, key, value);
	return map;
}

struct be_node *be_statement_make(const struct be_root *root, const struct be_node *plan,
				  const struct be_node *readings, struct be_node **recorded)
{
	struct be_node *before = be_node_map(), *manifest = be_node_map(), *program = map_of("name", "mkbenchenv");
	struct be_node *environment = observed(root, plan, readings);
	if (recorded)
		*recorded = recording(plan, environment);
	be_set(before, "environment", environment);
	be_set_str(program, "version", BE_VERSION);
	be_set_str(manifest, "mkbenchenv", "manifest");
	be_set_int(manifest, "schema", 1);
	be_set_str(manifest, "name", be_get_str(plan, "name", NULL));
	be_set_str(manifest, "testcase", be_get_str(plan, "testcase", NULL));
	be_set(manifest, "program", program);
	be_set(manifest, "environment", be_environment_make(plan, NULL, before, NULL));
	be_set(manifest, "deviations", be_node_seq());
	be_set(manifest, "machine", machine(root));
	be_set(manifest, "result", map_of("state", "observed"));
	be_node_free(before);
	return manifest;
}
