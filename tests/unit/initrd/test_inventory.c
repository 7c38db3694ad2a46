/* The inventory of a recorded machine: a host file that is read back, and from which a plan is made. */
#include "tree.h"

#include "host.h"
#include "initrd/inventory/inventory.h"
#include "plan.h"

#define DATA "recipes"

/* The recorded disks, with the rest of a machine around them. */
static struct be_root machine(void)
{
	struct be_root root = tree_load(RECORDED_DISKS);
	tree_write(&root, "/proc/cpuinfo",
		   "processor\t: 0\ncpu family\t: 6\nmodel\t\t: 106\nmodel name\t: Intel(R) Xeon(R) Gold 6346\n"
		   "stepping\t: 6\nmicrocode\t: 0xd000363\n\n"
		   "processor\t: 1\nmodel name\t: Intel(R) Xeon(R) Gold 6346\nmicrocode\t: 0xd000363\n");
	tree_write(&root, "/proc/sys/kernel/osrelease", "6.1.192\n");
	tree_write(&root, "/proc/sys/kernel/hostname", "lab-secret-name\n");
	tree_write(&root, "/sys/devices/system/cpu/online", "0-1\n");
	tree_write(&root, "/sys/devices/system/cpu/cpu0/topology/physical_package_id", "0\n");
	tree_write(&root, "/sys/devices/system/cpu/cpu1/topology/physical_package_id", "1\n");
	tree_write(&root, "/sys/devices/system/cpu/cpufreq/none", "");
	tree_write(&root, "/sys/devices/system/node/online", "0-1\n");
	tree_write(&root, "/sys/devices/system/memory/block_size_bytes", "8000000\n");
	for (int i = 0; i < 6; i++) {
		be_autofree char *block = be_strf("/sys/devices/system/memory/memory%d/online", i);
		be_autofree char *link = be_strf("/sys/devices/system/node/node%d/memory%d", i >= 4, i);
		be_autofree char *target = be_strf("../../memory/memory%d", i);
		tree_write(&root, block, "1\n");
		tree_link(&root, link, target);
	}
	tree_write(&root, "/sys/class/dmi/id/bios_version", "SE5C620.86B\n");
	tree_write(&root, "/sys/class/dmi/id/bios_date", "05/10/2021\n");
	tree_write(&root, "/sys/class/dmi/id/board_name", "M50CYP\n");
	tree_write(&root, "/sys/devices/pci0/net/enp1s0/address", "52:54:00:12:34:56\n");
	tree_write(&root, "/sys/devices/pci0/vendor", "0x8086\n");
	tree_write(&root, "/sys/devices/pci0/device", "0x10d3\n");
	tree_write(&root, "/sys/bus/pci/drivers/e1000e/uevent", "");
	tree_link(&root, "/sys/devices/pci0/driver", "../../bus/pci/drivers/e1000e");
	tree_link(&root, "/sys/devices/pci0/net/enp1s0/device", "../../../pci0");
	tree_link(&root, "/sys/class/net/enp1s0", "../../devices/pci0/net/enp1s0");
	return root;
}

/* Adds a line to udev's record of a device. */
static void udev(const struct be_root *root, const char *number, const char *line)
{
	be_autofree char *text = be_strf("/run/udev/data/b%s = %s", number, line);
	recorded_line(root->prefix, text);
}

static char *inventory(const struct be_root *root, bool private)
{
	struct be_error err = BE_ERROR_INIT;
	char *text = be_inventory(root, private, &err);
	cr_assert_not_null(text, "%s", err.text);
	return text;
}

static struct be_node *read_back(const struct be_root *root, const char *text, struct be_strv *warnings)
{
	struct be_error err = BE_ERROR_INIT;
	be_autofree char *path = be_root_path(root, "/box");
	tree_write(root, "/box", text);
	struct be_node *host = be_host_load(path, DATA, warnings, NULL, NULL, &err);
	cr_assert_not_null(host, "%s\n%s", err.text, text);
	return host;
}

static void expect_json(const struct be_node *node, const char *wanted)
{
	be_autofree char *got = tree_json(node);
	cr_expect_str_eq(got, wanted);
}

