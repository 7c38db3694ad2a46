#include <criterion/criterion.h>
#include <string.h>

#include "mail.h"

/* A report as the robot writes it since 2023; names and values are made up. */
static const char report[] =
	"Subject: [linus:master] [xfs]  abcdef0123:  fio.write_iops -7.7% regression\n"
	"Date: Thu, 6 Jul 2023 15:29:10 +0800\n"
	"\n"
	"commit: abcdef0123456789abcdef0123456789abcdef01 (\"xfs: a subject\")\n"
	"\n"
	"testcase: fio-basic\n"
	"test machine: 96 threads 2 sockets Intel(R) Xeon(R) Gold 1234 CPU @ 2.10GHz (Some Lake) "
	"with 128G memory\n"
	"parameters:\n"
	"\n"
	"\truntime: 300s\n"
	"\tdisk: 1HDD\n"
	"\tfs: xfs\n"
	"\tnr_task: 8\n"
	"\trw: randwrite\n"
	"\tbs: 4k\n"
	"\tcpufreq_governor: performance\n"
	"\n"
	"=========================================================================\n"
	"bs/compiler/cpufreq_governor/disk/fs/kconfig/nr_task/rootfs/runtime/rw/tbox_group/testcase:\n"
	"  4k/gcc-12/performance/1HDD/xfs/x86_64-rhel-8.3/8/debian-12-x86_64.cgz/300s/randwrite/lkp-xyz-2sp1/"
	"fio-basic\n"
	"\n"
	"commit: \n"
	"  fedcba9876 (\"parent\")\n"
	"  abcdef0123 (\"xfs: a subject\")\n";

static struct be_mail_rules rules;

static void load_rules(void)
{
	struct be_error err = BE_ERROR_INIT;
	cr_assert_eq(be_mail_rules_load("recipes", &rules, &err), 0, "%s", err.text);
}

static void free_rules(void)
{
	be_mail_rules_free(&rules);
}

TestSuite(mail, .init = load_rules, .fini = free_rules);

static struct be_node *read_mail(const char *text)
{
	struct be_error err = BE_ERROR_INIT;
	struct be_node *tables = be_mail_read(text, strlen(text), &rules, &err);
	cr_assert_not_null(tables, "%s", err.text);
	return tables;
}

static char *job_of(const char *text, size_t number)
{
	struct be_error err = BE_ERROR_INIT;
	be_autonode struct be_node *tables = read_mail(text);
	be_autostrv struct be_strv unstated = { 0 };
	be_autobuf struct be_buf out = { 0 };
	cr_assert_leq(number, tables->n);
	be_autonode struct be_node *job = be_mail_job(tables->items[number - 1], &rules, &unstated, &err);
	cr_assert_not_null(job, "%s", err.text);
	cr_assert_eq(be_node_yaml(job, &out, &err), 0);
	return be_buf_steal(&out);
}

static char *host_of(const char *text)
{
	struct be_error err = BE_ERROR_INIT;
	be_autonode struct be_node *tables = read_mail(text);
	be_autostrv struct be_strv unstated = { 0 };
	be_autobuf struct be_buf out = { 0 };
	be_autonode struct be_node *host = be_mail_host(tables->items[0], &unstated);
	if (host)
		cr_assert_eq(be_node_yaml(host, &out, &err), 0);
	return be_buf_steal(&out);
}

#define EXPECT_TEXT(actual, expected)                                                                \
	do {                                                                                         \
		be_autofree char *text_ = (actual);                                                  \
		cr_expect(strcmp(text_, (expected)) == 0, "got:\n%swanted:\n%s", text_, (expected)); \
	} while (0)

