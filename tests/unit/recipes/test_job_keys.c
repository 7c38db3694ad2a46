/* Keys that nothing knows: kept, and a warning with position and the name that was probably meant. */
#include "job_helpers.h"

static void expect_warnings(const char *text, const char *wanted)
{
	be_autofolder struct folder folder = folder_make();
	be_autofree char *path = folder_add(&folder, "job.yaml", text);
	struct be_job_options options = { .data_dir = DATA };
	struct be_error err = BE_ERROR_INIT;
	be_autojobs struct be_jobs jobs = { 0 };
	cr_assert_eq(be_jobs_load(path, &options, &jobs, &err), 0, "%s", err.text);
	be_autofree char *got = warnings_text(&jobs.warnings, folder.path);
	cr_expect_str_eq(got, wanted);
}

Test(job_keys, slips_are_named)
{
	expect_warnings("fsmrk:\n", "! job.yaml:1:1: nothing knows the key \"fsmrk\"; is it \"fsmark\"?\n");
	expect_warnings("fsmark:\n  file_size: 4M\n",
			"! job.yaml:2:3: fsmark has no option \"file_size\"; is it \"filesize\"?\n");
	expect_warnings("fs: ext4\n\n---\nfs: xfs\nif role server:\n  netservr:\n",
			"! job.yaml:6:3: nothing knows the key \"netservr\"; is it \"netserver\"?\n");
	expect_warnings("fsmrk.filesize: 4M\n", "! job.yaml:1:1: nothing knows the key \"fsmrk.filesize\"; is it "
						"\"fsmark\"?\n");
}

Test(job_keys, other_words_are_not_guessed)
{
	expect_warnings("colour: blue\nfsmark: {colour: red}\n", "! job.yaml:1:1: nothing knows the key \"colour\"\n"
								 "! job.yaml:2:10: fsmark has no option \"colour\"\n");
}

Test(job_keys, what_is_known_makes_no_noise)
{
	expect_warnings("perf-profile: {delay: 1, anything: 2}\nneed_this: x\ncgroup2: {memory.high: 1G}\n"
			"lkp_rules: 2020-01-01\nLKP_SERVER: inn\ncpufreq_governor: performance\n"
			"bad_samples+: [1]\nfsmark.filesize: 4M\nif role client:\n  netperf: {test: a}\n",
			"");
}

Test(job_keys, the_number_of_warnings_is_limited)
{
	be_autobuf struct be_buf text = { 0 };
	for (int i = 0; i < 150; i++)
		be_buf_addf(&text, "unheard-of-%d:\n", i);
	be_autofolder struct folder folder = folder_make();
	be_autofree char *path = folder_add(&folder, "job.yaml", text.data);
	struct be_job_options options = { .data_dir = DATA };
	struct be_error err = BE_ERROR_INIT;
	be_autojobs struct be_jobs jobs = { 0 };
	cr_assert_eq(be_jobs_load(path, &options, &jobs, &err), 0, "%s", err.text);
	cr_assert_eq(jobs.warnings.n, 101);
	cr_expect(be_ends(jobs.warnings.v[100], ":1:1: 50 more keys that nothing knows"));
}

Test(job_keys, keys_that_stand_twice)
{
	expect_warnings("fs: ext4\nfsmark:\nfs: xfs\n",
			"! job.yaml:3:1: the key \"fs\" stands twice, first in line 1: the last one counts\n");
}

Test(job_keys, a_workload_definition_declares_a_program)
{
	be_autofolder struct folder folder = folder_make();
	free(folder_add(&folder, "programs.yaml", "run:\n  fsmark: [filesize]\n"));
	free(folder_add(&folder, "workloads/fsmark.yaml",
			"workload: fsmark\nprograms: [fsmark]\nparameters:\n  pace: {unit: count}\n"));
	free(folder_add(&folder, "workloads/mine.yaml",
			"workload: mine\nprograms: [mine]\n"
			"parameters:\n  speed: {unit: count}\n  words: {unit: list}\n"));
	be_autofree char *path = folder_add(&folder, "job.yaml",
					    "mine: {speed: [1, 2], words: [a, b]}\nfsmark: {pace: [3, 4]}\nother:\n");
	struct be_job_options options = { .data_dir = folder.path };
	struct be_error err = BE_ERROR_INIT;
	be_autojobs struct be_jobs jobs = { 0 };
	cr_assert_eq(be_jobs_load(path, &options, &jobs, &err), 0, "%s", err.text);
	be_autofree char *got = jobs_text(&jobs, folder.path);
	cr_expect_str_eq(got, "== job-1\nmine:\n  speed: 1\n  words: [a, b]\nfsmark:\n  pace: [3, 4]\nother: null\n"
			      "== job-2\nmine:\n  speed: 2\n  words: [a, b]\nfsmark:\n  pace: [3, 4]\nother: null\n"
			      "! job.yaml:3:1: nothing knows the key \"other\"\n");
}
