#include <archive.h>
#include <archive_entry.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "initrd/link.h"
#include "initrd/supervisor.h"
#include "initrd/system.h"
#include "tree.h"

/* What a supervised runner left: the names delivered, in order, and the outcome of after.yaml. */
struct delivered {
	char *names;
	struct be_node *after;
};

static struct delivered read_stream(int fd)
{
	struct delivered got = { 0 };
	be_autobuf struct be_buf names = { 0 };
	struct be_error err = BE_ERROR_INIT;
	struct archive *a = archive_read_new();
	struct archive_entry *entry;
	cr_assert_eq(lseek(fd, 0, SEEK_SET), 0);
	archive_read_support_format_tar(a);
	cr_assert_eq(archive_read_open_fd(a, fd, 10240), ARCHIVE_OK);
	while (archive_read_next_header(a, &entry) == ARCHIVE_OK) {
		const char *name = archive_entry_pathname(entry);
		be_buf_addf(&names, "%s ", name);
		if (strcmp(name, "after.yaml") != 0)
			continue;
		char text[65536];
		la_ssize_t n = archive_read_data(a, text, sizeof(text));
		got.after = be_node_load(text, n > 0 ? (size_t)n : 0, name, &err);
		cr_assert_not_null(got.after, "%s", err.text);
	}
	archive_read_free(a);
	got.names = be_buf_steal(&names);
	return got;
}

/* Supervises a child that runs @runner. */
static struct delivered supervise(void (*runner)(int link, const struct be_root *state), double deadline)
{
	struct be_error err = BE_ERROR_INIT;
	struct be_root state = tree_new();
	be_autofd int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	int link[2];
	tree_write(&state, "/workload/a.out", "output");
	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, link), 0);
	struct be_supervisor s = { .state_dir = state.prefix,
				   .link = link[0],
				   .delivery = be_delivery_open(fd, BE_RAW, &err),
				   .watchdog = { .fd = -1 },
				   .deadline = deadline > 0 ? be_monotonic() + deadline : 0,
				   .stage = "start" };
	s.runner = fork();
	if (s.runner == 0) {
		close(link[0]);
		runner(link[1], &state);
		_exit(3);
	}
	close(link[1]);
	be_supervise(&s);
	cr_expect(s.finished);
	be_delivery_free(s.delivery);
	close(link[0]);
	tree_free(&state);
	return read_stream(fd);
}

static void expect_outcome(struct delivered *got, const char *names, const char *state, const char *step,
			   const char *reason)
{
	const struct be_node *outcome = be_get(got->after, "outcome");
	cr_expect_str_eq(got->names, names);
	cr_expect_str_eq(be_get_str(outcome, "state", ""), state);
	cr_expect_str_eq(be_get_str(outcome, "step", ""), step);
	cr_expect_str_eq(be_get_str(outcome, "reason", ""), reason);
	cr_expect_str_eq(be_get_str(got->after, "phase", ""), "after");
	free(got->names);
	be_node_free(got->after);
}

static void well_behaved(int link, const struct be_root *state)
{
	struct be_error err = BE_ERROR_INIT;
	be_link_say(link, BE_LINK_STAGE "statement");
	tree_write(state, "/before.yaml", "phase: before\n");
	if (be_link_ask(link, &err, BE_LINK_DELIVER "before.yaml") != 0)
		_exit(9);
	if (be_link_ask(link, &err, BE_LINK_DELIVER "nonexistent") == 0)
		_exit(9);
	tree_write(state, "/after.yaml", "phase: after\noutcome: {state: done}\n");
	_exit(be_link_ask(link, &err, BE_LINK_FINISH) == 0 ? 0 : 9);
}

#define REST "workload/a.out kernel.log after.yaml complete "

Test(supervisor, delivers_what_the_runner_asks_for)
{
	struct delivered got = supervise(well_behaved, 20);
	expect_outcome(&got, "before.yaml " REST, "done", "", "");
}

static void dies(int link, const struct be_root *state)
{
	be_link_say(link, BE_LINK_STAGE "disk-setup");
	tree_write(state, "/after.yaml", "mkbenchenv: observation\nphase: after\nkept: yes\n");
	raise(SIGKILL);
}

Test(supervisor, dead_runner_is_reported_with_its_draft)
{
	struct delivered got = supervise(dies, 20);
	cr_expect_str_eq(be_get_str(got.after, "kept", ""), "yes");
	expect_outcome(&got, REST, "failed", "disk-setup", "init's runner was ended by signal 9");
}

static void leaves(int link, const struct be_root *state)
{
	(void)link;
	tree_write(state, "/after.yaml", "not: [a document\n");
}

Test(supervisor, unreadable_draft_is_replaced)
{
	struct delivered got = supervise(leaves, 20);
	expect_outcome(&got, REST, "failed", "start", "init's runner ended with status 3");
}

static void hangs(int link, const struct be_root *state)
{
	(void)state;
	signal(SIGTERM, SIG_IGN);
	be_link_say(link, BE_LINK_STAGE "workload");
	be_link_say(link, BE_LINK_LIMIT "%.0f", be_monotonic() + 1);
	for (;;)
		pause();
}

Test(supervisor, limit_ends_a_runner_that_hangs)
{
	double begin = be_monotonic();
	struct delivered got = supervise(hangs, 50);
	expect_outcome(&got, REST, "timeout", "workload", "not done within the plan's time");
	cr_expect_lt(be_monotonic() - begin, 10);
}

Test(supervisor, without_a_runner_it_says_so)
{
	struct be_error err = BE_ERROR_INIT;
	struct be_root state = tree_new();
	be_autofd int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	struct be_supervisor s = { .state_dir = state.prefix,
				   .link = -1,
				   .runner = -1,
				   .delivery = be_delivery_open(fd, BE_RAW, &err),
				   .stage = "start" };
	be_supervise(&s);
	be_delivery_free(s.delivery);
	struct delivered got = read_stream(fd);
	expect_outcome(&got, "kernel.log after.yaml complete ", "failed", "start", "init's runner cannot be started");
	tree_free(&state);
}
