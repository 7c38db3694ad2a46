/* Which device a delivery may be written to: one, labelled for it, that carries nothing else. */
#include <fcntl.h>
#include <string.h>

#include "base/process.h"
#include "initrd/volume.h"
#include "tree.h"

#define SIZE (4 << 20)

/* A device of the tree; its content is a file system with @label, or nothing. */
static void add_device(const struct be_root *root, const char *name, const char *label, const char *read_only)
{
	struct be_error err = BE_ERROR_INIT;
	be_autofree char *size = be_strf("/sys/class/block/%s/size", name);
	be_autofree char *ro = be_strf("/sys/class/block/%s/ro", name), *node = be_strf("/dev/%s", name);
	tree_write(root, size, "8192\n");
	tree_write(root, ro, read_only);
	tree_write(root, node, "");
	be_autofree char *path = be_root_path(root, node);
	cr_assert_eq(truncate(path, SIZE), 0);
	if (!label)
		return;
	char *argv[] = { "mke2fs", "-q", "-F", "-t", "ext4", "-O", "^has_journal", "-L", (char *)label, path, NULL };
	be_autorun struct be_run run = { .argv = argv };
	cr_assert_eq(be_run_ok(&run, &err), 0, "%s", err.text);
}

/* A second superblock: of a swap area. */
static void add_swap(const struct be_root *root, const char *name)
{
	be_autofree char *node = be_strf("/dev/%s", name), *path = be_root_path(root, node);
	static const char header[] = "\1\0\0\0\xff\3\0\0"; /* version 1, last page 1023 */
	be_autofd int fd = open(path, O_WRONLY | O_CLOEXEC);
	cr_assert_eq(pwrite(fd, "SWAPSPACE2", 10, 4086), 10);
	cr_assert_eq(pwrite(fd, header, 8, 1024), 8);
}

static void expect_refusal(const struct be_root *root, const char *text)
{
	struct be_error err = BE_ERROR_INIT;
	struct be_volume volume;
	cr_expect_eq(be_volume_find(root, 0, &volume, &err), -1, "%s", text);
	cr_expect_not_null(strstr(err.text, text), "\"%s\" instead of \"%s\"", err.text, text);
	cr_expect_null(volume.node);
}

Test(volume, the_one_with_the_label)
{
	struct be_error err = BE_ERROR_INIT;
	struct be_volume volume;
	struct be_root root = tree_new();
	add_device(&root, "sda", NULL, "0\n");
	add_device(&root, "sda1", "benchresult", "0\n");
	add_device(&root, "sdb1", BE_VOLUME_LABEL, "0\n");
	add_device(&root, "sdc1", "root", "0\n");
	cr_assert_eq(be_volume_find(&root, 0, &volume, &err), 0, "%s", err.text);
	cr_expect(be_ends(volume.node, "/dev/sdb1"), "%s", volume.node);
	cr_expect_str_eq(volume.type, "ext4");
	cr_expect_eq(strlen(volume.run), 8u);
	be_volume_free(&volume);
	tree_free(&root);
}

Test(volume, none)
{
	struct be_root root = tree_new();
	add_device(&root, "sda1", "root", "0\n");
	expect_refusal(&root, "no disk partition or USB stick is labelled");
	tree_free(&root);
}

Test(volume, two)
{
	struct be_root root = tree_new();
	add_device(&root, "sda1", BE_VOLUME_LABEL, "0\n");
	add_device(&root, "sdb1", BE_VOLUME_LABEL, "0\n");
	expect_refusal(&root, "are both labelled");
	tree_free(&root);
}

Test(volume, read_only)
{
	struct be_root root = tree_new();
	add_device(&root, "sda1", BE_VOLUME_LABEL, "1\n");
	expect_refusal(&root, "is read-only");
	tree_free(&root);
}

Test(volume, something_else_on_it)
{
	struct be_root root = tree_new();
	add_device(&root, "sda1", BE_VOLUME_LABEL, "0\n");
	add_swap(&root, "sda1");
	expect_refusal(&root, "carries swap too");
	tree_free(&root);
}
