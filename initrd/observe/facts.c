#include "initrd/observe/facts.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "disk-setup/resolve.h"
#include "initrd/machine.h"
#include "units.h"

/* A run counts as ended by its time when it lasted this share of it: programs stop their clocks a little early. */
#define RUNTIME_SHARE 0.98

static bool is_run_step(const struct be_node *step)
{
	return be_streq(be_get_str(step, "role", "run"), "run");
}

static struct be_node *commands(const struct be_guest *guest)
{
	struct be_node *list = be_node_seq();
	for (size_t i = 0; guest->steps && i < guest->steps->n; i++) {
		const struct be_node *step = guest->steps->items[i];
		const char *input = be_get_str(step, "stdin", NULL);
		if (!is_run_step(step))
			continue;
		if (be_get(step, "argv"))
			be_add(list, be_node_clone(be_get(step, "argv")));
		if (input)
			be_add_str(list, input);
	}
	return list;
}

static const char *working_directory(const struct be_guest *guest)
{
	for (size_t i = 0; guest->steps && i < guest->steps->n; i++)
		if (is_run_step(guest->steps->items[i]))
			return be_get_str(guest->steps->items[i], "cwd", "/");
	return "/";
}

static void environment_facts(struct be_node *facts)
{
	struct be_node *map = be_node_map();
	be_autobuf struct be_buf malloc_words = { 0 };
	for (char **v = environ; *v; v++) {
		const char *equals = strchr(*v, '=');
		be_autofree char *name = equals ? be_strndup(*v, (size_t)(equals - *v)) : NULL;
		if (!name)
			continue;
		be_set_str(map, name, equals + 1);
		if (be_starts(name, "MALLOC_") || be_streq(name, "GLIBC_TUNABLES"))
			be_buf_addf(&malloc_words, "%s%s", malloc_words.len ? " " : "", *v);
	}
	be_set(facts, "workload.environ", map);
	be_set_str(facts, "workload.malloc", malloc_words.len ? malloc_words.data : "none");
	mode_t mask = umask(022);
	umask(mask);
	be_set(facts, "workload.umask", be_node_strf("%04o", mask));
}

/* The workload's number of tasks: LKP's workloads call it nr_task or nr_threads. */
static void task_fact(const struct be_guest *guest, struct be_node *facts)
{
	static const char *const names[] = { "nr_task", "nr_threads" };
	for (size_t i = 0; i < BE_ARRAY_LEN(names); i++) {
		const struct be_node *value = be_get(be_get(guest->values, names[i]), "value");
		if (!value)
			value = be_get(be_get_path(guest->plan, "workload.parameters"), names[i]);
		if (value && value->kind == BE_SCALAR) {
			be_set(facts, "workload.nr_task", be_node_clone(value));
			return;
		}
	}
	be_set_str(facts, "workload.nr_task", "not applicable: the workload has no such parameter");
}

static void size_fact(const struct be_guest *guest, struct be_node *facts)
{
	const struct be_node *parameters = be_get_path(guest->plan, "workload.parameters");
	const char *size = be_get_str(parameters, "test_size", NULL);
	struct be_machine_size machine;
	int64_t bytes;
	be_machine_size(&guest->root, &machine);
	if (size && be_parse_size(size, &bytes) && machine.memory > 0)
		be_set(facts, "workload.test_size_vs_memory",
		       be_node_strf("%.2f", (double)bytes / (double)machine.memory));
	else
		be_set_str(facts, "workload.test_size_vs_memory", "not applicable: the workload has no data set size");
}

/* The action of disk-setup that has @word in its argument vector and is called @what. */
static const struct be_node *action_on(const struct be_guest *guest, const char *what, const char *word)
{
	const struct be_node *actions = guest->setup.actions;
	for (size_t i = 0; actions && word && i < actions->n; i++) {
		const struct be_node *argv = be_get(actions->items[i], "argv");
		if (!be_streq(be_get_str(actions->items[i], "what", NULL), what))
			continue;
		for (size_t k = 0; argv && k < argv->n; k++)
			if (be_streq(argv->items[k]->text, word))
				return actions->items[i];
	}
	return NULL;
}

static const char *first_device(const struct be_node *fs)
{
	const struct be_node *devices = be_get(fs, "devices");
	return devices && devices->kind == BE_SEQ && devices->n ? devices->items[0]->text : NULL;
}

static void filesystem_facts(const struct be_guest *guest, const struct be_node *resolved, struct be_node *facts)
{
	const struct be_node *list = be_get_path(resolved, "layout.filesystems");
	bool reused = be_streq(be_get_str(guest->setup.layout, "earlier", NULL), "reused");
	struct be_node *versions = be_node_map(), *ages = be_node_map();
	for (size_t i = 0; list && i < list->n; i++) {
		const char *mount = be_get_str(list->items[i], "mount", "/");
		const struct be_node *made = action_on(guest, "mkfs", first_device(list->items[i]));
		bool tmpfs = be_streq(be_get_str(list->items[i], "kind", NULL), "tmpfs");
		be_set_str(versions, mount,
			   tmpfs  ? "not applicable: tmpfs is not made by a program"
			   : made ? be_get_str(made, "version", "unknown")
				  : "not applicable: no mkfs ran");
		be_set_str(ages, mount, tmpfs || !reused ? "made in this boot" : "reused");
	}
	be_set(facts, "fs.mkfs_version", versions);
	be_set(facts, "fs.age", ages);
}

