/* The shipped recipes, scaled down by size and by time. Their machines have more of everything than the one that tests.
 */
#include "lab.h"

#include <string.h>

/* R1: reads of one NVMe disk with btrfs. The run ends by its size, long before its time, as the report's did. */
Test(e2e, ssd)
{
	struct lab lab = { .name = "ssd",
			   .job = "fio-basic-1ssd-btrfs-randread",
			   .more = "expect: {disk.write_cache: write through}\n",
			   .set = { "test_size=128M", "runtime=120s", "nr_task=4t" },
			   .boot = { "--disk-size", "4G" } };
	lab_run(&lab);
	lab_expect_state(&lab, "done");
	lab_expect_metric(&lab, "fio.read_iops");
	lab_expect(&lab, "workload.ended_by", "size", "not requested");
	lab_expect(&lab, "disk.kind", "nvme", "not requested");
	lab_expect(&lab, "disk.rotational", "0", "as requested");
	lab_expect(&lab, "disk.write_cache", "write back", "differs");
	lab_expect(&lab, "disk.wbt_lat_usec", "2000", "not requested");
	lab_expect(&lab, "disk.wbt_write_cache", "nothing", "not observable: private to the kernel");
	lab_expect(&lab, "testfile.filesystem", "btrfs", "as requested");
	lab_expect(&lab, "testfile.nowait", "yes", "not requested");
	lab_expect(&lab, "rootfs.filesystem", "ramfs", "as requested");
	lab_expect(&lab, "memory.numa_nodes", "4", "as requested");
	lab_expect_verdict(&lab, "cpu.count", "differs");
	lab_expect_deviation(&lab, "TCG");
	lab_expect_deviation(&lab, "commit 8c5035dfbb9475b67c82b3fdb7351236525bf52b asked");
	lab_expect_deviation(&lab, "performance asked, this machine has no cpufreq");
	lab_done(&lab);
}

/* A disk whose write cache the twin has switched on, and one where it is off, on Debian 12's kernel. */
#define TWO_SSDS                                                                                           \
	"nr_cpu: 2\nmemory: 2G\nnr_node: 1\nnr_ssd_partitions: 2\n"                                        \
	"ssd_partitions: [/dev/disk/by-id/ata-BENCH-SSD_A-part1, /dev/disk/by-id/ata-BENCH-SSD_B-part1]\n" \
	"disks:\n"                                                                                         \
	"  ata-BENCH-SSD_A: {size: 4G, rotational: false, write_cache: write back}\n"                      \
	"  ata-BENCH-SSD_B: {size: 4G, rotational: false, write_cache: write through}\n"

static void expect_instance(const struct lab *lab, const char *factor, const char *instance, const char *wanted)
{
	const struct be_node *observed = be_get(lab_factor(lab, factor), "observed");
	const char *found = be_get_str(observed, instance, "");
	cr_expect_str_eq(found, wanted, "%s of %s: \"%s\", not \"%s\"", factor, instance, found, wanted);
}

/* A long manifest has its layout in a file beside it. */
static void expect_filesystems(const struct lab *lab, size_t wanted)
{
	struct be_error err = BE_ERROR_INIT;
	const struct be_node *layout = be_get(lab->manifest, "layout");
	be_autonode struct be_node *beside = NULL;
	const char *file = be_get_str(layout, "file", NULL);
	if (file) {
		be_autofree char *path = be_strf("%s/%s", lab->result, file);
		layout = beside = be_node_load_file(path, &err);
		cr_assert_not_null(layout, "%s", err.text);
	}
	const struct be_node *filesystems = be_get(layout, "filesystems");
	cr_expect_eq(filesystems ? filesystems->n : 0, wanted);
}

Test(e2e, write_cache)
{
	struct lab lab = { .name = "write_cache",
			   .job = "fio-basic-1ssd-btrfs-randread",
			   .more = "expect: {disk.write_cache: write back}\nsuite: bookworm\n",
			   .host = TWO_SSDS,
			   .set = { "disk=2SSD", "test_size=64M", "runtime=5s", "nr_task=2t" } };
	lab_run(&lab);
	lab_expect_state(&lab, "done");
	expect_instance(&lab, "disk.write_cache", "disk0", "write back");
	expect_instance(&lab, "disk.write_cache", "disk1", "write through");
	lab_expect_verdict(&lab, "disk.write_cache", "differs");
	lab_expect(&lab, "testfile.nowait", "yes", "not requested");
	const char *release = be_get_str(be_get(lab.manifest, "machine"), "kernel", "");
	cr_expect(be_starts(release, "6.1."), "kernel %s", release);
	lab_done(&lab);
}

