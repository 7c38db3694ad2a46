#include "recorded.h"

#include <sys/stat.h>

static struct be_setup setup;

static void load(void)
{
	recorded_load(&setup, RECORDED_DISKS);
}

static void unload(void)
{
	recorded_free(&setup);
}

TestSuite(check, .init = load, .fini = unload);

/* Checks a plan of the stanzas @devices and of @more, which is the rest of the document. */
static int check(const char *devices, const char *more, struct be_error *err)
{
	be_autofree char *text =
		be_strf("mkbenchenv: plan\nschema: 1\nlayout:\n  wait: 0\n  devices:\n%s%s", devices, more);
	be_autonode struct be_node *plan = recorded_plan(text);
	return be_setup_check(&setup, plan, err);
}

Test(check, one_device)
{
	static const struct {
		const char *stanza;
		const char *refusal; /* NULL: it may be written */
		const char *remedy;
	} cases[] = {
		{ "{name: d, kind: hdd, path: /dev/disk/by-id/ata-BENCH-HDD_H4-part1}", NULL, NULL },
		{ "{name: d, kind: hdd, path: /dev/disk/by-id/ata-BENCH-HDD_H4-part1, size: 838860800}", NULL, NULL },
		{ "{name: d, kind: pmem, path: /dev/pmem0}", NULL, NULL },
		{ "{name: d, kind: pmem, path: /dev/pmem0, size: 536870912}", NULL, NULL },
		{ "{name: d, kind: pmem, path: /dev/pmem2}", NULL, NULL },
		{ "{name: d, kind: hdd, path: /dev/disk/by-id/ata-BENCH-HDD_H4-part1, size: 3298534883328}",
		  "sdk is stated with 3 TiB (3298534883328 bytes), but has 800 MiB (838860800 bytes)",
		  "host file's size" },
		{ "{name: d, kind: ssd, path: /dev/disk/by-id/ata-BENCH-HDD_H4-part1}",
		  "sdk is stated as ssd (not rotational), but is rotational", "/sys/block/sdk/queue/rotational" },
		{ "{name: d, kind: nvme, path: /dev/sdk1}", "sdk1 is no nvme device", "correct the path" },
		{ "{name: d, kind: pmem, path: /dev/sdk1}", "sdk1 is no pmem device", "correct the path" },
		{ "{name: d, kind: floppy, path: /dev/sdk1}", "kind \"floppy\" is not known", "use hdd" },
		{ "{name: d, kind: ssd, path: /dev/disk/by-id/ata-BENCH-SSD_S1-part1}", "sdo1 is mounted on /fs/s",
		  "unmount /fs/s" },
		{ "{name: d, kind: ssd, path: /dev/disk/by-id/ata-BENCH-SSD_S1}", "sdo1 is mounted on /fs/s",
		  "unmount /fs/s" },
		{ "{name: d, kind: nvme, path: /dev/nvme0n1}", "nvme0n1 is mounted on /fs/n", "unmount /fs/n" },
		{ "{name: d, kind: hdd, path: /dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_LUKS}", "sda is read-only",
		  "blockdev --setrw /dev/sda" },
		{ "{name: d, kind: hdd, path: /dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_EMPTY}",
		  "sdc is mapped by the device mapper as dm-0 (held)", "dmsetup remove held" },
		{ "{name: d, kind: hdd, path: /dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_M1}",
		  "sde is a member of the md array md9 (raid1, clean)", "mdadm --stop /dev/md9" },
		{ "{name: d, kind: hdd, path: /dev/disk/by-id/ata-BENCH-HDD_H1}",
		  "sdh1 is a member of the md array md127 (raid5, clean)", "mdadm --stop /dev/md127" },
		{ "{name: d, kind: hdd, path: /dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_SWAP}", "sdl is in use as swap",
		  "swapoff /dev/sdl" },
		{ "{name: d, kind: hdd, path: /dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_TWICE}",
		  "2 devices claim this name (device numbers 8:48, 8:80)", "by another of its names" },
	};
	for (size_t i = 0; i < BE_ARRAY_LEN(cases); i++) {
		struct be_error err = BE_ERROR_INIT;
		be_autofree char *devices = be_strf("  - %s\n", cases[i].stanza);
		int rc = check(devices, "", &err);
		const struct be_node *found = be_get(setup.found, "d");
		if (!cases[i].refusal) {
			cr_expect_eq(rc, 0, "%s: %s", cases[i].stanza, err.text);
			cr_expect(be_starts(be_get_str(found, "decision", ""), "may be written: carries nothing"));
			continue;
		}
		cr_expect_eq(rc, -1, "%s: not refused", cases[i].stanza);
		cr_expect_not_null(strstr(err.text, cases[i].refusal), "%s: %s", cases[i].stanza, err.text);
		cr_expect_not_null(strstr(err.hint, cases[i].remedy), "%s: %s", cases[i].stanza, err.hint);
		cr_expect_str_eq(be_get_str(found, "decision", ""), "refused");
		cr_expect_not_null(be_get(found, "refused"));
	}
}

