/* Booted results compared: the detail that decided a report is told apart by `diff`, in its first lines. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/process.h"
#include "lab.h"

#define FIRST_LINES 3

static const char *program(void)
{
	const char *path = getenv("MKBENCHENV");
	cr_assert_not_null(path, "MKBENCHENV is not set: run `make test-e2e`");
	return path;
}

/* Runs `mkbenchenv WORDS` (separated by commas) and returns what it prints; it must end with @status. */
static char *output_of(const char *words, int status)
{
	struct be_error err = BE_ERROR_INIT;
	be_autostrv struct be_strv argv = { 0 };
	be_strv_add(&argv, program());
	be_strv_split(&argv, words, ",");
	be_autorun struct be_run run = { .argv = argv.v, .out_limit = 4 << 20 };
	cr_assert_eq(be_run(&run, &err), 0, "%s", err.text);
	cr_assert_eq(run.status, status, "%s: status %d\n%s", words, run.status, run.errout.data);
	return be_buf_steal(&run.out);
}

/* The place of factor @name among the differences of two results, from 1; 0: it is none. */
static size_t place_of(const char *a, const char *b, const char *name)
{
	struct be_error err = BE_ERROR_INIT;
	be_autofree char *words = be_strf("diff,--json,%s,%s", a, b), *json = output_of(words, BE_DIFFERS);
	be_autonode struct be_node *diff = be_node_load(json, strlen(json), "diff", &err);
	cr_assert_not_null(diff, "%s", err.text);
	const struct be_node *rows = be_get(diff, "differences");
	for (size_t i = 0; i < rows->n; i++)
		if (be_streq(be_get_str(rows->items[i], "name", NULL), name))
			return i + 1;
	return 0;
}

static void expect_place(const char *a, const char *b, const char *name, size_t most)
{
	size_t place = place_of(a, b, name);
	cr_expect(place > 0 && place <= most, "%s: line %zu of the difference", name, place);
	fprintf(stderr, "e2e: %s is line %zu of the difference\n", name, place);
}

/* Two builds of a starting recipe with one detail changed. */
static void expect_told_apart(struct lab *a, struct lab *b, const char *factor)
{
	lab_run(a);
	lab_run(b);
	lab_expect_state(a, "done");
	lab_expect_state(b, "done");
	expect_place(a->result, b->result, factor, FIRST_LINES);
	lab_done(a);
	lab_done(b);
}

/* Every factor of the catalogue has a verdict, and none says that nothing is known. */
static void expect_whole(const char *result)
{
	struct be_error err = BE_ERROR_INIT;
	be_autofree char *words = be_strf("show,--json,%s", result), *json = output_of(words, BE_OK);
	be_autofree char *names = output_of("explain", BE_OK), *page = be_strf("show,%s", result);
	be_autonode struct be_node *manifest = be_node_load(json, strlen(json), "manifest", &err);
	cr_assert_not_null(manifest, "%s", err.text);
	const struct be_node *environment = be_get(manifest, "environment");
	for (size_t i = 0; i < environment->n; i++) {
		const char *verdict = be_get_str(environment->items[i], "verdict", "");
		cr_expect(*verdict && !strstr(verdict, "unknown") && !strstr(verdict, "did not state"), "%s: %s",
			  environment->keys[i], verdict);
		cr_expect(strstr(names, environment->keys[i]), "%s is not in the catalogue", environment->keys[i]);
	}
	be_autofree char *text = output_of(page, BE_OK);
	size_t lines = 0;
	for (const char *c = text; *c; c++)
		lines += *c == '\n';
	cr_expect_lt(lines, 100u, "%zu lines", lines);
}

