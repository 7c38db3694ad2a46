/* Wanted values: what recipe and host file state of a factor, and whose word it is. */
#include <inttypes.h>
#include <string.h>

#include "plan_parts.h"
#include "units.h"

/* The first to state a value has it: environment, expect, job, host, in the order of the calls. */
static void want(struct be_planner *p, const char *factor, const char *by, const char *value)
{
	struct be_node *wanted = be_get(p->plan, "wanted");
	if (!value || !be_plan_factor(p, factor) || be_get(wanted, factor))
		return;
	struct be_node *entry = be_node_map();
	be_set_str(entry, "value", value);
	be_set_str(entry, "by", by);
	be_set(wanted, factor, entry);
}

static void want_int(struct be_planner *p, const char *factor, const char *by, int64_t value)
{
	be_autofree char *text = be_strf("%" PRId64, value);
	if (value > 0)
		want(p, factor, by, text);
}

/* A map factor -> value. A value that is a map itself (disk.scheduler_tunables) is kept as it is. */
static int stated(struct be_planner *p, const char *key, struct be_error *err)
{
	const struct be_node *map = be_get(p->job, key);
	for (size_t i = 0; map && map->kind == BE_MAP && i < map->n; i++) {
		const struct be_node *value = map->items[i];
		if (strcmp(key, "expect") == 0 && strcmp(map->keys[i], "then") == 0)
			continue;
		if (!be_plan_factor(p, map->keys[i])) {
			be_fail_usage(err, "%s: %s: there is no factor %.80s", be_where(value), key, map->keys[i]);
			return be_hint(err, "`mkbenchenv explain` lists the factors");
		}
		if (value->kind == BE_SCALAR) {
			want(p, map->keys[i], key, value->text);
		} else if (value->kind == BE_MAP || value->kind == BE_SEQ) {
			struct be_node *entry = be_node_map();
			be_set(entry, "value", be_node_clone(value));
			be_set_str(entry, "by", key);
			be_set(be_get(p->plan, "wanted"), map->keys[i], entry);
		}
	}
	return 0;
}

/* "Ivytown Ivy Bridge-EP" is an Ivy Bridge: the name of the factor's table that the host file's model holds. */
static const char *generation(struct be_planner *p, const char *model)
{
	const struct be_node *names = be_get_path(be_plan_factor(p, "cpu.generation"), "observe.names");
	for (size_t i = 0; model && names && i < names->n; i++)
		if (names->items[i]->text && strstr(model, names->items[i]->text))
			return names->items[i]->text;
	return NULL;
}

static void host_numbers(struct be_planner *p)
{
	const struct be_node *machine = be_get(p->plan, "machine");
	want_int(p, "cpu.count", "host", p->size.nr_cpu);
	want_int(p, "cpu.sockets", "host", be_get_int(machine, "nr_socket", 0));
	want_int(p, "memory.numa_nodes", "host", p->size.nr_node);
	want_int(p, "memory.total", "host", p->size.memory);
	want(p, "cpu.model", "host", be_plan_text_of(machine, "brand"));
	want(p, "cpu.generation", "host", generation(p, be_plan_text_of(machine, "model")));
	want(p, "cpu.microcode", "job", be_plan_text_of(p->job, "ucode"));
	want(p, "cpu.microcode", "host", be_plan_text_of(machine, "ucode"));
	want(p, "firmware.version", "host", be_plan_text_of(machine, "bios_version"));
	want(p, "firmware.date", "host", be_plan_text_of(machine, "bios_date"));
	want(p, "machine.board", "host", be_plan_text_of(machine, "board"));
}

/* What the host file says of the disks in use, where they all agree. */
static void host_disks(struct be_planner *p)
{
	static const struct {
		const char *key, *factor;
	} known[] = {
		{ "rotational", "disk.rotational" },
		{ "write_cache", "disk.write_cache" },
		{ "logical_block_size", "disk.logical_block_size" },
		{ "physical_block_size", "disk.physical_block_size" },
		{ "size", "disk.size" },
	};
	const struct be_node *devices = be_get_path(p->plan, "layout.devices");
	const struct be_node *disks = be_get_path(p->plan, "machine.disks");
	/* An array is a test disk too, and has a size and no write cache of its own. */
	bool arrays = be_get_path(p->plan, "layout.arrays")->n > 0;
	for (size_t k = 0; k < BE_ARRAY_LEN(known); k++) {
		const char *value = NULL;
		bool same = devices->n > 0 && !(arrays && (k == 1 || k == 4));
		for (size_t i = 0; i < devices->n && same; i++) {
			const char *id = be_get_str(devices->items[i], "disk", "");
			const struct be_node *disk = NULL;
			for (size_t d = 0; d < disks->n && !disk; d++)
				if (strcmp(be_get_str(disks->items[d], "id", ""), id) == 0)
					disk = disks->items[d];
			const char *text = be_get_str(disk, known[k].key, NULL);
			same = text && (!value || strcmp(text, value) == 0);
			value = text;
		}
		if (same && k == 0)
			value = strcmp(value, "true") == 0 ? "1" : "0";
		if (same)
			want(p, known[k].factor, "host", value);
	}
}