Test(check, round_sizes_read_both_ways)
{
	struct be_error err = BE_ERROR_INIT;
	be_autofree char *size = be_root_path(&setup.root, "/sys/class/block/sdk/size");
	/* 3000592982016 bytes: what a "3 TB" disk has. */
	cr_assert_eq(be_write_file(size, "5860533168\n", 11, 0644, &err), 0, "%s", err.text);
	cr_expect_eq(
		check("  - {name: d, kind: hdd, path: /dev/disk/by-id/ata-BENCH-HDD_H4-part1, size: 3298534883328}\n",
		      "", &err),
		0, "%s", err.text);
	cr_expect_eq(
		check("  - {name: d, kind: hdd, path: /dev/disk/by-id/ata-BENCH-HDD_H4-part1, size: 4398046511104}\n",
		      "", &err),
		-1);
	cr_expect_eq(
		check("  - {name: d, kind: hdd, path: /dev/disk/by-id/ata-BENCH-HDD_H4-part1, size: 2998534883328}\n",
		      "", &err),
		0, "%s", err.text);
}

Test(check, all_refusals_are_told)
{
	struct be_error err = BE_ERROR_INIT;
	cr_assert_eq(check("  - {name: disk0, kind: hdd, path: /dev/disk/by-id/ata-BENCH-HDD_H4-part1}\n"
			   "  - {name: disk1, kind: ssd, path: /dev/disk/by-id/ata-BENCH-HDD_H4-part2}\n"
			   "  - {name: disk2, kind: hdd, path: /dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_SWAP}\n",
			   "", &err),
		     -1);
	cr_expect_str_eq(err.text, "2 of 3 devices refused, nothing was written: disk1 "
				   "(/dev/disk/by-id/ata-BENCH-HDD_H4-part2): sdk is stated as ssd (not "
				   "rotational), but is rotational; disk2 "
				   "(/dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_SWAP): sdl is in use as swap");
	cr_expect_str_eq(be_get_str(be_get(setup.found, "disk0"), "decision", ""), "may be written: carries nothing");
}

Test(check, one_disk_under_two_names)
{
	struct be_error err = BE_ERROR_INIT;
	cr_expect_eq(check("  - {name: disk0, kind: hdd, path: /dev/disk/by-id/ata-BENCH-HDD_H4-part1}\n"
			   "  - {name: disk1, kind: hdd, path: /dev/disk/by-id/ata-BENCH-HDD_H4-part1}\n",
			   "", &err),
		     -1);
	cr_expect_not_null(strstr(err.text, "it is the same device as disk0 (sdk1)"), "%s", err.text);
	cr_expect_eq(check("  - {name: disk0, kind: hdd, path: /dev/disk/by-id/ata-BENCH-HDD_H5}\n"
			   "  - {name: disk1, kind: hdd, path: /dev/disk/by-id/ata-BENCH-HDD_H5-part2}\n",
			   "", &err),
		     -1);
	cr_expect_not_null(strstr(err.text, "sdm2 and sdm (disk0) overlap"), "%s", err.text);
}

