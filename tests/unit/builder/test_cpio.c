#include "build_test.h"

#include <fcntl.h>

#include "builder/image/cpio.h"

static const struct be_compressor zstd = { .name = "zstd", .level = 3 };
static const struct be_compressor gzip = { .name = "gzip", .level = 6 };
static const struct be_compressor none = { .name = "none" };

/* Folders, files, a link and a file with two names. */
static void pack(struct bench *b, const struct be_compressor *compressor, struct be_object *object, int64_t *unpacked)
{
	struct be_error err = BE_ERROR_INIT;
	be_autocpio struct be_cpio cpio = { .file = BE_CACHE_FILE_INIT };
	be_autofree char *path = be_strf("%s/content", b->dir);
	cr_assert_eq(be_write_file(path, "0123456789", 10, 0600, &err), 0);
	be_autofd int fd = open(path, O_RDONLY);
	struct be_cpio_links one = { .n = 1 }, two = { .n = 2 };
	cr_assert_eq(be_cpio_open(&cpio, &b->cache, compressor, &err), 0, "%s", err.text);
	cr_assert_eq(be_cpio_folder(&cpio, "tmp", 01777, &err), 0);
	cr_assert_eq(be_cpio_text(&cpio, "etc/x", 0644, "text\n", 5, &err), 0);
	cr_assert_eq(be_cpio_symlink(&cpio, "usr/bin/sh", "dash", &err), 0);
	cr_assert_eq(be_cpio_file(&cpio, "usr/bin/a", 0755, fd, 2, 5, &one, &err), 0);
	cr_assert_eq(be_cpio_file(&cpio, "usr/bin/b", 0755, fd, 0, 10, &two, &err), 0);
	cr_assert_eq(be_cpio_file(&cpio, "usr/bin/c", 0755, fd, 0, 10, &two, &err), 0);
	cr_assert_eq(be_cpio_close(&cpio, object, unpacked, &err), 0, "%s", err.text);
}

Test(cpio, names_modes_and_content)
{
	struct bench b;
	be_autoobject struct be_object object = { .path = NULL };
	int64_t unpacked;
	bench_open(&b);
	pack(&b, &none, &object, &unpacked);
	cr_expect_eq((unpacked + 4095) / 4096 * 4096, object.size);
	be_autofree char *list = bench_output(&b, "cpio -itvn < \"$1\" 2>/dev/null | sed 's/  */ /g'", object.path);
	cr_expect_str_eq(list, "drwxrwxrwt 2 0 0 0 Jan 1 1970 tmp\n"
			       "drwxr-xr-x 2 0 0 0 Jan 1 1970 etc\n"
			       "-rw-r--r-- 1 0 0 5 Jan 1 1970 etc/x\n"
			       "drwxr-xr-x 2 0 0 0 Jan 1 1970 usr\n"
			       "drwxr-xr-x 2 0 0 0 Jan 1 1970 usr/bin\n"
			       "lrwxrwxrwx 1 0 0 4 Jan 1 1970 usr/bin/sh -> dash\n"
			       "-rwxr-xr-x 1 0 0 5 Jan 1 1970 usr/bin/a\n"
			       "-rwxr-xr-x 2 0 0 10 Jan 1 1970 usr/bin/b\n"
			       "-rwxr-xr-x 2 0 0 0 Jan 1 1970 usr/bin/c\n");
	be_autofree char *content = bench_output(
		&b, "mkdir x; cd x; cpio -i --quiet < \"$1\"; cat usr/bin/a usr/bin/b; stat -c %h usr/bin/c",
		object.path);
	cr_expect_str_eq(content, "2345601234567892\n");
	bench_close(&b);
}

/* Another folder, other inode numbers and time zone: the same bytes, in whole words. */
Test(cpio, same_input_same_bytes)
{
	static const struct be_compressor *const compressors[] = { &zstd, &gzip, &none };
	for (size_t i = 0; i < BE_ARRAY_LEN(compressors); i++) {
		struct bench b, c;
		be_autoobject struct be_object first = { .path = NULL }, second = { .path = NULL };
		int64_t unpacked;
		setenv("TZ", "UTC", 1);
		bench_open(&b);
		pack(&b, compressors[i], &first, &unpacked);
		setenv("TZ", "Asia/Tokyo", 1);
		bench_open(&c);
		pack(&c, compressors[i], &second, &unpacked);
		cr_expect_str_eq(first.sha256, second.sha256);
		cr_expect_eq(first.size % 4096, 0);
		bench_close(&c);
		bench_close(&b);
	}
}

Test(cpio, a_file_that_became_shorter_is_an_error)
{
	struct bench b;
	struct be_error err = BE_ERROR_INIT;
	bench_open(&b);
	be_autofree char *path = be_strf("%s/content", b.dir);
	cr_assert_eq(be_write_file(path, "0123", 4, 0600, &err), 0);
	be_autofd int fd = open(path, O_RDONLY);
	struct be_cpio_links links = { .n = 1 };
	struct be_cpio cpio = { .file = BE_CACHE_FILE_INIT };
	cr_assert_eq(be_cpio_open(&cpio, &b.cache, &zstd, &err), 0);
	cr_expect_eq(be_cpio_file(&cpio, "a", 0755, fd, 0, 10, &links, &err), -1);
	cr_expect_str_eq(err.text, "a: became shorter while it was read");
	be_cpio_drop(&cpio);
	be_autofree char *left = bench_output(&b, "ls -A cache/tmp cache/objects", NULL);
	cr_expect_str_eq(left, "cache/objects:\n\ncache/tmp:\n");
	bench_close(&b);
}
