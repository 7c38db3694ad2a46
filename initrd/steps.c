#include "initrd/steps.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <string.h>
#include <unistd.h>

#include "base/process.h"
#include "initrd/link.h"
#include "initrd/system.h"

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

static int open_output(const char *name, struct be_error *err)
{
	be_autofree char *path = be_strf(BE_STATE_DIR "/%s", name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		be_fail_errno(err, errno, "%s: cannot be made", path);
	return fd;
}

/* Job files and the like that the step reads. */
static int write_files(const struct be_node *step, struct be_error *err)
{
	const struct be_node *files = be_get(step, "files");
	for (size_t i = 0; files && files->kind == BE_MAP && i < files->n; i++) {
		const char *path = files->keys[i], *text = be_get_str(files, path, "");
		be_autofree char *copy = be_strdup(path);
		if (be_mkdirs(dirname(copy), 0755, err) != 0 || be_write_file(path, text, strlen(text), 0644, err) != 0)
			return -1;
	}
	return 0;
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
static char *last_line(const char *name)
{
	be_autofree char *path = be_strf(BE_STATE_DIR "/%s", name);
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
static int judge(struct be_guest *guest, const struct be_node *step, const struct be_run *run, const char *errors,
		 struct be_error *err)
{
	const char *name = be_get_str(step, "name", "workload");
	be_autofree char *said = last_line(errors);
	be_autofree char *reason = NULL;
	if (run->timed_out)
		reason = be_strf("not done after %.0f s", run->timeout);
	else if (run->signal)
		reason = be_strf("ended by signal %d (%s)", run->signal, strsignal(run->signal));
	else if (run->status)
		reason = be_strf("ended with status %d%s%s", run->status, *said ? ": " : "", said);
	if (!reason)
		return 0;
	set_outcome(guest, run->timed_out ? "timeout" : "failed", name, reason);
	return be_fail(err, "step %s: %s", name, reason);
}

static void record(struct be_guest *guest, const struct be_node *step, const struct be_run *run, const char *out,
		   const char *errors)
{
	struct be_node *done = be_node_map();
	be_set_str(done, "name", be_get_str(step, "name", "workload"));
	be_set_str(done, "role", be_get_str(step, "role", "run"));
	if (be_get(step, "argv"))
		be_set(done, "argv", be_node_clone(be_get(step, "argv")));
	be_set(done, "seconds", be_node_real(run->seconds));
	be_set_int(done, "status", run->status);
	if (run->timed_out)
		be_set(done, "timed_out", be_node_bool(true));
	be_set_str(done, "stdout", out);
	be_set_str(done, "stderr", errors);
	be_add(guest->steps_done, done);
}

static int run_step(struct be_guest *guest, const struct be_node *step, struct be_error *err)
{
	const char *name = be_get_str(step, "name", "workload"), *input = be_get_str(step, "stdin", NULL);
	be_autofree char *out = output_name(guest, name, "out"), *errors = output_name(guest, name, "err");
	be_autostrv struct be_strv argv = { 0 };
	be_get_strv(step, "argv", &argv);
	be_autofd int out_fd = open_output(out, err), err_fd = open_output(errors, err);
	if (out_fd < 0 || err_fd < 0 || write_files(step, err) != 0)
		return -1;
	if (!argv.n)
		return be_fail(err, "step %s has no command", name);
	struct watched watched = { .guest = guest, .measured = be_streq(be_get_str(step, "role", "run"), "run") };
	be_autorun struct be_run run = { .argv = argv.v,
					 .cwd = be_get_str(step, "cwd", "/"),
					 .stdin_data = input,
					 .stdin_len = input ? strlen(input) : 0,
					 .stdout_fd = out_fd,
					 .stderr_fd = err_fd,
					 .timeout = step_timeout(guest, step),
					 .tick = on_tick,
					 .tick_data = &watched };
	be_autofree char *command = be_argv_text(argv.v);
	be_log("step %s: %.300s", name, command);
	be_link_say(guest->link, BE_LINK_STAGE "%.200s", name);
	if (be_run(&run, err) != 0) {
		set_outcome(guest, "failed", name, err->text);
		return -1;
	}
	record(guest, step, &run, out, errors);
	be_log("step %s: status %d after %.1f s", name, run.status, run.seconds);
	return judge(guest, step, &run, errors, err);
}

int be_steps_run(struct be_guest *guest, const char *role, struct be_error *err)
{
	for (size_t i = 0; guest->steps && i < guest->steps->n; i++) {
		const struct be_node *step = guest->steps->items[i];
		if (be_streq(be_get_str(step, "role", "run"), role) && run_step(guest, step, err) != 0)
			return -1;
	}
	return 0;
}