/* One more line of the recorded tree. */
static void record(const char *line)
{
	be_autofree char *copy = be_strdup(line);
	recorded_line(setup.root.prefix, copy);
}

/* sdk and sdm are of one size: by kernel names nothing says which is which. */
Test(check, kernel_names_of_disks_that_are_alike)
{
	static const char one[] = "  - {name: d, kind: hdd, path: /dev/sdk1}\n";
	static const char both[] = "  - {name: d, kind: hdd, path: /dev/sdk1}\n"
				   "  - {name: e, kind: hdd, path: /dev/disk/by-id/ata-BENCH-HDD_H5-part1}\n";
	struct be_error err = BE_ERROR_INIT;
	cr_expect_eq(check(one, "machine: {test_disks: owned}\n", &err), -1);
	cr_expect_not_null(strstr(err.text, "/dev/sdk1 does not say which disk is meant: it could be sdm as well"),
			   "%s", err.text);
	cr_expect_not_null(strstr(err.hint, "ls -l /dev/disk/by-id tells which is sdk1 now"), "%s", err.hint);
	cr_expect_eq(setup.deviations->n, 0);
	/* No disk but the plan's and the host file's can be met: only their order is in question. */
	cr_expect_eq(check(both, "", &err), 0, "%s", err.text);
	cr_assert_eq(setup.deviations->n, 1);
	cr_expect_str_eq(be_get_str(setup.deviations->items[0], "topic", ""), "disk.identity");
	cr_expect_eq(check(one, "machine: {disks: [{id: x, path: /dev/sdm}]}\n", &err), 0, "%s", err.text);
	/* Alone of its size, driver or kind; one of its own paths is no other disk. */
	record("/sys/class/block/nvme0c0n1 -> ../../devices/nvme0c0n1");
	record("/sys/devices/nvme0c0n1/hidden = 1");
	record("/sys/devices/nvme0c0n1/queue/rotational = 0");
	record("/sys/devices/nvme0c0n1/size = 1048576");
	cr_expect_eq(check("  - {name: d, kind: ssd, path: /dev/nvme0n1}\n", "", &err), -1);
	cr_expect_null(strstr(err.text, "does not say which disk"), "%s", err.text);
	setup.twin = true;
	cr_expect_eq(check(one, "", &err), 0, "%s", err.text);
}

Test(check, a_twin_has_other_sizes)
{
	static const char device[] =
		"  - {name: d, kind: hdd, path: /dev/disk/by-id/ata-BENCH-HDD_H4-part1, size: 3298534883328}\n";
	struct be_error err = BE_ERROR_INIT;
	cr_expect_eq(check(device, "", &err), -1);
	setup.twin = true;
	cr_expect_eq(check(device, "", &err), 0, "%s", err.text);
	cr_expect_eq(check("  - {name: d, kind: ssd, path: /dev/disk/by-id/ata-BENCH-HDD_H4-part1}\n", "", &err), -1);
}

Test(check, members_of_unequal_size)
{
	static const char devices[] = "  - {name: disk0, kind: hdd, path: /dev/disk/by-id/ata-BENCH-HDD_H4-part1}\n"
				      "  - {name: disk1, kind: hdd, path: /dev/disk/by-id/ata-BENCH-HDD_H5-part1}\n"
				      "  arrays:\n"
				      "  - {name: md0, level: raid1, members: [/dev/disk/by-id/ata-BENCH-HDD_H4-part1, "
				      "/dev/disk/by-id/ata-BENCH-HDD_H5-part1], argv: [mdadm]}\n";
	struct be_error err = BE_ERROR_INIT;
	be_autofree char *size = be_root_path(&setup.root, "/sys/class/block/sdm1/size");
	cr_expect_eq(check(devices, "expect: refuse\n", &err), 0, "%s", err.text);
	cr_expect_eq(setup.deviations->n, 0);
	cr_assert_eq(be_write_file(size, "600000\n", 7, 0644, &err), 0, "%s", err.text);
	cr_expect_eq(check(devices, "expect: warn\n", &err), 0, "%s", err.text);
	cr_assert_eq(setup.deviations->n, 1);
	cr_expect_str_eq(be_get_str(setup.deviations->items[0], "text", ""),
			 "md0: members of unequal size (bytes): sdk1 418381824, sdm1 307200000");
	cr_expect_eq(check(devices, "expect: refuse\n", &err), -1);
	cr_expect_not_null(strstr(err.text, "the array's members are of unequal size"), "%s", err.text);
}