/* Which detail matters is a question that a list asks. The @factors are the difference's lines from @line on. */
static void sweep(const char *first, const char *second, const char *factors, size_t line)
{
	struct be_error err = BE_ERROR_INIT;
	const char *work = getenv("E2E_WORK");
	be_autofree char *folder = be_strf("%s/sweep-%s", work, first);
	be_autofree char *build = be_strf("recipes/jobs/stress-ng-io-uring.yaml,--all,-q,-o,%s/images,--set,disk=1SSD,"
					  "--set,testtime=2s,--set,lkp_rules=2023-07-06",
					  folder);
	be_autostrv struct be_strv argv = { 0 };
	cr_assert_eq(be_remove_tree(folder, &err), 0, "%s", err.text);
	cr_assert_eq(be_mkdirs(folder, 0755, &err), 0, "%s", err.text);
	/* Lists hold commas: these two words are added after the others were split. */
	be_strv_add(&argv, program());
	be_strv_split(&argv, build, ",");
	be_strv_add(&argv, "--set");
	be_strv_add(&argv, "testfile=[initrd, tmpfs, btrfs]");
	be_strv_add(&argv, "--set");
	be_strv_add(&argv, "rootfs_type=[tmpfs, ramfs]");
	be_autorun struct be_run run = { .argv = argv.v };
	cr_assert_eq(be_run(&run, &err), 0, "%s", err.text);
	cr_assert_eq(run.status, 0, "%s", run.errout.data);

	struct be_root root = { .prefix = "" };
	be_autofree char *images = be_strf("%s/images", folder);
	be_autostrv struct be_strv names = { 0 }, booted = { 0 };
	cr_assert_eq(be_root_list(&root, images, &names), 0);
	cr_assert_eq(names.n, 6);
	be_autobuf struct be_buf boot = { 0 };
	be_buf_addf(&boot, "boot,-q,--kvm,off,--disk-size,1G,--runs,1,-o,%s/runs", folder);
	const char *wanted[] = { first, second };
	for (size_t w = 0; w < BE_ARRAY_LEN(wanted); w++)
		for (size_t i = 0; i < names.n; i++)
			if (strstr(names.v[i], wanted[w])) {
				be_buf_addf(&boot, ",%s/%s", images, names.v[i]);
				be_strv_addf(&booted, "%s/runs/%s/1", folder, names.v[i]);
			}
	cr_assert_eq(booted.n, 2);
	be_autofree char *said = output_of(boot.data, BE_OK);
	be_autostrv struct be_strv expected = { 0 };
	be_strv_split(&expected, factors, ",");
	for (size_t i = 0; i < expected.n; i++)
		expect_place(booted.v[0], booted.v[1], expected.v[i], line + i);
	expect_whole(booted.v[0]);
	expect_whole(booted.v[1]);
	cr_expect_eq(be_remove_tree(folder, &err), 0, "%s", err.text);
}

Test(e2e, sweep)
{
	sweep("ramfs-io-uring-initrd", "tmpfs-io-uring-btrfs", "testfile.filesystem,testfile.nowait", 1);
}

Test(e2e_long, sweep_tmpfs)
{
	sweep("ramfs-io-uring-btrfs", "tmpfs-io-uring-tmpfs", "testfile.filesystem,testfile.nowait", 1);
}

Test(e2e_long, sweep_root)
{
	sweep("ramfs-io-uring-initrd", "tmpfs-io-uring-initrd", "testfile.filesystem", 1);
}

Test(e2e_long, told_apart_write_cache)
{
	struct lab a = { .name = "wc-a",
			 .job = "fio-basic-1ssd-btrfs-randread",
			 .set = { "test_size=64M", "runtime=3s", "nr_task=2t" },
			 .boot = { "--disk-size", "2G" } };
	struct lab b = { .name = "wc-b",
			 .job = "fio-basic-1ssd-btrfs-randread",
			 .set = { "test_size=64M", "runtime=3s", "nr_task=2t",
				  "environment.disk.write_cache=write through" },
			 .boot = { "--disk-size", "2G" } };
	expect_told_apart(&a, &b, "disk.write_cache");
}

Test(e2e_long, told_apart_pmem)
{
	struct lab a = { .name = "pmem-a",
			 .job = "fio-basic-2pmem-btrfs-randwrite",
			 .set = { "test_size=64M", "runtime=3s" },
			 .boot = { "--disk-size", "512M" } };
	struct lab b = { .name = "pmem-b",
			 .job = "fio-basic-2pmem-btrfs-randwrite",
			 .set = { "test_size=64M", "runtime=3s", "disk=1SSD" },
			 .boot = { "--disk-size", "512M" } };
	expect_told_apart(&a, &b, "disk.kind");
}

Test(e2e_long, told_apart_numa)
{
	struct lab a = { .name = "numa-a",
			 .job = "fsmark-3hdd-raid5-btrfs",
			 .set = { "test_size=128M" },
			 .boot = { "--disk-size", "2G" } };
	struct lab b = { .name = "numa-b",
			 .job = "fsmark-3hdd-raid5-btrfs-node0",
			 .set = { "test_size=128M" },
			 .boot = { "--disk-size", "2G" } };
	expect_told_apart(&a, &b, "memory.numa_policy");
}

Test(e2e_long, told_apart_scheduler)
{
	struct lab a = { .name = "sched-a",
			 .job = "fio-jbod-mmap-randread",
			 .set = { "test_size=192M", "runtime=3s", "environment.disk.scheduler=none" },
			 .boot = { "--disk-size", "1G" } };
	struct lab b = { .name = "sched-b",
			 .job = "fio-jbod-mmap-randread",
			 .set = { "test_size=192M", "runtime=3s", "environment.disk.scheduler=mq-deadline" },
			 .boot = { "--disk-size", "1G" } };
	expect_told_apart(&a, &b, "disk.scheduler");
}
