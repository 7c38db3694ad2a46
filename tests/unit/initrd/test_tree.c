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