static const char report_job[] = "testcase: fio-basic\n"
				 "category: benchmark\n"
				 "lkp_rules: 2023-07-06\n"
				 "runtime: 300s\n"
				 "disk: 1HDD\n"
				 "fs: xfs\n"
				 "nr_task: 8\n"
				 "fio-setup-basic:\n"
				 "  rw: randwrite\n"
				 "  bs: 4k\n"
				 "fio: null\n"
				 "cpufreq_governor: performance\n"
				 "testbox: lkp-xyz-2sp1\n"
				 "tbox_group: lkp-xyz-2sp1\n"
				 "commit: abcdef0123456789abcdef0123456789abcdef01\n"
				 "kconfig: x86_64-rhel-8.3\n"
				 "compiler: gcc-12\n"
				 "rootfs: debian-12-x86_64.cgz\n"
				 "unstated: [ioengine, test_size]\n";

Test(mail, a_report_gives_job_and_host)
{
	EXPECT_TEXT(job_of(report, 1), report_job);
	EXPECT_TEXT(host_of(report), "model: Some Lake\n"
				     "nr_socket: 2\n"
				     "nr_cpu: 96\n"
				     "memory: 128G\n"
				     "brand: Intel(R) Xeon(R) Gold 1234 CPU @ 2.10GHz\n");
}

/* Every line with @mark in front, below @intro. */
static char *quote(const char *text, const char *mark, const char *intro)
{
	be_autobuf struct be_buf out = { 0 };
	be_buf_adds(&out, intro);
	for (const char *line = text; *line;) {
		size_t n = strcspn(line, "\n");
		be_buf_adds(&out, mark);
		be_buf_add(&out, line, n);
		be_buf_addc(&out, '\n');
		line += n + (line[n] == '\n');
	}
	return be_buf_steal(&out);
}

Test(mail, quoting_changes_nothing_and_the_quoted_day_counts)
{
	be_autofree char *body = be_strdup(strstr(report, "commit:"));
	be_autofree char *once =
		quote(body, "> ", "Date: Mon, 10 Jul 2023 10:00:00 +0200\n\nOn 7/6/2023 3:29 PM, robot wrote:\n");
	EXPECT_TEXT(job_of(once, 1), report_job);
	be_autofree char *twice = quote(body, ">> ",
					"Date: Mon, 10 Jul 2023 10:00:00 +0200\n\n"
					"On Sat, Jul 8, 2023 at 9:12 somebody wrote:\n"
					"> On Thu, Jul 06, 2023 at 03:29:10PM +0800, robot wrote:\n");
	EXPECT_TEXT(job_of(twice, 1), report_job);
	be_autofree char *chinese = quote(body, ">",
					  "Date: Mon, 10 Jul 2023 10:00:00 +0200\n\n"
					  "\xe5\x9c\xa8 2023/07/06 15:29, robot \xe5\x86\x99\xe9\x81\x93:\n");
	EXPECT_TEXT(job_of(chinese, 1), report_job);
}

static char *flatten(char *text)
{
	for (char *p = text; *p; p++)
		if (*p == '\n' || *p == '\t')
			*p = ' ';
	return text;
}

Test(mail, a_mail_on_one_line)
{
	be_autofree char *quoted = quote(report, ">> ", "On 7/6/2023 3:29 PM, robot wrote:\n");
	EXPECT_TEXT(job_of(flatten(quoted), 1), report_job);
	be_autofree char *plain = be_strdup(report);
	EXPECT_TEXT(job_of(flatten(plain), 1), report_job);
}

Test(mail, leftovers_of_pages)
{
	be_autobuf struct be_buf page = { 0 };
	be_buf_adds(&page, "<html><body><pre class=\"mail\">");
	for (const char *p = report; *p; p++) {
		if (*p == '\n')
			be_buf_adds(&page, "<br>\r\n");
		else
			be_buf_addf(&page, *p == '\t' ? "&nbsp;" : *p == '"' ? "&quot;" : "%c", *p);
	}
	EXPECT_TEXT(job_of(page.data, 1), report_job);
}

