#include "initrd/sample.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "initrd/procs.h"
#include "initrd/sample_cpu.h"
#include "initrd/system.h"

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
	free(sample->status);
	free(sample->cgroup);
	free(sample->numa_policy);
	be_strv_free(&sample->open_flags);
	be_strv_free(&sample->map_flags);
	be_strv_free(&sample->background);
	be_strv_free(&sample->resyncs);
	*sample = (struct be_sample){ 0 };
}

static void add_distinct(struct be_strv *list, const char *text)
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
	sample->ended = be_monotonic();
	sample->cpu_end = be_sample_cpus(&sample->root, sample->scopes);
	sample->io_end = disk_counters(sample);
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
	if (share > sample->dirty_highest)
		sample->dirty_highest = share;
	if (share >= 1 && sample->dirty_hit <= 0) {
		sample->dirty_hit = sample->dirty_last;
		sample->dirtied_hit = vm.dirtied;
	}
}

static double rate(int64_t pages, double seconds)
{
	return seconds > 0 ? (double)pages * (double)sysconf(_SC_PAGESIZE) / seconds : 0;
}

struct be_node *be_sample_dirty(const struct be_sample *sample)
{
	if (sample->dirty_last <= 0)
		return NULL;
	bool hit = sample->dirty_hit > 0;
	double until = hit ? sample->dirty_hit : sample->dirty_last;
	int64_t dirtied = (hit ? sample->dirtied_hit : sample->dirtied_last) - sample->dirtied_begin;
	struct be_node *map = be_node_map();
	be_set(map, "seconds", hit ? be_node_strf("%.0f", sample->dirty_hit) : be_node_str("never"));
	be_set_int(map, "highest_percent", (int64_t)(sample->dirty_highest * 100));
	be_set_int(map, "bytes_per_second_before", (int64_t)rate(dirtied, until));
	if (hit && sample->dirty_last > sample->dirty_hit)
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
			add_distinct(&sample->resyncs, text);
	}
}

char *be_open_flags_text(unsigned flags)
{
	static const struct {
		unsigned flag;
		const char *word;
	} words[] = {
		{ O_DIRECT, "O_DIRECT" }, { O_SYNC, "O_SYNC" },         { O_DSYNC, "O_DSYNC" },
		{ O_APPEND, "O_APPEND" }, { O_NONBLOCK, "O_NONBLOCK" },
	};
	static const char *const modes[] = { "O_RDONLY", "O_WRONLY", "O_RDWR", "O_ACCMODE" };
	be_autobuf struct be_buf out = { 0 };
	be_buf_adds(&out, modes[flags & O_ACCMODE]);
	for (size_t i = 0; i < BE_ARRAY_LEN(words); i++) {
		if ((flags & words[i].flag) != words[i].flag)
			continue;
		be_buf_addf(&out, "|%s", words[i].word);
		flags &= ~words[i].flag; /* O_SYNC holds the bit of O_DSYNC */
	}
	return be_buf_steal(&out);
}

/* The open flags of one descriptor, by its fdinfo. */
static void look_at_flags(struct be_sample *sample, pid_t pid, const char *fd)
{
	be_autofree char *path = be_strf("/proc/%d/fdinfo/%s", pid, fd);
	be_autofree char *info = be_root_text(&sample->root, path);
	const char *flags = info ? strstr(info, "flags:") : NULL;
	if (!flags)
		return;
	be_autofree char *text = be_open_flags_text((unsigned)strtoul(flags + 6, NULL, 8));
	add_distinct(&sample->open_flags, text);
}

/* Test files are regular files on the same file system as the test directory, open for it or already unlinked. */
static void look_at_files(struct be_sample *sample, pid_t pid, dev_t testdev)
{
	be_autofree char *dir = be_strf("/proc/%d/fd", pid);
	be_autostrv struct be_strv fds = { 0 };
	if (be_root_list(&sample->root, dir, &fds) != 0)
		return;
	for (size_t i = 0; i < fds.n; i++) {
		be_autofree char *fd = be_strf("%s/%s", dir, fds.v[i]);
		be_autofree char *full = be_root_path(&sample->root, fd);
		struct stat st;
		if (stat(full, &st) == 0 && S_ISREG(st.st_mode) && st.st_dev == testdev)
			look_at_flags(sample, pid, fds.v[i]);
	}
}

/* "ADDRESSES PERMS OFFSET DEV INODE   PATH": is it a shared mapping of a file below @prefix? */
static bool maps_test_file(const char *line, const char *prefix)
{
	const char *perms = strchr(line, ' '), *path = strchr(line, '/');
	return perms && path && strlen(perms) > 4 && perms[4] == 's' && be_starts(path, prefix);
}

static bool begins_mapping(const char *line)
{
	size_t digits = strspn(line, "0123456789abcdef");
	return digits && line[digits] == '-';
}

