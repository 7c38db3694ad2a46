#include <fcntl.h>

#include "initrd/observe/observe.h"
#include "initrd/observe/procs.h"
#include "initrd/observe/sample.h"
#include "initrd/observe/sample_cpu.h"
#include "tree.h"

Test(sample, open_flags_in_words)
{
	static const struct {
		unsigned flags;
		const char *want;
	} cases[] = {
		{ O_RDWR, "none of O_DIRECT, O_SYNC, O_DSYNC" },
		{ O_RDONLY | O_DIRECT, "O_DIRECT" },
		{ O_WRONLY | O_SYNC, "O_SYNC" },
		{ O_WRONLY | O_DSYNC, "O_DSYNC" },
		{ O_RDWR | O_DIRECT | O_SYNC | O_APPEND, "O_DIRECT+O_SYNC" },
	};
	for (size_t i = 0; i < BE_ARRAY_LEN(cases); i++) {
		be_autofree char *got = be_open_flags_text(cases[i].flags);
		cr_expect_str_eq(got, cases[i].want);
	}
}

Test(sample, policy_of_most_pages)
{
	be_autofree char *one = be_numa_policy_of("7f00 default file=/bin/x mapped=1 N0=1\n"
						  "7f01 bind:0 anon=9 N0=9 kernelpagesize_kB=4\n"
						  "7f02 default anon=3 N0=1 N1=2\n");
	cr_expect_str_eq(one, "bind:0");
	be_autofree char *none = be_numa_policy_of("");
	cr_expect_null(none);
	be_autofree char *many = be_numa_policy_of("1 default N0=1 N1=5\n2 interleave:0-1 N0=3 N1=2\n");
	cr_expect_str_eq(many, "default");
}

#define STAT(pid, name, parent, group, flags) \
	pid " (" name ") S " parent " " group " 1 0 -1 " flags " 0 0 0 0 0 0 0 0\n"

/* PID 1; a daemon; a kernel thread; the workload 100 with a child in a group of its own, which has a grandchild. */
static struct be_root running_system(void)
{
	struct be_root root = tree_new();
	tree_write(&root, "/proc/1/stat", STAT("1", "init", "0", "0", "4194560"));
	tree_write(&root, "/proc/50/stat", STAT("50", "udev) (x", "1", "50", "4194560"));
	tree_write(&root, "/proc/60/stat", STAT("60", "kworker/0:1", "2", "0", "2129984"));
	tree_write(&root, "/proc/100/stat", STAT("100", "fio", "1", "100", "4194304"));
	tree_write(&root, "/proc/101/stat", STAT("101", "fio", "100", "101", "4194304"));
	tree_write(&root, "/proc/102/stat", STAT("102", "fio", "101", "101", "4194304"));
	tree_write(&root, "/proc/100/status", "Name:\tfio\nCpus_allowed_list:\t0-3\nMems_allowed_list:\t0\n");
	tree_write(&root, "/proc/101/status", "Name:\tfio\nCpus_allowed_list:\t0\nMems_allowed_list:\t0\n");
	tree_write(&root, "/proc/100/numa_maps", "1 bind:0 N0=5\n");
	tree_write(&root, "/proc/100/cgroup", "3:cpu:/old\n0::/bench/w\n");
	tree_write(&root, "/sys/fs/cgroup/bench/w/memory.max", "1073741824\n");
	tree_write(&root, "/sys/fs/cgroup/bench/w/cpu.weight", "100\n");
	tree_write(&root, "/fs/t/file", "data");
	tree_write(&root, "/other", "");
	tree_link(&root, "/proc/102/fd/3", "../../../fs/t/file");
	tree_link(&root, "/proc/50/fd/4", "anon_inode:[perf_event]");
	tree_write(&root, "/proc/102/fdinfo/3", "pos:\t0\nflags:\t02140002\nmnt_id:\t9\n");
	tree_write(&root, "/proc/101/maps", "7f00-7f10 rw-s 00000000 00:1 9   /fs/t/file\n");
	tree_write(&root, "/proc/101/smaps",
		   "7e00-7e10 r--p 00000000 00:1 9   /lib/x\nVmFlags: rd sr\n"
		   "7f00-7f10 rw-s 00000000 00:1 9   /fs/t/file\nRss: 4 kB\nVmFlags: rd wr rr\n");
	tree_write(&root, "/sys/block/md0/md/sync_action", "resync\n");
	tree_write(&root, "/dev/md0", "");
	tree_write(&root, "/proc/vmstat", "nr_dirty 10\nnr_writeback 0\nnr_dirty_threshold 100\nnr_dirtied 1000\n");
	tree_write(&root, "/sys/block/md0/stat", "1 0 8 0 2 0 16 0 0 0 0 0 0 0 0 3 0\n");
	return root;
}

