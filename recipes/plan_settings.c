/* Settings: what LKP's set-up scripts and `environment:` write into sysfs and procfs. */
#include <string.h>

#include "base/file.h"
#include "plain.h"
#include "plan_parts.h"

struct setting {
	const char *kind, *target, *value, *why;
	const char *factor; /* its value is read back and judged under this name, or NULL */
	bool after_disks, required;
};

static void add(struct be_planner *p, const struct setting *s)
{
	struct be_node *entry = be_node_map();
	be_set_str(entry, "kind", s->kind);
	if (s->target)
		be_set_str(entry, strcmp(s->kind, "sysctl") == 0 ? "name" : "path", s->target);
	be_set_str(entry, "value", s->value);
	be_set_str(entry, "why", s->why);
	if (s->after_disks)
		be_set_str(entry, "after", "disks");
	be_set_str(entry, "factor", s->factor);
	if (s->required)
		be_set(entry, "required", be_node_bool(true));
	be_add(be_get(p->plan, "settings"), entry);
}

/* A value of one of the maps `iosched:`, `block_queue:`, `transparent_hugepage:` and so on. */
static void sysfs(struct be_planner *p, const char *key, const char *option, const char *path, bool after_disks)
{
	const struct be_node *map = be_get(p->job, key);
	const char *value = map && map->kind == BE_MAP ? be_get_str(map, option, NULL) : NULL;
	if (!value)
		value = be_streq(key, option) ? be_plan_text_of(p->job, key) : be_plan_text_of(p->job, option);
	if (!value || !map)
		return;
	be_autofree char *why = be_streq(key, option) ? be_strdup(key) : be_strf("%s: %s", key, option);
	add(p, &(struct setting){
		       .kind = "sysfs", .target = path, .value = value, .why = why, .after_disks = after_disks });
}

/* LKP's set-ups that write one value into one file. */
static const struct {
	const char *key, *option, *path;
	bool after_disks;
} files[] = {
	{ "iosched", "iosched", "/sys/block/{disk}/queue/scheduler", true },
	{ "iosched", "read_expire", "/sys/block/{disk}/queue/iosched/read_expire", true },
	{ "iosched", "write_expire", "/sys/block/{disk}/queue/iosched/write_expire", true },
	{ "iosched", "fifo_batch", "/sys/block/{disk}/queue/iosched/fifo_batch", true },
	{ "iosched", "writes_starved", "/sys/block/{disk}/queue/iosched/writes_starved", true },
	{ "iosched", "front_merges", "/sys/block/{disk}/queue/iosched/front_merges", true },
	{ "block_queue", "max_sectors_kb", "/sys/block/{disk}/queue/max_sectors_kb", true },
	{ "block_queue", "nr_requests", "/sys/block/{disk}/queue/nr_requests", true },
	{ "transparent_hugepage", "thp_enabled", "/sys/kernel/mm/transparent_hugepage/enabled", false },
	{ "transparent_hugepage", "thp_defrag", "/sys/kernel/mm/transparent_hugepage/defrag", false },
	{ "transparent_hugepage", "shmem_enabled", "/sys/kernel/mm/transparent_hugepage/shmem_enabled", false },
	{ "transparent_hugepage", "enabled_64kB", "/sys/kernel/mm/transparent_hugepage/hugepages-64kB/enabled", false },
	{ "transparent_hugepage", "enabled_32kB", "/sys/kernel/mm/transparent_hugepage/hugepages-32kB/enabled", false },
	{ "transparent_hugepage", "enabled_16kB", "/sys/kernel/mm/transparent_hugepage/hugepages-16kB/enabled", false },
	{ "intel_pstate", "status", "/sys/devices/system/cpu/intel_pstate/status", false },
	{ "intel_pstate", "no_turbo", "/sys/devices/system/cpu/intel_pstate/no_turbo", false },
	{ "intel_pstate", "max_perf_pct", "/sys/devices/system/cpu/intel_pstate/max_perf_pct", false },
	{ "intel_pstate", "min_perf_pct", "/sys/devices/system/cpu/intel_pstate/min_perf_pct", false },
	{ "swap", "vma_swap_readahead", "/sys/kernel/mm/swap/vma_ra_enabled", false },
	{ "numabalance", "enable", "/proc/sys/kernel/numa_balancing", false },
	{ "dirty_thresh", "dirty_ratio", "/proc/sys/vm/dirty_ratio", false },
	{ "dirty_thresh", "dirty_bytes", "/proc/sys/vm/dirty_bytes", false },
	{ "dirty_thresh", "dirty_background_ratio", "/proc/sys/vm/dirty_background_ratio", false },
	{ "dirty_thresh", "dirty_background_bytes", "/proc/sys/vm/dirty_background_bytes", false },
};

