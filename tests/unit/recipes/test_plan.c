#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "host.h"
#include "job.h"
#include "plan.h"

#define DATA "recipes"
#define GOLDEN "tests/golden/plan/"
#define TODAY "2026-07-30"

/* BE_GOLDEN=write makes the golden files anew; what differs is then seen in the repository. */
static bool writing(void)
{
	return be_streq(getenv("BE_GOLDEN"), "write");
}

static struct be_node *plan_of(const struct be_node *job, const char *host_name, struct be_strv *warnings,
			       struct be_error *err)
{
	be_autonode struct be_node *host = be_host_load(host_name, DATA, warnings, NULL, NULL, err);
	cr_assert_not_null(host, "%s", err->text);
	struct be_plan_request request = {
		.name = "test",
		.job = job,
		.host = host,
		.host_name = host_name,
		.data_dir = DATA,
		.today = TODAY,
	};
	return be_plan_make(&request, warnings, err);
}

static char *shell_of(const struct be_node *job, const char *host, const char *name)
{
	struct be_error err = BE_ERROR_INIT;
	be_autostrv struct be_strv warnings = { 0 };
	struct be_buf out = { 0 };
	be_autonode struct be_node *plan = plan_of(job, host, &warnings, &err);
	cr_assert_not_null(plan, "%s: %s", name, err.text);
	cr_assert_eq(be_plan_shell(plan, &out, &err), 0, "%s: %s", name, err.text);
	return be_buf_steal(&out);
}

static void save(const char *path, const char *text)
{
	struct be_error err = BE_ERROR_INIT;
	cr_assert_eq(be_write_file(path, text, strlen(text), 0644, &err), 0, "%s", err.text);
}

Test(plan, transcripts)
{
	struct be_error err = BE_ERROR_INIT;
	be_autonode struct be_node *cases = be_node_load_file(GOLDEN "transcripts.yaml", &err);
	cr_assert_not_null(cases, "%s", err.text);
	cr_assert_geq(cases->n, 60);
	for (size_t i = 0; i < cases->n; i++) {
		struct be_node *c = cases->items[i];
		const char *name = be_get_str(c, "name", "?");
		be_autofree char *shell = shell_of(be_get(c, "job"), be_get_str(c, "host", "qemu"), name);
		if (writing())
			be_set_str(c, "shell", shell);
		else
			cr_expect_str_eq(shell, be_get_str(c, "shell", ""), "%s:\n%s", name, shell);
	}
	if (!writing())
		return;
	be_autobuf struct be_buf out = { 0 };
	cr_assert_eq(be_node_yaml(cases, &out, &err), 0, "%s", err.text);
	save(GOLDEN "transcripts.yaml", out.data);
}

/* What of a plan belongs in a golden file: not the catalogue, the definition and the job, which are data already. */
static char *key_parts(const struct be_node *plan)
{
	static const char *const keys[] = { "rules",  "machine", "boot",  "image",     "settings",
					    "layout", "wanted",  "built", "deviations" };
	struct be_error err = BE_ERROR_INIT;
	be_autonode struct be_node *out = be_node_map();
	for (size_t i = 0; i < BE_ARRAY_LEN(keys); i++)
		be_set(out, keys[i], be_node_clone(be_get(plan, keys[i])));
	struct be_buf text = { 0 };
	cr_assert_eq(be_node_yaml(out, &text, &err), 0, "%s", err.text);
	return be_buf_steal(&text);
}

static void same_as(const char *name, const char *suffix, const char *text)
{
	struct be_error err = BE_ERROR_INIT;
	be_autobuf struct be_buf want = { 0 };
	be_autofree char *path = be_strf(GOLDEN "%s.%s", name, suffix);
	if (writing()) {
		save(path, text);
		return;
	}
	cr_assert_eq(be_read_file(path, 1 << 20, &want, &err), 0, "%s", err.text);
	cr_expect_str_eq(text, want.data, "%s differs:\n%s", path, text);
}

