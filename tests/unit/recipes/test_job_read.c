/* Expanded jobs of all eras, and what mail does to them. */
#include "job_helpers.h"

#define SECTIONS_2020                     \
	"---\n"                           \
	"\n"                              \
	"#! jobs/fsmark-1hdd.yaml\n"      \
	"suite: fsmark\n"                 \
	"testcase: fsmark\n"              \
	"fsmark:\n"                       \
	"  filesize: 4M\n"                \
	"fs2: \n"                         \
	"\n"                              \
	"#! queue options\n"              \
	"submit_id: '6001'\n"             \
	"tbox_group: lkp-icl-2sp7\n"      \
	"\n"                              \
	"#! hosts/lkp-icl-2sp7\n"         \
	"nr_cpu: 64\n"                    \
	"\n"                              \
	"#! include/category/ALL\n"       \
	"cpufreq_governor: performance\n" \
	"\n"                              \
	"#! runtime status\n"             \
	"enqueue_time: 2021-02-26 22:11:18.355364388 +08:00\n"

#define EXPANDED                          \
	"== fsmark-performance-4M\n"      \
	"suite: fsmark\n"                 \
	"testcase: fsmark\n"              \
	"fsmark:\n"                       \
	"  filesize: 4M\n"                \
	"fs2: null\n"                     \
	"submit_id: \"6001\"\n"           \
	"tbox_group: lkp-icl-2sp7\n"      \
	"nr_cpu: 64\n"                    \
	"cpufreq_governor: performance\n" \
	"enqueue_time: 2021-02-26 22:11:18.355364388 +08:00\n"

#define COMPATIBLE                   \
	"== fsmark-4M\n"             \
	"suite: fsmark\n"            \
	"testcase: fsmark\n"         \
	"fsmark:\n"                  \
	"  filesize: 4M\n"           \
	"fs2: null\n"                \
	"tbox_group: lkp-icl-2sp7\n" \
	"nr_cpu: 64\n"               \
	"enqueue_time: 2021-02-26 22:11:18.355364388 +08:00\n"

static char *load(const char *text, bool compatible)
{
	be_autofolder struct folder folder = folder_make();
	be_autofree char *path = folder_add(&folder, "job.yaml", text);
	struct be_job_options options = { .data_dir = DATA, .compatible = compatible };
	struct be_error err = BE_ERROR_INIT;
	be_autojobs struct be_jobs jobs = { 0 };
	cr_assert_eq(be_jobs_load(path, &options, &jobs, &err), 0, "%s", err.text);
	cr_expect_str_eq(jobs.text, text);
	return jobs_text(&jobs, folder.path);
}

static void expect_both(const char *text, const char *position)
{
	be_autofree char *whole = load(text, false), *own = load(text, true);
	be_autofree char *wanted = be_strf(COMPATIBLE "! job.yaml:%s: --compatible leaves out cpufreq_governor "
						      "(include/category/ALL)\n",
					   position);
	cr_expect_str_eq(whole, EXPANDED);
	cr_expect_str_eq(own, wanted);
}

/* @text with every @from replaced by @to. */
static char *replaced(const char *text, const char *from, const char *to)
{
	be_autobuf struct be_buf out = { 0 };
	for (const char *at; (at = strstr(text, from)); text = at + strlen(from)) {
		be_buf_add(&out, text, (size_t)(at - text));
		be_buf_adds(&out, to);
	}
	be_buf_adds(&out, text);
	return be_buf_steal(&out);
}

Test(job_read, markers_as_comments)
{
	expect_both(SECTIONS_2020, "4:1");
}

Test(job_read, markers_as_keys)
{
	expect_both("---\n:#! jobs/fsmark-1hdd.yaml:\nsuite: fsmark\ntestcase: fsmark\nfsmark:\n  filesize: 4M\nfs2:\n"
		    ":#! queue options:\nsubmit_id: '6001'\ntbox_group: lkp-icl-2sp7\n"
		    "':#! hosts/lkp-icl-2sp7':\nnr_cpu: 64\n"
		    "? :#! include/category/ALL\n:\ncpufreq_governor: performance\n"
		    ":# upto 90% of the time:\n"
		    ":#! runtime status:\nenqueue_time: 2021-02-26 22:11:18.355364388 +08:00\n",
		    "3:1");
}

Test(job_read, carriage_returns)
{
	be_autofree char *text = replaced(SECTIONS_2020, "\n", "\r\n");
	expect_both(text, "4:1");
}

Test(job_read, byte_order_mark)
{
	be_autofree char *text = be_strf("\xef\xbb\xbf%s", &SECTIONS_2020[strlen("---\n")]);
	expect_both(text, "3:1");
}

Test(job_read, quoted_in_a_reply)
{
	be_autofree char *body = replaced(SECTIONS_2020, "\n", "\n>> ");
	be_autofree char *text = be_strf(">> %.*s", (int)strlen(body) - 3, body);
	expect_both(text, "4:4");
}

