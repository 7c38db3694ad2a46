#include "build_test.h"

#include "base/node.h"
#include "builder/packages/deb_select.h"
#include "builder/image/segment.h"

static const struct be_compressor none = { .name = "none" };
static const struct be_compressor zstd = { .name = "zstd", .level = 3 };

static char *list(const struct bench *b, const struct be_segment *segment)
{
	return bench_output(b, "cpio -itvn --quiet < \"$1\" | awk '{ print $1, $2, $9, $10, $11 }' | sed 's/ *$//'",
			    segment->object.path);
}

Test(segment, base_merges_usr)
{
	struct bench b;
	struct be_error err = BE_ERROR_INIT;
	struct be_segment segment = { 0 };
	bench_open(&b);
	cr_assert_eq(be_segment_base(&segment, &b.cache, &none, &err), 0, "%s", err.text);
	be_autofree char *text = list(&b, &segment);
	cr_expect(strstr(text, "lrwxrwxrwx 1 bin -> usr/bin\nlrwxrwxrwx 1 lib -> usr/lib\n"), "%s", text);
	cr_expect(strstr(text, "drwxrwxrwt 2 tmp\n"), "%s", text);
	cr_expect(strstr(text, "-rw-r--r-- 1 etc/passwd\n"), "%s", text);
	be_segment_free(&segment);
	bench_close(&b);
}

Test(segment, job_ends_with_the_mark)
{
	struct bench b;
	struct be_error err = BE_ERROR_INIT;
	struct be_segment segment = { 0 };
	bench_open(&b);
	cr_assert_eq(be_segment_job(&segment, &b.cache, &none, "plan\n", 5, &err), 0, "%s", err.text);
	be_autofree char *text = list(&b, &segment);
	cr_expect_str_eq(text,
			 "drwxr-xr-x 2 benchenv\n-rw-r--r-- 1 benchenv/plan.yaml\n-rw-r--r-- 1 benchenv/complete\n");
	be_segment_free(&segment);
	bench_close(&b);
}

Test(segment, guest_programs_and_their_list)
{
	struct bench b;
	struct be_error err = BE_ERROR_INIT;
	struct be_segment segment = { 0 };
	be_autonode struct be_node *guest = be_node_seq();
	bench_open(&b);
	be_autofree char *dir = be_strf("%s/guest", b.dir);
	cr_expect_eq(be_segment_guest_list(dir, guest, &err), -1);
	cr_expect(strstr(err.hint, "MKBENCHENV_GUEST"), "%s", err.hint);
	be_segment_free(&segment);
	bench_sh(&b,
		 "mkdir -p guest/lib; echo i > guest/init; echo d > guest/disk-setup; echo l > guest/lib/l.so; chmod "
		 "600 "
		 "guest/init; ln -s / guest/lib/loop",
		 NULL);
	cr_assert_eq(be_segment_guest_list(dir, guest, &err), 0, "%s", err.text);
	cr_assert_eq(be_segment_guest(&segment, &b.cache, &none, dir, guest, &err), 0, "%s", err.text);
	be_autofree char *text = list(&b, &segment);
	cr_expect_str_eq(text, "drwxr-xr-x 2 benchenv\n-rwxr-xr-x 1 benchenv/disk-setup\n-rwxr-xr-x 1 init\n"
			       "drwxr-xr-x 2 benchenv/lib\n-rwxr-xr-x 1 benchenv/lib/l.so\n");
	cr_assert_eq(guest->n, 3);
	cr_expect_str_eq(be_get_str(guest->items[2], "path", ""), "lib/l.so");
	cr_expect_eq(be_get_int(guest->items[2], "size", 0), 2);
	be_segment_free(&segment);
	bench_close(&b);
}

/* Only what was chosen, with the package's own modes, hard links within the member. */
Test(segment, package)
{
	struct bench b;
	struct be_error err = BE_ERROR_INIT;
	struct be_segment first = { 0 }, second = { 0 }, third = { 0 };
	be_autostrv struct be_strv paths = { 0 };
	bench_open(&b);
	bench_sh(&b,
		 "mkdir -p p/usr/bin p/bin p/etc/private; echo text > p/usr/bin/a; ln p/usr/bin/a p/usr/bin/b; ln "
		 "p/usr/bin/a "
		 "p/usr/bin/c; ln -s a p/bin/l; chmod 4755 p/usr/bin/a; chmod 750 p/etc/private; echo x > "
		 "p/etc/private/x",
		 NULL);
	bench_package(&b, "p", "");
	be_strv_split(&paths, "etc/private/x usr/bin/a usr/bin/c usr/bin/l", " ");
	struct be_deb deb = { .package = &b.packages.v[0], .tree = BE_TREE_INIT }, again = deb;
	cr_assert_eq(be_segment_package(&first, &b.suite, &none, &deb, &paths, &err), 0, "%s", err.text);
	be_autofree char *text = list(&b, &first);
	cr_expect_str_eq(text,
			 "drwxr-xr-x 2 etc\ndrwxr-x--- 2 etc/private\n-rw-r--r-- 1 etc/private/x\ndrwxr-xr-x 2 usr\n"
			 "drwxr-xr-x 2 usr/bin\n-rwsr-xr-x 2 usr/bin/a\n-rwsr-xr-x 2 usr/bin/c\n"
			 "lrwxrwxrwx 1 usr/bin/l -> a\n");
	/* The same question again reads nothing; a damaged member is made again. */
	cr_assert_eq(be_segment_package(&second, &b.suite, &none, &again, &paths, &err), 0, "%s", err.text);
	cr_expect_not(again.unpacked);
	cr_assert_eq(truncate(second.object.path, 100), 0);
	cr_assert_eq(be_segment_package(&third, &b.suite, &none, &again, &paths, &err), 0, "%s", err.text);
	cr_expect(again.unpacked);
	cr_expect_str_eq(third.object.sha256, first.object.sha256);
	be_deb_free(&deb);
	be_deb_free(&again);
	be_segment_free(&first);
	be_segment_free(&second);
	be_segment_free(&third);
	bench_close(&b);
}

/* Members of different compression one after the other are one archive to the kernel: each starts at a whole word. */
Test(segment, every_member_is_whole_words)
{
	static const struct be_compressor *const compressors[] = { &none, &zstd };
	struct bench b;
	struct be_error err = BE_ERROR_INIT;
	bench_open(&b);
	for (size_t i = 0; i < BE_ARRAY_LEN(compressors); i++) {
		for (size_t len = 0; len < 9; len++) {
			struct be_segment segment = { 0 };
			cr_assert_eq(be_segment_job(&segment, &b.cache, compressors[i], "12345678", len, &err), 0);
			cr_expect_eq(segment.object.size % 4, 0);
			be_segment_free(&segment);
		}
	}
	bench_close(&b);
}
