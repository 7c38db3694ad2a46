#include "builder/twin/qemu.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/file.h"
#include "base/process.h"
#include "builder/progress.h"

#define CONSOLE_MAX (64u << 20)
#define EVENTS_MAX (1u << 20)
#define PROGRESS_MARK "] init: " /* "[   12.345678] init: what it does" */
#define PANIC_MARK "Kernel panic - not syncing:"

int be_qemu_channel(int fds[2], struct be_error *err)
{
	static const char hello[] = "{\"execute\": \"qmp_capabilities\"}\n";
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) != 0)
		return be_fail_errno(err, errno, "no control channel for QEMU");
	if (fcntl(fds[0], F_SETFD, FD_CLOEXEC) != 0 || fcntl(fds[0], F_SETFL, O_NONBLOCK) != 0 ||
	    write(fds[0], hello, sizeof(hello) - 1) != (ssize_t)sizeof(hello) - 1) {
		be_fail_errno(err, errno, "no control channel for QEMU");
		be_close_fd(&fds[0]);
		be_close_fd(&fds[1]);
		return -1;
	}
	return 0;
}

/* State of a running twin between two ticks. */
struct watch {
	struct be_qemu *qemu;
	off_t shown;        /* bytes of the console that were looked at */
	struct be_buf line; /* a line that has not ended yet */
	struct be_buf events;
};

static void show_line(const char *line)
{
	const char *mark = strstr(line, PROGRESS_MARK);
	if (!mark)
		return;
	be_autobuf struct be_buf clean = { 0 };
	for (const char *p = strchr(line, '[') ? strchr(line, '[') : line; *p; p++)
		if ((unsigned char)*p >= ' ' && *p != 0x7f)
			be_buf_addc(&clean, *p);
	if (clean.len)
		fprintf(stderr, "%s\n", clean.data);
}

static void follow_console(struct watch *watch)
{
	if (watch->qemu->quiet)
		return;
	be_autofd int fd = open(watch->qemu->console, O_RDONLY | O_CLOEXEC);
	char block[16384];
	ssize_t n;
	while (fd >= 0 && (n = pread(fd, block, sizeof(block), watch->shown)) > 0) {
		watch->shown += n;
		for (ssize_t i = 0; i < n; i++) {
			if (block[i] != '\n') {
				if (block[i] && watch->line.len < 4096)
					be_buf_addc(&watch->line, block[i]);
				continue;
			}
			if (watch->line.len)
				show_line(watch->line.data);
			be_buf_free(&watch->line);
			watch->line = (struct be_buf){ 0 };
		}
	}
}

static void read_events(struct watch *watch)
{
	char block[4096];
	ssize_t n;
	while (watch->qemu->control >= 0 && watch->events.len < EVENTS_MAX &&
	       (n = read(watch->qemu->control, block, sizeof(block))) > 0)
		be_buf_add(&watch->events, block, (size_t)n);
}

static void tick(void *data, pid_t pid, double elapsed)
{
	(void)elapsed;
	struct watch *watch = data;
	struct be_error err = BE_ERROR_INIT;
	follow_console(watch);
	read_events(watch);
	if (be_interrupted(&err) != 0) {
		watch->qemu->interrupted = true;
		kill(-pid, SIGTERM);
	}
}

/* What the control channel told: a watchdog that fired, a panic that the kernel reported, the kind of shutdown. */
static const char *why_off(const struct be_buf *events)
{
	be_autostrv struct be_strv lines = { 0 };
	const char *why = NULL;
	be_strv_split(&lines, events->data ? events->data : "", "\r\n");
	for (size_t i = 0; i < lines.n; i++) {
		json_t *event = json_loads(lines.v[i], 0, NULL);
		const char *name = json_string_value(json_object_get(event, "event"));
		const char *reason = json_string_value(json_object_get(json_object_get(event, "data"), "reason"));
		if (be_streq(name, "WATCHDOG"))
			why = "the watchdog fired: nothing fed it any more";
		else if (be_streq(name, "SHUTDOWN") && be_streq(reason, "guest-shutdown") && !why)
			why = "the guest powered off";
		else if (be_streq(name, "SHUTDOWN") && be_streq(reason, "guest-reset") && !why)
			why = "the guest reset the machine";
		else if (be_streq(name, "GUEST_PANICKED"))
			why = "the guest's kernel panicked";
		json_decref(event);
	}
	return why;
}

static void explain(struct be_qemu *qemu, const struct be_run *run, const struct be_buf *events)
{
	const char *why = why_off(events);
	be_autofree char *words = be_strdup(run->errout.data);
	const char *said = be_trim(words);
	qemu->seconds = run->seconds;
	qemu->timed_out = run->timed_out;
	qemu->failed = false;
	if (qemu->interrupted)
		snprintf(qemu->ended, sizeof(qemu->ended), "interrupted after %.0f s", run->seconds);
	else if (run->timed_out)
		snprintf(qemu->ended, sizeof(qemu->ended), "the machine was stopped after %.0f s", run->seconds);
	else if (run->status == 0)
		snprintf(qemu->ended, sizeof(qemu->ended), "%s", why ? why : "the machine is off");
	else
		qemu->failed = snprintf(qemu->ended, sizeof(qemu->ended), "QEMU ended with status %d: %.400s",
					run->status, *said ? said : "it said nothing") > 0;
}

int be_qemu_run(struct be_qemu *qemu, struct be_error *err)
{
	struct watch watch = { .qemu = qemu };
	be_autorun struct be_run run = {
		.argv = qemu->argv->v, .cwd = qemu->folder, .timeout = qemu->timeout, .tick = tick, .tick_data = &watch
	};
	int rc = be_run(&run, err);
	if (rc == 0) {
		follow_console(&watch);
		read_events(&watch);
		explain(qemu, &run, &watch.events);
	} else {
		be_hint(err, "The package qemu-system-x86 holds it.");
	}
	be_buf_free(&watch.line);
	be_buf_free(&watch.events);
	return rc;
}

/* The lines of a console log, which may hold any byte. */
static void read_console(const char *path, struct be_strv *lines)
{
	be_autobuf struct be_buf text = { 0 };
	struct be_error err = BE_ERROR_INIT;
	if (be_read_file(path, CONSOLE_MAX, &text, &err) != 0)
		return;
	for (size_t i = 0; i < text.len; i++)
		if (text.data[i] == '\0')
			text.data[i] = ' ';
	be_strv_split(lines, text.data, "\r\n");
}

char *be_console_panic(const char *path)
{
	be_autostrv struct be_strv all = { 0 };
	read_console(path, &all);
	for (size_t i = 0; i < all.n; i++) {
		const char *mark = strstr(all.v[i], PANIC_MARK);
		if (mark)
			return be_strdup(be_trim((char *)mark + strlen(PANIC_MARK)));
	}
	return NULL;
}

char *be_console_tail(const char *path, size_t lines)
{
	be_autostrv struct be_strv all = { 0 };
	be_autobuf struct be_buf out = { 0 };
	read_console(path, &all);
	for (size_t i = all.n > lines ? all.n - lines : 0; i < all.n; i++)
		be_buf_addf(&out, "%s\n", all.v[i]);
	return be_buf_steal(&out);
}
