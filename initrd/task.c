#include "initrd/task.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "initrd/observe/procs.h"
#include "initrd/system.h"

#define DAEMON_MOMENT 1.0 /* seconds in which a daemon that cannot work has ended */
#define STOP_GRACE 2.0
#define POLL_MS 20u

/* How one copy ended, in memory shared with the process that watches over it. */
struct ended {
	bool started, timed_out;
	int status, signal;
	double seconds;
	struct be_error err;
};

static void run_one(const struct be_task *task, int out_fd, int err_fd, bool ticks, struct ended *ended)
{
	be_autorun struct be_run run = { .argv = task->argv,
					 .env = task->env,
					 .cwd = task->cwd,
					 .stdin_data = task->stdin_data,
					 .stdin_len = task->stdin_data ? strlen(task->stdin_data) : 0,
					 .stdout_fd = out_fd,
					 .stderr_fd = err_fd,
					 .timeout = task->timeout,
					 .tick = ticks ? task->tick : NULL,
					 .tick_data = task->tick_data };
	*ended = (struct ended){ .err = BE_ERROR_INIT };
	ended->started = be_run(&run, &ended->err) == 0;
	ended->timed_out = run.timed_out;
	ended->status = run.status;
	ended->signal = run.signal;
	ended->seconds = run.seconds;
}

struct copy {
	pid_t pid;
	int out_fd, err_fd;
};

static int scratch_file(void)
{
	return memfd_create("output of a copy", MFD_CLOEXEC);
}

/* Each copy has a process of this program that waits for it; the first one leads their process group. */
static void start_copy(const struct be_task *task, struct copy *copy, pid_t leader, struct ended *ended)
{
	copy->out_fd = scratch_file();
	copy->err_fd = scratch_file();
	copy->pid = copy->out_fd >= 0 && copy->err_fd >= 0 ? fork() : -1;
	if (copy->pid == 0) {
		setpgid(0, leader);
		run_one(task, copy->out_fd, copy->err_fd, false, ended);
		_exit(0);
	}
	if (copy->pid > 0)
		setpgid(copy->pid, leader ? leader : copy->pid);
	else
		be_fail_errno(&ended->err, errno, "%s: a copy cannot be started", task->argv[0]);
}

static size_t reap_copies(struct copy *copies, size_t n)
{
	size_t running = 0;
	for (size_t i = 0; i < n; i++) {
		if (copies[i].pid > 0 && waitpid(copies[i].pid, NULL, WNOHANG) == copies[i].pid)
			copies[i].pid = -1;
		running += copies[i].pid > 0;
	}
	return running;
}

static void wait_for_copies(struct be_task *task, struct copy *copies, size_t n, pid_t leader)
{
	double begin = be_monotonic(), ticked = begin;
	while (reap_copies(copies, n)) {
		double now = be_monotonic();
		if (task->tick && now - ticked >= 1) {
			task->tick(task->tick_data, leader, now - begin);
			ticked = now;
		}
		be_pause(POLL_MS);
	}
}

/* Appends what a copy wrote to the step's own file. */
static void append(int from, int to)
{
	char block[65536];
	struct be_error ignored = BE_ERROR_INIT;
	off_t at = 0;
	for (ssize_t n; from >= 0 && (n = pread(from, block, sizeof(block), at)) > 0; at += n)
		if (be_write_fd(to, "step output", block, (size_t)n, &ignored) != 0)
			return;
}

static int take(struct be_task *task, const struct ended *ended, struct be_error *err)
{
	if (!ended->started) {
		*err = ended->err;
		return -1;
	}
	if (ended->seconds > task->seconds)
		task->seconds = ended->seconds;
	if (task->status || task->timed_out)
		return 0;
	task->status = ended->status;
	task->signal = ended->signal;
	task->timed_out = ended->timed_out;
	return 0;
}

static int run_copies(struct be_task *task, struct be_error *err)
{
	size_t n = task->copies, bytes = n * sizeof(struct ended);
	struct ended *ended = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (ended == MAP_FAILED)
		return be_fail_errno(err, errno, "%zu copies", n);
	be_autofree struct copy *copies = be_alloc(n * sizeof(*copies));
	pid_t leader = 0;
	for (size_t i = 0; i < n; i++) {
		start_copy(task, &copies[i], leader, &ended[i]);
		if (!leader && copies[i].pid > 0)
			leader = copies[i].pid;
	}
	wait_for_copies(task, copies, n, leader);
	int rc = 0;
	for (size_t i = 0; i < n; i++) {
		append(copies[i].out_fd, task->out_fd);
		append(copies[i].err_fd, task->err_fd);
		be_close_fd(&copies[i].out_fd);
		be_close_fd(&copies[i].err_fd);
		if (rc == 0)
			rc = take(task, &ended[i], err);
	}
	munmap(ended, bytes);
	return rc;
}

int be_task_run(struct be_task *task, struct be_error *err)
{
	struct ended ended;
	task->status = task->signal = 0;
	task->timed_out = false;
	task->seconds = 0;
	if (task->copies > 1)
		return run_copies(task, err);
	run_one(task, task->out_fd, task->err_fd, true, &ended);
	return take(task, &ended, err);
}

pid_t be_daemon_start(const struct be_task *task, struct be_error *err)
{
	pid_t pid = fork();
	if (pid < 0)
		return be_fail_errno(err, errno, "%s: cannot be started", task->argv[0]);
	if (pid == 0) {
		struct ended ended;
		setpgid(0, 0);
		run_one(task, task->out_fd, task->err_fd, false, &ended);
		_exit(ended.started ? ended.status : 127);
	}
	double until = be_monotonic() + DAEMON_MOMENT;
	int status;
	while (be_monotonic() < until) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return be_fail(err, "%s: the daemon ended at once with status %d", task->argv[0],
				       WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
		be_pause(POLL_MS);
	}
	return pid;
}

/* Sends @signal to all processes below @top. */
static void signal_below(pid_t top, int number)
{
	const struct be_root real = { .prefix = NULL };
	be_autoprocs struct be_procs procs = { 0 };
	if (be_procs_load(&procs, &real, false) != 0)
		return;
	for (size_t i = 0; i < procs.n; i++)
		if (procs.v[i].pid != top && procs.v[i].pid != getpid() && be_procs_below(&procs, &procs.v[i], top))
			kill(procs.v[i].pid, number);
}

void be_daemon_stop(pid_t pid)
{
	double until = be_monotonic() + STOP_GRACE;
	signal_below(pid, SIGTERM);
	while (be_monotonic() < until) {
		if (waitpid(pid, NULL, WNOHANG) == pid)
			return;
		be_pause(POLL_MS);
	}
	signal_below(pid, SIGKILL);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}
