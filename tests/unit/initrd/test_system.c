#include "initrd/kmsg.h"
#include "initrd/observe/observe.h"
#include "initrd/port.h"
#include "initrd/system.h"
#include "tree.h"

static const char log_text[] = "6,1,1000000,-;first line\n"
			       " SUBSYSTEM=block\n"
			       "4,2,2500000,-;WARNING: something; with a semicolon\n"
			       "garbage\n"
			       "14,3,900000000,-;WARNING: again\n";

Test(system, kernel_log_as_text)
{
	struct be_root root = tree_new();
	tree_write(&root, "/dev/kmsg", log_text);
	be_autobuf struct be_buf text = { 0 };
	cr_expect_eq(be_kmsg_text(&root, &text), 0);
	cr_expect_str_eq(text.data, "<6>[    1.000000] first line\n"
				    "<4>[    2.500000] WARNING: something; with a semicolon\n"
				    "<6>[  900.000000] WARNING: again\n");
	tree_free(&root);
	struct be_root empty = tree_new();
	be_autobuf struct be_buf none = { 0 };
	cr_expect_eq(be_kmsg_text(&empty, &none), -1);
	tree_free(&empty);
}

/* The running kernel's own log, read at once, has what /dev/kmsg gives a record at a time. */
Test(system, kernel_log_at_once)
{
	const struct be_root live = { .prefix = NULL };
	be_autobuf struct be_buf text = { 0 };
	be_autokmsg struct be_kmsg log = { 0 };
	if (be_kmsg_text(&live, &text) != 0)
		cr_skip_test("/dev/kmsg: only root reads it");
	be_kmsg_update(&log, &live);
	cr_assert_eq(log.errnum, 0);
	size_t at = 0;
	char *save = NULL;
	for (char *line = strtok_r(text.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		const char *message = strstr(line, "] ") + 2;
		if (strchr(message, '\\')) /* which stands for other bytes there */
			continue;
		while (at < log.texts.n && !be_streq(log.texts.v[at], message))
			at++;
		cr_assert_lt(at, log.texts.n, "%s is missing", line);
	}
}

/* Before the workload the whole log counts, afterwards what was logged since it began. */
Test(system, kernel_log_noise)
{
	struct be_root root = tree_new();
	tree_write(&root, "/dev/kmsg", log_text);
	be_autonode struct be_node *plan = tree_yaml(
		"factors: [{name: f, when: both, observe: {kind: probe, name: kernel_log, match: 'WARNING:'}}]");
	be_autoscopes struct be_scopes scopes;
	be_scopes_load(&scopes, &root, plan, NULL, NULL);
	struct be_sample sample = { .began = 100 };
	struct be_observer observer = { .root = root, .plan = plan, .scopes = &scopes };
	be_autonode struct be_node *before = be_observe(&observer, BE_BEFORE);
	observer.sample = &sample;
	be_autonode struct be_node *after = be_observe(&observer, BE_AFTER);
	be_autofree char *one = tree_json(before), *two = tree_json(after);
	cr_expect_str_eq(one, "{\"f\": {\"value\": \"2\"}}");
	cr_expect_str_eq(two, "{\"f\": {\"value\": {\"lines\": \"1\", \"first\": \"WARNING: again\"}}}");
	tree_free(&root);
}

Test(system, marker_of_a_complete_initrd)
{
	struct be_error err = BE_ERROR_INIT;
	struct be_root root = tree_new();
	cr_expect_eq(be_system_complete(&root, &err), -1);
	cr_expect(strstr(err.text, "is missing") && err.hint[0], "%s", err.text);
	tree_write(&root, BE_MARKER_PATH, "compl");
	cr_expect_eq(be_system_complete(&root, &err), -1);
	tree_write(&root, BE_MARKER_PATH, "complete\n");
	cr_expect_eq(be_system_complete(&root, &err), 0);
	tree_free(&root);
}

Test(system, words_of_the_command_line)
{
	struct be_root root = tree_new();
	cr_expect_not(be_cmdline_has(&root, "benchenv.shell"));
	tree_write(&root, "/proc/cmdline", "console=ttyS0 benchenv.shellfish quiet\n");
	cr_expect_not(be_cmdline_has(&root, "benchenv.shell"));
	tree_write(&root, "/proc/cmdline", "console=ttyS0 benchenv.shell\n");
	cr_expect(be_cmdline_has(&root, "benchenv.shell"));
	tree_free(&root);
}

Test(system, port_is_found_by_its_name)
{
	struct be_root root = tree_new();
	tree_write(&root, "/sys/class/virtio-ports/vport1p1/name", "org.other\n");
	tree_write(&root, "/sys/class/virtio-ports/vport1p2/name", "org.mkbenchenv.result\n");
	tree_write(&root, "/dev/vport1p2", "");
	be_autofd int fd = be_port_open(&root, BE_TWIN_PORT_NAME, 0);
	cr_expect_geq(fd, 0);
	cr_expect_eq(be_port_open(&root, "org.absent", 0.05), -1);
	tree_free(&root);
}

/* What does not depend on the kernel that the test runs on. */
Test(system, probes_of_this_machine)
{
	static const struct {
		const char *factor, *pattern;
	} cases[] = {
		{ "{name: f, observe: {kind: statfs, path: /proc}}", "\"value\": \"proc\"" },
		{ "{name: f, observe: {kind: probe, name: direct_io, path: /tmp}}", "\"value\": \"(yes|no)\"" },
		{ "{name: f, observe: {kind: probe, name: nowait, path: /tmp}}", "\"value\": \"(yes|no)" },
		{ "{name: f, observe: {kind: probe, name: nowait, path: /nonexistent}}", "no such file" },
		{ "{name: f, observe: {kind: probe, name: file_flags, path: /tmp, absent: no flags}}",
		  "\"value\": \"(none|no flags|[a-z, ]+)\"" },
		{ "{name: f, observe: {kind: probe, name: direct_io, path: /proc}}", "no file can be made there" },
		{ "{name: f, observe: {kind: probe, name: fs_usage, path: /tmp}}", "\"used_percent\": \"[0-9]+\"" },
		{ "{name: f, observe: {kind: probe, name: rlimits}}", "\"nofile\": \"[0-9]+/([0-9]+|unlimited)\"" },
		{ "{name: f, observe: {kind: probe, name: entropy}}", "\"(ready|not ready)\"" },
		{ "{name: f, observe: {kind: probe, name: clock}}", "\"set" },
		{ "{name: f, observe: {kind: probe, name: calibration}}",
		  "\"copy_bytes_per_second\": \"[1-9][0-9]+\"" },
		{ "{name: f, observe: {kind: probe, name: process, field: init.not.there}}", "\"not running\"" },
		{ "{name: f, observe: {kind: probe, name: fiemap, path: /, field: state}}", "not_applicable" },
		{ "{name: f, observe: {kind: probe, name: fiemap, path: /nonexistent, field: state, absent: x}}",
		  "\"value\": \"x\"" },
	};
	struct be_root real = { .prefix = NULL };
	for (size_t i = 0; i < BE_ARRAY_LEN(cases); i++) {
		be_autofree char *text = be_strf("factors: [%s]", cases[i].factor);
		be_autonode struct be_node *plan = tree_yaml(text);
		be_autoscopes struct be_scopes scopes;
		be_scopes_load(&scopes, &real, plan, NULL, NULL);
		const struct be_observer observer = { .root = real, .plan = plan, .scopes = &scopes };
		be_autonode struct be_node *environment = be_observe(&observer, BE_BEFORE);
		be_autofree char *json = tree_json(environment);
		be_autofree char *hit = be_match(cases[i].pattern, json);
		cr_expect_not_null(hit, "%s: %s", cases[i].factor, json);
	}
}

/* A file with a hole is sparse, one without is written; the largest one counts. */
Test(system, file_layout)
{
	struct be_root root = tree_new();
	tree_write(&root, "/small", "x");
	be_autofree char *large = be_root_path(&root, "/sub/large");
	tree_write(&root, "/sub/large", "data");
	cr_assert_eq(truncate(large, 1 << 20), 0);
	be_autofree char *text =
		be_strf("layout: {testdir: %s}\nfactors:\n"
			"- {name: f, observe: {kind: probe, name: fiemap, path: '{testdir}', field: state}}",
			root.prefix);
	be_autonode struct be_node *plan = tree_yaml(text);
	be_autoscopes struct be_scopes scopes;
	const struct be_root real = { .prefix = NULL };
	be_scopes_load(&scopes, &real, plan, NULL, NULL);
	const struct be_observer observer = { .root = real, .plan = plan, .scopes = &scopes };
	be_autonode struct be_node *environment = be_observe(&observer, BE_BEFORE);
	be_autofree char *json = tree_json(environment);
	be_autofree char *hit = be_match("written.sparse|FIEMAP", json);
	cr_expect_not_null(hit, "%s", json);
	tree_free(&root);
}