/* Puts a file system on a recorded device's (empty) file. */
static void make_ext4(const char *device, const char *option, const char *value)
{
	be_autofree char *path = be_root_path(&setup.root, device);
	const char *const argv[] = { "mke2fs", "-q", "-F", "-t", "ext4", option, value, path, "8M", NULL };
	recorded_run(argv);
}

Test(check, places_that_are_taken)
{
	struct be_error err = BE_ERROR_INIT;
	cr_expect_eq(check("  - {name: d, kind: hdd, path: /dev/disk/by-id/ata-BENCH-HDD_H4-part1}\n"
			   "  filesystems:\n"
			   "  - {kind: ext4, devices: [/dev/disk/by-id/ata-BENCH-HDD_H4-part1], mount: /fs/s}\n",
			   "", &err),
		     -1);
	cr_expect_str_eq(err.text, "/fs/s is a mount point already, nothing was written");
	cr_expect_eq(check("  - {name: d, kind: hdd, path: /dev/disk/by-id/ata-BENCH-HDD_H4-part1}\n"
			   "  arrays:\n"
			   "  - {name: md9, level: raid0, members: [/dev/disk/by-id/ata-BENCH-HDD_H4-part1], argv: "
			   "[mdadm]}\n",
			   "", &err),
		     -1);
	cr_expect_not_null(strstr(err.text, "another array is there as md9"), "%s", err.text);
}

Test(check, what_it_carries)
{
	static const char device[] = "  - {name: d, kind: hdd, path: /dev/disk/by-id/ata-BENCH-HDD_H4-part1}\n";
	struct be_error err = BE_ERROR_INIT;
	make_ext4("/dev/sdk1", "-L", "home");
	cr_expect_eq(check(device, "", &err), -1);
	cr_expect_not_null(strstr(err.text, "sdk1 carries ext4 labelled \"home\", UUID "), "%s", err.text);
	cr_expect_not_null(strstr(err.hint, "`overwrite: [ext4]` in the job, or `test_disks: owned`"), "%s", err.hint);
	cr_expect_eq(check(device, "  overwrite: [xfs, btrfs]\n", &err), -1);
	cr_expect_eq(check(device, "  overwrite: [xfs, ext4]\n", &err), 0, "%s", err.text);
	cr_expect_eq(check(device, "machine: {test_disks: owned}\n", &err), 0, "%s", err.text);
	cr_expect_not_null(strstr(be_get_str(be_get(setup.found, "d"), "decision", ""), "test_disks: owned"));
	/* Ownership is no answer to a disk that is in use. */
	make_ext4("/dev/sdo1", "-L", "home");
	cr_expect_eq(check("  - {name: d, kind: ssd, path: /dev/disk/by-id/ata-BENCH-SSD_S1-part1}\n",
			   "machine: {test_disks: owned}\n", &err),
		     -1);
}

Test(check, our_own_may_go)
{
	struct be_error err = BE_ERROR_INIT;
	make_ext4("/dev/sdk1", "-U", "62656e63-6865-6e76-8001-000000000001");
	cr_expect_eq(check("  - {name: d, kind: hdd, path: /dev/disk/by-id/ata-BENCH-HDD_H4-part1}\n", "", &err), 0,
		     "%s", err.text);
	cr_expect_str_eq(be_get_str(be_get(setup.found, "d"), "decision", ""),
			 "may be written: ext4 made by mkbenchenv");
}

