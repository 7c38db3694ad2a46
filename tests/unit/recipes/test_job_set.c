/* --set: where a setting lands. */
#include "job_helpers.h"

static const char job[] = "suite: fio-basic\n"
			  "runtime: 300s\n"
			  "fio-setup-basic:\n"
			  "  test_size: 128G\n"
			  "fio:\n";

Test(job_set, an_option_is_set_where_it_stands)
{
	expect_set(job,
		   "== job-5-256M\n"
		   "suite: fio-basic\n"
		   "runtime: 5\n"
		   "fio-setup-basic:\n"
		   "  test_size: 256M\n"
		   "fio: null\n",
		   "test_size=256M", "runtime=5");
}

Test(job_set, an_option_that_stands_nowhere_goes_to_its_program)
{
	expect_set(job,
		   "== job-4k-300s-128G\n"
		   "suite: fio-basic\n"
		   "runtime: 300s\n"
		   "fio-setup-basic:\n"
		   "  test_size: 128G\n"
		   "  bs: 4k\n"
		   "fio: null\n",
		   "bs=4k");
}

Test(job_set, other_keys_go_to_the_top)
{
	expect_set(job,
		   "== job-300s-128G-tmpfs\n"
		   "suite: fio-basic\n"
		   "runtime: 300s\n"
		   "fio-setup-basic:\n"
		   "  test_size: 128G\n"
		   "fio: null\n"
		   "testfile: tmpfs\n"
		   "expect:\n"
		   "  cpu.count: 4\n",
		   "testfile=tmpfs", "expect.count: 1", "expect-:", "expect: {cpu.count: 4}");
}

Test(job_set, lists_and_paths)
{
	expect_set(job,
		   "== job-1-300s-128G\n"
		   "suite: fio-basic\n"
		   "runtime: 300s\n"
		   "fio-setup-basic:\n"
		   "  test_size: 128G\n"
		   "  iodepth: 1\n"
		   "fio: null\n"
		   "== job-32-300s-128G\n"
		   "suite: fio-basic\n"
		   "runtime: 300s\n"
		   "fio-setup-basic:\n"
		   "  test_size: 128G\n"
		   "  iodepth: 32\n"
		   "fio: null\n",
		   "fio-setup-basic.iodepth=[1, 32]");
}

Test(job_set, a_value_is_text_as_it_stands)
{
	expect_set("mytest: x\n",
		   "== job-__rm_-rf____a:_b\n"
		   "mytest: '$(rm -rf /) a: b'\n",
		   "mytest=$(rm -rf /) a: b");
}

Test(job_set, refused)
{
	static const struct {
		const char *setting, *message;
	} cases[] = {
		{ "runtime", "--set \"runtime\": neither KEY=VALUE nor \"KEY: VALUE\"" },
		{ "=5", "--set \"=5\": the key is missing" },
		{ "a: [1", "--set \"a: [1\":2:1: did not find expected ',' or ']', while parsing a flow sequence" },
		{ "a..b: 1", "--set \"a..b: 1\":1:7: \"a..b\" is no path of keys" },
	};
	be_autofolder struct folder folder = folder_make();
	be_autofree char *path = folder_add(&folder, "job.yaml", job);
	for (size_t i = 0; i < BE_ARRAY_LEN(cases); i++) {
		be_autostrv struct be_strv set = { 0 };
		be_strv_add(&set, cases[i].setting);
		struct be_job_options options = { .data_dir = DATA, .set = &set };
		struct be_error err = BE_ERROR_INIT;
		be_autojobs struct be_jobs jobs = { 0 };
		cr_expect_eq(be_jobs_load(path, &options, &jobs, &err), -1);
		cr_expect_str_eq(err.text, cases[i].message);
		cr_expect_eq(err.status, BE_USAGE);
	}
}

Test(job_set, a_factor_keeps_its_dots)
{
	expect_set(job,
		   "== job-300s-128G\n"
		   "suite: fio-basic\n"
		   "runtime: 300s\n"
		   "fio-setup-basic:\n"
		   "  test_size: 128G\n"
		   "fio: null\n"
		   "environment:\n"
		   "  disk.write_cache: write through\n"
		   "expect:\n"
		   "  cpu.count: 4\n",
		   "environment.disk.write_cache=write through", "expect.cpu.count=4");
}

Test(job_set, what_nothing_knows_is_said)
{
	expect_set("suite: fsmark\nfsmark: {filesize: 4M}\n",
		   "== job-4M-1G\n"
		   "suite: fsmark\n"
		   "fsmark:\n"
		   "  filesize: 4M\n"
		   "  filesiz: 8M\n"
		   "swapp: null\n"
		   "cgroup2:\n"
		   "  memory.high: 1G\n"
		   "! --set \"fsmark.filesiz=8M\": fsmark has no option \"filesiz\"; is it \"filesize\"?\n"
		   "! --set \"swapp: \": nothing knows the key \"swapp\"; is it \"swap\"?\n",
		   "fsmark.filesiz=8M", "swapp: ", "cgroup2: {memory.high: 1G}");
}
