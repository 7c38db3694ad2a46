#include "recorded.h"

#include "disk-setup/features.h"
#include "disk-setup/resolve.h"
#include "disk-setup/sync.h"

/* What be_features_compare says of a stanza and what was read back, or "" when they agree. */
static char *differences(const char *stanza_text, const char *read_text)
{
	struct be_setup setup;
	be_setup_init(&setup);
	be_autonode struct be_node *stanza = recorded_plan(stanza_text), *read = recorded_plan(read_text);
	be_features_compare(&setup, stanza, read);
	struct be_buf out = { 0 };
	for (size_t i = 0; i < setup.deviations->n; i++)
		be_buf_addf(&out, "%s%s", i ? "; " : "", be_get_str(setup.deviations->items[i], "text", ""));
	be_setup_free(&setup);
	return be_buf_steal(&out);
}

Test(features, compared_with_the_mkfs_command)
{
	static const struct {
		const char *stanza, *read, *want;
	} cases[] = {
		{ "{kind: xfs, mount: /m, mkfs: [mkfs, -t, xfs, -f, -mreflink=0, /dev/sda1]}",
		  "{made: {meta-data.reflink: 0}}", "" },
		{ "{kind: xfs, mount: /m, mkfs: [mkfs, -t, xfs, -f, -mreflink=0, /dev/sda1]}",
		  "{made: {meta-data.reflink: 1}}", "/m: -m reflink 0 planned, the file system has 1" },
		{ "{kind: xfs, mount: /m, mkfs: [mkfs.xfs, -d, 'agcount=4,su=64k', -b, size=4k, /dev/sda1]}",
		  "{made: {meta-data.agcount: 2, data.bsize: 4096}}",
		  "/m: -d agcount 4 planned, the file system has 2" },
		{ "{kind: ext4, mount: /m, mkfs: [mkfs, -t, ext4, -b, '4096', -O, '^has_journal,verity', /dev/sda1]}",
		  "{features: [extent, has_journal], made: {block_size: 1024}}",
		  "/m: -b 4096 planned, the file system has 1024; /m: no feature has_journal planned, the file system "
		  "has it; /m: feature verity planned, the file system has it not" },
		{ "{kind: ext3, mount: /m, mkfs: [mkfs, -t, ext3, /dev/sda1]}", "{features: [has_journal]}", "" },
		{ "{kind: ext2, mount: /m, mkfs: [mkfs, -t, ext2, /dev/sda1]}", "{features: [has_journal, extent]}",
		  "/m: no feature extent planned, the file system has it; /m: no feature has_journal planned, the file "
		  "system has it" },
		{ "{kind: btrfs, mount: /m, devices: [/dev/sda1, /dev/sdb1], mkfs: [mkfs.btrfs, --data, raid1, -m, "
		  "raid1, --nodesize=16k, /dev/sda1, /dev/sdb1]}",
		  "{made: {data: single, metadata: raid1, nodesize: 16384, devices: 1}}",
		  "/m: number of devices 2 planned, the file system has 1; /m: --data raid1 planned, the file system "
		  "has "
		  "single" },
		{ "{kind: btrfs, mount: /m, devices: [/dev/sda1], mkfs: [mkfs.btrfs, --csum, xxhash, /dev/sda1]}",
		  "{made: {checksum: xxhash64 (xxhash64-generic), devices: 1}}", "" },
		{ "{kind: btrfs, mount: /m, devices: [/dev/sda1], mkfs: [mkfs.btrfs, --csum, blake2, /dev/sda1]}",
		  "{made: {checksum: crc32c (crc32c-intel), devices: 1}}",
		  "/m: --csum blake2 planned, the file system has crc32c (crc32c-intel)" },
		{ "{kind: ext4, mount: /m, mkfs: [mkfs, -t, ext4, /dev/sda1]}", "{features: []}",
		  "/m: what mkfs made cannot be read back" },
		{ "{kind: f2fs, mount: /m, mkfs: [mkfs, -t, f2fs, /dev/sda1]}", "{features: []}", "" },
	};
	for (size_t i = 0; i < BE_ARRAY_LEN(cases); i++) {
		be_autofree char *got = differences(cases[i].stanza, cases[i].read);
		cr_expect_str_eq(got, cases[i].want, "case %zu: %s", i, got);
	}
}

Test(sync, what_parity_is_worth)
{
	static const struct {
		const char *array, *want;
	} cases[] = {
		{ "{level: raid0, assume_clean: true}", NULL },
		{ "{level: raid5, assume_clean: true}", "not written" },
		{ "{level: raid5, assume_clean: false, sync: wait}", "written: the array was in sync" },
		{ "{level: raid1, assume_clean: false}", "being written" },
	};
	for (size_t i = 0; i < BE_ARRAY_LEN(cases); i++) {
		be_autonode struct be_node *array = recorded_plan(cases[i].array);
		const char *got = be_sync_statement(array);
		cr_expect(cases[i].want ? got && be_starts(got, cases[i].want) : !got, "%s", got ? got : "nothing");
	}
}

Test(resolve, names_of_content_become_the_kernels)
{
	struct be_setup setup;
	be_setup_init(&setup);
	be_autonode struct be_node *plan =
		recorded_plan("{layout: {devices: [{name: disk0, path: /dev/disk/by-label/x}, {name: disk1, path: "
			      "/dev/disk/by-id/y}], "
			      "filesystems: [{devices: [/dev/disk/by-label/x], mkfs: [mkfs, /dev/disk/by-label/x, "
			      "/dev/disk/by-id/y], "
			      "mount: /fs/x}]}}");
	be_autonode struct be_node *found = recorded_plan("{disk0: {kernel: sda1}, disk1: {kernel: sdb1}}");
	be_set(setup.found, "disk0", be_node_clone(be_get(found, "disk0")));
	be_set(setup.found, "disk1", be_node_clone(be_get(found, "disk1")));
	be_autonode struct be_node *resolved = be_resolve_plan(&setup, plan);
	const struct be_node *fs = be_get_path(resolved, "layout.filesystems")->items[0];
	be_autostrv struct be_strv argv = { 0 };
	be_get_strv(fs, "mkfs", &argv);
	cr_expect_str_eq(argv.v[1], "/dev/sda1");
	cr_expect_str_eq(argv.v[2], "/dev/disk/by-id/y");
	cr_expect_str_eq(be_get_str(fs, "mount", ""), "/fs/x");
	be_setup_free(&setup);
}