static void numa_policy(struct be_planner *p)
{
	static const char *const policies[][2] = { { "membind", "bind" },
						   { "interleave", "interleave" },
						   { "preferred", "prefer" } };
	const struct be_node *numactl = be_get(p->job, "numactl");
	for (size_t i = 0; i < BE_ARRAY_LEN(policies); i++) {
		const char *nodes = be_get_str(numactl, policies[i][0], NULL);
		be_autofree char *policy = be_strf("%s:%s", policies[i][1], nodes ? nodes : "");
		if (nodes)
			want(p, "memory.numa_policy", "job", policy);
	}
}

static void job_layout(struct be_planner *p)
{
	const struct be_node *layout = be_get(p->plan, "layout");
	const struct be_node *arrays = be_get(layout, "arrays"), *fs = be_get(layout, "filesystems");
	if (arrays->n) {
		const struct be_node *array = arrays->items[0];
		const char *bitmap = be_get_str(array, "bitmap", "none");
		want(p, "md.level", "job", be_get_str(array, "level", NULL));
		want_int(p, "md.chunk_size", "job", 1024 * be_get_int(array, "chunk_kib", 0));
		want_int(p, "md.raid_disks", "job", (int64_t)be_get(array, "members")->n);
		want(p, "md.metadata_version", "job", be_get_str(array, "metadata", NULL));
		if (strcmp(bitmap, "none") == 0 && strcmp(be_get_str(array, "level", ""), "raid0") != 0)
			want(p, "md.bitmap", "job", bitmap);
		if (strcmp(be_get_str(array, "level", ""), "raid0") != 0)
			want(p, "md.assume_clean", "job", "assumed clean, parity never written");
	}
	if (fs->n) {
		want(p, "fs.kind", "job", be_get_str(fs->items[0], "kind", NULL));
		const char *network = be_plan_network_type(p->plan);
		want(p, "testfile.filesystem", "job", network ? network : be_get_str(fs->items[0], "kind", NULL));
		const struct be_node *options = be_get(fs->items[0], "options");
		for (size_t i = 0; i < options->n; i++)
			if (be_starts(options->items[i]->text, "dax"))
				want(p, "testfile.dax", "job", "yes");
	} else if (be_streq(be_plan_text_of(p->job, "testfile"), "initrd")) {
		want(p, "testfile.filesystem", "job", be_get_str(be_get(p->plan, "boot"), "rootfs_type", NULL));
	}
}

static void job_settings(struct be_planner *p)
{
	const struct be_node *iosched = be_get(p->job, "iosched"), *thp = be_get(p->job, "transparent_hugepage");
	const char *scheduler = iosched && iosched->kind == BE_MAP ? be_plan_text_of(iosched, "iosched")
								   : be_plan_text_of(p->job, "iosched");
	want(p, "cpu.governor", "job", be_plan_text_of(p->job, "cpufreq_governor"));
	want(p, "disk.scheduler", "job", scheduler);
	want(p, "rootfs.filesystem", "job", be_get_str(be_get(p->plan, "boot"), "rootfs_type", NULL));
	want(p, "vm.thp", "job", be_plan_text_of(thp, "thp_enabled"));
	want(p, "vm.thp_defrag", "job", be_plan_text_of(thp, "thp_defrag"));
	want(p, "vm.thp_shmem_enabled", "job", be_plan_text_of(thp, "shmem_enabled"));
	if (be_streq(p->rules.from, "lkp_rules"))
		want(p, "harness.rules", "job", p->rules.date);
	if (be_get_bool(be_get(p->plan, "workload"), "drop_caches", false))
		want(p, "vm.caches_dropped", "job", "yes");
	numa_policy(p);
}

/* The number of tasks on the host file's machine. */
static void job_tasks(struct be_planner *p)
{
	static const char *const keys[] = { "nr_task", "nr_threads", "nr_processes" };
	const struct be_node *values = be_get_path(p->plan, "workload.values");
	for (size_t i = 0; i < BE_ARRAY_LEN(keys); i++)
		if (be_get(values, keys[i]))
			want_int(p, "workload.nr_task", "job", be_get_int(be_get(values, keys[i]), "value", 0));
}

/* Factors of sysctl settings that came from the job. */
static void job_sysctls(struct be_planner *p)
{
	const struct be_node *settings = be_get(p->plan, "settings");
	for (size_t i = 0; i < settings->n; i++) {
		const char *name = be_get_str(settings->items[i], "name", NULL);
		for (size_t k = 0; name && k < p->factors->n; k++) {
			const struct be_node *set = be_get(p->factors->items[k], "set");
			if (be_streq(be_get_str(set, "name", NULL), name))
				want(p, be_get_str(p->factors->items[k], "name", ""), "job",
				     be_get_str(settings->items[i], "value", NULL));
		}
	}
}