Test(job_read, quoted_printable)
{
	expect_jobs("fs: ext4\nkernel_cmdline: a=3D1 b=\n=3D2\nuser: caf=C3=A9\n",
		    "== job-ext4\nfs: ext4\nkernel_cmdline: a=1 b=2\nuser: caf\xc3\xa9\n");
	/* An equal sign that is no escape: a plain text. */
	expect_jobs("fs: ext4\nkernel_cmdline: a=3D1 b=2\n", "== job-ext4\nfs: ext4\nkernel_cmdline: a=3D1 b=2\n");
}

Test(job_read, a_file_without_sections)
{
	be_autofree char *got = load("suite: fsmark\nsubmit_id: 1\nfsmark:\n#! queue options\n", true);
	cr_expect_str_eq(got, "== fsmark-defaults\nsuite: fsmark\nsubmit_id: 1\nfsmark: null\n"
			      "! job.yaml:1:1: no section says what came from the job: all keys are kept\n");
}

Test(job_read, an_expanded_job_is_not_expanded_again)
{
	expect_jobs("suite: fsmark\nresult_root: /x\nfsmark:\n  filesize: [4M, 8M]\n  test_size: '{{ x }}'\n",
		    "== fsmark-___x___\nsuite: fsmark\nresult_root: /x\nfsmark:\n  filesize: [4M, 8M]\n"
		    "  test_size: '{{ x }}'\n");
}

Test(job_read, settings_of_an_expanded_job)
{
	expect_set("suite: fsmark\nresult_root: /x\nfsmark: {filesize: 4M}\n",
		   "== fsmark-8M\nsuite: fsmark\nresult_root: /x\nfsmark:\n  filesize: 8M\n", "filesize=8M");
}

Test(job_read, a_list_of_a_setting_expands_an_expanded_job)
{
	expect_set("suite: fsmark\nresult_root: /x\nfsmark: {filesize: 4M}\nbad_samples: [a, b]\n",
		   "== fsmark-8M\nsuite: fsmark\nresult_root: /x\nfsmark:\n  filesize: 8M\nbad_samples: [a, b]\n"
		   "== fsmark-16M\nsuite: fsmark\nresult_root: /x\nfsmark:\n  filesize: 16M\nbad_samples: [a, b]\n",
		   "filesize: [8M, 16M]");
}

Test(job_read, other_ends_of_lines)
{
	expect_jobs("fs: ext4\n# a\xe2\x80\xa8# b\xc2\x85# c\nfsmrk:\n",
		    "== job-ext4\nfs: ext4\nfsmrk: null\n"
		    "! job.yaml:3:1: nothing knows the key \"fsmrk\"; is it \"fsmark\"?\n");
}

Test(job_read, words_of_yaml)
{
	expect_jobs("fs: ~\nfs1: y\nfs2: \"no\"\nqueue: 0x21\nuser: '1614350233'\nloadavg: |\n  a\n  b\nmd:\n",
		    "== job-y-no\nfs: null\nfs1: y\nfs2: \"no\"\nqueue: 0x21\nuser: \"1614350233\"\n"
		    "loadavg: |\n  a\n  b\nmd: null\n");
}

Test(job_read, bytes_that_were_read_before)
{
	static const char text[] = "testcase: fsmark\nfs: [ext4, xfs]\n";
	struct be_buf content = { .data = (char *)text, .len = strlen(text) };
	struct be_job_options options = { .data_dir = DATA, .content = &content };
	struct be_error err = BE_ERROR_INIT;
	be_autojobs struct be_jobs jobs = { 0 };
	/* A pipe has no name that a job could be called by. */
	cr_assert_eq(be_jobs_load("/dev/stdin", &options, &jobs, &err), 0, "%s", err.text);
	cr_assert_eq(jobs.n, 2);
	cr_expect_str_eq(jobs.atoms[0].name, "fsmark-ext4");
	cr_expect_str_eq(jobs.text, text);
}

Test(job_read, a_job_that_is_no_file)
{
	static const struct {
		const char *path, *message;
	} cases[] = {
		{ "", "the name of a file is empty" },
		{ "/tmp", "/tmp: cannot be read: Is a directory" },
		{ "/nonexistent/job", "/nonexistent/job: cannot be opened: No such file or directory" },
	};
	for (size_t i = 0; i < BE_ARRAY_LEN(cases); i++) {
		struct be_job_options options = { .data_dir = DATA };
		struct be_error err = BE_ERROR_INIT;
		be_autojobs struct be_jobs jobs = { 0 };
		cr_expect_eq(be_jobs_load(cases[i].path, &options, &jobs, &err), -1);
		cr_expect_str_eq(err.text, cases[i].message);
		cr_expect_eq(err.status, BE_USAGE);
	}
}