Test(inventory, states_the_machine_and_reads_back)
{
	struct be_root root = machine();
	be_autostrv struct be_strv warnings = { 0 };
	be_autofree char *text = inventory(&root, false);
	be_autonode struct be_node *host = read_back(&root, text, &warnings);
	cr_expect_eq(warnings.n, 0, "%s", warnings.n ? warnings.v[0] : "");
	cr_expect_eq(be_get_int(host, "nr_cpu", 0), 2);
	cr_expect_eq(be_get_int(host, "nr_socket", 0), 2);
	cr_expect_eq(be_get_int(host, "nr_node", 0), 2);
	cr_expect_str_eq(be_get_str(host, "memory", ""), "768M");
	expect_json(be_get(host, "node_memory"), "[\"512M\", \"256M\"]");
	cr_expect_str_eq(be_get_str(host, "brand", ""), "Intel(R) Xeon(R) Gold 6346");
	cr_expect_str_eq(be_get_str(host, "ucode", ""), "0xd000363");
	cr_expect_str_eq(be_get_str(host, "bios_version", ""), "SE5C620.86B");
	cr_expect_str_eq(be_get_str(host, "bios_date", ""), "05/10/2021");
	cr_expect_str_eq(be_get_str(host, "board", ""), "M50CYP");
	cr_expect_null(be_get(host, "model"), "no processor says its microarchitecture's name");
	cr_expect_not_null(strstr(text, "family 6, model 106, stepping 6"));
	cr_expect_not_null(strstr(text, "# Not known:\n#   model: "));
	cr_expect_not_null(strstr(text, "network: enp1s0, driver e1000e, 0x8086 0x10d3\n"));
	tree_free(&root);
}

Test(inventory, names_nobody_unless_asked)
{
	struct be_root root = machine();
	be_autofree char *public = inventory(&root, false), *private = inventory(&root, true);
	cr_expect_null(strstr(public, "lab-secret-name"));
	cr_expect_null(strstr(public, "52:54:00"));
	cr_expect_not_null(strstr(private, "#   host name: lab-secret-name\n"));
	cr_expect_not_null(strstr(private, "52:54:00:12:34:56"));
	tree_free(&root);
}

/* One line of the comments that says why a disk is not listed. */
static void expect_unlisted(const char *text, const char *name, const char *why)
{
	be_autofree char *start = be_strf("\n#   /dev/disk/by-id/%s (", name);
	const char *line = strstr(text, start);
	cr_assert_not_null(line, "%s is not among the comments:\n%s", name, text);
	be_autofree char *copy = be_strndup(line + 1, strcspn(line + 1, "\n"));
	cr_expect_not_null(strstr(copy, why), "no \"%s\" in %s", why, copy);
}

#define LINUX_DATA "E:ID_PART_ENTRY_TYPE=0fc63daf-8483-4772-8e79-3d69d8477de4"

Test(inventory, lists_only_what_carries_nothing_and_is_not_used)
{
	struct be_root root = machine();
	be_autostrv struct be_strv warnings = { 0 };
	udev(&root, "8:161", LINUX_DATA);
	udev(&root, "8:162", LINUX_DATA);
	udev(&root, "8:162", "E:ID_FS_TYPE=ext4");
	udev(&root, "8:193", LINUX_DATA);
	udev(&root, "8:193", "E:ID_FS_TYPE=btrfs");
	udev(&root, "8:193", "E:ID_FS_UUID=62656e63-6865-6e76-8187-69dabffc887e");
	udev(&root, "8:194", "E:ID_PART_ENTRY_TYPE=21686148-6449-6e6f-744e-656564454649"); /* a boot loader */
	be_autofree char *text = inventory(&root, false);
	be_autonode struct be_node *host = read_back(&root, text, &warnings);
	cr_expect_eq(warnings.n, 0, "%s", warnings.n ? warnings.v[0] : "");
	/* EXT4's record says nothing of its content here, as that of an empty disk does. */
	expect_json(be_get(host, "hdd_partitions"),
		    "[\"/dev/disk/by-id/ata-BENCH-HDD_H4-part1\", \"/dev/disk/by-id/ata-BENCH-HDD_H5-part1\", "
		    "\"/dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_EXT4\"]");
	cr_expect_eq(be_get_int(host, "nr_hdd_partitions", 0), 3);
	cr_expect_null(be_get(host, "ssd_partitions"));
	expect_json(be_get_path(host, "disks.ata-BENCH-HDD_H4"),
		    "{\"size\": \"838860800\", \"rotational\": \"true\", \"write_cache\": \"write back\"}");
	expect_unlisted(text, "ata-BENCH-HDD_H4-part2", "carries ext4");
	expect_unlisted(text, "ata-BENCH-HDD_H5-part2", "is a partition of type 21686148-");
	expect_unlisted(text, "ata-BENCH-HDD_H1-part1", "is a member of the md array md127");
	expect_unlisted(text, "ata-BENCH-SSD_S1-part1", "is mounted on /fs/s");
	expect_unlisted(text, "nvme-QEMU_NVMe_Ctrl_N1", "is mounted on /fs/n");
	expect_unlisted(text, "scsi-0QEMU_QEMU_HARDDISK_SWAP", "is in use as swap");
	expect_unlisted(text, "scsi-0QEMU_QEMU_HARDDISK_EMPTY", "is mapped by the device mapper as dm-0 (held)");
	expect_unlisted(text, "scsi-0QEMU_QEMU_HARDDISK_TWICE", "shares its name with 1 other");
	expect_unlisted(text, "scsi-0QEMU_QEMU_HARDDISK_LUKS", "is read-only");
	expect_unlisted(text, "scsi-0QEMU_QEMU_HARDDISK_GPT-part1", "udev does not say what type of partition it is");
	tree_free(&root);
}