Test(mail, keys_without_a_block_get_a_jobs_order)
{
	EXPECT_TEXT(
		job_of("Date: Thu, 23 Feb 2017 02:50:00 +0100\n"
		       "commit/compiler/disk/filesize/fs/iterations/kconfig/md/nr_threads/rootfs/tbox_group/testcase:\n"
		       "abcdef0123456789abcdef0123456789abcdef01/gcc-6/3HDD/4M/btrfs/1/x86_64-rhel-7.2/RAID5/64/d.cgz/"
		       "box/fsmark\n",
		       1),
		"testcase: fsmark\n"
		"category: benchmark\n"
		"lkp_rules: 2017-02-23\n"
		"iterations: 1\n"
		"nr_threads: 64\n"
		"disk: 3HDD\n"
		"md: RAID5\n"
		"fs: btrfs\n"
		"fsmark:\n"
		"  filesize: 4M\n"
		"testbox: box\n"
		"tbox_group: box\n"
		"commit: abcdef0123456789abcdef0123456789abcdef01\n"
		"kconfig: x86_64-rhel-7.2\n"
		"compiler: gcc-6\n"
		"rootfs: d.cgz\n"
		"unstated: [test_size, sync_method]\n");
}

Test(mail, a_wrapped_head_in_the_jobs_order)
{
	be_autofree char *job =
		job_of("==========================\n"
		       "tbox_group/testcase/rootfs/kconfig/compiler/nr_threads/disk/sc_pid_max/testtime/class/ucode:\n"
		       " \n"
		       "lkp-box/stress-ng/d.cgz/rhel/gcc-7/100%/1HDD/4194304/1s/scheduler/0xb000038\n"
		       "\n"
		       "commit:\n"
		       "   e94f80f6c49020008e6fa0f3d4b806b8595d17d8\n"
		       "   6c8116c914b65be5e4d6f66d69c8142eb0648c22\n"
		       "   v5.7-rc3\n",
		       1);
	cr_expect(strstr(job, "nr_threads: 100%\n"
			      "disk: 1HDD\n"
			      "sysctl:\n"
			      "  sc_pid_max: 4194304\n"
			      "testtime: 1s\n"
			      "stress-ng:\n"
			      "  class: scheduler\n"
			      "ucode: \"0xb000038\"\n"),
		  "%s", job);
	cr_expect(strstr(job, "commit: 6c8116c914b65be5e4d6f66d69c8142eb0648c22\n") ||
			  strstr(job, "commit: \"6c8116c914b65be5e4d6f66d69c8142eb0648c22\"\n"),
		  "%s", job);
}

Test(mail, values_with_slashes_are_told_apart_by_the_block)
{
	static const char block[] = "testcase: boot\n"
				    "parameters:\n"
				    "\n"
				    "\tsleep: 1\n"
				    "\tgroup: a/b\n"
				    "\n";
	static const char head[] = "group/kconfig/rootfs/sleep/tbox_group/testcase:\n"
				   "  a/b/rhel/host:/osimage/d/1/box/boot\n";
	be_autofree char *both = be_strf("%s%s", block, head);
	be_autonode struct be_node *tables = read_mail(both);
	cr_assert_eq(tables->n, 1);
	cr_expect_null(be_get(tables->items[0], "tbox_group"), "two ways remain, none is taken");
	static const char sure[] = "group/rootfs/sleep/testcase:\n  a/b/host:/osimage/d/1/boot\n";
	be_autofree char *one = be_strf("%s%s", block, sure);
	be_autonode struct be_node *found = read_mail(one);
	cr_expect_str_eq(be_get_str(found->items[0], "rootfs", ""), "host:/osimage/d");
}

Test(mail, values_without_keys)
{
	be_autofree char *job =
		job_of("testcase/path_params/tbox_group/run: "
		       "fio-basic/2M-performance-2pmem-xfs-libaio-dax-50%-200s-read-200G-tb-ucode=0x5002f01/box\n",
		       1);
	cr_expect(strstr(job, "disk: 2pmem\nfs:\n  fs: xfs\n  mount_option: dax\nruntime: 200s\nnr_task: 50%\n"), "%s",
		  job);
	cr_expect(strstr(job, "ucode: \"0x5002f01\"\n"), "%s", job);
	/* These are not in the order of their keys: nothing is made of them. */
	be_autofree char *other =
		job_of("testcase/path_params/tbox_group/run: will-it-scale/unlink2-performance/box\n", 1);
	cr_expect_null(strstr(other, "unlink2"), "%s", other);
}

