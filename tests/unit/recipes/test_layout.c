#include <criterion/criterion.h>
#include <string.h>

#include "layout.h"

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
		     "/dev/sda1 ! several kinds of disk asked: as with LKP the first of HDD, SSD, BRD, SRD, pmem is "
		     "used, the "
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
