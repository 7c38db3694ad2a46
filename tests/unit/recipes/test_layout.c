#include <criterion/criterion.h>
#include <string.h>

#include "layout.h"
#include "md_layout.h"

static struct be_node *load(const char *text)
{
	struct be_error err = BE_ERROR_INIT;
	struct be_node *node = be_node_load(text, strlen(text), "host", &err);
	cr_assert_not_null(node, "%s", err.text);
	return node;
}

/* One line a disk: id, kind, partitions. Or the error. The caller frees. */
static char *disks(const char *text)
{
	struct be_error err = BE_ERROR_INIT;
	be_autonode struct be_node *host = load(text);
	be_autonode struct be_node *list = be_layout_disks(host, &err);
	if (!list)
		return be_strdup(err.text);
	struct be_buf out = { 0 };
	for (size_t i = 0; i < list->n; i++)
		be_buf_addf(&out, "%s %s %s\n", be_get_str(list->items[i], "path", ""),
			    be_get_str(list->items[i], "kind", ""), be_get_str(list->items[i], "partitions", ""));
	return be_buf_steal(&out);
}

#define expect_disks(text, want)                        \
	do {                                            \
		be_autofree char *got = disks(text);    \
		cr_expect_str_eq(got, want, "%s", got); \
	} while (0)

Test(layout, host_files_name_disks_in_many_ways)
{
	expect_disks("hdd_partitions:\nssd_partitions:\n", "");
	expect_disks("hdd_partitions: /dev/disk/by-id/ata-A_1-part5\n", "/dev/disk/by-id/ata-A_1 hdd 5\n");
	expect_disks("nr_hdd_partitions: 4\nhdd_partitions: /dev/disk/by-id/ata-A_1-part*\n",
		     "/dev/disk/by-id/ata-A_1 hdd 4\n");
	expect_disks("hdd_partitions: /dev/disk/by-id/ata-A_1-part[2-5]\n", "/dev/disk/by-id/ata-A_1 hdd 5\n");
	expect_disks("hdd_partitions: \"/dev/disk/by-id/ata-A-part2 /dev/disk/by-id/ata-A-part3\n  "
		     "/dev/disk/by-id/ata-B-part1\"\n",
		     "/dev/disk/by-id/ata-A hdd 3\n/dev/disk/by-id/ata-B hdd 1\n");
	expect_disks("ssd_partitions:\n- /dev/nvme0n1p1\n- /dev/nvme1n1p2\n- /dev/sdb\n- /dev/sdc1\n",
		     "/dev/nvme0n1 nvme 1\n/dev/nvme1n1 nvme 2\n/dev/sdb ssd 0\n/dev/sdc ssd 1\n");
	expect_disks("hdd_partitions: /dev/vda /dev/vdb\n", "/dev/vda hdd 0\n/dev/vdb hdd 0\n");
	expect_disks("nr_ssd_partitions: 2\nssd_partitions: /dev/disk/by-id/nvme-X-*-part1\n",
		     "/dev/disk/by-id/nvme-X-1 nvme 1\n/dev/disk/by-id/nvme-X-2 nvme 1\n");
}

Test(layout, host_files_with_mistakes)
{
	expect_disks("hdd_partitions: sda1\n", "host:1:17: 'sda1' is no path of a partition");
	expect_disks("hdd_partitions: {a: b}\n", "host:1:17: partitions must be a list or one text");
	expect_disks("hdd_partitions: [[/dev/sda]]\n", "host:1:18: a partition must be a path");
	expect_disks("nr_hdd_partitions: 100000\nhdd_partitions: /dev/x-part*\n",
		     "host:2:17: nr_hdd_partitions of 100000 is more than this program handles");
	expect_disks("hdd_partitions: /dev/sda1\ndisks: {sda: {size: big}}\n",
		     "host:2:21: 'big' is not a size such as 3T or 500107862016");
}

/* The layout's texts under @key of a job on a host, or the error. */
static char *first_path(const char *job_text, const char *host_text)
{
	struct be_error err = BE_ERROR_INIT;
	be_autonode struct be_node *job = load(job_text), *host = load(host_text), *deviations = be_node_seq();
	be_autonode struct be_node *list = be_layout_disks(host, &err);
	struct be_layout_request request = {
		.job = job, .host = host, .host_name = "h", .disks = list, .date = "2024-06-01"
	};
	be_autonode struct be_node *layout = be_layout_make(&request, deviations, &err);
	if (!layout)
		return be_strdup(err.text);
	struct be_buf out = { 0 };
	const struct be_node *devices = be_get(layout, "devices");
	for (size_t i = 0; i < devices->n; i++)
		be_buf_addf(&out, "%s ", be_get_str(devices->items[i], "path", ""));
	for (size_t i = 0; i < deviations->n; i++)
		be_buf_addf(&out, "! %s", be_get_str(deviations->items[i], "text", ""));
	return be_buf_steal(&out);
}