static void recipe(const char *file)
{
	struct be_error err = BE_ERROR_INIT;
	be_autofree char *path = be_strf(DATA "/jobs/%s", file), *name = be_strndup(file, strlen(file) - 5);
	be_autojobs struct be_jobs jobs = { 0 };
	struct be_job_options options = { .data_dir = DATA };
	be_autostrv struct be_strv warnings = { 0 };
	be_autobuf struct be_buf shell = { 0 };
	cr_assert_eq(be_jobs_load(path, &options, &jobs, &err), 0, "%s", err.text);
	cr_assert_eq(jobs.n, 1, "%s", file);
	be_autonode struct be_node *plan =
		plan_of(jobs.atoms[0].job, be_get_str(jobs.atoms[0].job, "tbox_group", "?"), &warnings, &err);
	cr_assert_not_null(plan, "%s: %s", file, err.text);
	cr_expect_eq(warnings.n, 0, "%s: %s", file, warnings.n ? warnings.v[0] : "");
	cr_assert_eq(be_plan_shell(plan, &shell, &err), 0);
	same_as(name, "shell", shell.data);
	be_autofree char *parts = key_parts(plan);
	same_as(name, "yaml", parts);
}

Test(plan, shipped_recipes)
{
	const struct be_root root = { .prefix = (char *)"" };
	be_autostrv struct be_strv files = { 0 };
	cr_assert_eq(be_root_list(&root, DATA "/jobs", &files), 0);
	cr_assert_geq(files.n, 7);
	for (size_t i = 0; i < files.n; i++)
		recipe(files.v[i]);
}

static struct be_node *job_of(const char *text)
{
	struct be_error err = BE_ERROR_INIT;
	struct be_node *job = be_node_load(text, strlen(text), "job.yaml", &err);
	cr_assert_not_null(job, "%s", err.text);
	return job;
}

/* The message and hint, "MESSAGE | HINT", that @text is refused with on host qemu. */
static const char *refusal(const char *text)
{
	static char said[4200];
	struct be_error err = BE_ERROR_INIT;
	be_autostrv struct be_strv warnings = { 0 };
	be_autonode struct be_node *job = job_of(text);
	be_autonode struct be_node *plan = plan_of(job, "qemu", &warnings, &err);
	snprintf(said, sizeof(said), "%s%s%s", plan ? "no refusal" : err.text, *err.hint ? " | " : "", err.hint);
	if (!plan)
		cr_expect_eq(err.status, BE_USAGE, "%s", said);
	return said;
}

#define FSMARK "testcase: fsmark\n"
#define FIO "testcase: fio-basic\nfio-setup-basic: {test_size: 1G}\n"
#define expect_refusal(text, want) cr_expect_str_eq(refusal(text), want, "%s", refusal(text))