/* The same settings asked for: made, and read back from the kernel. */
Test(e2e, settings)
{
	struct lab lab = { .name = "settings",
			   .job = "fio-basic-1ssd-btrfs-randread",
			   .more = "environment: {disk.write_cache: write through, disk.wbt_lat_usec: 0}\n",
			   .host = TWO_SSDS,
			   .set = { "test_size=64M", "runtime=5s", "nr_task=2t" } };
	lab_run(&lab);
	lab_expect_state(&lab, "done");
	lab_expect(&lab, "disk.write_cache", "write through", "as requested");
	lab_expect(&lab, "disk.wbt_lat_usec", "0", "as requested");
	lab_done(&lab);
}

/* R2: writes to two persistent memories, which ends by its time. */
Test(e2e, pmem)
{
	struct lab lab = { .name = "pmem",
			   .job = "fio-basic-2pmem-btrfs-randwrite",
			   .set = { "test_size=64M", "runtime=8s" },
			   .boot = { "--disk-size", "512M" } };
	lab_run(&lab);
	lab_expect_state(&lab, "done");
	lab_expect_metric(&lab, "fio.write_bw_MBps");
	lab_expect(&lab, "workload.ended_by", "runtime", "not requested");
	lab_expect(&lab, "disk.kind", "pmem", "not requested");
	lab_expect(&lab, "pmem.origin", "e820", "not requested");
	lab_expect(&lab, "cpu.microcode", "0x43", "as requested");
	const struct be_node *checksum = be_get(lab_factor(&lab, "fs.btrfs_checksum"), "observed");
	cr_expect(checksum && checksum->text && be_starts(checksum->text, "crc32c ("), "%s",
		  checksum && checksum->text ? checksum->text : "no checksum");
	const struct be_node *namespaces = be_get(lab_factor(&lab, "pmem.namespace"), "observed");
	cr_expect_not_null(be_get(namespaces, "disk0"));
	cr_expect_not_null(be_get(namespaces, "disk1"));
	lab_expect(&lab, "fs.kind", "btrfs", "as requested");
	expect_filesystems(&lab, 2);
	lab_done(&lab);
}

/* R3: the test file lies on the initrd. */
Test(e2e, initrd)
{
	struct lab lab = { .name = "initrd", .job = "stress-ng-io-uring", .set = { "testtime=5s" } };
	lab_run(&lab);
	lab_expect_state(&lab, "done");
	lab_expect_metric(&lab, "stress-ng.io-uring.ops_per_sec");
	lab_expect(&lab, "testfile.filesystem", "ramfs", "as requested");
	lab_expect(&lab, "rootfs.filesystem", "ramfs", "as requested");
	lab_expect(&lab, "testfile.nowait", "no", "not requested");
	lab_expect_deviation(&lab, "100% of 64 threads asked = 64, here 2 threads = 2");
	lab_done(&lab);
}

Test(e2e, tmpfs)
{
	struct lab lab = {
		.name = "tmpfs", .job = "stress-ng-io-uring", .more = "rootfs_type: tmpfs\n", .set = { "testtime=2s" }
	};
	lab_run(&lab);
	lab_expect_state(&lab, "done");
	lab_expect(&lab, "testfile.filesystem", "tmpfs", "as requested");
	lab_expect(&lab, "rootfs.filesystem", "tmpfs", "as requested");
	lab_expect(&lab, "testfile.nowait", "no", "not requested");
	lab_done(&lab);
}

/* R4: a RAID5 of three hard disks. */
static void expect_raid(const struct lab *lab)
{
	lab_expect_state(lab, "done");
	lab_expect_metric(lab, "fsmark.files_per_sec");
	lab_expect(lab, "md.level", "raid5", "as requested");
	lab_expect(lab, "md.raid_disks", "3", "as requested");
	lab_expect(lab, "md.chunk_size", "262144", "as requested");
	lab_expect(lab, "md.assume_clean", "assumed clean, parity never written", "as requested");
	lab_expect(lab, "md.sync_action", "idle", "not requested");
	cr_expect_str_eq(be_get_str(lab_factor(lab, "md.sync_action"), "after", ""), "idle");
	lab_expect(lab, "disk.rotational", "1", "as requested");
	lab_expect(lab, "memory.numa_nodes", "2", "as requested");
	lab_expect(lab, "vm.dirty_ratio", "20", "not requested");
	lab_expect(lab, "vm.dirty_background_ratio", "10", "not requested");
	/* The array and what lies on it are drawn once, its name below each disk. */
	lab_expect_shown(lab, "disk[0-2]\n  `-md0 +4[.]0 GiB raid5, chunk 256 KiB\n    `-btrfs +4[.]0 GiB +/fs/md0\n");
	lab_expect_shown(lab, "disk[0-2]\n  `-md0\n");
	static const char *const limits[] = { "vm.dirty_threshold", "vm.dirty_background_threshold" };
	for (size_t i = 0; i < BE_ARRAY_LEN(limits); i++)
		cr_expect_gt(be_get_int(lab_factor(lab, limits[i]), "observed", 0), 1 << 20, "%s in bytes", limits[i]);
}