#define expect_paths(job, host, want)                          \
	do {                                                   \
		be_autofree char *got = first_path(job, host); \
		cr_expect_str_eq(got, want, "%s", got);        \
	} while (0)

Test(layout, first_partitions_in_the_order_of_the_list)
{
	expect_paths("disk: 2HDD", "hdd_partitions: [/dev/sdc1, /dev/sda1, /dev/sdb1]", "/dev/sdc1 /dev/sda1 ");
	expect_paths("disk: {nr_ssd: 1}", "ssd_partitions: /dev/nvme0n1p1", "/dev/nvme0n1p1 ");
	expect_paths("disk: 1HDD 1SSD", "hdd_partitions: /dev/sda1\nssd_partitions: /dev/sdb1",
		     "/dev/sda1 ! several kinds of disk asked: as with LKP the first of HDD, SSD, BRD, SRD, pmem, "
		     "NULLB, LOOP is used, the "
		     "others are not");
	expect_paths(
		"disk: 1HDD", "nr_hdd_partitions: 2\nhdd_partitions: /dev/x-part*",
		"/dev/x-part1 ! /dev/x-part*: which partitions match only the machine knows; taken as /dev/x-part1 and "
		"following");
}

Test(layout, pmem_beyond_what_there_is_is_cut_down)
{
	expect_paths("disk: 2pmem\nboot_params: {bp1_memmap: 4G!4G}", "memory: 16G",
		     "/dev/pmem0 ! 2 pmem asked, 1 there: LKP silently takes 1");
	expect_paths("disk: 1pmem", "memory: 16G",
		     "/dev/pmem0 ! neither job nor host says where persistent memory comes from: memmap= or NVDIMMs");
	expect_paths("nvdimm: {mode: fsdax, nr_dev: 2}\nboot_params: {bp1_memmap: 4G!4G, bp2_memmap: 4G!8G}",
		     "pmem_origin: nvdimm", "/dev/pmem0 /dev/pmem1 ");
	expect_paths("disk: 1pmem", "pmem_origin: nvdimm",
		     "host:1:7: disk: asks for 1 pmem, but host h names no size of any");
}

/* @key of the layout of a job as one line of JSON, or the error with its hint. */
static char *layout_part(const char *job_text, const char *key)
{
	struct be_error err = BE_ERROR_INIT;
	be_autonode struct be_node *job = load(job_text), *deviations = be_node_seq();
	be_autonode struct be_node *host =
		load("hdd_partitions: [/dev/sda1, /dev/sdb1, LABEL=data, UUID=12-ab]\n"
		     "swap_partitions: PARTLABEL=pages\ndisks: {pages: {rotational: false}}");
	be_autonode struct be_node *list = be_layout_disks(host, &err);
	struct be_layout_request request = {
		.job = job, .host = host, .host_name = "h", .disks = list, .date = "2024-06-01"
	};
	be_autonode struct be_node *layout = be_layout_make(&request, deviations, &err);
	if (!layout)
		return be_strf("%s | %s", err.text, err.hint);
	be_autobuf struct be_buf out = { 0 };
	const struct be_node *part = be_get_path(layout, key);
	if (part && be_node_json(part, &out, &err) != 0)
		return be_strdup(err.text);
	be_autofree char *text = be_buf_steal(&out);
	be_autostrv struct be_strv words = { 0 };
	be_autobuf struct be_buf line = { 0 };
	be_strv_split(&words, text, " \n");
	for (size_t i = 0; i < words.n; i++)
		be_buf_adds(&line, words.v[i]);
	return be_buf_steal(&line);
}

static void expect_part(const char *job, const char *key, const char *want)
{
	be_autofree char *got = layout_part(job, key);
	cr_expect(strstr(got, want) != NULL, "%s\n%s", job, got);
}