/* Bytes at a place of a recorded device's file. */
static void put(const char *device, off_t at, const char *bytes)
{
	be_autofree char *path = be_root_path(&setup.root, device);
	be_autofd int fd = open(path, O_WRONLY | O_CLOEXEC);
	cr_assert_eq(pwrite(fd, bytes, strlen(bytes), at), (ssize_t)strlen(bytes));
}

Test(check, data_without_a_signature_is_somebodys)
{
	static const char device[] = "  - {name: d, kind: hdd, path: /dev/disk/by-id/ata-BENCH-HDD_H4-part1}\n";
	struct be_error err = BE_ERROR_INIT;
	put("/dev/sdk1", 0, "x");
	cr_expect_eq(check(device, "", &err), -1);
	cr_expect_not_null(strstr(err.text, "sdk1 carries data of no known kind"), "%s", err.text);
	cr_expect_not_null(strstr(err.hint, "`overwrite: [unknown]` in the job"), "%s", err.hint);
	cr_expect_eq(check(device, "  overwrite: [unknown]\n", &err), 0, "%s", err.text);
	cr_expect_eq(check(device, "machine: {test_disks: owned}\n", &err), 0, "%s", err.text);
	put("/dev/sdk2", 8 << 20, "x"); /* the last byte of what is there */
	cr_expect_eq(check("  - {name: d, kind: hdd, path: /dev/disk/by-id/ata-BENCH-HDD_H4-part2}\n", "", &err), -1);
}

Test(check, a_disk_that_cannot_be_read)
{
	struct be_error err = BE_ERROR_INIT;
	be_autofree char *node = be_root_path(&setup.root, "/dev/sdk1");
	cr_assert_eq(unlink(node), 0);
	cr_assert_eq(mkdir(node, 0755), 0); /* opens, and every read of it fails */
	cr_expect_eq(check("  - {name: d, kind: hdd, path: /dev/disk/by-id/ata-BENCH-HDD_H4-part1}\n  - {name: e, "
			   "kind: hdd, path: /dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_SWAP}\n",
			   "", &err),
		     -1);
	cr_expect_not_null(strstr(err.text, "2 of 2 devices refused"), "%s", err.text);
	cr_expect_not_null(strstr(err.text, "sdl is in use as swap"), "%s", err.text);
	cr_expect(strstr(err.hint, "the kernel's log says of this disk") || strstr(err.hint, "as root"), "%s",
		  err.hint);
}

Test(check, a_label_cannot_spoil_a_message)
{
	struct be_error err = BE_ERROR_INIT;
	make_ext4("/dev/sdk1", "-L", "a\x1b[2Jb\xff");
	cr_expect_eq(check("  - {name: d, kind: hdd, path: /dev/disk/by-id/ata-BENCH-HDD_H4-part1}\n", "", &err), -1);
	cr_expect_not_null(strstr(err.text, "ext4 labelled \"a?[2Jb?\""), "%s", err.text);
}

Test(check, partitions_that_only_look_empty)
{
	struct be_error err = BE_ERROR_INIT;
	record("/run/udev/data/b8:161 = E:ID_PART_ENTRY_TYPE=21686148-6449-6e6f-744e-656564454649");
	cr_expect_eq(check("  - {name: d, kind: hdd, path: /dev/disk/by-id/ata-BENCH-HDD_H4-part1}\n",
			   "machine: {test_disks: owned}\n", &err),
		     -1);
	cr_expect_not_null(strstr(err.text, "sdk1 is a BIOS boot partition by its type"), "%s", err.text);
}

static void add_slaves(const char *array, const char *a, const char *b)
{
	const char *const members[] = { a, b };
	for (size_t i = 0; i < BE_ARRAY_LEN(members); i++) {
		be_autofree char *line =
			be_strf("/sys/class/block/%s/slaves/%s -> ../../%s", array, members[i], members[i]);
		record(line);
	}
}