Test(e2e, raid5)
{
	struct lab lab = { .name = "raid5",
			   .job = "fsmark-3hdd-raid5-btrfs",
			   .set = { "test_size=128M" },
			   .boot = { "--disk-size", "2G" } };
	lab_run(&lab);
	expect_raid(&lab);
	lab_expect(&lab, "memory.numa_policy", "default", "not requested");
	lab_done(&lab);
}

Test(e2e, raid5_node0)
{
	struct lab lab = { .name = "raid5_node0",
			   .job = "fsmark-3hdd-raid5-btrfs-node0",
			   .set = { "test_size=128M" },
			   .boot = { "--disk-size", "2G" } };
	lab_run(&lab);
	expect_raid(&lab);
	lab_expect(&lab, "memory.numa_policy", "bind:0", "as requested");
	lab_expect(&lab, "workload.prefix", "numactl -m 0", "not requested");
	lab_done(&lab);
}

/* R5: 12 disks with two partitions each, 8 processes and files on each partition. */
Test(e2e, jbod)
{
	struct lab lab = { .name = "jbod",
			   .job = "fio-jbod-mmap-randread",
			   .set = { "test_size=192M", "runtime=5s" },
			   .boot = { "--disk-size", "1G" } };
	lab_run(&lab);
	lab_expect_state(&lab, "done");
	lab_expect_metric(&lab, "fio.read_iops");
	lab_expect(&lab, "workload.nr_task", "192", "as requested");
	lab_expect(&lab, "disk.jbod", "24 partitions on 12 disks, 192 processes", "not requested");
	expect_filesystems(&lab, 24);
	lab_expect_verdict(&lab, "disk.scheduler", "differs");
	lab_expect_deviation(&lab, "cfq asked");
	lab_expect_deviation(&lab, "fs: ext4: unstated by the report, chosen here");
	lab_done(&lab);
}

#define OWN_TEST(argv)                                                                       \
	"testcase: mytest\nlkp_rules: 2023-07-06\ntestfile: initrd\ntimeout: 10s\nmytest:\n" \
	"  argv: " argv "\n  packages: [dash, coreutils]\n"
#define SMALL_HOST "nr_cpu: 2\nmemory: 1G\nnr_node: 1\n"

/* Statement and last words of a kernel that crashes: the statement was delivered before. */
Test(e2e, crash)
{
	struct lab lab = { .name = "crash",
			   .more = OWN_TEST("[sh, -c, \"echo c >/proc/sysrq-trigger\"]") "suite: bookworm\n",
			   .host = SMALL_HOST,
			   .status = 1 };
	lab_run(&lab);
	lab_expect_state(&lab, "died during the workload");
	cr_expect_str_eq(be_get_str(be_get(lab.manifest, "result"), "reason", ""),
			 "kernel panic: sysrq triggered crash");
	lab_expect(&lab, "testfile.filesystem", "ramfs", "as requested");
	lab_expect(&lab, "testfile.nowait", "no", "not requested");
	lab_expect(&lab, "workload.ended_by", "nothing", "not observable: the run did not come to its end");
	lab_done(&lab);
}

Test(e2e, endless)
{
	struct lab lab = { .name = "endless",
			   .more = OWN_TEST("[sleep, infinity]") "suite: bookworm\nrootfs_type: tmpfs\n",
			   .host = SMALL_HOST,
			   .status = 1 };
	lab_run(&lab);
	lab_expect_state(&lab, "timeout");
	lab_expect(&lab, "testfile.filesystem", "tmpfs", "as requested");
	lab_expect(&lab, "testfile.nowait", "no", "not requested");
	lab_expect(&lab, "workload.ended_by", "timeout", "not requested");
	lab_done(&lab);
}

Test(e2e, refused)
{
	struct lab lab = { .name = "refused",
			   .job = "stress-ng-io-uring",
			   .more = "expect: {cpu.count: 64, then: refuse}\n",
			   .status = 3 };
	lab_run(&lab);
	lab_expect_state(&lab, "refused");
	cr_expect(strstr(be_get_str(be_get(lab.manifest, "result"), "reason", ""), "cpu.count"));
	cr_expect_null(be_get(be_get_path(lab.manifest, "result.metrics"), "stress-ng.io-uring.ops_per_sec"));
	lab_done(&lab);
}

/* A kernel that hangs for ever: the hardware watchdog ends the run. */
Test(e2e_long, hung)
{
	struct lab lab = { .name = "hung",
			   .more = OWN_TEST("[sh, -c, \"echo c >/proc/sysrq-trigger\"]"),
			   .host = SMALL_HOST,
			   .boot = { "--append", "panic=0" },
			   .status = 1 };
	lab_run(&lab);
	lab_expect_state(&lab, "died during the workload");
	cr_expect_str_eq(be_get_str(be_get_path(lab.manifest, "machine.twin"), "ended", ""),
			 "the watchdog fired: nothing fed it any more");
	lab_done(&lab);
}