Test(plan, refuses_what_cannot_be)
{
	expect_refusal(
		FSMARK "disk: 5HDD\nfs: ext4\n",
		"job.yaml:2:7: disk: asks for 5 HDD, but host qemu has 4 in hdd_partitions | ask for fewer (--set "
		"disk=4HDD), or take a host file that names more partitions");
	expect_refusal(FSMARK "disk: 2HDX\nfs: ext4\n",
		       "job.yaml:2:7: disk: '2HDX' is no disk set-up; known are nHDD, nSSD, nBRD_xG, nSRD_xG, npmem, "
		       "nNULLB_xG and nLOOP_xG | "
		       "did you mean 2HDD?");
	expect_refusal(FSMARK "disk: {nr_hd: 1}\n",
		       "job.yaml:2:7: disk: has none of nr_hdd, nr_ssd, nr_brd, nr_srd, nr_pmem, nr_nullb, "
		       "nr_loop | for example disk: "
		       "{nr_pmem: 1}");
	expect_refusal(FSMARK "disk: 999BRD_1G\n", "job.yaml:2:7: disk: 999 devices are more than 256");
	expect_refusal(FSMARK "disk: 1SSD\nfs: xfss\n",
		       "job.yaml:3:5: 'xfss' is no file system that this program can make | did you mean xfs?");
	expect_refusal(
		FSMARK "fs: ext4\n",
		"job.yaml:2:5: ext4 needs a device, and the job has no disk: | add disk: 1SSD (1HDD, 1BRD_4G, 2pmem, "
		"...), or use fs: tmpfs");
	expect_refusal(FSMARK "disk: 2HDD\nmd: RAID5\nfs: ext4\n",
		       "job.yaml:3:5: md: raid5 needs 3 devices, disk: gives 2 | ask for more disks, for example --set "
		       "disk=3HDD");
	expect_refusal(
		FSMARK "disk: 2HDD\nmd: RAID7\nfs: ext4\n",
		"job.yaml:3:5: md: 'raid7' is no RAID level | known are JBOD, RAID0, RAID1, RAID4, RAID5, RAID6, "
		"RAID10 and BRAID0, 1, 5, 6, 10");
	expect_refusal(FSMARK "rootfs_type: ext4\n", "job.yaml:2:14: rootfs_type: 'ext4' is neither ramfs nor tmpfs");
	expect_refusal(
		FSMARK "expect: maybe\n",
		"job.yaml:2:9: expect: 'maybe' is neither warn nor refuse | a map of factor: value states what the "
		"machine must give");
	expect_refusal(
		FSMARK "lkp_rules: yesterday\n",
		"job.yaml:2:12: lkp_rules: 'yesterday' is no date | write it as YYYY-MM-DD, the day whose harness "
		"rules shall hold");
	expect_refusal(
		FSMARK "lkp_rules: 2020-13-01\n",
		"job.yaml:2:12: lkp_rules: '2020-13-01' is no date | write it as YYYY-MM-DD, the day whose harness "
		"rules shall hold");
	expect_refusal(FSMARK "timeout: soon\n", "job.yaml:2:10: timeout: not a time such as 600s or 2h");
	expect_refusal(
		FSMARK "environment: {disk.write_cach: x}\n",
		"job.yaml:2:32: environment: there is no factor disk.write_cach | did you mean disk.write_cache?");
	expect_refusal(FSMARK "environment: {cpu.governor: performance}\n",
		       "job.yaml:2:29: environment: cpu.governor cannot be set this way | use the job's key "
		       "cpufreq_governor:");
	expect_refusal(
		FSMARK "expect: {nothing.known: 1}\n",
		"job.yaml:2:25: expect: there is no factor nothing.known | `mkbenchenv explain` lists the factors");
}

Test(plan, refuses_parameters_with_their_position)
{
	expect_refusal(FIO "nr_task: 4\n",
		       "fio-basic: no place for the test files | add disk: and fs:, or fs: tmpfs, or testfile: initrd");
	expect_refusal("testcase: fio-basic\nnr_task: 1\nfio:\n", "the workload fio-basic needs 'test_size:'");
	expect_refusal("testcase: fio-basic\nnr_task: 1\ntestfile: initrd\nfio-setup-basic: {test_size: 4Q}\n",
		       "job.yaml:4:30: test_size: '4Q' is not a size such as 4M or 100G");
	expect_refusal(
		FIO "disk: 2SSD\nfs: ext4\nnr_task: 3\n",
		"job.yaml:5:10: nr_task: 3 tasks cannot be spread evenly over 2 storages | give a multiple of 2, for "
		"example --set nr_task=4");
	expect_refusal(
		FIO "disk: 3HDD\nfs: ext4\nnr_task: 100%\n",
		"nr_task: 100% of 2 CPUs cannot be spread evenly over the storages: 2 too many | set a number, for "
		"example --set nr_task=3 on host qemu");
	expect_refusal(FIO "testfile: initrd\nnr_task: many\n",
		       "job.yaml:4:10: nr_task: 'many' is not a count such as 8, 8t or 50%");
	expect_refusal(
		"testcase: stress-ng\nstress-ng:\n",
		"stress-ng: neither test: nor class: is given | for example stress-ng: {class: filesystem, test: "
		"dir}");
	expect_refusal(FSMARK "fsmark: {sync_method: always}\n",
		       "fsmark: sync_method: 'always' is not known | known are NoSync, fsyncBeforeClose, syncFsync, "
		       "PostReverseFsync, syncPostReverseFsync, PostFsync and syncPostFsync");
	expect_refusal("testcase: filebench\nfilebench-setup: {test: ../x.f}\n",
		       "job.yaml:2:25: test: '../x.f' is not what this workload takes | its texts match "
		       "^[A-Za-z0-9][A-Za-z0-9_.:,+%-]*$");
	expect_refusal("testcase: mytest\nmytest:\n", "the workload mytest needs 'argv:'");
}