Test(mail, paths_of_2015)
{
	static const char mail[] = "FYI, we noticed the below changes on\n\n"
				   "commit 80e3d87b2c55fb8ab9f9c2a5b0c2a2a9f9d4a3a1 (\"sched: a subject\")\n\n"
				   "testbox/testcase/testparams: lkp-xyz01/will-it-scale/performance-brk1\n\n"
				   "c739f06d9b9ff0f6  80e3d87b2c55fb8ab9f9c2a5b0\n"
				   "----------------  --------------------------\n\n"
				   "lkp-xyz01: Some Lake-EP\nMemory: 32G\n";
	be_autofree char *job = job_of(mail, 1), *host = host_of(mail);
	cr_expect(strstr(job, "will-it-scale:\n  test: brk1\ncpufreq_governor: performance\n"), "%s", job);
	cr_expect(strstr(job, "tbox_group: lkp-xyz01\n"), "%s", job);
	cr_expect_str_eq(host, "model: Some Lake-EP\nmemory: 32G\n");
}

/* Older paths are not in the order of their keys: what the block names is told apart from the rest. */
Test(mail, a_path_beside_a_block)
{
	be_autofree char *job =
		job_of("in testcase: will-it-scale\nwith following parameters:\n\n"
		       "\tcpufreq_governor: performance\n\n"
		       "testcase/path_params/tbox_group/run: will-it-scale/unlink2-performance/lkp-xyz03\n",
		       1);
	cr_expect(strstr(job, "will-it-scale:\n  test: unlink2\n"), "%s", job);
	cr_expect(strstr(job, "cpufreq_governor: performance\ntestbox: lkp-xyz03\n"), "%s", job);
}

Test(mail, quote_marks_are_no_part_of_a_value)
{
	be_autofree char *job = job_of("testcase: fsmark\nparameters:\n\n\tfs: \"ext4\"\n\tdisk: '1HDD'\n", 1);
	cr_expect(strstr(job, "fs: ext4\n") && strstr(job, "disk: 1HDD\n"), "%s", job);
}

Test(mail, several_tests_and_boxes)
{
	static const char text[] =
		"testcase: aim7\n"
		"test machine: 128 threads 2 sockets (Some Lake) with 256G memory\n"
		"parameters:\n"
		"\n"
		"\ttest: disk_rr\n"
		"\tload: 3000\n"
		"\n"
		"+------------------+----------------------------------------------+\n"
		"| testcase: change | stress-ng: stress-ng.vm.ops -58.3% undefined |\n"
		"| test machine     | qemu-system-x86_64 -enable-kvm -cpu SandyBridge -smp 2 -m 8G |\n"
		"| test parameters  | class=pipe                                   |\n"
		"|                  | nr_threads=100%                              |\n"
		"+------------------+----------------------------------------------+\n";
	be_autonode struct be_node *tables = read_mail(text);
	cr_assert_eq(tables->n, 2);
	cr_expect_eq(be_mail_choices(tables), 1, "a box is no test of its own");
	be_autofree char *box = job_of(text, 2);
	cr_expect(strstr(box, "nr_threads: 100%\nstress-ng:\n  class: pipe\n"), "%s", box);
	be_autostrv struct be_strv unstated = { 0 };
	be_autonode struct be_node *host = be_mail_host(tables->items[1], &unstated);
	cr_expect_str_eq(be_get_str(host, "model", ""), "qemu-system-x86_64 -enable-kvm -cpu SandyBridge");
	cr_expect_str_eq(be_get_str(host, "memory", ""), "8G");
	cr_expect_eq(be_get_int(host, "nr_cpu", 0), 2);

	be_autofree char *two = be_strf("%s\ntestcase: aim7\nparameters:\n\n\ttest: disk_cp\n\tload: 3000\n", text);
	be_autonode struct be_node *several = read_mail(two);
	cr_expect_eq(be_mail_choices(several), 2);
}

