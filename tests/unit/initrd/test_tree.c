/* A recording comes from somebody else: unpacking it writes below its own folder, wherever its links lead. */
#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "initrd/observe/tree.h"

Test(tree, nothing_is_written_through_links)
{
	char dir[] = "/tmp/be-tree.XXXXXX";
	struct be_error err = BE_ERROR_INIT;
	cr_assert_not_null(mkdtemp(dir));
	be_autofree char *outside = be_strf("%s/outside", dir), *inside = be_strf("%s/inside", dir);
	be_autofree char *text = be_strf("/sys/a -> %s\n"
					 "/sys/a/file = x\n"
					 "/sys/a/folder/ =\n"
					 "/sys/a/deep/link -> /x\n"
					 "/sys/b -> a\n",
					 outside);
	be_autofree char *link = be_strf("%s/sys/b", inside);
	cr_assert_eq(be_mkdirs(outside, 0755, &err), 0);
	cr_assert_eq(be_tree_unpack(text, "hostile", inside, &err), 0, "%s", err.text);
	cr_expect_eq(access(link, F_OK), 0, "links are there");
	cr_expect_eq(rmdir(outside), 0, "something was written through a link");
	cr_assert_eq(be_remove_tree(dir, &err), 0, "%s", err.text);
}

/* ".." is where a link led, not where it stands: the provider of a pmem disk's region is read that way. */
Test(tree, parents_behind_links)
{
	char dir[] = "/tmp/be-tree.XXXXXX";
	struct be_error err = BE_ERROR_INIT;
	cr_assert_not_null(mkdtemp(dir));
	static const char text[] = "/sys/block/pmem0 -> ../devices/bus/region/pfn/block/pmem0\n"
				   "/sys/devices/bus/region/pfn/block/pmem0/device -> ../../../pfn\n"
				   "/sys/devices/bus/provider = e820\n";
	cr_assert_eq(be_tree_unpack(text, "pmem", dir, &err), 0, "%s", err.text);
	be_autostrv struct be_strv seen = { 0 };
	const struct be_root root = { .prefix = dir, .seen = &seen };
	be_autofree char *provider = be_root_text(&root, "/sys/block/pmem0/device/../../provider");
	cr_expect_str_eq(provider ? provider : "nothing", "e820");
	be_autobuf struct be_buf out = { 0 };
	be_autonode struct be_node *nothing = be_node_map();
	cr_assert_eq(be_tree_record(&root, &seen, nothing, &out, &err), 0, "%s", err.text);
	cr_expect(strstr(out.data, "/sys/devices/bus/provider = e820\n"), "%s", out.data);
	cr_expect(strstr(out.data, "/sys/block/pmem0 -> ../devices/bus/region/pfn/block/pmem0\n"), "%s", out.data);
	cr_assert_eq(be_remove_tree(dir, &err), 0, "%s", err.text);
}
