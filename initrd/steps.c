#include "initrd/steps.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "initrd/link.h"
#include "initrd/system.h"
#include "initrd/task.h"

#define LISTEN_SECONDS 60  /* that a server may take to be there */
#define AFTER_SECONDS 20.0 /* left of the plan's time for observation and delivery */

/* "workload/NAME.out"; a name that was used already gets a number. */
static char *output_name(const struct be_guest *guest, const char *name, const char *suffix)
{
	be_autofree char *plain = be_strdup(name);
	size_t uses = 0;
	for (char *p = plain; *p; p++)
		if (*p == '/')
			*p = '_';
	for (size_t i = 0; i < guest->steps_done->n; i++)
		uses += be_streq(be_get_str(guest->steps_done->items[i], "name", NULL), name);
	return uses ? be_strf("workload/%s-%zu.%s", plain, uses + 1, suffix) : be_strf("workload/%s.%s", plain, suffix);
}

static int open_output(const struct be_guest *guest, const char *name, struct be_error *err)
{
	be_autofree char *path = be_strf("%s/%s", guest->state_dir, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		be_fail_errno(err, errno, "%s: cannot be made", path);
	return fd;
}

/* Job files and the like that the step reads; relative names are below its working directory. */
static int write_files(const struct be_node *step, struct be_error *err)
{
	const struct be_node *files = be_get(step, "files");
	const char *cwd = be_get_str(step, "cwd", "/");
	for (size_t i = 0; files && files->kind == BE_MAP && i < files->n; i++) {
		const char *name = files->keys[i], *text = be_get_str(files, name, "");
		be_autofree char *path = *name == '/' ? be_strdup(name) : be_strf("%s/%s", cwd, name);
		be_autofree char *copy = be_strdup(path);
		if (be_mkdirs(dirname(copy), 0755, err) != 0 || be_write_file(path, text, strlen(text), 0644, err) != 0)
			return -1;
	}
	return 0;
}

/* Our own environment with the step's variables in place of ours. */
static void step_environment(const struct be_node *step, struct be_strv *env)
{
	const struct be_node *own = be_get(step, "env");
	for (char **v = environ; *v; v++) {
		be_autofree char *name = be_strndup(*v, strcspn(*v, "="));
		if (!be_get(own, name))
			be_strv_add(env, *v);
	}
	for (size_t i = 0; own && own->kind == BE_MAP && i < own->n; i++)
		be_strv_addf(env, "%s=%s", own->keys[i], be_get_str(own, own->keys[i], ""));
}

/* The step's own limit, cut to what the whole run still has. */
static double step_timeout(const struct be_guest *guest, const struct be_node *step)
{
	double limit = be_get_real(step, "timeout", be_get_real(be_get(guest->plan, "workload"), "timeout", 0));
	double left = guest->deadline > 0 ? guest->deadline - be_monotonic() - AFTER_SECONDS : 0;
	if (guest->deadline > 0 && left < 1)
		left = 1;
	if (limit <= 0 || (left > 0 && left < limit))
		return left > 0 ? left : 0;
	return limit;
}

struct watched {
	struct be_guest *guest;
	bool measured;
};

static void on_tick(void *data, pid_t pid, double elapsed)
{
	struct watched *w = data;
	if (w->measured)
		be_sample_tick(&w->guest->sample, pid);
	(void)elapsed;
}

static void set_outcome(struct be_guest *guest, const char *state, const char *step, const char *reason)
{
	be_node_free(guest->outcome);
	guest->outcome = be_node_map();
	be_set_str(guest->outcome, "state", state);
	be_set_str(guest->outcome, "step", step);
	be_set_str(guest->outcome, "reason", reason);
}

/* The last line that the step wrote to a file: most programs say there why they end. */
static char *last_line(const struct be_guest *guest, const char *name)
{
	be_autofree char *path = be_strf("%s/%s", guest->state_dir, name);
	be_autofd int fd = open(path, O_RDONLY | O_CLOEXEC);
	char tail[401];
	off_t size = fd >= 0 ? lseek(fd, 0, SEEK_END) : 0;
	off_t from = size > 400 ? size - 400 : 0;
	ssize_t n = fd >= 0 ? pread(fd, tail, 400, from) : 0;
	tail[n > 0 ? n : 0] = '\0';
	char *text = be_trim(tail), *line = strrchr(text, '\n');
	return be_strdup(line ? line + 1 : text);
}

/* Judges how the step ended; -1 with outcome and error when not well. */
static int judge(struct be_guest *guest, const struct be_node *step, const struct be_task *task, const char *errors,
		 struct be_error *err)
{
	const char *name = be_get_str(step, "name", "workload");
	be_autofree char *said = last_line(guest, errors);
	be_autofree char *reason = NULL;
	if (task->timed_out)
		reason = be_strf("not done after %.0f s", task->timeout);
	else if (task->signal)
		reason = be_strf("ended by signal %d (%s)", task->signal, strsignal(task->signal));
	else if (task->status)
		reason = be_strf("ended with status %d%s%s", task->status, *said ? ": " : "", said);
	if (!reason)
		return 0;
	be_autofree char *status = be_strf("%d", task->status);
	const char *meaning = be_get_str(be_get(step, "accepts"), status, NULL);
	if (meaning && !task->timed_out && !task->signal) {
		be_deviation(guest->deviations, "workload", "step %s ended with status %s: %s", name, status, meaning);
		return 0;
	}
	if (be_get_bool(step, "may_fail", false) && !task->timed_out) {
		be_deviation(guest->deviations, "workload", "step %s %s; it may fail", name, reason);
		return 0;
	}
	set_outcome(guest, task->timed_out ? "timeout" : "failed", name, reason);
	return be_fail(err, "step %s: %s", name, reason);
}

static void record(struct be_guest *guest, const struct be_node *step, const struct be_task *task, const char *out,
		   const char *errors)
{
	struct be_node *done = be_node_map();
	be_set_str(done, "name", be_get_str(step, "name", "workload"));
	be_set_str(done, "role", be_get_str(step, "role", "run"));
	be_set(done, "argv", be_node_clone(be_get(step, "argv")));
	if (task->copies > 1)
		be_set_int(done, "copies", task->copies);
	if (!be_streq(be_get_str(step, "role", NULL), "daemon")) {
		be_set(done, "seconds", be_node_real(task->seconds));
		be_set_int(done, "status", task->status);
	}
	if (task->timed_out)
		be_set(done, "timed_out", be_node_bool(true));
	be_set_str(done, "stdout", out);
	be_set_str(done, "stderr", errors);
	be_add(guest->steps_done, done);
}

/* Runs the task as often as the step says; the time is that of all rounds. */
static int run_rounds(const struct be_node *step, struct be_task *task, struct be_error *err)
{
	int64_t rounds = be_get_int(step, "repeat", 1);
	double span = be_get_real(step, "repeat_for", 0), begin = be_monotonic();
	double total = 0;
	for (int64_t round = 0; round < rounds || be_monotonic() - begin < span; round++) {
		if (be_task_run(task, err) != 0)
			return -1;
		total += task->seconds;
		if (task->status || task->timed_out)
			break;
	}
	task->seconds = total;
	return 0;
}

/* Does anything listen on the TCP port? Asking the kernel, for a connection would be the server's first client. */
static bool is_listening(const struct be_root *root, int64_t port)
{
	static const char *const tables[] = { "/proc/net/tcp", "/proc/net/tcp6" };
	const unsigned listen = 10; /* TCP_LISTEN */
	for (size_t i = 0; i < BE_ARRAY_LEN(tables); i++) {
		be_autofree char *text = be_root_text(root, tables[i]);
		unsigned found, state;
		for (const char *line = text; line && *line; line += strcspn(line, "\n") + (strchr(line, '\n') != NULL))
			if (sscanf(line, " %*u: %*[0-9A-F]:%x %*[0-9A-F]:%*x %x", &found, &state) == 2 &&
			    state == listen && found == port)
				return true;
	}
	return false;
}

/* `listens:`, the port of a server that the steps behind it need. */
static int wait_for_port(const struct be_guest *guest, const struct be_node *step, struct be_error *err)
{
	int64_t port = be_get_int(step, "listens", 0);
	double begin = be_monotonic();
	while (port && !is_listening(&guest->root, port)) {
		if (be_monotonic() - begin > LISTEN_SECONDS)
			return be_fail(err, "nothing listens on TCP port %" PRId64 " after %d s", port, LISTEN_SECONDS);
		be_pause(100);
	}
	return 0;
}

static int start_daemon(struct be_guest *guest, const struct be_task *task, struct be_error *err)
{
	pid_t pid = be_daemon_start(task, err);
	if (pid < 0)
		return -1;
	guest->daemons = be_realloc(guest->daemons, guest->n_daemons + 1, sizeof(*guest->daemons));
	guest->daemons[guest->n_daemons++] = pid;
	guest->sample.daemons = guest->daemons;
	guest->sample.n_daemons = guest->n_daemons;
	return 0;
}

static int run_task(struct be_guest *guest, const struct be_node *step, struct be_task *task, struct be_error *err)
{
	bool daemon = be_streq(be_get_str(step, "role", NULL), "daemon");
	int rc = daemon ? start_daemon(guest, task, err) : run_rounds(step, task, err);
	if (rc == 0 && daemon)
		rc = wait_for_port(guest, step, err);
	if (rc == 0)
		return 0;
	set_outcome(guest, "failed", be_get_str(step, "name", "workload"), err->text);
	return -1;
}

static int run_step(struct be_guest *guest, const struct be_node *step, struct be_error *err)
{
	const char *name = be_get_str(step, "name", "workload");
	be_autofree char *out = output_name(guest, name, "out"), *errors = output_name(guest, name, "err");
	be_autostrv struct be_strv argv = { 0 }, env = { 0 };
	be_get_strv(step, "argv", &argv);
	step_environment(step, &env);
	be_autofd int out_fd = open_output(guest, out, err), err_fd = open_output(guest, errors, err);
	if (out_fd < 0 || err_fd < 0 || write_files(step, err) != 0)
		return -1;
	if (!argv.n)
		return be_fail(err, "step %s has no command", name);
	struct watched watched = { .guest = guest, .measured = be_streq(be_get_str(step, "role", "run"), "run") };
	struct be_task task = { .argv = argv.v,
				.env = env.v,
				.cwd = be_get_str(step, "cwd", "/"),
				.stdin_data = be_get_str(step, "stdin", NULL),
				.out_fd = out_fd,
				.err_fd = err_fd,
				.copies = (unsigned)be_get_int(step, "copies", 1),
				.timeout = step_timeout(guest, step),
				.tick = on_tick,
				.tick_data = &watched };
	be_autofree char *command = be_argv_text(argv.v);
	be_log("step %s: %.300s", name, command);
	be_link_say(guest->link, BE_LINK_STAGE "%.200s", name);
	if (run_task(guest, step, &task, err) != 0)
		return -1;
	record(guest, step, &task, out, errors);
	be_log("step %s: status %d after %.1f s", name, task.status, task.seconds);
	return judge(guest, step, &task, errors, err);
}

/* The place of the first measured step. */
static size_t first_run(const struct be_guest *guest)
{
	size_t i = 0;
	while (i < guest->steps->n && !be_streq(be_get_str(guest->steps->items[i], "role", "run"), "run"))
		i++;
	return i;
}

size_t be_steps_before_run(const struct be_guest *guest)
{
	return guest->steps ? first_run(guest) : 0;
}

bool be_steps_any_run(const struct be_guest *guest)
{
	return guest->steps && first_run(guest) < guest->steps->n;
}

static int run_range(struct be_guest *guest, size_t from, size_t to, struct be_error *err)
{
	for (size_t i = from; i < to; i++)
		if (run_step(guest, guest->steps->items[i], err) != 0)
			return -1;
	return 0;
}

int be_steps_prepare(struct be_guest *guest, struct be_error *err)
{
	return run_range(guest, 0, first_run(guest), err);
}

int be_steps_run(struct be_guest *guest, struct be_error *err)
{
	return run_range(guest, first_run(guest), guest->steps->n, err);
}

void be_steps_stop_daemons(struct be_guest *guest)
{
	for (size_t i = guest->n_daemons; i-- > 0;)
		be_daemon_stop(guest->daemons[i]);
	free(guest->daemons);
	guest->sample.daemons = guest->daemons = NULL;
	guest->sample.n_daemons = guest->n_daemons = 0;
}
