#include "builder/lab/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

#define STOP_TICKS 250 /* of 20 ms until SIGKILL */
#define LOG_MAX (64u << 20)
#define LAST_WORDS 600 /* bytes of the log that are shown */

static _Noreturn void child(const struct be_strv *argv, int log, int report)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	/* A group of its own: Ctrl-C is for us, we stop it in order. */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (dup2(null, 0) >= 0 && dup2(log, 1) >= 0 && dup2(log, 2) >= 0)
		execvp(argv->v[0], argv->v);
	int errnum = errno;
	if (write(report, &errnum, sizeof(errnum)) < 0)
		_exit(126);
	_exit(127);
}

int be_daemon_start(struct be_daemon *daemon, const char *name, const struct be_strv *argv, const char *log,
		    struct be_error *err)
{
	int report[2], errnum = 0;
	*daemon = (struct be_daemon){ .name = name };
	be_autofd int fd = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0640);
	if (fd < 0)
		return be_fail_errno(err, errno, "%s: cannot be made", log);
	if (pipe2(report, O_CLOEXEC) != 0)
		return be_fail_errno(err, errno, "%s: no pipe", name);
	pid_t pid = fork();
	if (pid == 0)
		child(argv, fd, report[1]);
	int fork_errno = errno;
	close(report[1]);
	bool failed = pid > 0 && read(report[0], &errnum, sizeof(errnum)) == sizeof(errnum);
	close(report[0]);
	if (pid < 0)
		return be_fail_errno(err, fork_errno, "%s cannot be started", name);
	if (failed) {
		waitpid(pid, NULL, 0);
		be_fail_errno(err, errnum, "%s cannot be started", name);
		return be_hint(err, "the Debian packages dnsmasq-base and nginx hold the servers");
	}
	daemon->pid = pid;
	daemon->log = be_strdup(log);
	return 0;
}

int be_daemon_check(struct be_daemon *daemon, struct be_error *err)
{
	int status;
	be_autobuf struct be_buf log = { 0 };
	struct be_error ignored = BE_ERROR_INIT;
	if (!daemon->pid || waitpid(daemon->pid, &status, WNOHANG) != daemon->pid)
		return 0;
	daemon->pid = 0;
	if (be_read_file(daemon->log, LOG_MAX, &log, &ignored) != 0 || !log.len)
		return be_fail(err, "%s ended and said nothing", daemon->name);
	char *words = log.len > LAST_WORDS ? log.data + log.len - LAST_WORDS : log.data;
	return be_fail(err, "%s ended: %s", daemon->name, be_trim(words));
}

void be_daemon_stop(struct be_daemon *daemon)
{
	if (daemon->pid)
		kill(daemon->pid, SIGTERM);
	for (int tick = 0; daemon->pid; tick++) {
		if (waitpid(daemon->pid, NULL, WNOHANG) != 0)
			daemon->pid = 0;
		else if (tick == STOP_TICKS)
			kill(daemon->pid, SIGKILL);
		else
			be_pause(20);
	}
	free(daemon->log);
	daemon->log = NULL;
}