/* md9 is somebody's RAID1 of sde and sdi, which udev has brought up; nothing uses it. */
Test(check, yesterdays_array_on_owned_disks)
{
	static const char both[] = "  - {name: d, kind: hdd, path: /dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_M1}\n"
				   "  - {name: e, kind: hdd, path: /dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_M2}\n";
	static const char one[] = "  - {name: d, kind: hdd, path: /dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_M1}\n";
	static const char owned[] = "machine: {test_disks: owned}\n";
	struct be_error err = BE_ERROR_INIT;
	add_slaves("md9", "sde", "sdi");
	cr_expect_eq(check(both, "", &err), -1);
	cr_expect_not_null(strstr(err.text, "sde is a member of the md array md9"), "%s", err.text);
	cr_expect_eq(check(both, owned, &err), 0, "%s", err.text);
	cr_expect_str_eq(be_get_str(be_get(setup.found, "e"), "decision", ""),
			 "may be written: carries nothing; the host file says test_disks: owned; the idle array md9 is "
			 "stopped first");
	/* sdi may be anybody's. */
	cr_expect_eq(check(one, owned, &err), -1);
	cr_expect_not_null(strstr(err.text, "the array md9, which has the member sdi: no disk of the host file"), "%s",
			   err.text);
	cr_expect_not_null(strstr(err.hint, "mdadm --stop /dev/md9"), "%s", err.hint);
	cr_expect_eq(check(one, "machine: {test_disks: owned, disks: [{id: x, path: /dev/sdi}]}\n", &err), 0, "%s",
		     err.text);
	/* LVM on it: used, whoever owns the disks. */
	record("/sys/class/block/md9/holders/dm-0 -> ../../dm-0");
	cr_expect_eq(check(both, owned, &err), -1);
	cr_expect_not_null(strstr(err.text, "md9 is mapped by the device mapper as dm-0 (held)"), "%s", err.text);
}

/* Yesterday the disk had a partition that was an array's member, today it is used whole. */
Test(check, an_array_on_partitions_of_an_owned_disk)
{
	static const char disks[] = "  - {name: d, kind: hdd, path: /dev/disk/by-id/ata-BENCH-HDD_H1}\n"
				    "  - {name: e, kind: hdd, path: /dev/disk/by-id/ata-BENCH-HDD_H2}\n"
				    "  - {name: f, kind: hdd, path: /dev/disk/by-id/ata-BENCH-HDD_H3}\n";
	struct be_error err = BE_ERROR_INIT;
	add_slaves("md127", "sdh1", "sdn1");
	cr_expect_eq(check(disks, "", &err), -1);
	cr_expect_eq(check(disks, "machine: {test_disks: owned}\n", &err), 0, "%s", err.text);
}

Test(check, decisions_for_people)
{
	struct be_error err = BE_ERROR_INIT;
	be_autobuf struct be_buf text = { 0 };
	cr_expect_eq(check("  - {name: disk0, kind: hdd, path: /dev/disk/by-id/ata-BENCH-HDD_H4-part1}\n"
			   "  - {name: disk1, kind: hdd, path: /dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_SWAP}\n",
			   "", &err),
		     -1);
	be_decisions_text(setup.found, &text);
	cr_expect_str_eq(text.data, "disk0  /dev/disk/by-id/ata-BENCH-HDD_H4-part1 -> sdk1\n"
				    "  may be written: carries nothing\n"
				    "disk1  /dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_SWAP -> sdl\n"
				    "  refused: sdl is in use as swap\n"
				    "    remedy: swapoff /dev/sdl\n");
}