#define PLAN                                                                                                  \
	"layout: {testdir: /fs/t, arrays: [{name: md0}]}\n"                                                   \
	"factors:\n"                                                                                          \
	"- {name: flags, when: during, observe: {kind: probe, name: open_flags}}\n"                           \
	"- {name: maps, when: during, observe: {kind: probe, name: map_flags}}\n"                             \
	"- {name: cpus, when: during, observe: {kind: probe, name: task_status, field: Cpus_allowed_list}}\n" \
	"- {name: mems, when: during, observe: {kind: probe, name: task_status, field: Mems_allowed_list}}\n" \
	"- {name: policy, when: during, observe: {kind: probe, name: numa_policy}}\n"                         \
	"- {name: cgroup, when: during, observe: {kind: probe, name: task_cgroup}}\n"                         \
	"- {name: others, when: during, observe: {kind: probe, name: processes}}\n"                           \
	"- {name: perf, when: during, observe: {kind: probe, name: perf_events}}\n"                           \
	"- {name: io, scope: disk, when: during, observe: {kind: probe, name: io_during_run}}\n"

static char *observed(const struct be_root *root, const struct be_node *plan, const struct be_scopes *scopes,
		      const struct be_sample *sample)
{
	const struct be_observer observer = { .root = *root, .plan = plan, .scopes = scopes, .sample = sample };
	be_autonode struct be_node *environment = be_observe(&observer, BE_AFTER);
	return tree_json(environment);
}

Test(sample, looks_at_the_workload_and_the_rest)
{
	struct be_root root = running_system();
	be_autonode struct be_node *plan = tree_yaml(PLAN);
	be_autoscopes struct be_scopes scopes;
	struct be_sample sample;
	be_scopes_load(&scopes, &root, plan, NULL, NULL);
	be_sample_init(&sample, &root, &scopes);
	be_sample_begin(&sample);
	be_sample_tick(&sample, 100);
	tree_write(&root, "/sys/block/md0/stat", "11 0 88 0 22 0 176 0 0 0 0 0 0 0 0 5 0\n");
	be_sample_end(&sample);
	be_autofree char *got = observed(&root, plan, &scopes, &sample);
	cr_expect_str_eq(got, "{\"flags\": {\"value\": \"O_DIRECT\"}, \"maps\": {\"value\": \"MADV_RANDOM\"}, "
			      "\"cpus\": {\"value\": [\"0\", \"0-3\"]}, \"mems\": {\"value\": \"0\"}, "
			      "\"policy\": {\"value\": \"bind:0\"}, "
			      "\"cgroup\": {\"value\": {\"path\": \"/bench/w\", \"memory.max\": \"1073741824\"}}, "
			      "\"others\": {\"value\": [\"udev) (x\"]}, \"perf\": {\"value\": \"1\"}, "
			      "\"io\": {\"value\": {\"reads\": \"10\", \"read_bytes\": \"40960\", \"writes\": \"20\", "
			      "\"written_bytes\": \"81920\", \"discards\": \"0\", \"discarded_bytes\": \"0\", "
			      "\"flushes\": \"2\"}}}");
	cr_assert_eq(sample.resyncs.n, 1u);
	cr_expect_str_eq(sample.resyncs.v[0], "md0: resync");
	be_sample_free(&sample);
	tree_free(&root);
}

Test(sample, daemons_of_the_workload_are_no_strangers)
{
	struct be_root root = running_system();
	be_autonode struct be_node *plan = tree_yaml(PLAN);
	be_autoscopes struct be_scopes scopes;
	struct be_sample sample;
	be_scopes_load(&scopes, &root, plan, NULL, NULL);
	be_sample_init(&sample, &root, &scopes);
	sample.daemons = (pid_t[]){ 50 };
	sample.n_daemons = 1;
	be_sample_begin(&sample);
	be_sample_tick(&sample, 100);
	cr_expect_eq(sample.background.n, 0u);
	be_sample_free(&sample);
	tree_free(&root);
}

