#include "builder/image/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "builder/progress.h"

#define TEMP_AGE (24 * 3600) /* seconds: no build takes that long, so an older temporary file belongs to none */
#define USE_GRAIN (24 * 3600)
#define TEXT_MAX (64u << 20)

void be_object_free(struct be_object *object)
{
	free(object->path);
	object->path = NULL;
}

/* @alone: no other process has the cache open, so that all of them are left from builds that were killed. */
static void remove_old_temporaries(const char *dir, bool alone)
{
	struct be_root root = { .prefix = (char *)dir };
	be_autostrv struct be_strv names = { 0 };
	if (be_root_list(&root, "/tmp", &names) != 0)
		return;
	for (size_t i = 0; i < names.n; i++) {
		be_autofree char *path = be_strf("%s/tmp/%s", dir, names.v[i]);
		struct stat st;
		struct be_error ignored = BE_ERROR_INIT;
		if (lstat(path, &st) == 0 && (alone || time(NULL) - st.st_mtime > TEMP_AGE))
			be_remove_tree(path, &ignored);
	}
}

int be_cache_open(struct be_cache *cache, const char *dir, struct be_error *err)
{
	static const char *const folders[] = { "objects", "keys", "suites", "tmp" };
	cache->dir = be_strdup(dir);
	cache->lock = -1;
	cache->verified = NULL;
	for (size_t i = 0; i < BE_ARRAY_LEN(folders); i++) {
		be_autofree char *path = be_strf("%s/%s", dir, folders[i]);
		if (be_mkdirs(path, 0755, err) != 0)
			return be_hint(err, "set MKBENCHENV_CACHE or XDG_CACHE_HOME to a folder that can be written");
	}
	bool alone = be_cache_lock(cache, LOCK_EX | LOCK_NB, &(struct be_error)BE_ERROR_INIT) == 0;
	remove_old_temporaries(dir, alone);
	return be_cache_lock(cache, LOCK_SH, err);
}

int be_cache_lock(struct be_cache *cache, int how, struct be_error *err)
{
	be_autofree char *path = be_strf("%s/lock", cache->dir);
	if (cache->lock < 0)
		cache->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (cache->lock < 0) {
		be_fail_errno(err, errno, "%s: cannot be opened", path);
		return be_hint(err, "set MKBENCHENV_CACHE or XDG_CACHE_HOME to a folder that can be written");
	}
	while (flock(cache->lock, how) != 0)
		if (errno != EINTR || how & LOCK_NB || be_interrupted(err) != 0)
			return be_fail_errno(err, errno, "%s: cannot be locked", path);
	return 0;
}

void be_cache_close(struct be_cache *cache)
{
	be_cache_forget(cache);
	if (cache->dir)
		be_close_fd(&cache->lock);
	free(cache->dir);
	cache->dir = NULL;
}

int be_cache_hint(const struct be_cache *cache, struct be_error *err)
{
	return be_hint(err, "the cache is %s: make room there, or set MKBENCHENV_CACHE to a folder with room",
		       cache->dir);
}

bool be_disk_is_full(const struct be_error *err)
{
	return strstr(err->text, "No space left on device") || strstr(err->text, "Disk quota exceeded");
}

int be_cache_scratch(const struct be_cache *cache, char **path, struct be_error *err)
{
	be_autofree char *name = be_strf("%s/tmp/scratch.XXXXXX", cache->dir);
	int fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0) {
		be_fail_errno(err, errno, "%s: cannot be created", name);
		return be_cache_hint(cache, err);
	}
	if (path)
		*path = be_steal(&name);
	else
		unlink(name);
	return fd;
}

char *be_cache_tempdir(const struct be_cache *cache, struct be_error *err)
{
	be_autofree char *path = be_strf("%s/tmp/dir.XXXXXX", cache->dir);
	if (!mkdtemp(path)) {
		be_fail_errno(err, errno, "%s: cannot be created", path);
		be_cache_hint(cache, err);
		return NULL;
	}
	return be_steal(&path);
}

int be_cache_file_open(struct be_cache_file *file, const struct be_cache *cache, struct be_error *err)
{
	*file = (struct be_cache_file){ .cache = cache, .path = be_strf("%s/tmp/file.XXXXXX", cache->dir) };
	file->fd = mkostemp(file->path, O_CLOEXEC);
	be_hash_start(&file->hash);
	if (file->fd < 0) {
		be_fail_errno(err, errno, "%s: cannot be created", file->path);
		return be_cache_hint(cache, err);
	}
	return 0;
}

int be_cache_file_write(struct be_cache_file *file, const void *data, size_t len, struct be_error *err)
{
	if (be_write_fd(file->fd, file->path, data, len, err) != 0)
		return be_cache_hint(file->cache, err);
	be_hash_add(&file->hash, data, len);
	file->size += (int64_t)len;
	return 0;
}

void be_cache_file_drop(struct be_cache_file *file)
{
	be_hash_drop(&file->hash);
	if (file->fd >= 0)
		unlink(file->path);
	be_close_fd(&file->fd);
	free(file->path);
	file->path = NULL;
}