static void governor(struct be_planner *p)
{
	const char *value = be_plan_text_of(p->job, "cpufreq_governor");
	if (value)
		add(p, &(struct setting){ .kind = "cpufreq", .value = value, .why = "cpufreq_governor" });
}

/* Is @name, "aio-max-nr", what a job writes as @asked, "aio_max_nr"? */
static bool same_sysctl(const char *name, const char *asked)
{
	for (; *name && *asked; name++, asked++)
		if (*name != *asked && !(*asked == '_' && (*name == '-' || *name == '.')))
			return false;
	return *name == *asked;
}

/* pid_max -> kernel.pid_max by sysctl.yaml; NULL when no sysctl of that name is known. The caller frees. */
static char *full_sysctl(const struct be_node *table, const char *asked)
{
	const struct be_node *groups = be_get(table, "sysctls");
	for (size_t i = 0; groups && i < groups->n; i++)
		for (size_t k = 0; k < groups->items[i]->n; k++)
			if (same_sysctl(groups->items[i]->items[k]->text, asked))
				return be_strf("%s.%s", groups->keys[i], groups->items[i]->items[k]->text);
	return NULL;
}

/* Values that are programs, which the kernel would start as root. */
static bool starts_a_program(const char *name, const char *value)
{
	static const char *const names[] = { "kernel.modprobe", "kernel.hotplug", "kernel.poweroff_cmd" };
	for (size_t i = 0; i < BE_ARRAY_LEN(names); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return strcmp(name, "kernel.core_pattern") == 0 && value[strspn(value, " \t")] == '|';
}

static int one_sysctl(struct be_planner *p, const struct be_node *table, const char *key, const struct be_node *value,
		      struct be_error *err)
{
	be_autofree char *name = full_sysctl(table, key + strlen("sc_"));
	if (be_check_line(value, key, err))
		return -1;
	if (name && starts_a_program(name, value->text))
		return be_fail_usage(err, "%s: %s: names a program that the kernel would start: not taken from a job",
				     be_where(value), key);
	if (name) {
		add(p, &(struct setting){ .kind = "sysctl", .target = name, .value = value->text, .why = key });
		return 0;
	}
	be_plan_warn(p, value, "%s: no sysctl of that name is known: not set", key);
	be_deviation(p->deviations, "sysctl", "%s=%s asked, no sysctl of that name is known", key, value->text);
	return 0;
}

/* sc_NAME keys, below `sysctl:` or at the top. */
static int sysctls(struct be_planner *p, struct be_error *err)
{
	const struct be_node *nested = be_get(p->job, "sysctl");
	const struct be_node *maps[] = { nested && nested->kind == BE_MAP ? nested : NULL, p->job };
	be_autofree char *path = be_strf("%s/sysctl.yaml", p->req->data_dir);
	be_autonode struct be_node *table = NULL;
	for (size_t k = 0; k < BE_ARRAY_LEN(maps); k++) {
		for (size_t i = 0; maps[k] && i < maps[k]->n; i++) {
			if (!be_starts(maps[k]->keys[i], "sc_") || maps[k]->items[i]->kind != BE_SCALAR)
				continue;
			if (!table && !(table = be_node_load_file(path, err)))
				return -1;
			if (one_sysctl(p, table, maps[k]->keys[i], maps[k]->items[i], err))
				return -1;
		}
	}
	return 0;
}

static const char *scope_of(const struct be_node *factor)
{
	return be_get_str(factor, "scope", "run");
}

static void set_factor(struct be_planner *p, const struct be_node *factor, const char *value, const char *name,
		       const char *path)
{
	const char *kind = be_get_str(be_get(factor, "set"), "kind", ""), *scope = scope_of(factor);
	bool disks = strcmp(scope, "disk") == 0 || strcmp(scope, "md") == 0 || strcmp(scope, "fs") == 0;
	add(p, &(struct setting){ .kind = kind,
				  .target = path,
				  .value = value,
				  .why = "environment",
				  .after_disks = disks,
				  .factor = name,
				  .required = true });
}

/* A value that is a map gives one setting for each {name}. */
static int set_named(struct be_planner *p, const struct be_node *factor, const char *name, const struct be_node *value,
		     const char *path, struct be_error *err)
{
	const char *mark = strstr(path, "{name}");
	for (size_t i = 0; mark && i < value->n; i++) {
		if (value->items[i]->kind != BE_SCALAR)
			continue;
		if (!be_is_name(value->keys[i], "_-"))
			return be_fail_usage(err, "%s: environment: %s: '%.40s' is no name of a file in %.*s",
					     be_where(value->items[i]), name, value->keys[i], (int)(mark - path), path);
		be_autofree char *one =
			be_strf("%.*s%s%s", (int)(mark - path), path, value->keys[i], mark + strlen("{name}"));
		set_factor(p, factor, value->items[i]->text, name, one);
	}
	return 0;
}

static const char *nearest_factor(const struct be_planner *p, const char *name)
{
	const char *best = NULL;
	unsigned least = 4;
	for (size_t i = 0; i < p->factors->n; i++) {
		const char *known = be_get_str(p->factors->items[i], "name", "");
		unsigned distance = be_distance(name, known);
		if (distance < least) {
			least = distance;
			best = known;
		}
	}
	return best;
}

static int unsettable(const struct be_node *factor, const char *name, const struct be_node *where, struct be_error *err)
{
	const char *kind = be_get_str(be_get(factor, "set"), "kind", "");
	const char *key = be_get_str(be_get(factor, "set"), "key", "");
	be_fail_usage(err, "%s: environment: %s cannot be set %s", be_where(where), name,
		      *kind ? "this way" : "by any recipe");
	if (strcmp(kind, "job") == 0)
		return be_hint(err, "use the job's key %s:", key);
	if (strcmp(kind, "twin") == 0)
		return be_hint(err, "use the host file's key %s:, or state the value under expect:", key);
	if (strcmp(kind, "mkfs") == 0 || strcmp(kind, "mount") == 0)
		return be_hint(err, "use the job's %s", strcmp(kind, "mkfs") == 0 ? "mkfs:" : "mount_option:");
	return be_hint(err, "state the value under expect: to have it compared");
}

static int environment(struct be_planner *p, struct be_error *err)
{
	const struct be_node *env = be_get(p->job, "environment");
	if (env && env->kind != BE_MAP && env->kind != BE_NULL)
		return be_fail_usage(err, "%s: environment: must be a map factor: value", be_where(env));
	for (size_t i = 0; env && i < env->n; i++) {
		const char *name = env->keys[i];
		const struct be_node *value = env->items[i], *factor = be_plan_factor(p, name);
		if (!factor) {
			const char *near = nearest_factor(p, name);
			be_fail_usage(err, "%s: environment: there is no factor %.80s", be_where(value), name);
			return near ? be_hint(err, "did you mean %s?", near)
				    : be_hint(err, "`mkbenchenv explain` lists the factors");
		}
		const struct be_node *set = be_get(factor, "set");
		const char *kind = be_get_str(set, "kind", "");
		be_autostrv struct be_strv paths = { 0 };
		be_get_strv(set, "path", &paths);
		if (strcmp(kind, "cmdline") == 0)
			continue; /* plan_boot.c */
		if (strcmp(kind, "sysctl") == 0 && value->kind == BE_SCALAR)
			set_factor(p, factor, value->text, name, be_get_str(set, "name", ""));
		else if (strcmp(kind, "sysfs") == 0 && value->kind == BE_SCALAR && paths.n)
			set_factor(p, factor, value->text, name, paths.v[0]);
		else if (strcmp(kind, "sysfs") != 0 || value->kind != BE_MAP || !paths.n)
			return unsettable(factor, name, value, err);
		else if (set_named(p, factor, name, value, paths.v[0], err))
			return -1;
	}
	return 0;
}

int be_plan_settings(struct be_planner *p, struct be_error *err)
{
	struct be_node *settings = be_node_seq();
	be_set(p->plan, "settings", settings);
	if (sysctls(p, err))
		return -1;
	const char *testdir = be_get_str(be_get(p->plan, "layout"), "testdir", "/");
	if (be_get_path(p->plan, "workload.parameters") &&
	    be_workload_entries(be_get(p->plan, "workload"), "settings", testdir, &p->size, p->rules.date, settings,
				err))
		return -1;
	for (size_t i = 0; i < BE_ARRAY_LEN(files); i++)
		sysfs(p, files[i].key, files[i].option, files[i].path, files[i].after_disks);
	governor(p);
	return environment(p, err);
}