Test(mail, what_is_said_twice_is_one)
{
	be_autofree char *again = quote(report, "> ", report);
	be_autonode struct be_node *tables = read_mail(again);
	cr_expect_eq(tables->n, 1);
}

Test(mail, machines)
{
	static const struct {
		const char *line, *host;
	} cases[] = {
		{ "192 threads Skylake-4S with 704G memory", "model: Skylake-4S\nnr_cpu: 192\nmemory: 704G\n" },
		{ "104 threads 2 sockets (Skylake) with 192G memory",
		  "model: Skylake\nnr_socket: 2\nnr_cpu: 104\nmemory: 192G\n" },
		{ "4 threads Intel(R) Core(TM) i3-3220 CPU @ 3.30GHz with 8G memory",
		  "nr_cpu: 4\nmemory: 8G\nbrand: Intel(R) Core(TM) i3-3220 CPU @ 3.30GHz\n" },
		{ "4 threads Intel(R) Core(TM) i3-3220 CPU @ 3.30GHz\nwith 8G memory",
		  "nr_cpu: 4\nmemory: 8G\nbrand: Intel(R) Core(TM) i3-3220 CPU @ 3.30GHz\n" },
	};
	for (size_t i = 0; i < BE_ARRAY_LEN(cases); i++) {
		be_autofree char *text =
			be_strf("in testcase: boot\non test machine: %s\nwith following parameters:\n\n"
				"\tsleep: 1\n",
				cases[i].line);
		EXPECT_TEXT(host_of(text), cases[i].host);
	}
}

/* Reports of functional tests name the compiler in the first sentence alone. */
Test(mail, built_with)
{
	static const char block[] =
		"FYI, we noticed the following commit (built with gcc-9):\n"
		"\n"
		"commit: abcdef0123456789abcdef0123456789abcdef01 (\"fs: a subject (built with care)\")\n"
		"https://git.example.org/linux.git master\n"
		"\n"
		"in testcase: xfstests\n"
		"with following parameters:\n"
		"\n"
		"\tdisk: 6HDD\n"
		"\tfs: btrfs\n"
		"\tucode: 0x28\n";
	be_autofree char *quoted = quote(block, "> > ", "");
	be_autofree char *job = job_of(quoted, 1);
	cr_expect(strstr(job, "\ncompiler: gcc-9\n"), "%s", job);
	EXPECT_TEXT(host_of(quoted), "ucode: \"0x28\"\n");
}

Test(mail, days)
{
	static const struct {
		const char *words, *day;
	} cases[] = {
		{ "On 10/8/22 16:00, Person wrote:", "2022-10-08" },
		{ "On 25/08/2021 11:28, Person wrote:", "2021-08-25" },
		{ "On 08/03/2025 18:59, Person wrote:", "2025-03-08" },
		{ "On 11/10/2021 4:52 PM, Person wrote:", "2021-11-10" },
		{ "On 03.09.2021 02:58, Person wrote:", "2021-09-03" },
		{ "On Thu 23-02-17 09:27:34, Person wrote:", "2017-02-23" },
		{ "On Wed, 12 Mar 2025 at 22:10, Person wrote:", "2025-03-12" },
		{ "On Thu, Jun 15, 2023 at 10:06 Person\n<p@example.org> wrote:", "2023-06-15" },
		{ "On 4/5/2021 11:28, Person wrote:", NULL }, /* which is the month? */
		{ "On 02/07, Person wrote:", NULL },
	};
	for (size_t i = 0; i < BE_ARRAY_LEN(cases); i++) {
		be_autofree char *text =
			be_strf("%s\n> testcase: boot\n> parameters:\n>\n> \tsleep: 1\n", cases[i].words);
		be_autonode struct be_node *tables = read_mail(text);
		const char *day = be_get_str(tables->items[0], "date", NULL);
		cr_expect(be_streq(day, cases[i].day), "%s: %s", cases[i].words, day ? day : "(none)");
	}
}

