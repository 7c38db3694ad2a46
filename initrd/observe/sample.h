/*
 * What is seen while the workload runs: once a second the runner looks at a few counters, and at the workload's
 * processes at the first, second, fifth, 17th ... of these looks. It costs little, and it is stated: the runner is a
 * monitor too.
 */
#ifndef BE_SAMPLE_H
#define BE_SAMPLE_H

#include <sys/types.h>

#include "base/file.h"
#include "base/node.h"
#include "initrd/observe/scopes.h"

struct be_sample {
	struct be_root root;
	const struct be_scopes *scopes;
	const pid_t *daemons; /* of the workload, besides the step that runs; the caller's */
	size_t n_daemons;
	double began, ended; /* by CLOCK_MONOTONIC; 0: not yet */
	unsigned ticks;      /* of a measured step */
	unsigned task_looks; /* at processes, which become rarer than the ticks */
	pid_t leader;        /* of the process group that was looked at last */
	unsigned of_leader;  /* looks at it */
	double cost;         /* seconds of the processor that the looks took */
	/* counters before and after the run: map kernel name -> text of /sys/block/NAME/stat */
	struct be_node *io_begin, *io_end;
	struct be_node *cpu_begin, *cpu_end; /* map CPU -> {aperf, mperf, tsc} */
	/* of the workload's processes, as they were at the second look: a prefix such as numactl is gone by then */
	struct be_strv statuses, numa_policies; /* texts of /proc/PID/status; policies of most pages */
	char *cgroup;                           /* path in the cgroup2 hierarchy, of the first process */
	/* of all looks: distinct texts */
	struct be_strv open_flags, map_flags, background, resyncs;
	bool maps_seen;     /* smaps walks page tables, so it is read only until a mapping of a test file was found */
	size_t perf_events; /* most at one look */
	/* /proc/vmstat, pages */
	int64_t dirtied_begin, dirtied_hit, dirtied_last;
	double dirty_hit, dirty_last; /* seconds since the start; 0: not reached, not looked */
};

void be_sample_init(struct be_sample *sample, const struct be_root *root, const struct be_scopes *scopes);
void be_sample_free(struct be_sample *sample);
void be_sample_begin(struct be_sample *sample); /* just before the first step */
void be_sample_end(struct be_sample *sample);   /* just after the last */
/* One look; @pid leads the process group of the step that runs. */
void be_sample_tick(struct be_sample *sample, pid_t pid);

/* Value of factor vm.dirty_limit_first_hit; NULL when there was no look. */
struct be_node *be_sample_dirty(const struct be_sample *sample);

/* sample_task.c: the part of a look that is about processes. */
void be_sample_tasks(struct be_sample *sample, pid_t leader);
void be_sample_add(struct be_strv *list, const char *text); /* unless it is there or the list is long */

/* Which of O_DIRECT, O_SYNC and O_DSYNC are in @flags, joined with "+"; "none of ..." without any. The caller frees. */
char *be_open_flags_text(unsigned flags);
/* The policy that holds for most pages in the text of a numa_maps file, or NULL. The caller frees. */
char *be_numa_policy_of(const char *numa_maps);

#endif