Test(plan, says_what_it_does_not_give)
{
	struct be_error err = BE_ERROR_INIT;
	be_autostrv struct be_strv warnings = { 0 };
	be_autonode struct be_node *job = job_of("testcase: fsmark\nfsmark: {filesiz: 4M}\nfs2: nfsv4\nswap:\nvmstat:\n"
						 "runtimee: 3\nunstated: [iterations]\niterations: 2\n");
	be_autonode struct be_node *plan = plan_of(job, "qemu", &warnings, &err);
	cr_assert_not_null(plan, "%s", err.text);
	be_autobuf struct be_buf text = { 0 };
	const struct be_node *list = be_get(plan, "deviations");
	for (size_t i = 0; i < list->n; i++)
		be_buf_addf(&text, "%s: %s\n", be_get_str(list->items[i], "topic", ""),
			    be_get_str(list->items[i], "text", ""));
	static const char *const said[] = {
		"fs2: nfsv4 asked, and no file system is made: nothing to export\n",
		"swap: swap asked: the job has no partition left for it and host qemu names no swap_partitions\n",
		"monitors: the job names 1 monitors, none is run: vmstat\n",
		"unknown key: fsmark: filesiz asked, its meaning is not known: without effect\n",
		"unknown key: runtimee asked, its meaning is not known: kept, without effect\n",
		"iterations: iterations: 2: unstated by the report, chosen here\n",
	};
	for (size_t i = 0; i < BE_ARRAY_LEN(said); i++)
		cr_expect_not_null(strstr(text.data, said[i]), "%s missing in:\n%s", said[i], text.data);
	cr_assert_eq(warnings.n, 1);
	cr_expect_str_eq(
		warnings.v[0],
		"job.yaml:2:19: fsmark: filesiz is not known to this program's definition; did you mean filesize");
}

Test(plan, date_of_the_rules)
{
	static const struct {
		const char *keys, *date, *from;
	} cases[] = {
		{ "lkp_rules: 2020-01-02\nenqueue_time: 2021-01-01 00:00:00 +08:00\n", "2020-01-02", "lkp_rules" },
		{ "enqueue_time: 2020-08-03 02:02:21.956542179 +08:00\nversion: /lkp/lkp/.src-20200731-151111:a\n",
		  "2020-08-03", "enqueue_time" },
		{ "version: /lkp/lkp/.src-20200731-151111:a\n", "2020-07-31", "version" },
		{ "queuer_version: /db/releases/20230425221759/lkp-src\n", "2023-04-25", "version" },
		{ "queuer_version: /lkp-src\n", TODAY, "today" },
	};
	for (size_t i = 0; i < BE_ARRAY_LEN(cases); i++) {
		struct be_error err = BE_ERROR_INIT;
		be_autostrv struct be_strv warnings = { 0 };
		be_autofree char *text = be_strf("testcase: fsmark\n%s", cases[i].keys);
		be_autonode struct be_node *job = job_of(text);
		be_autonode struct be_node *plan = plan_of(job, "qemu", &warnings, &err);
		cr_assert_not_null(plan, "%s", err.text);
		cr_expect_str_eq(be_get_str(be_get(plan, "rules"), "date", ""), cases[i].date);
		cr_expect_str_eq(be_get_str(be_get(plan, "rules"), "from", ""), cases[i].from);
	}
}

Test(plan, text_for_people_is_narrow)
{
	struct be_error err = BE_ERROR_INIT;
	be_autostrv struct be_strv warnings = { 0 };
	be_autonode struct be_node *job = job_of("testcase: fio-basic\ndisk: 2SSD\nfs: btrfs\nnr_task: 100%\n"
						 "fio-setup-basic: {test_size: 1G}\n");
	be_autonode struct be_node *plan = plan_of(job, "qemu", &warnings, &err);
	cr_assert_not_null(plan, "%s", err.text);
	be_autobuf struct be_buf out = { 0 };
	cr_assert_eq(be_plan_text(plan, &out, &err), 0, "%s", err.text);
	for (const char *line = out.data; *line; line += strcspn(line, "\n") + 1)
		cr_expect_leq(strcspn(line, "\n"), 100, "%.*s", (int)strcspn(line, "\n"), line);
	cr_expect_not_null(strstr(out.data, "nr_task          100% of nr_cpu 2 = 2\n"), "%s", out.data);
	cr_expect_not_null(strstr(out.data, "buffered=0\n"), "%s", out.data);
}