Test(check, the_others_are_looked_at_when_one_is_missing)
{
	struct be_error err = BE_ERROR_INIT;
	be_autobuf struct be_buf text = { 0 };
	cr_expect_eq(check("  - {name: disk0, kind: hdd, path: /dev/disk/by-id/ata-BENCH-HDD_H4-part1}\n"
			   "  - {name: disk1, kind: hdd, path: /dev/disk/by-id/ata-NONE}\n",
			   "", &err),
		     -1);
	cr_expect_not_null(strstr(err.text, "disk1 /dev/disk/by-id/ata-NONE did not appear"), "%s", err.text);
	be_decisions_text(setup.found, &text);
	cr_expect_not_null(
		strstr(text.data,
		       "disk0  /dev/disk/by-id/ata-BENCH-HDD_H4-part1 -> sdk1\n  may be written: carries nothing\n"),
		"%s", text.data);
	cr_expect_not_null(strstr(text.data, "disk1  /dev/disk/by-id/ata-NONE -> nothing\n"
					     "  refused: /dev/disk/by-id/ata-NONE is not there\n    remedy: "),
			   "%s", text.data);
}

Test(check, memory_is_ours_whatever_it_holds)
{
	struct be_error err = BE_ERROR_INIT;
	make_ext4("/dev/pmem2", "-L", "yesterday");
	make_ext4("/dev/pmem0", "-L", "yesterday");
	cr_expect_eq(check("  - {name: d, kind: pmem, path: /dev/pmem2}\n", "", &err), 0, "%s", err.text);
	cr_expect_eq(check("  - {name: d, kind: pmem, path: /dev/pmem0}\n", "", &err), -1);
}

/* Without the suite's tree: this machine has one NVDIMM that nobody has made a namespace of. */
Test(pmem, raw_nvdimm)
{
	static const char device[] = "  - {name: d, kind: pmem, path: /dev/pmem0}\n";
	struct be_error err = BE_ERROR_INIT;
	recorded_load(&setup, "tests/data/sys/nvdimm-raw.tree");
	cr_expect_eq(check(device, "machine: {pmem_origin: memmap}\n", &err), 0, "%s", err.text);
	cr_assert_eq(setup.deviations->n, 1);
	cr_expect_not_null(strstr(be_get_str(setup.deviations->items[0], "text", ""), "pmem0 has no DAX"));
	cr_expect_eq(check(device, "machine: {pmem_origin: nvdimm}\n", &err), 0, "%s", err.text);
	cr_expect_eq(setup.deviations->n, 1);
	cr_expect_str_eq(be_get_str(be_get(setup.found, "d"), "decision", ""),
			 "may be written: carries nothing; namespace0.0 becomes an fsdax namespace");
	/* What lies on it would be gone with the namespace. */
	make_ext4("/dev/pmem0", "-L", "database");
	cr_expect_eq(check(device, "machine: {pmem_origin: nvdimm}\n", &err), -1);
	cr_expect_not_null(strstr(err.text, "pmem0 carries ext4 labelled \"database\""), "%s", err.text);
	recorded_free(&setup);
}

Test(check, a_recorded_system_is_never_set_up)
{
	struct be_error err = BE_ERROR_INIT;
	be_autonode struct be_node *plan = recorded_plan("layout: {}\n");
	cr_expect_eq(be_setup_run(&setup, plan, &err), -1);
	cr_expect_eq(err.status, BE_USAGE);
}

Test(shape, plans_that_are_none)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{ "[]", "plan.yaml:1:1: this is no plan: it does not begin with `mkbenchenv: plan`" },
		{ "suite: fio-basic\ndisk: 1HDD\n", "plan.yaml:1:1: this is no plan" },
		{ "mkbenchenv: plan\nschema: 2\nlayout: {}\n", "schema is not 1" },
		{ "mkbenchenv: plan\nschema: 1\n", "the plan has no layout:" },
		{ "mkbenchenv: plan\nschema: 1\nlayout: x\n", "the plan has no layout:" },