/* Does the process map test files at all? smaps is costly, so this is asked first. */
static bool maps_any(const struct be_sample *sample, pid_t pid, const char *prefix)
{
	be_autofree char *path = be_strf("/proc/%d/maps", pid);
	be_autofree char *maps = be_root_text(&sample->root, path);
	char *save = NULL;
	for (char *line = maps ? strtok_r(maps, "\n", &save) : NULL; line; line = strtok_r(NULL, "\n", &save))
		if (maps_test_file(line, prefix))
			return true;
	return false;
}

/* What was advised for mappings of test files: the VmFlags that smaps states of them. */
static void look_at_maps(struct be_sample *sample, pid_t pid)
{
	const char *testdir = sample->scopes->testdir;
	be_autofree char *prefix = be_strf("%s/", be_streq(testdir, "/") ? "" : testdir);
	if (sample->maps_seen || !maps_any(sample, pid, prefix))
		return;
	be_autofree char *path = be_strf("/proc/%d/smaps", pid);
	be_autofree char *smaps = be_root_text(&sample->root, path);
	bool of_test = false;
	char *save = NULL;
	for (char *line = smaps ? strtok_r(smaps, "\n", &save) : NULL; line; line = strtok_r(NULL, "\n", &save)) {
		if (begins_mapping(line))
			of_test = maps_test_file(line, prefix);
		if (!of_test || !be_starts(line, "VmFlags:"))
			continue;
		bool random = strstr(line, " rr") != NULL, sequential = strstr(line, " sr") != NULL;
		add_distinct(&sample->map_flags, random ? "MADV_RANDOM" : sequential ? "MADV_SEQUENTIAL" : "none");
		sample->maps_seen = true;
	}
}

static size_t count_perf_events(const struct be_sample *sample, pid_t pid)
{
	be_autofree char *dir = be_strf("/proc/%d/fd", pid);
	be_autostrv struct be_strv fds = { 0 };
	size_t count = 0;
	if (be_root_list(&sample->root, dir, &fds) != 0)
		return 0;
	for (size_t i = 0; i < fds.n; i++) {
		be_autofree char *fd = be_strf("%s/%s", dir, fds.v[i]);
		be_autofree char *full = be_root_path(&sample->root, fd);
		char target[64];
		ssize_t n = readlink(full, target, sizeof(target) - 1);
		target[n > 0 ? n : 0] = '\0';
		count += be_streq(target, "anon_inode:[perf_event]");
	}
	return count;
}

/* The first mapping's policy in /proc/PID/numa_maps: the task's own, unless the mapping was bound apart. */
static char *numa_policy(const struct be_root *root, pid_t pid)
{
	be_autofree char *path = be_strf("/proc/%d/numa_maps", pid);
	be_autofree char *text = be_root_text(root, path);
	char *word = text ? strchr(text, ' ') : NULL;
	return word ? be_strndup(word + 1, strcspn(word + 1, " \n")) : NULL;
}

static char *proc_text(const struct be_root *root, pid_t pid, const char *name)
{
	be_autofree char *path = be_strf("/proc/%d/%s", pid, name);
	return be_root_text(root, path);
}

static void look_at_leader(struct be_sample *sample, pid_t pid)
{
	if (!sample->status)
		sample->status = proc_text(&sample->root, pid, "status");
	if (!sample->cgroup)
		sample->cgroup = proc_text(&sample->root, pid, "cgroup");
	if (!sample->numa_policy)
		sample->numa_policy = numa_policy(&sample->root, pid);
}

static void look_at_processes(struct be_sample *sample, pid_t pid)
{
	be_autoprocs struct be_procs procs = { 0 };
	be_autofree char *testdir = be_root_path(&sample->root, sample->scopes->testdir);
	struct stat st;
	if (be_procs_load(&procs, &sample->root) != 0 || stat(testdir, &st) != 0)
		return;
	pid_t own = getpid();
	size_t events = 0;
	for (size_t i = 0; i < procs.n; i++) {
		const struct be_proc *proc = &procs.v[i];
		if (proc->kernel || proc->pid == 1 || proc->pid == own)
			continue;
		events += count_perf_events(sample, proc->pid);
		if (be_procs_below(&procs, proc, pid)) {
			look_at_files(sample, proc->pid, st.st_dev);
			look_at_maps(sample, proc->pid);
		} else {
			add_distinct(&sample->background, proc->name);
		}
	}
	if (events > sample->perf_events)
		sample->perf_events = events;
}

void be_sample_tick(struct be_sample *sample, pid_t pid)
{
	look_at_dirty(sample);
	look_at_leader(sample, pid);
	look_at_processes(sample, pid);
	look_at_arrays(sample);
	sample->ticks++;
}