static char *object_path(const struct be_cache *cache, const char *sha256)
{
	return be_strf("%s/objects/%s", cache->dir, sha256);
}

int be_cache_file_keep(struct be_cache_file *file, struct be_object *object, struct be_error *err)
{
	be_object_free(object);
	be_hash_end(&file->hash, object->sha256);
	object->size = file->size;
	object->path = object_path(file->cache, object->sha256);
	if (fchmod(file->fd, 0644) != 0 || rename(file->path, object->path) != 0) {
		be_fail_errno(err, errno, "%s: cannot be put in place", object->path);
		return be_cache_hint(file->cache, err);
	}
	be_close_fd(&file->fd);
	return 0;
}

int be_cache_adopt(const struct be_cache *cache, const char *path, const char *sha256, struct be_object *object,
		   struct be_error *err)
{
	be_object_free(object);
	if (be_hash_file(path, object->sha256, &object->size, err) != 0)
		return -1;
	if (sha256 && !be_streq(object->sha256, sha256))
		return be_fail(err, "%s: has SHA-256 %s, expected %s", path, object->sha256, sha256);
	object->path = object_path(cache, object->sha256);
	if (chmod(path, 0644) != 0 || rename(path, object->path) != 0)
		return be_fail_errno(err, errno, "%s: cannot be put in place", object->path);
	return 0;
}

/* When an object was last used is its time of modification, to the day: it decides what is pruned first. */
static void note_use(int fd, const struct stat *st)
{
	if (time(NULL) - st->st_mtime > USE_GRAIN)
		futimens(fd, NULL);
}

/* Another build may have put a good one in the place of what we read. */
static void remove_damaged(const char *path, const struct stat *read)
{
	struct stat st;
	if (lstat(path, &st) != 0 || st.st_ino != read->st_ino || unlink(path) != 0)
		return;
	fprintf(stderr, "mkbenchenv: warning: %s was damaged: removed, it is made again\n", path);
}

bool be_cache_object(const struct be_cache *cache, const char *sha256, struct be_object *object)
{
	struct be_error ignored = BE_ERROR_INIT;
	be_autohash struct be_hash hash = { 0 };
	struct stat st;
	be_object_free(object);
	be_autofree char *path = object_path(cache, sha256);
	if (be_cache_is_verified(cache, sha256, &object->size)) {
		snprintf(object->sha256, sizeof(object->sha256), "%s", sha256);
		object->path = be_steal(&path);
		return true;
	}
	be_autofd int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) != 0)
		return false;
	be_hash_start(&hash);
	if (be_hash_add_range(&hash, fd, 0, st.st_size, path, &ignored) != 0)
		return false;
	be_hash_end(&hash, object->sha256);
	if (!be_streq(object->sha256, sha256)) {
		remove_damaged(path, &st);
		return false;
	}
	note_use(fd, &st);
	object->size = st.st_size;
	be_cache_note_verified(cache, object);
	object->path = be_steal(&path);
	return true;
}

static char *key_path(const struct be_cache *cache, const char *kind, const char *key)
{
	return be_strf("%s/keys/%s-%s", cache->dir, kind, key);
}

bool be_cache_get(const struct be_cache *cache, const char *kind, const char *key, struct be_object *object)
{
	struct be_error ignored = BE_ERROR_INIT;
	be_autofree char *path = key_path(cache, kind, key);
	be_autobuf struct be_buf text = { 0 };
	if (be_read_file(path, 4096, &text, &ignored) != 0)
		return false;
	if (be_cache_object(cache, be_trim(text.data), object))
		return true;
	unlink(path);
	return false;
}

int be_cache_set(const struct be_cache *cache, const char *kind, const char *key, const struct be_object *object,
		 struct be_error *err)
{
	be_autofree char *path = key_path(cache, kind, key);
	be_autocachefile struct be_cache_file file = BE_CACHE_FILE_INIT;
	if (be_cache_file_open(&file, cache, err) != 0 ||
	    be_cache_file_write(&file, object->sha256, strlen(object->sha256), err) != 0)
		return -1;
	if (fchmod(file.fd, 0644) != 0 || rename(file.path, path) != 0) {
		be_fail_errno(err, errno, "%s: cannot be put in place", path);
		return be_cache_hint(cache, err);
	}
	be_close_fd(&file.fd);
	return 0;
}

bool be_cache_get_text(const struct be_cache *cache, const char *kind, const char *key, struct be_buf *text)
{
	struct be_error ignored = BE_ERROR_INIT;
	be_autoobject struct be_object object = { .path = NULL };
	return be_cache_get(cache, kind, key, &object) && be_read_file(object.path, TEXT_MAX, text, &ignored) == 0;
}

int be_cache_set_text(const struct be_cache *cache, const char *kind, const char *key, const char *text, size_t len,
		      struct be_error *err)
{
	be_autoobject struct be_object object = { .path = NULL };
	be_autocachefile struct be_cache_file file = BE_CACHE_FILE_INIT;
	if (be_cache_file_open(&file, cache, err) != 0 || be_cache_file_write(&file, text, len, err) != 0 ||
	    be_cache_file_keep(&file, &object, err) != 0)
		return -1;
	return be_cache_set(cache, kind, key, &object, err);
}
