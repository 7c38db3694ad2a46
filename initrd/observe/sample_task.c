/* What one look sees of processes: the workload's own, and all others. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "initrd/observe/procs.h"
#include "initrd/observe/sample.h"

/* The second look: what is read once is read then (and at the first, in case there is no second). */
#define SETTLED_LOOK 1
/* Of the workload's processes that are looked at at once: up to the second look, and later. */
#define TASKS_LOOKED 4
#define TASKS_LOOKED_LATER 2

char *be_open_flags_text(unsigned flags)
{
	static const struct {
		unsigned flag;
		const char *word;
	} words[] = { { O_DIRECT, "O_DIRECT" }, { O_SYNC, "O_SYNC" }, { O_DSYNC, "O_DSYNC" } };
	be_autobuf struct be_buf out = { 0 };
	for (size_t i = 0; i < BE_ARRAY_LEN(words); i++) {
		if ((flags & words[i].flag) != words[i].flag)
			continue;
		be_buf_addf(&out, "%s%s", out.len ? "+" : "", words[i].word);
		flags &= ~words[i].flag; /* O_SYNC holds the bit of O_DSYNC */
	}
	return out.len ? be_buf_steal(&out) : be_strdup("none of O_DIRECT, O_SYNC, O_DSYNC");
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
	be_sample_add(&sample->open_flags, text);
}

/* A test file: a regular file on the same file system as the test directory, open for it or already unlinked. */
static bool is_test_file(const char *fd, dev_t testdev)
{
	struct stat st;
	return stat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_dev == testdev;
}

/* Looks at the descriptors of a process: open flags of test files where it is the workload's. Returns how many are perf
 * events. */
static size_t look_at_files(struct be_sample *sample, pid_t pid, bool workload, dev_t testdev)
{
	be_autofree char *dir = be_strf("/proc/%d/fd", pid);
	be_autostrv struct be_strv fds = { 0 };
	size_t events = 0;
	if (be_root_list(&sample->root, dir, &fds) != 0)
		return 0;
	for (size_t i = 0; i < fds.n; i++) {
		be_autofree char *fd = be_strf("%s/%s", dir, fds.v[i]), *target = be_root_link(&sample->root, fd);
		be_autofree char *full = be_root_path(&sample->root, fd);
		events += be_streq(target, "anon_inode:[perf_event]");
		/* Pipes, sockets and the like have no path. */
		if (workload && target && strchr(target, '/') && is_test_file(full, testdev))
			look_at_flags(sample, pid, fds.v[i]);
	}
	return events;
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

/* The advice in a VmFlags line, joined with "+". */
static char *advice_text(const char *line)
{
	static const char *const words[][2] = {
		{ " rr", "MADV_RANDOM" },
		{ " sr", "MADV_SEQUENTIAL" },
		{ " hg", "MADV_HUGEPAGE" },
		{ " nh", "MADV_NOHUGEPAGE" },
	};
	be_autobuf struct be_buf out = { 0 };
	for (size_t i = 0; i < BE_ARRAY_LEN(words); i++)
		if (strstr(line, words[i][0]))
			be_buf_addf(&out, "%s%s", out.len ? "+" : "", words[i][1]);
	return out.len ? be_buf_steal(&out) : be_strdup("none");
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
		be_autofree char *advice = advice_text(line);
		be_sample_add(&sample->map_flags, advice);
		sample->maps_seen = true;
	}
}

/* Pages that a line of numa_maps states: the sum of its "N0=12 N1=3" words. */
static long line_pages(const char *line)
{
	long pages = 0;
	for (const char *p = strstr(line, " N"); p; p = strstr(p + 2, " N")) {
		char *end;
		strtol(p + 2, &end, 10);
		if (end != p + 2 && *end == '=')
			pages += strtol(end + 1, NULL, 10);
	}
	return pages;
}

#define POLICIES 16 /* different ones in one process; a workload has one or two */

