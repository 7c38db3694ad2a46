/* A server that runs in the foreground under us, its messages in a file. */
#ifndef BE_DAEMON_H
#define BE_DAEMON_H

#include <sys/types.h>

#include "base/str.h"

struct be_daemon {
	const char *name;
	pid_t pid; /* 0: does not run */
	char *log; /* file that standard output and error go to */
};

/* Starts @argv; it ends when we do, whatever becomes of us. @log is a file to make. */
int be_daemon_start(struct be_daemon *daemon, const char *name, const struct be_strv *argv, const char *log,
		    struct be_error *err) BE_MUST_CHECK;
/* -1 with its last words when it has ended. */
int be_daemon_check(struct be_daemon *daemon, struct be_error *err) BE_MUST_CHECK;
/* Ends it: SIGTERM, after some seconds SIGKILL. */
void be_daemon_stop(struct be_daemon *daemon);

#endif
