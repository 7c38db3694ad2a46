/* Names of folders side by side. */
#include <criterion/criterion.h>
#include <unistd.h>

#include "base/file.h"
#include "builder/folders.h"

Test(folders, names_are_the_last_parts_and_distinct)
{
	static const char *const given[] = { "/a/linux/", "debian", "b/linux", "linux-2", "linux", "/tmp/." };
	static const char *const wanted[] = { "linux", "debian", "linux-2", "linux-2-2", "linux-3", "tmp" };
	be_autostrv struct be_strv paths = { 0 }, names = { 0 };
	for (size_t i = 0; i < BE_ARRAY_LEN(given); i++)
		be_strv_add(&paths, given[i]);
	be_folder_names(&paths, &names);
	cr_assert_eq(names.n, paths.n);
	for (size_t i = 0; i < names.n; i++)
		cr_expect_str_eq(names.v[i], wanted[i]);
}

Test(folders, only_nothing_and_an_empty_folder_are_free)
{
	char dir[] = "/tmp/be-folders-XXXXXX";
	struct be_error err = BE_ERROR_INIT;
	cr_assert_not_null(mkdtemp(dir));
	be_autofree char *file = be_strf("%s/file", dir), *below = be_strf("%s/none", dir);
	cr_expect_eq(be_folder_is_free(dir, &err), 0);
	cr_expect_eq(be_folder_is_free(below, &err), 0);
	cr_assert_eq(be_write_file(file, "x", 1, 0644, &err), 0);
	cr_expect_eq(be_folder_is_free(dir, &err), -1);
	cr_expect_eq(err.status, BE_USAGE);
	cr_expect_eq(be_folder_is_free(file, &err), -1);
	cr_expect_eq(be_remove_tree(dir, &err), 0);
}