Test(sample, says_why_there_is_none)
{
	struct be_root root = running_system();
	be_autonode struct be_node *plan = tree_yaml("layout: {testdir: /fs/t}\nfactors: [{name: f, when: during, "
						     "observe: {kind: probe, name: open_flags}}]");
	be_autoscopes struct be_scopes scopes;
	struct be_sample sample;
	be_scopes_load(&scopes, &root, plan, NULL, NULL);
	be_sample_init(&sample, &root, &scopes);
	be_autofree char *unused = observed(&root, plan, &scopes, &sample);
	cr_expect_str_eq(unused, "{\"f\": {\"not_observable\": \"no workload ran\"}}");
	be_sample_begin(&sample);
	be_sample_end(&sample);
	be_autofree char *brief = observed(&root, plan, &scopes, &sample);
	cr_expect_str_eq(brief, "{\"f\": {\"not_observable\": \"the workload ended before the first look\"}}");
	be_sample_free(&sample);
	tree_free(&root);
}

Test(sample, dirty_limit)
{
	struct be_root root = running_system();
	be_autoscopes struct be_scopes scopes;
	struct be_sample sample;
	be_scopes_load(&scopes, &root, NULL, NULL, NULL);
	be_sample_init(&sample, &root, &scopes);
	cr_expect_null(be_sample_dirty(&sample));
	be_sample_begin(&sample);
	be_sample_tick(&sample, 100);
	be_autonode struct be_node *never = be_sample_dirty(&sample);
	cr_expect_str_eq(never->text, "never reached");
	tree_write(&root, "/proc/vmstat", "nr_dirty 60\nnr_writeback 40\nnr_dirty_threshold 100\nnr_dirtied 2000\n");
	be_sample_tick(&sample, 100);
	be_autonode struct be_node *hit = be_sample_dirty(&sample);
	cr_expect_eq(hit->kind, BE_MAP);
	cr_expect_eq(be_get_int(hit, "seconds", -1), 0);
	cr_expect_gt(be_get_int(hit, "bytes_per_second_before", 0), 0);
	be_sample_free(&sample);
	tree_free(&root);
}

/* Half the time at 2 GHz on a processor whose TSC runs at 1 GHz. */
Test(sample, effective_frequency)
{
	be_autonode struct be_node *begin = tree_yaml("{aperf: 100, mperf: 200, tsc: 300}");
	be_autonode struct be_node *end = tree_yaml("{aperf: 10000000100, mperf: 5000000200, tsc: 10000000300}");
	cr_expect_float_eq(be_effective_mhz(begin, end, 10), 2000, 1e-6);
	cr_expect_float_eq(be_effective_mhz(begin, begin, 10), 0, 1e-6);
}

/* Of a long run few looks are at processes, and of many processes some at each look. */
Test(sample, looks_become_rare)
{
	struct be_root root = running_system();
	be_autonode struct be_node *plan = tree_yaml(PLAN);
	be_autoscopes struct be_scopes scopes;
	struct be_sample sample;
	be_scopes_load(&scopes, &root, plan, NULL, NULL);
	be_sample_init(&sample, &root, &scopes);
	be_sample_begin(&sample);
	for (unsigned i = 0; i < 3; i++)
		be_sample_tick(&sample, 100);
	tree_write(&root, "/proc/70/stat", STAT("70", "late", "1", "70", "4194560"));
	be_sample_tick(&sample, 100);
	cr_expect_not(be_strv_has(&sample.background, "late"), "the fourth look is not at processes");
	be_sample_tick(&sample, 100);
	cr_expect(be_strv_has(&sample.background, "late"), "the fifth is");
	tree_write(&root, "/proc/71/stat", STAT("71", "later", "1", "71", "4194560"));
	be_sample_tick(&sample, 101);
	cr_expect(be_strv_has(&sample.background, "later"), "so is the first at another step");
	cr_expect_gt(sample.cost, 0);
	be_sample_free(&sample);
	tree_free(&root);
}
