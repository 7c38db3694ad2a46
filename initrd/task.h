/* The processes of one step: one program, several copies of it at once, or a daemon in the background. */
#ifndef BE_TASK_H
#define BE_TASK_H

#include <sys/types.h>

#include "base/process.h"

struct be_task {
	/* in */
	char *const *argv;
	char *const *env;
	const char *cwd, *stdin_data; /* stdin_data: text or NULL */
	int out_fd, err_fd;
	unsigned copies; /* at once; 0 counts as 1 */
	double timeout;  /* seconds for each; 0: none */
	/* As in struct be_run; @pid leads what belongs to the step: it, its process group and all their children. */
	void (*tick)(void *data, pid_t pid, double elapsed);
	void *tick_data;
	/* out; of several copies the first that did not end well, and the longest time */
	int status, signal;
	bool timed_out;
	double seconds;
};

/* Runs and waits. Returns -1 only when a program could not be started. */
int be_task_run(struct be_task *task, struct be_error *err) BE_MUST_CHECK;

/* Starts it and returns the process that watches over it; -1 when it ended within a moment. */
pid_t be_daemon_start(const struct be_task *task, struct be_error *err);
/* Ends a daemon with all its children: SIGTERM, two seconds later SIGKILL. */
void be_daemon_stop(pid_t pid);

#endif
