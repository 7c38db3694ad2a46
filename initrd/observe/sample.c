#include "initrd/observe/sample.h"

#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "initrd/observe/sample_cpu.h"
#include "initrd/system.h"

#define EACH_SECOND 60  /* looks; later the counters are looked at every fourth time */
#define DISTINCT_MAX 32 /* of each kind of text; more say nothing new */

void be_sample_init(struct be_sample *sample, const struct be_root *root, const struct be_scopes *scopes)
{
	*sample = (struct be_sample){ .root = { .prefix = root->prefix }, .scopes = scopes };
}

void be_sample_free(struct be_sample *sample)
{
	be_node_free(sample->io_begin);
	be_node_free(sample->io_end);
	be_node_free(sample->cpu_begin);
	be_node_free(sample->cpu_end);
	free(sample->cgroup);
	be_strv_free(&sample->statuses);
	be_strv_free(&sample->numa_policies);
	be_strv_free(&sample->open_flags);
	be_strv_free(&sample->map_flags);
	be_strv_free(&sample->background);
	be_strv_free(&sample->resyncs);
	*sample = (struct be_sample){ 0 };
}

void be_sample_add(struct be_strv *list, const char *text)
{
	if (list->n < DISTINCT_MAX && !be_strv_has(list, text))
		be_strv_add(list, text);
}

static struct be_node *disk_counters(const struct be_sample *sample)
{
	const struct be_instances *disks = &sample->scopes->of[BE_SCOPE_DISK];
	struct be_node *map = be_node_map();
	for (size_t i = 0; i < disks->n; i++) {
		if (!disks->v[i].kernel)
			continue;
		be_autofree char *path = be_strf("/sys/block/%s/stat", disks->v[i].kernel);
		be_autofree char *text = be_root_text(&sample->root, path);
		be_set_str(map, disks->v[i].kernel, text);
	}
	return map;
}

struct vmstat {
	int64_t dirty, writeback, threshold, dirtied;
};

static bool read_vmstat(const struct be_root *root, struct vmstat *vm)
{
	const struct {
		const char *name;
		int64_t *value;
	} wanted[] = {
		{ "nr_dirty ", &vm->dirty },
		{ "nr_writeback ", &vm->writeback },
		{ "nr_dirty_threshold ", &vm->threshold },
		{ "nr_dirtied ", &vm->dirtied },
	};
	*vm = (struct vmstat){ 0 };
	be_autofree char *text = be_root_text(root, "/proc/vmstat");
	char *save = NULL;
	for (char *line = text ? strtok_r(text, "\n", &save) : NULL; line; line = strtok_r(NULL, "\n", &save))
		for (size_t i = 0; i < BE_ARRAY_LEN(wanted); i++)
			if (be_starts(line, wanted[i].name))
				*wanted[i].value = strtoll(line + strlen(wanted[i].name), NULL, 10);
	return vm->threshold > 0;
}

static void look_at_dirty(struct be_sample *sample)
{
	struct vmstat vm;
	if (!read_vmstat(&sample->root, &vm))
		return;
	/* The kernel counts pages under writeback towards the limit as well. */
	double share = (double)(vm.dirty + vm.writeback) / (double)vm.threshold;
	sample->dirty_last = be_monotonic() - sample->began;
	sample->dirtied_last = vm.dirtied;
	if (share >= 1 && sample->dirty_hit <= 0) {
		sample->dirty_hit = sample->dirty_last;
		sample->dirtied_hit = vm.dirtied;
	}
}

void be_sample_begin(struct be_sample *sample)
{
	struct vmstat vm;
	if (read_vmstat(&sample->root, &vm))
		sample->dirtied_begin = sample->dirtied_last = vm.dirtied;
	sample->io_begin = disk_counters(sample);
	sample->cpu_begin = be_sample_cpus(&sample->root, sample->scopes);
	sample->began = be_monotonic();
}

void be_sample_end(struct be_sample *sample)
{
	if (sample->began <= 0 || sample->ended > 0)
		return;
	if (sample->dirty_hit > 0) /* what was written since */
		look_at_dirty(sample);
	sample->ended = be_monotonic();
	sample->cpu_end = be_sample_cpus(&sample->root, sample->scopes);
	sample->io_end = disk_counters(sample);
}

static double rate(int64_t pages, double seconds)
{
	return seconds > 0 ? (double)pages * (double)sysconf(_SC_PAGESIZE) / seconds : 0;
}

struct be_node *be_sample_dirty(const struct be_sample *sample)
{
	if (sample->dirty_last <= 0)
		return NULL;
	if (sample->dirty_hit <= 0)
		return be_node_str("never reached");
	struct be_node *map = be_node_map();
	be_set_int(map, "seconds", (int64_t)(sample->dirty_hit + 0.5));
	be_set_int(map, "bytes_per_second_before",
		   (int64_t)rate(sample->dirtied_hit - sample->dirtied_begin, sample->dirty_hit));
	if (sample->dirty_last > sample->dirty_hit)
		be_set_int(map, "bytes_per_second_after",
			   (int64_t)rate(sample->dirtied_last - sample->dirtied_hit,
					 sample->dirty_last - sample->dirty_hit));
	return map;
}

static void look_at_arrays(struct be_sample *sample)
{
	const struct be_instances *arrays = &sample->scopes->of[BE_SCOPE_MD];
	for (size_t i = 0; i < arrays->n; i++) {
		if (!arrays->v[i].kernel)
			continue;
		be_autofree char *path = be_strf("/sys/block/%s/md/sync_action", arrays->v[i].kernel);
		be_autofree char *action = be_root_text(&sample->root, path);
		be_autofree char *text = action ? be_strf("%s: %s", arrays->v[i].key, action) : NULL;
		if (action && !be_streq(action, "idle"))
			be_sample_add(&sample->resyncs, text);
	}
}

/* Looks at processes cost most, and what they see changes least: each comes after four times as long, from a second. */
static bool is_due(struct be_sample *sample, pid_t leader)
{
	unsigned tick = sample->leader == leader ? sample->of_leader : 0;
	sample->leader = leader;
	sample->of_leader = tick + 1;
	while (tick && tick % 4 == 0)
		tick /= 4;
	return tick <= 1;
}

/* The longer the run, the less a second matters. When the dirty limit was hit only the end is of interest. */
static bool counters_are_due(const struct be_sample *sample)
{
	return sample->dirty_hit <= 0 && (sample->ticks < EACH_SECOND || sample->ticks % 4 == 0);
}

void be_sample_tick(struct be_sample *sample, pid_t pid)
{
	double begin = be_cpu_seconds();
	if (counters_are_due(sample))
		look_at_dirty(sample);
	look_at_arrays(sample);
	if (is_due(sample, pid))
		be_sample_tasks(sample, pid);
	sample->ticks++;
	sample->cost += be_cpu_seconds() - begin;
}
