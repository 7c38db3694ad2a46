/*
 * Workloads whose programs Debian has, each for a few seconds and with a figure at the end; file systems over the
 * network; and values that a shell would read, in a real guest.
 */
#include <string.h>

#include "base/file.h"
#include "lab.h"

#define QEMU "lkp_rules: 2026-07-01\ntbox_group: qemu\ntimeout: 200s\n"

static void expect_figures(const char *name, const char *job, const char *const *metrics)
{
	struct lab lab = { .name = name, .more = job, .boot = { "--disk-size", "1G" } };
	lab_run(&lab);
	lab_expect_state(&lab, "done");
	for (; *metrics; metrics++)
		lab_expect_metric(&lab, *metrics);
	lab_done(&lab);
}
#define FIGURES(...)              \
	(const char *const[])     \
	{                         \
		__VA_ARGS__, NULL \
	}

Test(e2e_long, hackbench)
{
	expect_figures("hackbench", QEMU "testcase: hackbench\nhackbench: {iterations: 2, loops: 20, nr_threads: 1}\n",
		       FIGURES("hackbench.time"));
}

Test(e2e_long, dbench)
{
	expect_figures("dbench", QEMU "testcase: dbench\ndbench: {nr_threads: 1, runtime: 10s}\n",
		       FIGURES("dbench.throughput-MB/sec"));
}

Test(e2e_long, tbench)
{
	expect_figures("tbench", QEMU "testcase: tbench\ntbench-server:\ntbench: {nr_threads: 1, runtime: 5s}\n",
		       FIGURES("tbench.throughput-MB/sec", "tbench.max_latency"));
}

Test(e2e_long, sysbench_cpu)
{
	expect_figures("sysbench_cpu", QEMU "testcase: sysbench-cpu\nsysbench-cpu: {nr_threads: 2, runtime: 5s}\n",
		       FIGURES("sysbench.events_per_sec", "sysbench.total_events"));
}

Test(e2e_long, sysbench_fileio)
{
	expect_figures("sysbench_fileio",
		       QEMU "testcase: sysbench-fileio\ndisk: 1SSD\nfs: ext4\n"
			    "sysbench-fileio: {nr_threads: 2, period: 5s, size: 64M, filenum: 4f, rwmode: rndrd}\n",
		       FIGURES("sysbench.read_MiB_per_sec"));
}

Test(e2e_long, iperf)
{
	expect_figures("iperf", QEMU "testcase: iperf\niperf-server:\niperf: {runtime: 5s, sessions: 1}\n",
		       FIGURES("iperf.sender.bps", "iperf.receiver.bps"));
}

Test(e2e_long, postmark)
{
	expect_figures("postmark",
		       QEMU "testcase: postmark\ndisk: 1SSD\nfs: ext4\npostmark: {number: 100n, trans: 500s, "
			    "subdirs: 5d}\n",
		       FIGURES("postmark.transactions", "postmark.create"));
}

#define FSMARK_OVER(kind)                                                             \
	QEMU "testcase: fsmark\ndisk: 1HDD\nfs: ext4\nfs2: " kind "\nnr_threads: 1\n" \
	     "fsmark: {filesize: 4K, test_size: 1M, sync_method: NoSync}\n"

static void over_network(const char *name, const char *job, const char *filesystem)
{
	struct lab lab = { .name = name, .more = job, .boot = { "--disk-size", "1G" } };
	lab_run(&lab);
	lab_expect_state(&lab, "done");
	lab_expect_metric(&lab, "fsmark.files_per_sec");
	lab_expect(&lab, "testfile.filesystem", filesystem, "as requested");
	lab_done(&lab);
}

Test(e2e_long, nfsv3)
{
	over_network("nfsv3", FSMARK_OVER("nfsv3"), "nfs");
}

Test(e2e_long, nfsv4)
{
	over_network("nfsv4", FSMARK_OVER("nfsv4"), "nfs");
}

Test(e2e_long, smbv3)
{
	over_network("smbv3", FSMARK_OVER("smbv3"), "cifs");
}

/* The words as they stand in the job, through image, plan, guest and delivery. */
Test(e2e_long, hostile)
{
	static const char *const words[] = { "$(touch /pwned)", "`id`", "a; b",  "a|b>c&", "a'b", "a\"b", "a\nb",
					     "../../x",         "-n",   "$HOME", "*" };
	be_autobuf struct be_buf job = { 0 }, want = { 0 }, got = { 0 };
	struct be_error err = BE_ERROR_INIT;
	be_autonode struct be_node *argv = be_node_seq(), *mytest = be_node_map(), *all = be_node_map();
	be_add_str(argv, "printf");
	be_add_str(argv, "[%s]");
	for (size_t i = 0; i < BE_ARRAY_LEN(words); i++) {
		be_add_str(argv, words[i]);
		be_buf_addf(&want, "[%s]", words[i]);
	}
	be_set(mytest, "argv", be_steal(&argv));
	be_set(mytest, "packages", be_node_load("[coreutils]", strlen("[coreutils]"), "packages", &err));
	be_set(all, "mytest", be_steal(&mytest));
	be_buf_adds(&job, QEMU "testcase: mytest\n");
	cr_assert_eq(be_node_yaml(all, &job, &err), 0, "%s", err.text);
	struct lab lab = { .name = "hostile", .more = job.data };
	lab_run(&lab);
	lab_expect_state(&lab, "done");
	be_autofree char *path = be_strf("%s/workload/mytest.out", lab.result);
	cr_assert_eq(be_read_file(path, 1 << 16, &got, &err), 0, "%s", err.text);
	cr_expect_str_eq(got.data, want.data);
	lab_done(&lab);
}
