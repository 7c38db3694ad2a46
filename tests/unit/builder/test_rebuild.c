/* Locks, members read back, and what is pruned of a cache. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "build_test.h"
#include "builder/image/cpio.h"
#include "builder/image/member.h"
#include "builder/rebuild/lock.h"
#include "builder/rebuild/verify.h"

#define HASH "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
static const struct be_compressor zstd = { .name = "zstd", .level = 3 };

static struct be_node *load(const char *text)
{
	struct be_error err = BE_ERROR_INIT;
	struct be_node *node = be_node_load(text, strlen(text), "manifest", &err);
	cr_assert(node, "%s", err.text);
	return node;
}

static int read_lock(const char *name, const char *version, const char *sha256, struct be_error *err)
{
	be_autofree char *text = be_strf("lock:\n  packages:\n  - {name: \"%s\", version: \"%s\", architecture: amd64, "
					 "size: 1, sha256: \"%s\"}\n",
					 name, version, sha256);
	be_autonode struct be_node *manifest = load(text);
	struct be_lock lock = { .manifest = manifest };
	be_autostrv struct be_strv names = { 0 };
	be_autopackages struct be_packages packages = { 0 };
	size_t named = 7;
	be_strv_add(&names, "fio");
	int rc = be_lock_packages(&lock, &names, &packages, &named, err);
	cr_expect(rc != 0 || (packages.n == 1 && named == 1));
	return rc;
}

/* Names and versions become words of apt's command line, hashes parts of paths. */
Test(lock, odd_packages_are_refused)
{
	static const struct {
		const char *name, *version, *sha256;
	} odd[] = { { "", "1", HASH },      { "-o", "1", HASH }, { "fio/../x", "1", HASH },
		    { "fio", "1 2", HASH }, { "fio", "", HASH }, { "fio", "1", "../../etc/passwd" },
		    { "fio", "1", "e3b0" } };
	struct be_error err = BE_ERROR_INIT;
	cr_expect_eq(read_lock("fio", "3.39-1+b2~x:1", HASH, &err), 0, "%s", err.text);
	for (size_t i = 0; i < BE_ARRAY_LEN(odd); i++) {
		cr_expect_eq(read_lock(odd[i].name, odd[i].version, odd[i].sha256, &err), -1, "%zu", i);
		cr_expect_eq(err.status, BE_USAGE);
	}
}

/* A part that is in a package by itself; what came from a file has a hash and no package. */
Test(lock, a_package_of_its_own)
{
	static const char stub[] = "{name: stub, version: '1', architecture: amd64, size: 1, sha256: " HASH "}";
	be_autofree char *text = be_strf("lock:\n  stub: %s\n  ucode: %s\n  odd: {sha256: %s}\n", stub, HASH, HASH);
	be_autonode struct be_node *manifest = load(text);
	struct be_lock lock = { .manifest = manifest };
	be_autopackages struct be_packages packages = { 0 };
	struct be_error err = BE_ERROR_INIT;
	cr_expect_eq(be_lock_package(&lock, "ucode", &packages, &err), 0, "%s", err.text);
	cr_expect_eq(be_lock_package(&lock, "absent", &packages, &err), 0, "%s", err.text);
	cr_expect_eq(packages.n, 0);
	cr_expect_eq(be_lock_package(&lock, "stub", &packages, &err), 0, "%s", err.text);
	cr_expect(packages.n == 1 && be_streq(packages.v[0].name, "stub"));
	cr_expect_eq(be_lock_package(&lock, "odd", &packages, &err), -1);
	cr_expect_eq(err.status, BE_USAGE);
}

Test(lock, a_difference_is_absent_or_a_drift)
{
	struct be_error err = BE_ERROR_INIT;
	struct be_lock lock = { .command = "build" };
	be_lock_differs(&lock, "do that", "thing %d", 1);
	cr_expect_eq(lock.absent.n, 1);
	cr_expect_str_eq(lock.absent.v[0], "thing 1: do that");
	cr_expect_eq(be_lock_check(&lock, &err), -1);
	be_strv_free(&lock.absent);
	lock.absent = (struct be_strv){ 0 };
	lock.allow_drift = true;
	be_lock_differs(&lock, "do that", "thing %d", 2);
	cr_expect_str_eq(lock.drifts.v[0], "thing 2");
	cr_expect_eq(be_lock_check(&lock, &err), 0);
	be_lock_free(&lock);
}

static void make_member(struct bench *b, struct be_object *object, int64_t *unpacked)
{
	struct be_error err = BE_ERROR_INIT;
	be_autocpio struct be_cpio cpio = { .file = BE_CACHE_FILE_INIT };
	be_autofree char *path = be_strf("%s/content", b->dir);
	struct be_cpio_links links = { .n = 2 };
	cr_assert_eq(be_write_file(path, "0123", 4, 0600, &err), 0);
	be_autofd int fd = open(path, O_RDONLY | O_CLOEXEC);
	cr_assert_eq(be_cpio_open(&cpio, &b->cache, &zstd, &err), 0);
	cr_assert_eq(be_cpio_file(&cpio, "usr/bin/a", 0755, fd, 0, 4, &links, &err), 0);
	cr_assert_eq(be_cpio_file(&cpio, "usr/bin/b", 0755, fd, 0, 4, &links, &err), 0);
	cr_assert_eq(be_cpio_symlink(&cpio, "usr/bin/c", "a", &err), 0);
	cr_assert_eq(be_cpio_close(&cpio, object, unpacked, &err), 0);
}

