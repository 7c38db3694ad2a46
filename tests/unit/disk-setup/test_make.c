#include "recorded.h"

#include "disk-setup/array.h"
#include "disk-setup/device.h"
#include "disk-setup/filesystem.h"
#include "disk-setup/signature.h"

Test(signature, names_are_stable_and_apart)
{
	be_autostrv struct be_strv a = { 0 }, ab = { 0 }, joined = { 0 };
	char uuid[4][37];
	be_strv_add(&a, "/dev/sda1");
	be_strv_add(&ab, "/dev/sda1");
	be_strv_add(&ab, "/dev/sdb1");
	be_strv_add(&joined, "/dev/sda1/dev/sdb1");
	be_signature_uuid(&a, uuid[0]);
	be_signature_uuid(&a, uuid[1]);
	be_signature_uuid(&ab, uuid[2]);
	be_signature_uuid(&joined, uuid[3]);
	cr_expect_str_eq(uuid[0], uuid[1]);
	cr_expect_str_neq(uuid[0], uuid[2]);
	cr_expect_str_neq(uuid[2], uuid[3]);
	cr_expect(be_starts(uuid[0], BE_UUID_PREFIX));
	cr_expect_eq(strlen(uuid[0]), 36);
}

static void mke2fs(const char *path, const char *uuid)
{
	const char *const argv[] = { "mke2fs", "-q", "-F", "-t", "ext4", "-U", uuid, path, "8M", NULL };
	recorded_run(argv);
}

static void make_swap(const char *path)
{
	const char *const argv[] = { "mkswap", "-q", "-L", "pages", path, NULL };
	recorded_run(argv);
}

Test(signature, found_told_and_erased)
{
	struct be_error err = BE_ERROR_INIT;
	char path[] = "/tmp/disk-setup-signature.XXXXXX";
	be_autofd int fd = mkstemp(path);
	cr_assert_geq(fd, 0);
	cr_assert_eq(ftruncate(fd, 8 << 20), 0);
	struct be_devices devices = { .v = be_alloc(2 * sizeof(struct be_device)), .n = 2 };
	struct be_device *d = &devices.v[0];
	cr_assert_eq(be_signature_probe(d, path, &err), 0, "%s", err.text);
	cr_expect_eq(d->nsignatures, 0);
	make_swap(path);
	cr_assert_eq(be_signature_probe(d, path, &err), 0, "%s", err.text);
	cr_assert_eq(d->nsignatures, 1);
	cr_expect_str_eq(d->signatures[0].type, "swap");
	cr_expect_str_eq(d->signatures[0].label, "pages");
	cr_expect_not(be_signature_ours(&d->signatures[0]));
	mke2fs(path, BE_UUID_PREFIX "8000-000000000000");
	cr_assert_eq(be_signature_probe(&devices.v[1], path, &err), 0, "%s", err.text);
	cr_assert_eq(devices.v[1].nsignatures, 1);
	be_autofree char *made = NULL, *other = NULL;
	cr_assert_eq(be_signature_filesystem(path, "ext4", &made, &err), 0, "%s", err.text);
	cr_expect_str_eq(made, BE_UUID_PREFIX "8000-000000000000");
	cr_assert_eq(be_signature_filesystem(path, "xfs", &other, &err), 0, "%s", err.text);
	cr_expect_null(other);
	be_autofree char *text = be_signature_text(&devices.v[1].signatures[0]);
	cr_expect_str_eq(text, "ext4 made by mkbenchenv");
	be_autostrv struct be_strv wiped = { 0 };
	cr_assert_eq(be_signature_wipe(path, &wiped, &err), 0, "%s", err.text);
	cr_assert_eq(wiped.n, 1);
	cr_expect_str_eq(wiped.v[0], "ext4 made by mkbenchenv");
	be_autofree char *uuid = NULL;
	cr_assert_eq(be_signature_filesystem(path, "ext4", &uuid, &err), 0, "%s", err.text);
	cr_expect_null(uuid);
	unlink(path);
	be_devices_free(&devices);
}

Test(filesystem, mkfs_with_our_mark)
{
	static const struct {
		const char *stanza, *command;
	} cases[] = {
		{ "{kind: ext4, devices: [/dev/sda1], mkfs: [mkfs, -t, ext4, -q, -F, /dev/sda1]}",
		  "mkfs -t ext4 -U UUID -q -F /dev/sda1" },
		{ "{kind: xfs, devices: [/dev/sda1], mkfs: [mkfs, -t, xfs, -f, -mreflink=0, /dev/sda1]}",
		  "mkfs -t xfs -m uuid=UUID -f -mreflink=0 /dev/sda1" },
		{ "{kind: btrfs, devices: [/dev/sda1, /dev/sdb1], mkfs: [mkfs.btrfs, --data, raid1, /dev/sda1, "
		  "/dev/sdb1]}",
		  "mkfs.btrfs -U UUID --data raid1 /dev/sda1 /dev/sdb1" },
		{ "{kind: f2fs, devices: [/dev/sda1], mkfs: [mkfs, -t, f2fs, /dev/sda1]}",
		  "mkfs -t f2fs -l benchenv /dev/sda1" },
		{ "{kind: nilfs2, devices: [/dev/sda1], mkfs: [mkfs, -t, nilfs2, /dev/sda1]}",
		  "mkfs -t nilfs2 /dev/sda1" },
	};
	for (size_t i = 0; i < BE_ARRAY_LEN(cases); i++) {
		be_autonode struct be_node *stanza = recorded_plan(cases[i].stanza);
		be_autostrv struct be_strv argv = { 0 };
		char uuid[37];
		be_filesystem_mkfs_argv(stanza, &argv);
		be_filesystem_uuid(stanza, uuid);
		be_autofree char *text = be_argv_text(argv.v);
		char *at = strstr(text, uuid);
		be_autofree char *shown = at ? be_strf("%.*sUUID%s", (int)(at - text), text, at + 36) : be_strdup(text);
		cr_expect_str_eq(shown, cases[i].command);
	}
}