int be_plan_wanted(struct be_planner *p, struct be_error *err)
{
	be_set(p->plan, "wanted", be_node_map());
	if (stated(p, "environment", err) || stated(p, "expect", err))
		return -1;
	job_layout(p);
	job_settings(p);
	job_tasks(p);
	job_sysctls(p);
	host_numbers(p);
	host_disks(p);
	be_set(p->plan, "factors", be_node_clone(p->factors));
	return 0;
}

static char *argv_text(const struct be_node *argv)
{
	be_autobuf struct be_buf text = { 0 };
	for (size_t i = 0; argv && i < argv->n; i++) {
		if (i)
			be_buf_addc(&text, ' ');
		be_buf_add_shell(&text, argv->items[i]->text);
	}
	return be_buf_steal(&text);
}

/* The command with the word DEVICE in the place of the file system's own devices. The caller frees. */
static char *general_mkfs(const struct be_node *fs)
{
	be_autostrv struct be_strv devices = { 0 };
	const struct be_node *argv = be_get(fs, "mkfs");
	be_autonode struct be_node *words = be_node_seq();
	be_get_strv(fs, "devices", &devices);
	for (size_t i = 0; argv && i < argv->n; i++)
		be_add_str(words, be_strv_has(&devices, argv->items[i]->text) ? "DEVICE" : argv->items[i]->text);
	return argv_text(words);
}

/* A map mount point -> command; where many differ by their devices only, one text for all. */
static struct be_node *built_mkfs(const struct be_node *fs)
{
	be_autofree char *first = general_mkfs(fs->items[0]);
	bool same = fs->n > 1 && *first;
	for (size_t i = 1; i < fs->n && same; i++) {
		be_autofree char *other = general_mkfs(fs->items[i]);
		same = strcmp(first, other) == 0;
	}
	if (same)
		return be_node_str(first);
	struct be_node *map = be_node_map();
	for (size_t i = 0; i < fs->n; i++) {
		be_autofree char *line = argv_text(be_get(fs->items[i], "mkfs"));
		be_set_str(map, be_get_str(fs->items[i], "mount", ""), *line ? line : "not made by mkfs");
	}
	return map;
}

static void built_jbod(const struct be_planner *p, struct be_node *built)
{
	const struct be_node *devices = be_get_path(p->plan, "layout.devices");
	const struct be_node *values = be_get_path(p->plan, "workload.values");
	be_autostrv struct be_strv disks = { 0 };
	for (size_t i = 0; i < devices->n; i++)
		be_strv_add(&disks, be_get_str(devices->items[i], "disk", be_get_str(devices->items[i], "path", "")));
	if (!devices->n)
		return;
	be_strv_sort_unique(&disks);
	int64_t tasks = be_get_int(be_get(values, "nr_task"), "value", 0);
	be_autofree char *processes = tasks ? be_strf(", %" PRId64 " processes", tasks) : be_strdup("");
	be_set(built, "disk.jbod",
	       be_node_strf("%zu partition%s on %zu disk%s%s", devices->n, devices->n == 1 ? "" : "s", disks.n,
			    disks.n == 1 ? "" : "s", processes));
}

static void built_workload(const struct be_planner *p, struct be_node *built)
{
	static const char *const runtimes[] = { "runtime", "testtime", "period", "duration" };
	const struct be_node *workload = be_get(p->plan, "workload"), *given = be_get(workload, "parameters");
	const struct be_node *declared = be_get_path(workload, "definition.parameters");
	be_autofree char *prefix = argv_text(be_get(workload, "prefix"));
	be_set_str(built, "workload.prefix", *prefix ? prefix : "none");
	be_set_int(built, "workload.iterations", be_get_int(be_get_path(workload, "values.iterations"), "value", 1));
	be_set_str(built, "workload.warmup", be_get_str(given, "ramp_time", be_get_str(given, "warmup", "none")));
	for (size_t i = 0; i < BE_ARRAY_LEN(runtimes); i++) {
		const char *text = be_get_str(given, runtimes[i], NULL);
		int64_t seconds;
		if (!text)
			text = be_get_str(be_get(declared, runtimes[i]), "default", NULL);
		if (text && be_parse_time(text, &seconds)) {
			be_set_int(built, "workload.runtime", seconds);
			break;
		}
	}
	const char *time_based = be_get_str(given, "time_based", "0");
	be_set_str(built, "workload.time_based", strchr("0nf", *time_based) && *time_based ? "no" : "yes");
}

void be_plan_built(struct be_planner *p)
{
	struct be_node *built = be_node_map(), *none = be_node_seq();
	const struct be_node *fs = be_get_path(p->plan, "layout.filesystems");
	if (fs->n)
		be_set(built, "fs.mkfs", built_mkfs(fs));
	built_jbod(p, built);
	built_workload(p, built);
	be_add_str(none, "none"); /* monitors of the harness are not run */
	be_set(built, "monitors", none);
	be_set_str(built, "harness.rules", p->rules.date);
	be_set(p->plan, "built", built);
}