#define LAYOUT "mkbenchenv: plan\nschema: 1\nlayout:\n"
#define DEVICE "  devices: [{name: d, kind: hdd, path: /dev/sda1}]\n"
		{ LAYOUT "  devices: {a: b}\n", "plan.yaml:4:12: layout.devices is no list of maps" },
		{ LAYOUT "  devices: [x]\n", "layout.devices is no list of maps" },
		{ LAYOUT "  devices: [{name: d, kind: hdd}]\n", "a device has no path:" },
		{ LAYOUT "  devices: [{name: [], kind: hdd, path: /dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_LUKS}]\n",
		  "a device has no name:" },
		{ LAYOUT "  devices: [{name: d, kind: hdd, path: /etc/passwd}]\n", "path: is not below /dev" },
		{ LAYOUT "  devices: [{name: d, kind: hdd, path: /dev/../etc/passwd}]\n", "path: is not below /dev" },
		{ LAYOUT "  devices: [{name: d, kind: hdd, path: /dev/a}, {name: d, kind: hdd, path: /dev/b}]\n",
		  "two devices have this name" },
		{ LAYOUT "  load: [[rm, -r, /]]\n", "a list that begins with modprobe" },
		{ LAYOUT "  load: [modprobe brd]\n", "a list that begins with modprobe" },
		{ LAYOUT DEVICE "  arrays: [{name: md0, level: raid0, members: [/dev/sdb1], argv: [mdadm]}]\n",
		  "members: /dev/sdb1 is none of the plan's devices" },
		{ LAYOUT DEVICE
		  "  arrays: [{name: md0, level: raid0, members: [/dev/sda1], argv: [mdadm, /dev/sdb1]}]\n",
		  "argv: /dev/sdb1 is none of the plan's devices" },
		{ LAYOUT DEVICE "  arrays: [{name: md0, level: raid0, members: [/dev/sda1]}]\n",
		  "an array has no argv:" },
		{ LAYOUT DEVICE "  arrays: [{name: ../sda, level: raid0, argv: [mdadm]}]\n", "is md and a number" },
		{ LAYOUT DEVICE
		  "  filesystems: [{kind: ext4, devices: [/dev/sda1], mkfs: [mkfs, -t, ext4, /dev/sda2]}]\n",
		  "mkfs: /dev/sda2 is none of the plan's devices" },
		{ LAYOUT DEVICE "  filesystems: [{kind: ext4, mkfs: [mkfs, -t, xfs, -llogdev=/dev/sdc, /dev/sda1]}]\n",
		  "mkfs: /dev/sdc is none of the plan's devices" },
		{ LAYOUT DEVICE "  filesystems: [{kind: ext4, mkfs: [dd, of=/dev/sda1]}]\n",
		  "dd: is run, mkfs is expected" },
		{ LAYOUT DEVICE "  filesystems: [{kind: ext4, devices: [/dev/md0]}]\n",
		  "devices: /dev/md0 is none of the plan's devices" },
		{ LAYOUT "  filesystems: [{kind: tmpfs, mount: fs/x}]\n", "mount: is no absolute path below /" },
		{ LAYOUT "  filesystems: [{kind: tmpfs, mount: /}]\n", "mount: is no absolute path below /" },
		{ LAYOUT "  filesystems: [{kind: tmpfs, mount: /fs/../etc}]\n", "mount: is no absolute path below /" },
		{ LAYOUT "  filesystems: [{mount: /fs/x}]\n", "a file system has no kind:" },
	};
	recorded_load(&setup, "tests/data/sys/nvdimm-raw.tree");
	for (size_t i = 0; i < BE_ARRAY_LEN(cases); i++) {
		struct be_error err = BE_ERROR_INIT;
		be_autonode struct be_node *plan = recorded_plan(cases[i].text);
		cr_expect_eq(be_setup_check(&setup, plan, &err), -1, "%s", cases[i].text);
		cr_expect_eq(err.status, BE_USAGE);
		cr_expect_not_null(strstr(err.text, cases[i].error), "%s: %s", cases[i].text, err.text);
	}
	recorded_free(&setup);
}