Test(mail, prose)
{
	be_autofree char *job =
		job_of("Date: Thu, 31 Dec 2009 17:16:00 +0800\n\n"
		       "fio mmap randread 64k has a regression with 2.6.33-rc1. The JBOD has 12 disks and\n"
		       "every disk has 2 partitions. Create 8 1-GB files per partition; there are 8*24\n"
		       "processes totally. One machine has 8GB memory.\n",
		       1);
	cr_expect(strstr(job, "disk: 24HDD\nnr_task: 192\nfio-setup-basic:\n  rw: randread\n  bs: 64k\n"
			      "  ioengine: mmap\n  test_size: 192G\nfio: null\ncommit: v2.6.33-rc1\n"),
		  "%s", job);
}

Test(mail, an_earlier_report_that_is_cited_is_not_this_one)
{
	be_autofree char *cited = be_strf("Subject: [next] [xfs]  abcdef0123:  fio.write_iops -7.7%% regression\n"
					  "Date: Thu, 6 Jul 2023 15:29:10 +0800\n\n"
					  "we reported this when the commit was:\n"
					  "commit: 1111111111111111111111111111111111111111 (\"xfs: a subject\")\n\n%s",
					  strstr(report, "commit:"));
	EXPECT_TEXT(job_of(cited, 1), report_job);
}

Test(mail, a_flood_ends)
{
	be_autobuf struct be_buf flood = { 0 };
	static const char *const lines[] = { "testcase: boot\n", "a/testcase/c:\n1/x/2\n",
					     "| testcase: change | x: y |\n", "test case: a/b/c\n",
					     "> On 7/6/2023 3:29 PM, a wrote:\n" };
	for (size_t i = 0; i < 100000; i++)
		be_buf_adds(&flood, lines[i % BE_ARRAY_LEN(lines)]);
	be_autonode struct be_node *tables = read_mail(flood.data);
	cr_expect_leq(tables->n, 400);
}

Test(mail, no_person_reaches_a_job)
{
	be_autofree char *job = job_of("testcase: boot\n"
				       "parameters:\n"
				       "\n"
				       "\tsleep: 1\n"
				       "\tcc: somebody@example.org\n",
				       1);
	cr_expect_null(strchr(job, '@'), "%s", job);
}

Test(mail, a_test_is_not_called_as_a_key_of_the_job)
{
	static const char *const names[] = { "testcase", "commit", "unstated", "nr_task", "disk", "a.b" };
	for (size_t i = 0; i < BE_ARRAY_LEN(names); i++) {
		struct be_error err = BE_ERROR_INIT;
		be_autostrv struct be_strv unstated = { 0 };
		be_autofree char *text = be_strf("testcase: %s\nparameters:\n\n\tdisk: 1HDD\n\ttest: x\n", names[i]);
		be_autonode struct be_node *tables = read_mail(text);
		be_autonode struct be_node *job = be_mail_job(tables->items[0], &rules, &unstated, &err);
		cr_expect_null(job, "%s", names[i]);
		cr_expect_eq(err.status, BE_USAGE);
		cr_expect(strstr(err.text, names[i]), "%s", err.text);
	}
}

Test(mail, text_without_a_report_is_refused)
{
	static const char *const texts[] = { "",
					     "Hello\n",
					     "testcase: \n",
					     "a/b/c:\n1/2/3\n",
					     "| testcase: change |\n",
					     ">>>>>\n=====\n=====\n",
					     "testcase/tbox_group/rootfs:\n" };
	for (size_t i = 0; i < BE_ARRAY_LEN(texts); i++) {
		struct be_error err = BE_ERROR_INIT;
		be_autonode struct be_node *tables = be_mail_read(texts[i], strlen(texts[i]), &rules, &err);
		cr_expect_null(tables, "\"%s\"", texts[i]);
		cr_expect_eq(err.status, BE_USAGE);
		cr_expect(err.hint[0]);
	}
}