Test(filesystem, options_as_the_kernel_shows_them)
{
	static const struct {
		const char *options, *option;
		bool there;
	} cases[] = {
		{ "rw,inode64,noquota", "inode64", true },
		{ "rw,size=32768k,inode64", "size=32m", true },
		{ "rw,size=32768k,inode64", "size=64m", false },
		{ "rw,compress=zstd:3", "compress=zstd", true },
		{ "rw,compress=zstd:3", "compress=zst", false },
		{ "rw,dax=always", "dax", true },
		{ "rw,dax=always", "dax=always", true },
		{ "rw,relatime", "noatime", false },
		{ NULL, "dax", false },
		{ "rw,mpol=bind:0", "mpol=bind:0", true },
	};
	for (size_t i = 0; i < BE_ARRAY_LEN(cases); i++)
		cr_expect_eq(be_mount_option_there(cases[i].options, cases[i].option), cases[i].there, "%s in %s",
			     cases[i].option, cases[i].options ? cases[i].options : "nothing");
}

#define MEMBERS                                                                                      \
	"members: [/dev/disk/by-id/ata-BENCH-HDD_H1-part1, /dev/disk/by-id/ata-BENCH-HDD_H2-part1, " \
	"/dev/disk/by-id/ata-BENCH-HDD_H3-part1]"

Test(array, read_back_and_compared)
{
	static const struct {
		const char *stanza;
		const char *error;     /* NULL: it is as planned */
		const char *deviation; /* NULL: none */
	} cases[] = {
		{ "level: raid5, chunk_kib: 256, bitmap: none, metadata: \"1.2\", " MEMBERS, NULL, NULL },
		{ "level: raid5, chunk_kib: 256, bitmap: internal, " MEMBERS, NULL,
		  "md127: bitmap internal planned, here none" },
		{ "level: raid5, metadata: \"0.90\", " MEMBERS, NULL, "md127: metadata 0.90 planned, here 1.2" },
		{ "level: raid6, chunk_kib: 256, " MEMBERS, "md127: level raid6 planned, the kernel says \"raid5\"",
		  NULL },
		{ "level: raid5, chunk_kib: 512, " MEMBERS,
		  "md127: chunk of 524288 bytes planned, the kernel says 262144", NULL },
		{ "level: raid5, members: [/dev/sdh1, /dev/sdn1]", "md127: 2 members planned, the kernel has 3", NULL },
		{ "level: raid5, members: [/dev/sdh1, /dev/sdj1, /dev/sdn1]",
		  "md127: /dev/sdj1 (sdj1) is planned as member 1, the kernel has it in slot 2", NULL },
		{ "level: raid5, members: [/dev/sdh1, /dev/sdn1, /dev/sdk1]",
		  "md127: /dev/sdk1 (sdk1) is planned as member 2, the kernel has it in slot -1", NULL },
	};
	for (size_t i = 0; i < BE_ARRAY_LEN(cases); i++) {
		struct be_error err = BE_ERROR_INIT;
		struct be_setup setup;
		be_autofree char *text = be_strf("layout: {arrays: [{name: md127, %s}]}", cases[i].stanza);
		be_autonode struct be_node *plan = recorded_plan(text), *out = be_node_seq();
		recorded_load(&setup, RECORDED_DISKS);
		int rc = be_arrays_read(&setup, plan, out, &err);
		cr_expect_eq(rc, cases[i].error ? -1 : 0, "%s: %s", cases[i].stanza, err.text);
		cr_expect(!cases[i].error || strstr(err.text, cases[i].error), "%s: %s", cases[i].stanza, err.text);
		cr_expect_eq(setup.deviations->n, cases[i].deviation ? 1 : 0, "%s", cases[i].stanza);
		if (cases[i].deviation && setup.deviations->n)
			cr_expect_str_eq(be_get_str(setup.deviations->items[0], "text", ""), cases[i].deviation);
		cr_assert_eq(out->n, 1);
		cr_expect_eq(be_get_int(out->items[0], "chunk_size", 0), 262144);
		cr_expect_eq(be_get(out->items[0], "members")->n, 3);
		recorded_free(&setup);
	}
}

Test(array, internal_bitmap)
{
	struct be_error err = BE_ERROR_INIT;
	struct be_setup setup;
	recorded_load(&setup, RECORDED_DISKS);
	be_autonode struct be_node *plan = recorded_plan(
					   "layout: {arrays: [{name: md127, level: raid5, bitmap: internal, " MEMBERS
					   "}]}"),
				   *out = be_node_seq();
	be_autofree char *location = be_root_path(&setup.root, "/sys/class/block/md127/md/bitmap/location");
	cr_assert_eq(be_write_file(location, "+8\n", 3, 0644, &err), 0, "%s", err.text);
	cr_expect_eq(be_arrays_read(&setup, plan, out, &err), 0, "%s", err.text);
	cr_expect_eq(setup.deviations->n, 0);
	recorded_free(&setup);
}
