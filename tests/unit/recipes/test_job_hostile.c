/* Job files that mean harm, or are broken in a big way: text stays text, and no answer takes long. */
#include "job_helpers.h"

Test(job_hostile, values_stay_text_and_names_are_no_paths)
{
	expect_jobs("suite: ../../../etc/passwd\n"
		    "fs: \"ext4; rm -rf / #\"\n"
		    "md: $(reboot)\n"
		    "fsmark:\n"
		    "  filesize: \"4M\\n`id`\"\n"
		    "  sync_method: '../../x'\n"
		    "mytest: \"a'b\\\"c|d&e>f\"\n",
		    "== job-4M__id_-ext4__rm_-rf____-__reboot_-a_b_c_d_e_f-.._.._x\n"
		    "suite: ../../../etc/passwd\n"
		    "fs: 'ext4; rm -rf / #'\n"
		    "md: $(reboot)\n"
		    "fsmark:\n"
		    "  filesize: |-\n"
		    "    4M\n"
		    "    `id`\n"
		    "  sync_method: ../../x\n"
		    "mytest: a'b\"c|d&e>f\n");
}

/* What is written once and then @n times @more; the message is NULL where the file is a job after all. */
static void expect_quick(const char *first, const char *more, unsigned n, const char *message)
{
	be_autobuf struct be_buf text = { 0 };
	be_buf_adds(&text, first);
	for (unsigned i = 0; i < n; i++)
		be_buf_adds(&text, more);
	be_autofolder struct folder folder = folder_make();
	be_autofree char *path = folder_add(&folder, "job.yaml", text.data);
	struct be_job_options options = { .data_dir = DATA };
	struct be_error err = BE_ERROR_INIT;
	be_autojobs struct be_jobs jobs = { 0 };
	int rc = be_jobs_load(path, &options, &jobs, &err);
	cr_expect_eq(rc, message ? -1 : 0, "%s", err.text);
	if (message)
		cr_expect_str_eq(err.text + strlen(folder.path) + 1, message);
}

Test(job_hostile, much_of_one_thing, .timeout = 20)
{
	expect_quick("a: ", "[", 1000000, "job.yaml:1:68: nested too deeply");
	expect_quick("a: ", "{", 1000000, "job.yaml:1:4: {{ without its }} within the length of an expression");
	expect_quick("", "? ", 1000000, "job.yaml:1:131: nested too deeply");
	expect_quick("", "\n", 1000000, "job.yaml:200001:1: more than 200000 lines");
	expect_quick("", "---\n", 100000, "job.yaml:1:1: the file holds no job");
	expect_quick("queue: ", "x", 3000000, NULL);
	expect_quick("queue: x\n", "#! jobs/x.yaml\n", 100000, NULL);
	expect_quick("bad_samples: [", "a, ", 100000,
		     "job.yaml:2:1: did not find expected node content, while parsing a flow node");
	expect_quick("bad_samples:\n", "- &a x\n", 100000, "job.yaml:1002:3: the document has too many anchors");
	expect_quick("", "<<: nothing\n", 100000, "job.yaml:1:1: the included file \"nothing\" is not there");
}

Test(job_hostile, many_templates, .timeout = 20)
{
	expect_quick("fs: ext4\nbad_samples:\n", "- \"{{ fs }}\"\n", 30000,
		     "job.yaml:15:3: the lists and templates multiply to too much (0 jobs so far)");
}
