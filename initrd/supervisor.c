#include "initrd/supervisor.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/node.h"
#include "initrd/cases.h"
#include "initrd/kmsg.h"
#include "initrd/link.h"
#include "initrd/system.h"

#define TICK_MS 1000
/* For the server to take the statement: the workload waits meanwhile, and it goes with the rest should it be late. */
#define STATEMENT_SECONDS 60.0
#define REST_SECONDS 600.0 /* for all the rest: a server that is started anew is found again */
#define KILL_SECONDS 5.0   /* for the runner to disappear after SIGKILL; a process in the kernel may not */

int be_conclude(const char *path, const char *state, const char *step, const char *reason, struct be_error *err)
{
	struct be_error ignored = BE_ERROR_INIT;
	be_autonode struct be_node *doc = be_node_load_file(path, &ignored);
	if (!doc || doc->kind != BE_MAP) {
		be_node_free(doc);
		doc = be_node_map();
		be_set_str(doc, "mkbenchenv", "observation");
		be_set_int(doc, "schema", 1);
	}
	be_set_str(doc, "phase", "after");
	struct be_node *outcome = be_node_map();
	be_set_str(outcome, "state", state);
	be_set_str(outcome, "step", step);
	be_set_str(outcome, "reason", reason);
	be_set(doc, "outcome", outcome);
	be_autobuf struct be_buf text = { 0 };
	if (be_node_yaml(doc, &text, err) != 0)
		return -1;
	return be_write_file(path, text.data, text.len, 0644, err);
}

static void feed(void *data)
{
	be_watchdog_feed(data);
}

/* A long delivery must not look like a hang, and what a server has taken need not lie here. */
static void written(void *data)
{
	struct be_supervisor *s = data;
	be_watchdog_feed(&s->watchdog);
	if (s->upload)
		be_upload_push_parts(s->upload);
}

/* What the stream holds so far goes to where it is to be in the end, if that is not where it was written to. */
static int pass_on(struct be_supervisor *s, struct be_error *err)
{
	if (s->volume)
		return be_volume_write(s->volume, s->stream, false, err);
	return s->upload ? be_upload_push(s->upload, STATEMENT_SECONDS, err) : 0;
}

static int pass_on_all(struct be_supervisor *s, struct be_error *err)
{
	if (s->volume)
		return be_volume_write(s->volume, s->stream, true, err);
	if (!s->upload)
		return 0;
	return be_upload_push(s->upload, REST_SECONDS, err) != 0 ? -1 : be_upload_end(s->upload, REST_SECONDS, err);
}

/* Delivers one file of the state folder; says so on the console when that fails, since nothing else can. */
static int deliver_file(struct be_supervisor *s, const char *name, struct be_error *err)
{
	be_autofree char *path = be_strf("%s/%s", s->state_dir, name);
	if (!s->delivery)
		return be_fail(err, "there is no port to deliver to");
	if (be_delivery_add_file(s->delivery, name, path, err) != 0)
		return -1;
	return pass_on(s, err);
}

static int deliver_log(struct be_supervisor *s, struct be_error *err)
{
	be_autobuf struct be_buf log = { 0 };
	if (be_kmsg_text(NULL, &log) != 0)
		be_log("the kernel's log cannot be read: %s", strerror(errno));
	return be_delivery_add(s->delivery, "kernel.log", log.data, log.len, err);
}

static int stream_rest(struct be_supervisor *s, struct be_error *err)
{
	be_autofree char *outputs = be_strf("%s/workload", s->state_dir),
			 *after = be_strf("%s/after.yaml", s->state_dir);
	if (be_delivery_add_dir(s->delivery, "workload", outputs, err) != 0 || deliver_log(s, err) != 0 ||
	    be_delivery_add_file(s->delivery, "after.yaml", after, err) != 0)
		return -1;
	return be_delivery_complete(s->delivery, err);
}

/* The whole stream once more: of what went to a server that is gone, nobody here knows what arrived. */
static int deliver_elsewhere(struct be_supervisor *s, struct be_error *err)
{
	be_autofree char *before = be_strf("%s/before.yaml", s->state_dir);
	be_delivery_free(s->delivery);
	s->delivery = NULL;
	s->upload = NULL;
	s->volume = NULL;
	s->fall_back(s);
	if (!s->delivery)
		return be_fail(err, "there is no other place to deliver to");
	be_delivery_watch(s->delivery, written, s);
	if (be_exists(before) && be_delivery_add_file(s->delivery, "before.yaml", before, err) != 0)
		return -1;
	return stream_rest(s, err);
}

static int deliver_rest(struct be_supervisor *s, struct be_error *err)
{
	if (!s->delivery)
		return be_fail(err, "there is no port to deliver to");
	int rc = stream_rest(s, err);
	if (rc == 0 && pass_on_all(s, err) == 0)
		return 0;
	if (!s->upload && !s->volume)
		return -1;
	be_log("delivery: %s", err->text);
	return s->fall_back ? deliver_elsewhere(s, err) : -1;
}

