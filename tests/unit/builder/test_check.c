/* The command `check` on a recorded machine. */
#include "tests/unit/disk-setup/recorded.h"

#include <criterion/redirect.h>

#include "builder/commands.h"

static struct be_setup machine;

static void write_text(const char *path, const char *text)
{
	struct be_error err = BE_ERROR_INIT;
	cr_assert_eq(be_write_file(path, text, strlen(text), 0644, &err), 0, "%s", err.text);
}

/* Runs `check` for a job on one hard disk of a host file with this list. */
static int run(const char *partitions, const char *set)
{
	be_autofree char *job = be_root_path(&machine.root, "/job.yaml"), *host = be_root_path(&machine.root, "/box");
	be_autofree char *cache = be_root_path(&machine.root, "/cache");
	be_autofree char *text = be_strf("nr_cpu: 2\nmemory: 1G\nhdd_partitions: %s\n", partitions);
	write_text(job, "testcase: fsmark\ndisk: 1HDD\nfs: ext4\nfsmark:\n  filesize: 4K\n");
	write_text(host, text);
	setenv("MKBENCHENV_DATA", "recipes", 1);
	setenv("MKBENCHENV_CACHE", cache, 1);
	char *argv[] = {
		(char *)"check", job, (char *)"--host", host, (char *)"--root", machine.root.prefix, (char *)"--set",
		(char *)set,     NULL
	};
	return be_cmd_check(BE_ARRAY_LEN(argv) - 1, argv);
}

static void begin(void)
{
	recorded_load(&machine, RECORDED_DISKS);
	cr_redirect_stdout();
	cr_redirect_stderr();
}

static void end(void)
{
	recorded_free(&machine);
}

TestSuite(check, .init = begin, .fini = end);

Test(check, permitted)
{
	cr_expect_eq(run("/dev/disk/by-id/ata-BENCH-HDD_H4-part1", "fs=xfs"), BE_OK);
	fflush(stdout);
	cr_expect_stdout_eq_str("disk0  /dev/disk/by-id/ata-BENCH-HDD_H4-part1 -> sdk1\n"
				"  may be written: carries nothing\n");
}

Test(check, refused)
{
	cr_expect_eq(run("/dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_SWAP", "fs=xfs"), BE_FAILED);
	fflush(stdout);
	cr_expect_stdout_eq_str("disk0  /dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_SWAP -> sdl\n"
				"  refused: sdl is in use as swap\n"
				"    remedy: swapoff /dev/sdl\n");
}

Test(check, a_disk_that_the_plan_makes)
{
	cr_expect_eq(run("/dev/disk/by-id/ata-BENCH-HDD_H4-part1", "disk=1BRD_1G"), BE_OK);
	fflush(stdout);
	cr_expect_stdout_eq_str("the plan makes its devices itself (layout.load): there is nothing to check yet\n");
}