char *be_numa_policy_of(const char *numa_maps)
{
	be_autofree char *copy = be_strdup(numa_maps);
	be_autostrv struct be_strv names = { 0 };
	long pages[POLICIES] = { 0 };
	char *save = NULL;
	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *word = strchr(line, ' ');
		be_autofree char *name = word ? be_strndup(word + 1, strcspn(word + 1, " ")) : NULL;
		size_t i = 0;
		while (name && i < names.n && !be_streq(names.v[i], name))
			i++;
		if (!name || i >= POLICIES)
			continue;
		if (i == names.n)
			be_strv_add(&names, name);
		pages[i] += line_pages(word);
	}
	size_t most = 0;
	for (size_t i = 1; i < names.n; i++)
		if (pages[i] > pages[most])
			most = i;
	return names.n ? be_strdup(names.v[most]) : NULL;
}

static char *proc_text(const struct be_sample *sample, pid_t pid, const char *name)
{
	be_autofree char *path = be_strf("/proc/%d/%s", pid, name);
	return be_root_text(&sample->root, path);
}

/* What does not change once the workload runs. */
static void look_at_task(struct be_sample *sample, pid_t pid)
{
	be_autofree char *status = proc_text(sample, pid, "status"), *maps = proc_text(sample, pid, "numa_maps");
	be_autofree char *policy = maps ? be_numa_policy_of(maps) : NULL;
	if (status)
		be_strv_add(&sample->statuses, status);
	if (policy)
		be_sample_add(&sample->numa_policies, policy);
}

/* "0::/a/b" is the line of the cgroup2 hierarchy. */
static char *cgroup_path(const struct be_sample *sample, pid_t pid)
{
	be_autofree char *text = proc_text(sample, pid, "cgroup");
	const char *line = text ? (be_starts(text, "0::") ? text : strstr(text, "\n0::")) : NULL;
	if (!line)
		return NULL;
	line = strchr(line, '/');
	return line ? be_strndup(line, strcspn(line, "\n")) : NULL;
}

static void begin_settled_look(struct be_sample *sample, pid_t leader)
{
	free(sample->cgroup);
	sample->cgroup = cgroup_path(sample, leader);
	be_strv_free(&sample->statuses);
	be_strv_free(&sample->numa_policies);
	sample->statuses = sample->numa_policies = (struct be_strv){ 0 };
}

static bool is_workload(const struct be_sample *sample, const struct be_procs *procs, const struct be_proc *proc,
			pid_t leader)
{
	for (size_t i = 0; i < sample->n_daemons; i++)
		if (be_procs_below(procs, proc, sample->daemons[i]))
			return true;
	return be_procs_below(procs, proc, leader);
}

/* Many processes do the same: some of them, spread over all, and other ones at the next look. */
static size_t look_at_workload(struct be_sample *sample, const struct be_proc *const *procs, size_t n, dev_t testdev)
{
	bool settled = sample->ticks <= SETTLED_LOOK;
	size_t most = settled ? TASKS_LOOKED : TASKS_LOOKED_LATER, stride = (n + most - 1) / most, events = 0;
	for (size_t i = stride ? sample->task_looks++ % stride : 0; i < n; i += stride) {
		events += look_at_files(sample, procs[i]->pid, true, testdev);
		look_at_maps(sample, procs[i]->pid);
		if (settled)
			look_at_task(sample, procs[i]->pid);
	}
	return events;
}

void be_sample_tasks(struct be_sample *sample, pid_t leader)
{
	be_autoprocs struct be_procs procs = { 0 };
	be_autofree char *testdir = be_root_path(&sample->root, sample->scopes->testdir);
	struct stat st;
	if (be_procs_load(&procs, &sample->root, false) != 0 || stat(testdir, &st) != 0)
		return;
	if (sample->ticks <= SETTLED_LOOK)
		begin_settled_look(sample, leader);
	be_autofree const struct be_proc **workload = be_alloc((procs.n + 1) * sizeof(*workload));
	size_t n = 0, events = 0;
	for (size_t i = 0; i < procs.n; i++) {
		const struct be_proc *proc = &procs.v[i];
		if (is_workload(sample, &procs, proc, leader)) {
			workload[n++] = proc;
			continue;
		}
		if (proc->kernel || proc->pid == 1 || proc->pid == getpid())
			continue;
		events += look_at_files(sample, proc->pid, false, st.st_dev);
		be_sample_add(&sample->background, proc->name);
	}
	events += look_at_workload(sample, workload, n, st.st_dev);
	if (events > sample->perf_events)
		sample->perf_events = events;
}
