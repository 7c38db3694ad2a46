/* Probes of what the runner saw while the workload ran (initrd/sample.h). */
#include <string.h>

#include "initrd/observe/probes.h"
#include "initrd/observe/sample_cpu.h"

#define SECTOR 512

/* Why there is no sample, or 0 looks were taken; state BE_READ when there is one. */
static struct be_reading no_sample(const struct be_look *look)
{
	if (!look->o->sample || look->o->sample->began <= 0)
		return be_reading_not_observable("no workload ran");
	if (!look->o->sample->ticks)
		return be_reading_not_observable("the workload ended before the first look");
	return (struct be_reading){ .state = BE_READ };
}

static bool sampled(const struct be_look *look, struct be_reading *reason)
{
	*reason = no_sample(look);
	return reason->state == BE_READ;
}

/* Field numbers of Documentation/block/stat.rst; the later ones came with 4.18 (discard) and 5.5 (flush). */
enum { READS = 0, READ_SECTORS = 2, WRITES = 4, WRITE_SECTORS = 6, DISCARDS = 11, DISCARD_SECTORS = 13, FLUSHES = 15 };

static void add_difference(struct be_node *map, const char *key, const struct be_strv *begin, const struct be_strv *end,
			   size_t field, int64_t unit)
{
	if (field >= begin->n || field >= end->n)
		return;
	uint64_t from = strtoull(begin->v[field], NULL, 10), to = strtoull(end->v[field], NULL, 10);
	be_set_int(map, key, (int64_t)(to - from) * unit);
}

struct be_reading be_probe_io_during_run(const struct be_look *look)
{
	const struct be_sample *sample = look->o->sample;
	const char *disk = look->at->kernel ? look->at->kernel : "";
	const char *begin_text = sample ? be_get_str(sample->io_begin, disk, NULL) : NULL;
	const char *end_text = sample ? be_get_str(sample->io_end, disk, NULL) : NULL;
	if (!sample || sample->ended <= 0)
		return be_reading_not_observable("no workload ran");
	if (!begin_text || !end_text)
		return be_reading_absent("no such file /sys/block/%s/stat", disk);
	be_autostrv struct be_strv begin = { 0 }, end = { 0 };
	be_strv_split(&begin, begin_text, " \t");
	be_strv_split(&end, end_text, " \t");
	struct be_node *map = be_node_map();
	add_difference(map, "reads", &begin, &end, READS, 1);
	add_difference(map, "read_bytes", &begin, &end, READ_SECTORS, SECTOR);
	add_difference(map, "writes", &begin, &end, WRITES, 1);
	add_difference(map, "written_bytes", &begin, &end, WRITE_SECTORS, SECTOR);
	add_difference(map, "discards", &begin, &end, DISCARDS, 1);
	add_difference(map, "discarded_bytes", &begin, &end, DISCARD_SECTORS, SECTOR);
	add_difference(map, "flushes", &begin, &end, FLUSHES, 1);
	return be_reading_value(map);
}

struct be_reading be_probe_effective_mhz(const struct be_look *look)
{
	const struct be_sample *sample = look->o->sample;
	if (!sample || sample->ended <= 0)
		return be_reading_not_observable("no workload ran");
	const struct be_node *begin = be_get(sample->cpu_begin, look->at->key);
	const struct be_node *end = be_get(sample->cpu_end, look->at->key);
	double mhz = begin && end ? be_effective_mhz(begin, end, sample->ended - sample->began) : 0;
	if (mhz <= 0)
		return be_reading_not_observable("APERF and MPERF cannot be read on this machine");
	return be_reading_value(be_node_int((int64_t)(mhz + 0.5)));
}

/* Files of a cgroup2 and the text that means no limit (Documentation/admin-guide/cgroup-v2.rst). */
static const char *const cgroup_defaults[][2] = {
	{ "cpu.max", "max 100000" }, { "cpu.weight", "100" }, { "cpuset.cpus", "" },
	{ "cpuset.mems", "" },       { "io.max", "" },        { "memory.high", "max" },
	{ "memory.max", "max" },     { "memory.low", "0" },   { "pids.max", "max" },
};

struct be_reading be_probe_task_cgroup(const struct be_look *look)
{
	static const char *const mounts[] = { "/sys/fs/cgroup", "/cgroup2" };
	struct be_reading reason;
	if (!sampled(look, &reason))
		return reason;
	const char *path = look->o->sample->cgroup;
	if (!path)
		return be_reading_absent("no cgroup2 hierarchy is mounted");
	struct be_node *map = be_node_map();
	be_set_str(map, "path", path);
	for (size_t m = 0; m < BE_ARRAY_LEN(mounts); m++)
		for (size_t i = 0; i < BE_ARRAY_LEN(cgroup_defaults); i++) {
			be_autofree char *file = be_strf("%s%s/%s", mounts[m], path, cgroup_defaults[i][0]);
			be_autofree char *text = be_root_text(&look->o->root, file);
			if (text && !be_streq(text, cgroup_defaults[i][1]))
				be_set_str(map, cgroup_defaults[i][0], text);
		}
	return be_reading_value(map);
}

/* One text alone, more as a sorted list, @none where there were none. */
static struct be_reading list_or(const struct be_strv *list, const char *none)
{
	be_autostrv struct be_strv sorted = { 0 };
	be_strv_add_all(&sorted, list);
	be_strv_sort_unique(&sorted);
	if (sorted.n <= 1)
		return be_reading_text(sorted.n ? sorted.v[0] : none);
	return be_reading_value(be_node_strv(&sorted));
}

struct be_reading be_probe_task_status(const struct be_look *look)
{
	const char *field = be_get_str(look->how, "field", "");
	be_autostrv struct be_strv values = { 0 };
	struct be_reading reason;
	if (!sampled(look, &reason))
		return reason;
	for (size_t i = 0; i < look->o->sample->statuses.n; i++) {
		char *value = be_field(look->o->sample->statuses.v[i], field);
		if (value)
			be_strv_take(&values, value);
	}
	return values.n ? list_or(&values, "") : be_reading_absent("/proc/PID/status has no field %s", field);
}

struct be_reading be_probe_numa_policy(const struct be_look *look)
{
	const struct be_sample *sample = look->o->sample;
	struct be_reading reason;
	if (!sampled(look, &reason))
		return reason;
	return sample->numa_policies.n ? list_or(&sample->numa_policies, "")
				       : be_reading_absent("no NUMA in this kernel: no such file /proc/PID/numa_maps");
}

struct be_reading be_probe_perf_events(const struct be_look *look)
{
	struct be_reading reason;
	if (!sampled(look, &reason))
		return reason;
	return be_reading_value(be_node_int((int64_t)look->o->sample->perf_events));
}

struct be_reading be_probe_processes(const struct be_look *look)
{
	be_autostrv struct be_strv sorted = { 0 };
	struct be_reading reason;
	if (!sampled(look, &reason))
		return reason;
	be_strv_add_all(&sorted, &look->o->sample->background);
	be_strv_sort_unique(&sorted);
	return be_reading_value(be_node_strv(&sorted));
}

struct be_reading be_probe_open_flags(const struct be_look *look)
{
	struct be_reading reason;
	return sampled(look, &reason) ? list_or(&look->o->sample->open_flags, "no file open") : reason;
}

struct be_reading be_probe_map_flags(const struct be_look *look)
{
	struct be_reading reason;
	return sampled(look, &reason) ? list_or(&look->o->sample->map_flags, "no file mapped") : reason;
}
