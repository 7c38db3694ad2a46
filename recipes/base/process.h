/* Programs are run by argument vector, never by a shell. */
#ifndef BE_BASE_PROCESS_H
#define BE_BASE_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/str.h"

struct be_run {
	/* in */
	char *const *argv; /* argv[0] is searched in PATH unless it holds a slash */
	char *const *env;  /* NULL: this process's own */
	const char *cwd;   /* NULL: as it is */
	const char *stdin_data;
	size_t stdin_len; /* with stdin_data; without it standard input is /dev/null */
	int stdout_fd; /* > 0: goes there; else captured up to out_limit bytes in out (the rest is read and dropped) */
	int stderr_fd; /* > 0: goes there; else captured in errout */
	size_t out_limit; /* 0: 1 MiB */
	double timeout;   /* seconds; 0: none. The whole process group gets SIGTERM, two seconds later SIGKILL */
	/* called a quarter of a second after the start and then about once a second while it runs, or NULL */
	void (*tick)(void *data, pid_t pid, double elapsed);
	void *tick_data;
	/* out */
	struct be_buf out, errout;
	int status; /* exit status; 128 + signal when killed by one */
	int signal; /* 0, or the signal that ended it */
	bool timed_out;
	double seconds; /* wall clock, from its fork to its end */
};
void be_run_free(struct be_run *run);
#define be_autorun be_cleanup(be_run_free)

/*
 * Runs and waits. Returns 0 when the program was started and ended, whatever its status; -1 when it could not be
 * started. The child leads a process group of its own and dies with its parent.
 */
int be_run(struct be_run *run, struct be_error *err) BE_MUST_CHECK;
/* Runs, and makes a status other than 0 an error that shows the command and the last lines of its stderr. */
int be_run_ok(struct be_run *run, struct be_error *err) BE_MUST_CHECK;
/* The vector as one shell-quoted line; the caller frees. */
char *be_argv_text(char *const *argv);

#endif