Test(member, is_read_as_it_was_written)
{
	struct bench b;
	struct be_error err = BE_ERROR_INIT;
	be_autoobject struct be_object object = { .path = NULL };
	be_automember struct be_member member = { 0 };
	int64_t unpacked;
	bench_open(&b);
	make_member(&b, &object, &unpacked);
	be_autofd int fd = open(object.path, O_RDONLY | O_CLOEXEC);
	cr_assert_eq(be_member_read(&member, fd, 0, object.size, "m", &err), 0, "%s", err.text);
	cr_expect_eq(member.unpacked, unpacked);
	cr_expect_eq(member.n, 5);
	cr_expect_eq(be_member_find(&member, "usr/bin/a")->links, 2);
	cr_expect_eq(be_member_find(&member, "usr/bin/a")->size, 4);
	cr_expect(be_member_find(&member, "usr/bin/b")->hardlink);
	cr_expect_str_eq(be_member_find(&member, "usr/bin/c")->target, "a");
	cr_expect_null(be_member_find(&member, "usr/bin/d"));
	bench_close(&b);
}

static void expect_difference(struct be_member_entry a, struct be_member_entry b, const char *wanted)
{
	be_autofree char *found = be_member_difference(&a, &b, "other");
	cr_expect_str_eq(found ? found : "", wanted);
}

Test(member, says_how_entries_differ)
{
	const struct be_member_entry file = { .mode = 0100644, .size = 4, .sha256 = HASH, .links = 1 };
	struct be_member_entry b = file;
	expect_difference(file, b, "");
	b.mode = 0100755;
	expect_difference(file, b, "mode 100644, other 100755");
	b = file;
	b.size = 5;
	expect_difference(file, b, "4 bytes, other 5");
	b = file;
	b.links = 2;
	expect_difference(file, b, "1 names, other 2");
	b = file;
	b.sha256[0] = '0';
	expect_difference(file, b, "SHA-256 e3b0c44298fc, other 03b0c44298fc");
	b = file;
	b.hardlink = true;
	b.target = (char *)"usr/bin/a";
	expect_difference(file, b, "leads to nothing, other to usr/bin/a");
}

/* Cut off, beyond the end, and with something behind the frame. */
Test(member, what_no_kernel_unpacks_is_an_error)
{
	struct bench b;
	be_autoobject struct be_object object = { .path = NULL };
	int64_t unpacked;
	bench_open(&b);
	make_member(&b, &object, &unpacked);
	be_autofd int fd = open(object.path, O_RDWR | O_CLOEXEC);
	const int64_t sizes[] = { 2, 40, object.size + 4 };
	for (size_t i = 0; i < BE_ARRAY_LEN(sizes); i++) {
		struct be_error err = BE_ERROR_INIT;
		be_automember struct be_member member = { 0 };
		cr_expect_eq(be_member_read(&member, fd, 0, sizes[i], "m", &err), -1, "%zu", i);
	}
	struct be_error err = BE_ERROR_INIT;
	be_automember struct be_member member = { 0 };
	cr_assert_eq(pwrite(fd, "x", 1, object.size - 1), 1);
	cr_expect_eq(be_member_read(&member, fd, 0, object.size, "m", &err), -1);
	cr_expect(strstr(err.text, "more than zeros"), "%s", err.text);
	bench_close(&b);
}

Test(cache, prune_takes_what_was_used_longest_ago)
{
	struct bench b;
	struct be_error err = BE_ERROR_INIT;
	struct be_cache_use use, removed;
	be_autobuf struct be_buf text = { 0 };
	bench_open(&b);
	be_autofree char *block = be_alloc(8192);
	for (char c = 'a'; c <= 'c'; c++) {
		be_autoobject struct be_object object = { .path = NULL };
		char key[2] = { c, '\0' };
		memset(block, c, 8192);
		cr_assert_eq(be_cache_set_text(&b.cache, "t", key, block, 8192, &err), 0);
		cr_assert(be_cache_get(&b.cache, "t", key, &object));
		struct timespec times[2] = { { .tv_sec = 1000 * (c - 'a' + 1) }, { .tv_sec = 1000 * (c - 'a' + 1) } };
		cr_assert_eq(utimensat(AT_FDCWD, object.path, times, 0), 0);
	}
	cr_assert_eq(be_cache_prune(&b.cache, -1, 16384, &removed, &err), 0, "%s", err.text);
	cr_expect_eq(removed.objects, 1);
	cr_expect_eq(removed.keys, 1);
	cr_expect(!be_cache_get_text(&b.cache, "t", "a", &text));
	cr_expect(be_cache_get_text(&b.cache, "t", "c", &text));
	cr_assert_eq(be_cache_measure(&b.cache, &use, &err), 0);
	cr_expect_eq(use.objects, 2);
	cr_assert_eq(be_cache_prune(&b.cache, 3600, -1, &removed, &err), 0);
	cr_expect_eq(removed.objects, 1, "what was just used stays, the other goes: %zu", removed.objects);
	bench_close(&b);
}

Test(verify, figures_of_a_manifest)
{
	struct be_verified verified = { 0 };
	be_autonode struct be_node *good = load("image:\n  initrd: {size: 8}\n  segments:\n"
						"  - {name: a, offset: 0, size: 4, sha256: \"" HASH "\"}\n"
						"  - {name: b, offset: 4, size: 4, sha256: \"" HASH "\"}\n");
	be_verify_manifest(good, &verified);
	cr_expect_eq(verified.problems.n, 0);
	be_autonode struct be_node *bad = load("image:\n  initrd: {size: 9}\n  segments:\n"
					       "  - {name: a, offset: 0, size: 4, sha256: x}\n"
					       "  - {name: b, offset: 5, size: 4, sha256: \"" HASH "\"}\n");
	be_verify_manifest(bad, &verified);
	cr_expect_eq(verified.problems.n, 3);
	be_verified_free(&verified);
}
