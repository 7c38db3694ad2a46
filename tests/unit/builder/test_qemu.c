/* The runner of QEMU, with scripts in QEMU's place. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "builder/twin/initrd_extend.h"
#include "builder/twin/qemu.h"

static char dir[64], console[96];

static void set_up(void)
{
	snprintf(dir, sizeof(dir), "/tmp/be-qemu.XXXXXX");
	cr_assert_not_null(mkdtemp(dir));
	snprintf(console, sizeof(console), "%s/console.log", dir);
}

static void tear_down(void)
{
	struct be_error err = BE_ERROR_INIT;
	cr_expect_eq(be_remove_tree(dir, &err), 0);
}

TestSuite(qemu, .init = set_up, .fini = tear_down);

/* Runs a script of bash (dash knows only descriptors of one digit), which may use the control channel, descriptor $1.
 */
static void run(const char *script, double timeout, struct be_qemu *qemu)
{
	struct be_error err = BE_ERROR_INIT;
	int control[2];
	cr_assert_eq(be_qemu_channel(control, &err), 0);
	be_autostrv struct be_strv argv = { 0 };
	be_strv_add(&argv, "bash");
	be_strv_add(&argv, "-c");
	be_strv_add(&argv, script);
	be_strv_add(&argv, "bash");
	be_strv_addf(&argv, "%d", control[1]);
	*qemu = (struct be_qemu){ .argv = &argv,
				  .folder = dir,
				  .control = control[0],
				  .timeout = timeout,
				  .console = console,
				  .quiet = true };
	cr_assert_eq(be_qemu_run(qemu, &err), 0, "%s", err.text);
	qemu->argv = NULL;
	close(control[0]);
	close(control[1]);
}

Test(qemu, why_it_is_off)
{
	static const struct {
		const char *script, *ended;
		bool failed;
	} cases[] = {
		{ "echo '{\"event\": \"SHUTDOWN\", \"data\": {\"guest\": true, \"reason\": \"guest-shutdown\"}}' >&$1",
		  "the guest powered off", false },
		{ "echo '{\"event\": \"SHUTDOWN\", \"data\": {\"guest\": true, \"reason\": \"guest-reset\"}}' >&$1",
		  "the guest reset the machine", false },
		{ "echo '{\"event\": \"WATCHDOG\", \"data\": {\"action\": \"poweroff\"}}' >&$1;"
		  "echo '{\"event\": \"SHUTDOWN\", \"data\": {\"reason\": \"guest-shutdown\"}}' >&$1",
		  "the watchdog fired: nothing fed it any more", false },
		{ "echo '{\"event\": \"GUEST_PANICKED\"}' >&$1", "the guest's kernel panicked", false },
		{ "echo 'no JSON' >&$1", "the machine is off", false },
		{ "echo no such device >&2; exit 1", "QEMU ended with status 1: no such device", true },
	};
	for (size_t i = 0; i < BE_ARRAY_LEN(cases); i++) {
		struct be_qemu qemu;
		run(cases[i].script, 10, &qemu);
		cr_expect_str_eq(qemu.ended, cases[i].ended);
		cr_expect_eq(qemu.failed, cases[i].failed);
		cr_expect_not(qemu.timed_out);
	}
}

Test(qemu, says_hello_and_runs_in_its_folder)
{
	struct be_qemu qemu;
	run("read -r hello <&$1; echo \"$hello\" >console.log", 10, &qemu);
	be_autobuf struct be_buf text = { 0 };
	struct be_error err = BE_ERROR_INIT;
	cr_assert_eq(be_read_file(console, 4096, &text, &err), 0, "%s", err.text);
	cr_expect_str_eq(text.data, "{\"execute\": \"qmp_capabilities\"}\n");
}

Test(qemu, timeout, .timeout = 20)
{
	struct be_qemu qemu;
	run("exec sleep 100", 1, &qemu);
	cr_expect(qemu.timed_out);
	cr_expect(strstr(qemu.ended, "the machine was stopped after 1 s"), "%s", qemu.ended);
}

Test(qemu, last_words)
{
	static const char log[] = "[1.0] one\r\n[2.0] Kernel panic - not syncing: sysrq triggered crash\r\n"
				  "[3.0] \0 three\r\n[4.0] four";
	struct be_error err = BE_ERROR_INIT;
	cr_assert_eq(be_write_file(console, log, sizeof(log) - 1, 0600, &err), 0);
	be_autofree char *panic = be_console_panic(console), *tail = be_console_tail(console, 2);
	cr_expect_str_eq(panic, "sysrq triggered crash");
	cr_expect_str_eq(tail, "[3.0]   three\n[4.0] four\n");
	be_autofree char *none = be_console_panic("/nonexistent"), *empty = be_console_tail("/nonexistent", 2);
	cr_expect_null(none);
	cr_expect_str_eq(empty, "");
}

/* The addition begins at a multiple of four and is a cpio archive of its own. */
Test(qemu, initrd_with_rules)
{
	struct be_error err = BE_ERROR_INIT;
	be_autofree char *from = be_strf("%s/from", dir), *to = be_strf("%s/to", dir);
	be_autobuf struct be_buf text = { 0 };
	cr_assert_eq(be_write_file(from, "12345", 5, 0600, &err), 0);
	cr_assert_eq(be_initrd_extend(from, "a rule\n", to, &err), 0, "%s", err.text);
	cr_assert_eq(be_read_file(to, 65536, &text, &err), 0);
	cr_expect_eq(memcmp(text.data, "12345\0\0\000070701", 14), 0);
	cr_expect_not_null(memmem(text.data, text.len, "etc/udev/rules.d/61-benchenv-twin.rules", 39));
	cr_expect_not_null(memmem(text.data, text.len, "a rule\n", 7));
	cr_expect_not_null(memmem(text.data, text.len, "TRAILER!!!", 10));
}