Test(layout, arrays_beyond_lkps_keys)
{
	expect_part("disk: 2HDD\nmd: {raid_level: RAID10, layout: f2, metadata: '1.0', sync: wait}", "arrays",
		    "\"layout\":\"f2\",\"assume_clean\":false,\"sync\":\"wait\",\"bitmap\":\"internal\","
		    "\"metadata\":\"1.0\"");
	expect_part(
		"disk: 2HDD\nmd: {raid_level: RAID10, layout: f2, sync: wait}", "arrays",
		"\"--level=raid10\",\"--layout=f2\",\"--raid-devices=2\",\"--force\",\"--bitmap=internal\",\"--run\"");
	expect_part("disk: 3HDD\nmd: RAID5", "arrays", "\"layout\":\"left-symmetric\",\"assume_clean\":true");
	expect_part("disk: 2HDD\nmd: {raid_level: RAID1, layout: n2}", "arrays", "md: layout: 'n2' is not known");
	expect_part("disk: 2HDD\nmd: {raid_level: RAID0, bitmap: internal}", "arrays", "raid0 has no bitmap");
	expect_part("disk: 2HDD\nmd: {raid_level: RAID1, metadata: 1.3}", "arrays", "md: metadata: '1.3' is not known");
	expect_part("disk: 2HDD\nmd: {raid_level: RAID1, sync: later}", "arrays", "md: sync: 'later' is not known");
}

Test(layout, md_layout_numbers_are_the_kernels)
{
	static const struct {
		const char *level, *name;
		int number;
	} cases[] = {
		{ "raid5", "left-symmetric", 2 },
		{ "raid6", "left-asymmetric", 0 },
		{ "raid5", "parity-last", 5 },
		{ "raid10", "n2", 0x102 },
		{ "raid10", "f3", 0x301 },
		{ "raid10", "o2", 0x10201 },
		{ "raid10", "n1", -1 },
		{ "raid10", "left-symmetric", -1 },
		{ "raid4", "left-symmetric", -1 },
		{ "raid1", "n2", -1 },
		{ "raid10", "", -1 },
	};
	for (size_t i = 0; i < BE_ARRAY_LEN(cases); i++)
		cr_expect_eq(be_md_layout_number(cases[i].level, cases[i].name), cases[i].number, "%s %s",
			     cases[i].level, cases[i].name);
}

Test(layout, swaps)
{
	expect_part("disk: 2HDD\nswap: {priority: 5}", "swaps",
		    "{\"device\":\"/dev/sda1\",\"mkswap\":[\"mkswap\",\"/dev/sda1\"],\"priority\":5},"
		    "{\"device\":\"/dev/sdb1\"");
	expect_part(
		"disk: 1HDD\nfs: xfs\nswap: {swapfile: 8M}", "swaps",
		"[{\"file\":\"/fs/sda1/swapfile\",\"size\":8388608,\"mkswap\":[\"mkswap\",\"/fs/sda1/swapfile\"]}]");
	expect_part("disk: 1HDD\nfs: xfs\nswap:", "swaps", "[{\"device\":\"/dev/disk/by-partlabel/pages\"");
	expect_part("disk: 1HDD\nfs: xfs\nswap:", "devices",
		    "\"kind\":\"ssd\",\"path\":\"/dev/disk/by-partlabel/pages\"");
	expect_part("fs: tmpfs\nswap: {swapfile: 8M}", "swaps", "swapfile: needs a file system on a device");
	expect_part("disk: 1HDD\nfs: xfs\nswap: {swapfile: 8}", "swaps", "swapfile: is no size of at least 1M");
	expect_part("disk: 1HDD\nswap: {priority: 40000}", "swaps", "priority is not from 0 to 32767");
}

Test(layout, devices_that_are_made_and_names_of_content)
{
	expect_part(
		"disk: 4HDD", "devices",
		"\"path\":\"/dev/disk/by-label/data\",\"disk\":\"data\"},{\"name\":\"disk3\",\"kind\":\"hdd\",\"path\":"
		"\"/dev/disk/by-uuid/12-ab\"");
	expect_part("disk: 2NULLB_2G", "load",
		    "[[\"modprobe\",\"-r\",\"null_blk\"],[\"modprobe\",\"null_blk\",\"memory_backed=1\","
		    "\"nr_devices=2\",\"gb=2\"]]");
	expect_part("disk: {nr_nullb: 1, ramdisk_size: 64M}", "load", "a null block device has whole GiB");
	expect_part("disk: {nr_loop: 1, ramdisk_size: 64M}", "devices",
		    "[{\"name\":\"disk0\",\"kind\":\"loop\",\"path\":\"/dev/loop0\",\"size\":67108864,\"file\":"
		    "\"/benchenv/disks/loop0\"}]");
	expect_part("disk: 1HDD\nearlier_layout: reuse", "earlier", "reuse");
	expect_part("disk: 1HDD\nearlier_layout: keep", "earlier", "'keep' is neither rebuild nor reuse");
}
