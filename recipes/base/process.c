#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

#define FIRST_TICK 0.25 /* seconds after the start: short programs are seen too */
#define KILL_GRACE 2.0  /* seconds between SIGTERM and SIGKILL */

void be_run_free(struct be_run *run)
{
	be_buf_free(&run->out);
	be_buf_free(&run->errout);
}

char *be_argv_text(char *const *argv)
{
	be_autobuf struct be_buf b = { 0 };
	for (size_t i = 0; argv[i]; i++) {
		if (i)
			be_buf_addc(&b, ' ');
		be_buf_add_shell(&b, argv[i]);
	}
	return be_buf_steal(&b);
}

static _Noreturn void child(const struct be_run *run, int in, int out, int errfd, int report)
{
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_DFL);
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (dup2(in, 0) >= 0 && dup2(out, 1) >= 0 && dup2(errfd, 2) >= 0 && (!run->cwd || chdir(run->cwd) == 0)) {
		if (run->env)
			execvpe(run->argv[0], run->argv, run->env);
		else
			execvp(run->argv[0], run->argv);
	}
	int errnum = errno;
	if (write(report, &errnum, sizeof(errnum)) < 0)
		_exit(126);
	_exit(127);
}

/* Reads what is there; closes the descriptor at its end. */
static void drain(int *fd, struct be_buf *buf, size_t limit)
{
	char block[65536];
	ssize_t n = read(*fd, block, sizeof(block));
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		be_close_fd(fd);
		return;
	}
	if (buf->len < limit) {
		size_t room = limit - buf->len;
		be_buf_add(buf, block, (size_t)n < room ? (size_t)n : room);
	}
}

static void feed(int *fd, const struct be_run *run, size_t *sent)
{
	ssize_t n = write(*fd, run->stdin_data + *sent, run->stdin_len - *sent);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n > 0)
		*sent += (size_t)n;
	if (n < 0 || *sent == run->stdin_len)
		be_close_fd(fd);
}

struct pipes {
	int in[2], out[2], err[2], report[2];
};

static void close_pipes(struct pipes *p)
{
	for (int i = 0; i < 2; i++) {
		be_close_fd(&p->in[i]);
		be_close_fd(&p->out[i]);
		be_close_fd(&p->err[i]);
		be_close_fd(&p->report[i]);
	}
}

static int open_pipes(const struct be_run *run, struct pipes *p)
{
	if (pipe2(p->report, O_CLOEXEC) != 0)
		return -1;
	if (run->stdin_data) {
		if (pipe2(p->in, O_CLOEXEC) != 0 || fcntl(p->in[1], F_SETFL, O_NONBLOCK) != 0)
			return -1;
	} else {
		p->in[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
		if (p->in[0] < 0)
			return -1;
	}
	if (run->stdout_fd <= 0 && pipe2(p->out, O_CLOEXEC) != 0)
		return -1;
	return run->stderr_fd <= 0 ? pipe2(p->err, O_CLOEXEC) : 0;
}

/* Serves the pipes until the program has ended and its output is read. Background children may hold pipes open: once
 * the program itself is gone they get half a second more. */
static void serve(struct be_run *run, struct pipes *p, pid_t pid, double start)
{
	double killed = 0, ended = 0, ticked = start - 1 + FIRST_TICK;
	size_t sent = 0, limit = run->out_limit ? run->out_limit : 1u << 20;
	bool running = true;
	if (run->stdin_data && run->stdin_len == 0)
		be_close_fd(&p->in[1]);
	while (running || ((p->out[0] >= 0 || p->err[0] >= 0) && be_monotonic() - ended < 0.5)) {
		struct pollfd fds[3] = { { .fd = p->out[0], .events = POLLIN },
					 { .fd = p->err[0], .events = POLLIN },
					 { .fd = p->in[1], .events = POLLOUT } };
		bool open = p->out[0] >= 0 || p->err[0] >= 0 || p->in[1] >= 0;
		if (open)
			poll(fds, 3, 20);
		else if (running)
			be_pause(2);
		if (p->out[0] >= 0 && fds[0].revents)
			drain(&p->out[0], &run->out, limit);
		if (p->err[0] >= 0 && fds[1].revents)
			drain(&p->err[0], &run->errout, limit);
		if (p->in[1] >= 0 && fds[2].revents)
			feed(&p->in[1], run, &sent);
		double t = be_monotonic();
		if (running && run->timeout > 0 && t - start > run->timeout && !killed) {
			kill(-pid, SIGTERM);
			run->timed_out = true;
			killed = t;
		}
		if (running && killed > 0 && t - killed > KILL_GRACE)
			kill(-pid, SIGKILL);
		if (running && run->tick && t - ticked >= 1.0) {
			run->tick(run->tick_data, pid, t - start);
			ticked = t;
		}
		int status;
		if (running && waitpid(pid, &status, WNOHANG) == pid) {
			running = false;
			ended = be_monotonic();
			run->seconds = ended - start;
			run->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
			run->status = run->signal ? 128 + run->signal : WEXITSTATUS(status);
			if (run->timed_out)
				kill(-pid, SIGKILL);
		}
	}
}

int be_run(struct be_run *run, struct be_error *err)
{
	struct pipes p = { { -1, -1 }, { -1, -1 }, { -1, -1 }, { -1, -1 } };
	if (open_pipes(run, &p) != 0) {
		be_fail_errno(err, errno, "%s: pipes cannot be made", run->argv[0]);
		close_pipes(&p);
		return -1;
	}
	struct sigaction ignore = { .sa_handler = SIG_IGN }, old;
	sigaction(SIGPIPE, &ignore, &old);
	double start = be_monotonic();
	pid_t pid = fork();
	if (pid == 0)
		child(run, p.in[0], run->stdout_fd > 0 ? run->stdout_fd : p.out[1],
		      run->stderr_fd > 0 ? run->stderr_fd : p.err[1], p.report[1]);
	int fork_errno = errno;
	be_close_fd(&p.in[0]);
	be_close_fd(&p.out[1]);
	be_close_fd(&p.err[1]);
	be_close_fd(&p.report[1]);
	int rc = 0, child_errno = 0;
	if (pid < 0) {
		rc = be_fail_errno(err, fork_errno, "%s: no process can be started", run->argv[0]);
	} else if (read(p.report[0], &child_errno, sizeof(child_errno)) == sizeof(child_errno)) {
		waitpid(pid, NULL, 0);
		rc = be_fail_errno(err, child_errno, "%s: cannot be started", run->argv[0]);
	} else {
		setpgid(pid, pid);
		serve(run, &p, pid, start);
	}
	close_pipes(&p);
	sigaction(SIGPIPE, &old, NULL);
	if (!run->out.data)
		be_buf_adds(&run->out, "");
	if (!run->errout.data)
		be_buf_adds(&run->errout, "");
	return rc;
}

int be_run_ok(struct be_run *run, struct be_error *err)
{
	if (be_run(run, err) != 0)
		return -1;
	if (run->status == 0 && !run->timed_out)
		return 0;
	be_autofree char *command = be_argv_text(run->argv);
	const char *tail = run->errout.len ? run->errout.data : run->out.data;
	size_t len = strlen(tail);
	if (len > 800)
		tail += len - 800;
	be_autofree char *copy = be_strdup(tail);
	if (run->timed_out)
		return be_fail(err, "%s: not done after %.0f s\n%s", command, run->timeout, be_trim(copy));
	return be_fail(err, "%s: ended with status %d\n%s", command, run->status, be_trim(copy));
}
