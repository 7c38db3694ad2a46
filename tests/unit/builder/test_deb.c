#include "build_test.h"

static const struct be_entry *entry(const struct be_deb *deb, const char *path)
{
	const struct be_entry *found = be_tree_find(&deb->tree, path);
	cr_assert_not_null(found, "%s", path);
	return found;
}

/* As Debian 12 has it: /bin, /lib and /usr/lib side by side. */
static void make_package(struct bench *b)
{
	bench_sh(b,
		 "mkdir -p p/bin p/lib/x p/usr/lib/x p/usr/bin p/usr/share\n"
		 "printf old > p/lib/x/both; printf one > p/lib/x/one; printf new > p/usr/lib/x/two\n"
		 "cp /bin/true p/bin/prog; ln p/bin/prog p/bin/again; ln -s ../lib/x/one p/bin/link\n"
		 "chmod 4755 p/bin/prog; : > p/usr/share/empty; mkdir -m 700 p/usr/share/private\n",
		 NULL);
	bench_package(b, "p", "");
}

static void expect_index(const struct be_deb *deb)
{
	cr_expect_eq(entry(deb, "usr/lib/x")->type, BE_ENTRY_DIR);
	cr_expect_eq(entry(deb, "usr/lib/x/one")->size, 3);
	cr_expect_eq(entry(deb, "usr/lib/x/two")->size, 3);
	cr_expect_eq(entry(deb, "usr/share/private")->mode, 0700);
	cr_expect_str_eq(entry(deb, "usr/bin/link")->target, "../lib/x/one");
	/* tar has the file under the name it came to first. */
	const struct be_entry *file = entry(deb, "usr/bin/prog"), *other = entry(deb, "usr/bin/again");
	if (file->type == BE_ENTRY_HARDLINK) {
		const struct be_entry *swap = file;
		file = other;
		other = swap;
	}
	cr_expect_eq(other->type, BE_ENTRY_HARDLINK);
	cr_expect_str_eq(other->target, file->path);
	cr_expect_eq(file->mode, 04755);
	cr_assert_not_null(file->elf);
	cr_expect(be_strv_has(&file->elf->needed, "libc.so.6"));
	cr_expect_null(be_tree_find(&deb->tree, "bin/prog"));
	for (size_t i = 1; i < deb->tree.n; i++)
		cr_expect_lt(strcmp(deb->tree.entries[i - 1].path, deb->tree.entries[i].path), 0);
}

Test(deb, index_and_content)
{
	struct bench b;
	struct be_error err = BE_ERROR_INIT;
	bench_open(&b);
	make_package(&b);
	struct be_deb deb = { .package = &b.packages.v[0], .tree = BE_TREE_INIT };
	cr_assert_eq(be_deb_index(&deb, &b.cache, &err), 0, "%s", err.text);
	expect_index(&deb);
	be_automapping struct be_mapping mapping = { 0 };
	cr_assert(be_tree_map(&deb.tree, entry(&deb, "usr/lib/x/two"), &mapping, &err));
	cr_expect_eq(memcmp(mapping.data, "new", 3), 0);
	be_deb_free(&deb);
	bench_close(&b);
}

Test(deb, index_comes_from_the_cache_and_damage_is_noticed)
{
	struct bench b;
	struct be_error err = BE_ERROR_INIT;
	bench_open(&b);
	make_package(&b);
	struct be_deb first = { .package = &b.packages.v[0], .tree = BE_TREE_INIT }, second = first, third = first;
	cr_assert_eq(be_deb_index(&first, &b.cache, &err), 0, "%s", err.text);
	cr_expect(first.unpacked);
	cr_assert_eq(be_deb_index(&second, &b.cache, &err), 0, "%s", err.text);
	cr_expect_not(second.unpacked);
	expect_index(&second);
	bench_sh(&b, "for f in cache/objects/*; do case $(head -c 1 $f) in '[') echo '[[' > $f; esac; done", NULL);
	cr_assert_eq(be_deb_index(&third, &b.cache, &err), 0, "%s", err.text);
	cr_expect(third.unpacked);
	be_deb_free(&first);
	be_deb_free(&second);
	be_deb_free(&third);
	bench_close(&b);
}

Test(deb, all_compressions)
{
	static const char *const kinds[] = { "none", "gzip", "xz", "zstd" };
	struct bench b;
	struct be_error err = BE_ERROR_INIT;
	bench_open(&b);
	make_package(&b);
	for (size_t i = 0; i < BE_ARRAY_LEN(kinds); i++) {
		const char *const args[] = { kinds[i], NULL };
		be_autotree struct be_tree tree = BE_TREE_INIT;
		be_autofree char *path = be_strf("%s/%s.deb", b.dir, kinds[i]);
		bench_sh(&b, "dpkg-deb --root-owner-group -Z$1 --build p $1.deb >/dev/null", args);
		cr_assert_eq(be_deb_read(&tree, path, &b.cache, NULL, &err), 0, "%s", err.text);
		cr_expect_not_null(be_tree_find(&tree, "usr/bin/prog"), "%s", kinds[i]);
	}
	bench_close(&b);
}

Test(deb, damaged_archives_are_refused)
{
	struct bench b;
	bench_open(&b);
	make_package(&b);
	bench_sh(&b,
		 "dpkg-deb --root-owner-group -Zxz --build p p2.deb >/dev/null\n"
		 "head -c 700 p2.deb > cut.deb; echo text > text.deb; : > empty.deb; ar rc only.deb p/bin/link "
		 "2>/dev/null || :\n"
		 "cp p2.deb flip.deb; printf XXXX | dd of=flip.deb bs=1 seek=2000 conv=notrunc 2>/dev/null\n",
		 NULL);
	static const char *const names[] = { "cut", "text", "empty", "only", "flip", "absent" };
	for (size_t i = 0; i < BE_ARRAY_LEN(names); i++) {
		struct be_error err = BE_ERROR_INIT;
		be_autotree struct be_tree tree = BE_TREE_INIT;
		be_autofree char *path = be_strf("%s/%s.deb", b.dir, names[i]);
		cr_expect_eq(be_deb_read(&tree, path, &b.cache, NULL, &err), -1, "%s", names[i]);
		cr_expect(strstr(err.text, path), "%s", err.text);
	}
	bench_close(&b);
}

Test(tree, merged_paths)
{
	static const struct {
		const char *path, *merged;
	} cases[] = {
		{ "./bin/sh", "usr/bin/sh" },
		{ "/lib64/ld.so", "usr/lib64/ld.so" },
		{ "usr/lib/x/", "usr/lib/x" },
		{ "./lib", "usr/lib" },
		{ "libexec/x", "libexec/x" },
		{ "etc/bin/x", "etc/bin/x" },
		{ "./", NULL },
		{ "", NULL },
		{ "a/../../b", NULL },
		{ "//usr//bin/./x", "usr/bin/x" },
	};
	for (size_t i = 0; i < BE_ARRAY_LEN(cases); i++) {
		be_autofree char *merged = be_merged_path(cases[i].path);
		cr_expect(be_streq(merged, cases[i].merged), "%s: %s", cases[i].path, merged);
	}
}