Test(inventory, a_plan_is_made_from_it)
{
	struct be_root root = machine();
	struct be_error err = BE_ERROR_INIT;
	be_autostrv struct be_strv warnings = { 0 };
	udev(&root, "8:161", LINUX_DATA);
	be_autofree char *text = inventory(&root, false);
	be_autonode struct be_node *host = read_back(&root, text, &warnings);
	be_autonode struct be_node *job =
		tree_yaml("testcase: fsmark\ndisk: 1HDD\nfs: ext4\nfsmark:\n  filesize: 4K\n");
	struct be_plan_request request = {
		.name = "x", .job = job, .host = host, .host_name = "box", .data_dir = DATA, .today = "2026-11-30"
	};
	be_autonode struct be_node *plan = be_plan_make(&request, &warnings, &err);
	cr_assert_not_null(plan, "%s", err.text);
	expect_json(be_get_path(plan, "layout.devices"),
		    "[{\"name\": \"disk0\", \"kind\": \"hdd\", \"path\": \"/dev/disk/by-id/ata-BENCH-HDD_H4-part1\", "
		    "\"disk\": \"ata-BENCH-HDD_H4\", \"size\": \"838860800\"}]");
	tree_free(&root);
}

Test(inventory, persistent_memory)
{
	struct be_root root = machine(); /* NVDIMMs, and a range that memmap= set aside */
	be_autofree char *both = inventory(&root, false);
	cr_expect_not_null(strstr(both, "pmem_origin: there are both"));
	tree_write(&root, "/proc/cmdline", "quiet\n");
	be_autofree char *text = inventory(&root, false);
	cr_expect_not_null(strstr(text, "pmem_origin: nvdimm\n"), "%s", text);
	tree_free(&root);
}

Test(inventory, memory_by_the_firmware)
{
	struct be_root root = machine();
	/* 64 GiB by the extended size, an empty slot, 16 GiB by the word. */
	char device[3][0x2a] = { { 17, 0x28, [0x0c] = (char)0xff, 0x7f, [0x1e] = 1 },
				 { 17, 0x28 },
				 { 17, 0x28, [0x0c] = 0, 0x40 } };
	struct be_error err = BE_ERROR_INIT;
	for (int i = 0; i < 3; i++) {
		be_autofree char *path = be_strf("%s/sys/firmware/dmi/entries/17-%d", root.prefix, i);
		be_autofree char *raw = be_strf("%s/raw", path);
		cr_assert_eq(be_mkdirs(path, 0755, &err), 0);
		cr_assert_eq(be_write_file(raw, device[i], sizeof(device[i]), 0644, &err), 0);
	}
	be_autofree char *text = inventory(&root, false);
	cr_expect_not_null(strstr(text, "\nmemory: 80G\n"), "%s", text);
	tree_free(&root);
}

Test(inventory, nothing_recorded)
{
	struct be_root root = tree_new();
	struct be_error err = BE_ERROR_INIT;
	cr_expect_null(be_inventory(&root, false, &err));
	cr_expect_eq(err.status, BE_USAGE);
	tree_write(&root, "/proc/cpuinfo", "");
	be_autofree char *text = inventory(&root, false);
	cr_expect_not_null(strstr(text, "nr_cpu: there is no "));
	cr_expect_not_null(strstr(text, "disks: there is no /sys/class/block"));
	tree_free(&root);
}
