#include <blkid/blkid.h>
#include <criterion/criterion.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "builder/twin/disks.h"

static char dir[64], path[96];

static void set_up(void)
{
	snprintf(dir, sizeof(dir), "/tmp/be-disks.XXXXXX");
	cr_assert_not_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/disk.img", dir);
}

static void tear_down(void)
{
	struct be_error err = BE_ERROR_INIT;
	cr_expect_eq(be_remove_tree(dir, &err), 0);
}

TestSuite(disks, .init = set_up, .fini = tear_down);

/* Read back by another library than the one that wrote. */
Test(disks, partitions)
{
	struct be_error err = BE_ERROR_INIT;
	struct stat st;
	cr_assert_eq(be_disk_make(path, 3LL << 30, 6, &err), 0, "%s", err.text);
	cr_assert_eq(stat(path, &st), 0);
	cr_expect_eq(st.st_size, 3LL << 30);
	cr_expect_lt(st.st_blocks, 2048, "the file is no hole: %lld blocks", (long long)st.st_blocks);
	blkid_probe probe = blkid_new_probe_from_filename(path);
	cr_assert_not_null(probe);
	blkid_probe_enable_partitions(probe, 1);
	blkid_partlist list = blkid_probe_get_partitions(probe);
	cr_assert_not_null(list);
	cr_expect_str_eq(blkid_parttable_get_type(blkid_partlist_get_table(list)), "gpt");
	cr_assert_eq(blkid_partlist_numof_partitions(list), 6);
	for (int i = 0; i < 6; i++) {
		blkid_partition part = blkid_partlist_get_partition(list, i);
		cr_expect_eq(blkid_partition_get_partno(part), i + 1);
		cr_expect_eq(blkid_partition_get_start(part) % 2048, 0);
		cr_expect_eq(blkid_partition_get_size(part), 511LL << 11);
	}
	blkid_free_probe(probe);
}

Test(disks, whole)
{
	struct be_error err = BE_ERROR_INIT;
	struct stat st;
	cr_assert_eq(be_disk_make(path, 1 << 20, 0, &err), 0, "%s", err.text);
	cr_assert_eq(stat(path, &st), 0);
	cr_expect_eq(st.st_blocks, 0);
}

Test(disks, refused)
{
	struct be_error err = BE_ERROR_INIT;
	cr_expect_eq(be_disk_make(path, 4 << 20, 3, &err), -1);
	cr_expect(strstr(err.text, "4194304 bytes are too few for 3 partitions"), "%s", err.text);
	cr_expect_eq(be_disk_make(path, 1LL << 40, 129, &err), -1);
	cr_expect(strstr(err.text, "129 partitions, a table holds 128"), "%s", err.text);
	cr_assert_eq(be_disk_make(path, 1 << 20, 0, &err), 0);
	cr_expect_eq(be_disk_make(path, 1 << 20, 0, &err), -1, "a file that is there was written over");
}