static void answer(struct be_supervisor *s, int rc, const struct be_error *err)
{
	if (rc != 0)
		be_log("%s", err->text);
	be_link_say(s->link, "%.*s", BE_LINK_MAX - 1, rc == 0 ? BE_LINK_OK : err->text);
}

static void handle(struct be_supervisor *s, const char *message)
{
	struct be_error err = BE_ERROR_INIT;
	if (be_starts(message, BE_LINK_STAGE)) {
		snprintf(s->stage, sizeof(s->stage), "%.*s", (int)sizeof(s->stage) - 1,
			 message + strlen(BE_LINK_STAGE));
	} else if (be_starts(message, BE_LINK_LIMIT)) {
		double seconds = atof(message + strlen(BE_LINK_LIMIT));
		s->deadline = seconds > 0 ? seconds : 0;
	} else if (be_starts(message, BE_LINK_AFTER)) {
		s->reboot = be_streq(message + strlen(BE_LINK_AFTER), "reboot");
	} else if (be_starts(message, BE_LINK_DELIVER)) {
		answer(s, deliver_file(s, message + strlen(BE_LINK_DELIVER), &err), &err);
	} else if (be_streq(message, BE_LINK_FINISH)) {
		int rc = deliver_rest(s, &err);
		s->finished = true;
		s->deadline = be_monotonic() + BE_UNDO_SECONDS;
		answer(s, rc, &err);
	}
}

/* Takes the exit status of every child that ended; most are orphans of the workload. */
static bool reap(struct be_supervisor *s, int *status)
{
	int st;
	pid_t pid;
	bool runner = false;
	while ((pid = waitpid(-1, &st, WNOHANG)) > 0) {
		if (pid == s->runner) {
			*status = st;
			runner = true;
		}
	}
	return runner;
}

/* Ends every process but PID 1 and waits a while for the runner. Only PID 1 may mean all: a test is not alone. */
static void kill_all(struct be_supervisor *s)
{
	int status;
	double until = be_monotonic() + KILL_SECONDS;
	kill(getpid() == 1 ? -1 : s->runner, SIGKILL);
	while (!reap(s, &status) && be_monotonic() < until)
		poll(NULL, 0, 20);
}

/* The runner is gone or given up: deliver in its place. */
static void conclude(struct be_supervisor *s, const char *state, const char *reason)
{
	struct be_error err = BE_ERROR_INIT;
	be_log("%s: %s: %s", s->stage, state, reason);
	be_case_log("run", state, be_monotonic());
	be_autofree char *draft = be_strf("%s/after.yaml", s->state_dir);
	if (be_conclude(draft, state, s->stage, reason, &err) != 0 || deliver_rest(s, &err) != 0)
		be_log("%s", err.text);
	s->finished = true;
}

static void conclude_dead(struct be_supervisor *s, int status)
{
	if (s->finished)
		return;
	char reason[128];
	if (WIFSIGNALED(status))
		snprintf(reason, sizeof(reason), "init's runner was ended by signal %d", WTERMSIG(status));
	else
		snprintf(reason, sizeof(reason), "init's runner ended with status %d", WEXITSTATUS(status));
	conclude(s, "failed", reason);
}

/* Reads one message if there is one: 1 read, 0 none there, -1 the runner's end is closed. */
static int receive(struct be_supervisor *s)
{
	char message[BE_LINK_MAX + 1];
	ssize_t n = recv(s->link, message, BE_LINK_MAX, MSG_DONTWAIT);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	if (n == 0)
		return -1;
	message[n] = '\0';
	handle(s, message);
	return 1;
}

void be_supervise(struct be_supervisor *s)
{
	if (s->delivery)
		be_delivery_watch(s->delivery, written, s);
	if (s->upload) {
		s->upload->progress = feed;
		s->upload->data = &s->watchdog;
	}
	bool connected = true;
	int status = 0;
	if (s->runner < 0) {
		conclude(s, "failed", "init's runner cannot be started");
		return;
	}
	for (;;) {
		struct pollfd p = { .fd = connected ? s->link : -1, .events = POLLIN };
		poll(&p, 1, connected ? TICK_MS : 20);
		if (p.revents)
			connected = receive(s) >= 0;
		be_watchdog_arm(&s->watchdog);
		be_watchdog_feed(&s->watchdog);
		if (reap(s, &status)) {
			while (receive(s) > 0) /* what it said before it ended */
				;
			conclude_dead(s, status);
			return;
		}
		if (s->deadline > 0 && be_monotonic() > s->deadline) {
			kill_all(s);
			if (!s->finished)
				conclude(s, "timeout", "not done within the plan's time");
			return;
		}
	}
}
