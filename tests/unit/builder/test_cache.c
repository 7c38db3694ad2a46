#include "build_test.h"

#include <fcntl.h>
#include <pthread.h>
#include <utime.h>

Test(cache, keeps_and_finds)
{
	struct bench b;
	struct be_error err = BE_ERROR_INIT;
	be_autobuf struct be_buf text = { 0 };
	bench_open(&b);
	cr_expect_not(be_cache_get_text(&b.cache, "kind", "key", &text));
	cr_assert_eq(be_cache_set_text(&b.cache, "kind", "key", "value", 5, &err), 0, "%s", err.text);
	cr_assert(be_cache_get_text(&b.cache, "kind", "key", &text));
	cr_expect_str_eq(text.data, "value");
	cr_expect_not(be_cache_get_text(&b.cache, "other", "key", &text));
	bench_close(&b);
}

static void damage(const char *path)
{
	int fd = open(path, O_WRONLY);
	cr_assert_geq(fd, 0);
	cr_assert_eq(pwrite(fd, "X", 1, 0), 1);
	close(fd);
}

Test(cache, damaged_object_is_not_used_and_goes)
{
	struct bench b;
	struct be_error err = BE_ERROR_INIT;
	be_autoobject struct be_object object = { .path = NULL };
	bench_open(&b);
	cr_assert_eq(be_cache_set_text(&b.cache, "kind", "key", "value", 5, &err), 0);
	cr_assert(be_cache_get(&b.cache, "kind", "key", &object));
	be_autofree char *path = be_strdup(object.path);
	damage(path);
	cr_expect_not(be_cache_get(&b.cache, "kind", "key", &object));
	cr_expect_not(be_exists(path));
	cr_assert_eq(be_cache_set_text(&b.cache, "kind", "key", "value", 5, &err), 0);
	cr_expect(be_cache_get(&b.cache, "kind", "key", &object));
	bench_close(&b);
}

Test(cache, truncated_object_is_not_used)
{
	struct bench b;
	struct be_error err = BE_ERROR_INIT;
	be_autoobject struct be_object object = { .path = NULL };
	bench_open(&b);
	cr_assert_eq(be_cache_set_text(&b.cache, "kind", "key", "value", 5, &err), 0);
	cr_assert(be_cache_get(&b.cache, "kind", "key", &object));
	cr_assert_eq(truncate(object.path, 0), 0);
	cr_expect_not(be_cache_get(&b.cache, "kind", "key", &object));
	bench_close(&b);
}

Test(cache, adopts_only_what_has_the_hash)
{
	struct bench b;
	struct be_error err = BE_ERROR_INIT;
	struct be_object object = { .path = NULL };
	char sha256[BE_HASH_TEXT];
	bench_open(&b);
	be_autofree char *path = be_strf("%s/file", b.dir);
	cr_assert_eq(be_write_file(path, "abc", 3, 0600, &err), 0);
	cr_assert_eq(be_hash_file(path, sha256, NULL, &err), 0);
	cr_expect_str_eq(sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	sha256[0] = 'c';
	cr_expect_eq(be_cache_adopt(&b.cache, path, sha256, &object, &err), -1);
	cr_expect(strstr(err.text, "has SHA-256 ba78"), "%s", err.text);
	sha256[0] = 'b';
	cr_expect_eq(be_cache_adopt(&b.cache, path, sha256, &object, &err), 0, "%s", err.text);
	be_object_free(&object);
	bench_close(&b);
}

Test(cache, old_temporary_files_go_and_young_ones_stay)
{
	struct bench b;
	struct be_error err = BE_ERROR_INIT;
	bench_open(&b);
	be_autofree char *old = be_strf("%s/tmp/old", b.cache.dir), *young = be_strf("%s/tmp/young", b.cache.dir);
	cr_assert_eq(be_write_file(old, "", 0, 0600, &err), 0);
	cr_assert_eq(be_write_file(young, "", 0, 0600, &err), 0);
	struct utimbuf times = { .actime = 1, .modtime = 1 };
	cr_assert_eq(utime(old, &times), 0);
	struct be_cache again = { 0 };
	cr_assert_eq(be_cache_open(&again, b.cache.dir, &err), 0);
	cr_expect_not(be_exists(old));
	cr_expect(be_exists(young));
	be_cache_close(&again);
	bench_close(&b);
}

static void *write_many(void *data)
{
	struct bench *b = data;
	struct be_error err = BE_ERROR_INIT;
	for (int i = 0; i < 50; i++) {
		be_autofree char *text = be_strf("text %d", i), *key = be_strf("%d", i);
		be_autobuf struct be_buf found = { 0 };
		if (be_cache_set_text(&b->cache, "kind", key, text, strlen(text), &err) != 0 ||
		    !be_cache_get_text(&b->cache, "kind", key, &found) || !be_streq(found.data, text))
			return "failed";
	}
	return NULL;
}

Test(cache, several_writers_of_the_same)
{
	struct bench b;
	pthread_t threads[4];
	void *result;
	bench_open(&b);
	for (int i = 0; i < 4; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, write_many, &b), 0);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], &result);
		cr_expect_null(result);
	}
	bench_close(&b);
}

Test(hash, texts_do_not_run_together)
{
	char a[BE_HASH_TEXT], c[BE_HASH_TEXT];
	struct be_hash hash;
	be_hash_start(&hash);
	be_hash_adds(&hash, "ab");
	be_hash_adds(&hash, "c");
	be_hash_end(&hash, a);
	be_hash_start(&hash);
	be_hash_adds(&hash, "a");
	be_hash_adds(&hash, "bc");
	be_hash_end(&hash, c);
	cr_expect_str_neq(a, c);
}