/* Array levels without redundancy have nothing to assume or to synchronise. */
static bool has_redundancy(const char *level)
{
	return !be_streq(level, "raid0") && !be_streq(level, "linear");
}

static void array_facts(const struct be_guest *guest, struct be_node *facts)
{
	const struct be_node *list = be_get_path(guest->plan, "layout.arrays");
	struct be_node *clean = be_node_map();
	for (size_t i = 0; list && i < list->n; i++) {
		const struct be_node *array = list->items[i];
		be_set_str(clean, be_get_str(array, "name", "md0"),
			   !has_redundancy(be_get_str(array, "level", ""))
				   ? "not applicable: a level without redundancy"
			   : be_get_bool(array, "assume_clean", false) ? "assumed clean, parity never written"
								       : "synced");
	}
	be_set(facts, "md.assume_clean", clean);
}

/* Was mkfs told not to discard? mkfs.btrfs and mkfs.xfs: -K, mke2fs: -E nodiscard. */
static bool told_not_to_discard(const struct be_node *mkfs)
{
	be_autostrv struct be_strv argv = { 0 };
	be_get_strv(mkfs, "argv", &argv);
	for (size_t i = 0; i < argv.n; i++)
		if (be_streq(argv.v[i], "-K") || strstr(argv.v[i], "nodiscard"))
			return true;
	return false;
}

/* The mkfs of the file system that uses the disk called @key in the plan. */
static const struct be_node *mkfs_of(const struct be_guest *guest, const struct be_node *resolved, const char *key)
{
	const struct be_node *devices = be_get_path(resolved, "layout.devices");
	for (size_t i = 0; devices && i < devices->n; i++)
		if (be_streq(be_get_str(devices->items[i], "name", NULL), key))
			return action_on(guest, "mkfs", be_get_str(devices->items[i], "path", NULL));
	be_autofree char *array = be_strf("/dev/%s", key);
	return action_on(guest, "mkfs", array);
}

static void discard_facts(const struct be_guest *guest, const struct be_node *resolved, struct be_node *facts)
{
	const struct be_instances *disks = &guest->scopes.of[BE_SCOPE_DISK];
	struct be_node *map = be_node_map();
	for (size_t i = 0; i < disks->n; i++) {
		be_autofree char *path =
			be_strf("/sys/block/%s/queue/discard_max_bytes", disks->v[i].kernel ? disks->v[i].kernel : "");
		be_autofree char *most = be_root_text(&guest->root, path);
		const struct be_node *mkfs = mkfs_of(guest, resolved, disks->v[i].key);
		bool discards = most && strtoll(most, NULL, 10) > 0;
		be_set_str(map, disks->v[i].key,
			   discards && mkfs && !told_not_to_discard(mkfs) ? "by mkfs" : "no discard");
	}
	be_set(facts, "disk.discarded", map);
}

void be_facts_before(struct be_guest *guest)
{
	struct be_node *facts = guest->facts;
	be_autonode struct be_node *resolved = be_resolve_plan(&guest->setup, guest->plan);
	be_set(facts, "workload.command", commands(guest));
	be_set_str(facts, "workload.cwd", working_directory(guest));
	/* Read from a statement that was delivered; one that was not is a deviation of after.yaml. */
	be_set_str(facts, "image.statement_before", "delivered");
	environment_facts(facts);
	task_fact(guest, facts);
	size_fact(guest, facts);
	filesystem_facts(guest, resolved, facts);
	array_facts(guest, facts);
	discard_facts(guest, resolved, facts);
}

const char *be_ended_by(const char *state, double elapsed, double asked)
{
	if (be_streq(state, "timeout"))
		return "timeout";
	if (be_streq(state, "failed"))
		return "failure";
	if (asked <= 0)
		return "itself";
	return elapsed >= asked * RUNTIME_SHARE ? "runtime" : "size";
}

void be_facts_after(struct be_guest *guest)
{
	double elapsed = 0;
	bool ran = false;
	for (size_t i = 0; i < guest->steps_done->n; i++) {
		if (!is_run_step(guest->steps_done->items[i]))
			continue;
		elapsed += be_get_real(guest->steps_done->items[i], "seconds", 0);
		ran = true;
	}
	if (!ran)
		return;
	double asked = be_get_real(be_get(guest->plan, "built"), "workload.runtime", 0);
	be_set(guest->facts, "workload.elapsed", be_node_real(elapsed));
	be_set_str(guest->facts, "workload.ended_by",
		   be_ended_by(be_get_str(guest->outcome, "state", "done"), elapsed, asked));
	struct be_node *dirty = be_sample_dirty(&guest->sample); /* a map, or "never reached" */
	if (dirty)
		be_set(guest->facts, "vm.dirty_limit_first_hit", dirty);
}
