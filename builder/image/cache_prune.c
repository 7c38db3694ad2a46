/* What a cache holds, and what of it goes first. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "builder/image/cache.h"

struct file {
	char *path;
	int64_t bytes;
	time_t used;
};
struct files {
	struct file *v;
	size_t n, cap;
};

static void files_free(struct files *files)
{
	for (size_t i = 0; i < files->n; i++)
		free(files->v[i].path);
	free(files->v);
}
#define be_autofiles be_cleanup(files_free)

static int64_t on_disk(const struct stat *st)
{
	return (int64_t)st->st_blocks * 512;
}

/* A file that goes while we look is none. */
static int list(const struct be_cache *cache, const char *folder, struct files *files, struct be_error *err)
{
	struct be_root root = { .prefix = cache->dir };
	be_autofree char *below = be_strf("/%s", folder);
	be_autostrv struct be_strv names = { 0 };
	if (be_root_list(&root, below, &names) != 0)
		return be_fail_errno(err, errno, "%s%s: cannot be read", cache->dir, below);
	for (size_t i = 0; i < names.n; i++) {
		be_autofree char *path = be_strf("%s%s/%s", cache->dir, below, names.v[i]);
		struct stat st;
		if (lstat(path, &st) != 0)
			continue;
		if (files->n == files->cap) {
			files->cap = files->cap ? files->cap * 2 : 256;
			files->v = be_realloc(files->v, files->cap, sizeof(*files->v));
		}
		files->v[files->n++] = (struct file){ be_steal(&path), on_disk(&st), st.st_mtime };
	}
	return 0;
}

static int64_t sum(const struct files *files)
{
	int64_t bytes = 0;
	for (size_t i = 0; i < files->n; i++)
		bytes += files->v[i].bytes;
	return bytes;
}

/* Folders of suites are not deep. */
static int64_t folder_bytes(const char *path)
{
	struct be_root root = { .prefix = (char *)path };
	be_autostrv struct be_strv names = { 0 };
	int64_t bytes = 0;
	if (be_root_list(&root, "/", &names) != 0)
		return 0;
	for (size_t i = 0; i < names.n; i++) {
		be_autofree char *inner = be_strf("%s/%s", path, names.v[i]);
		struct stat st;
		if (lstat(inner, &st) == 0)
			bytes += S_ISDIR(st.st_mode) ? folder_bytes(inner) : on_disk(&st);
	}
	return bytes;
}

int be_cache_measure(const struct be_cache *cache, struct be_cache_use *use, struct be_error *err)
{
	be_autofiles struct files objects = { 0 }, keys = { 0 }, temporary = { 0 };
	be_autofree char *suites = be_strf("%s/suites", cache->dir);
	if (list(cache, "objects", &objects, err) != 0 || list(cache, "keys", &keys, err) != 0 ||
	    list(cache, "tmp", &temporary, err) != 0)
		return -1;
	*use = (struct be_cache_use){ .objects = objects.n,
				      .keys = keys.n,
				      .temporary = temporary.n,
				      .bytes = sum(&objects) + sum(&keys),
				      .lists = folder_bytes(suites) };
	return 0;
}

static int compare_use(const void *a, const void *b)
{
	const struct file *x = a, *y = b;
	if (x->used != y->used)
		return x->used < y->used ? -1 : 1;
	return strcmp(x->path, y->path);
}

static int remove_file(const struct file *file, size_t *count, int64_t *bytes, struct be_error *err)
{
	if (unlink(file->path) != 0)
		return errno == ENOENT ? 0 : be_fail_errno(err, errno, "%s: cannot be removed", file->path);
	(*count)++;
	*bytes += file->bytes;
	return 0;
}

static int prune_objects(const struct be_cache *cache, int64_t age, int64_t limit, struct be_cache_use *removed,
			 struct be_error *err)
{
	be_autofiles struct files objects = { 0 };
	if (list(cache, "objects", &objects, err) != 0)
		return -1;
	int64_t left = sum(&objects);
	time_t now = time(NULL);
	if (objects.n)
		qsort(objects.v, objects.n, sizeof(*objects.v), compare_use);
	for (size_t i = 0; i < objects.n; i++) {
		bool old = age >= 0 && now - objects.v[i].used >= age, much = limit >= 0 && left > limit;
		if (!old && !much)
			break;
		if (remove_file(&objects.v[i], &removed->objects, &removed->bytes, err) != 0)
			return -1;
		left -= objects.v[i].bytes;
	}
	return 0;
}

/* A key whose object is gone leads nowhere. */
static int prune_keys(const struct be_cache *cache, struct be_cache_use *removed, struct be_error *err)
{
	be_autofiles struct files keys = { 0 };
	if (list(cache, "keys", &keys, err) != 0)
		return -1;
	for (size_t i = 0; i < keys.n; i++) {
		be_autobuf struct be_buf text = { 0 };
		struct be_error ignored = BE_ERROR_INIT;
		bool readable = be_read_file(keys.v[i].path, 4096, &text, &ignored) == 0 && text.data;
		be_autofree char *object =
			be_strf("%s/objects/%s", cache->dir, readable ? be_trim(text.data) : "damaged");
		if (!be_exists(object) && remove_file(&keys.v[i], &removed->keys, &removed->bytes, err) != 0)
			return -1;
	}
	return 0;
}

static int prune_temporary(const struct be_cache *cache, struct be_cache_use *removed, struct be_error *err)
{
	be_autofiles struct files temporary = { 0 };
	if (list(cache, "tmp", &temporary, err) != 0)
		return -1;
	for (size_t i = 0; i < temporary.n; i++) {
		if (be_remove_tree(temporary.v[i].path, err) != 0)
			return -1;
		removed->temporary++;
	}
	return 0;
}

int be_cache_prune(struct be_cache *cache, int64_t age, int64_t bytes, struct be_cache_use *removed,
		   struct be_error *err)
{
	*removed = (struct be_cache_use){ 0 };
	if (be_cache_lock(cache, LOCK_EX, err) != 0)
		return -1;
	int rc = prune_temporary(cache, removed, err);
	if (rc == 0)
		rc = prune_objects(cache, age, bytes, removed, err);
	if (rc == 0)
		rc = prune_keys(cache, removed, err);
	return be_cache_lock(cache, LOCK_SH, rc == 0 ? err : &(struct be_error)BE_ERROR_INIT) != 0 ? -1 : rc;
}
