/*
 * The cache: objects named by the SHA-256 of their bytes, and keys (the hash of everything an object was made from)
 * that lead to them. Every use verifies the bytes; what is damaged is removed and made again. New files appear by
 * rename, so that builds may run at the same time, and one that is killed leaves nothing but an old temporary file.
 * Nothing is synced to the disk: after a power loss the verification finds what is missing.
 */
#ifndef BE_CACHE_H
#define BE_CACHE_H

#include <stdbool.h>

#include "builder/image/hash.h"

struct be_cache {
	char *dir;
	void *verified; /* what be_cache_remember needs; NULL: each use verifies */
	int lock;       /* shared while the cache is open: nothing is pruned under a build */
};

struct be_object {
	char sha256[BE_HASH_TEXT];
	int64_t size;
	char *path;
};
void be_object_free(struct be_object *object);
#define be_autoobject be_cleanup(be_object_free)

/* Makes the folders of the cache and removes temporary files that no build has any more. Waits while it is pruned. A
 * temporary file or folder lives no longer than a cache that is open: keep it open. */
int be_cache_open(struct be_cache *cache, const char *dir, struct be_error *err) BE_MUST_CHECK;
void be_cache_close(struct be_cache *cache);
/* From here on each object is verified once: for several builds in one process. */
void be_cache_remember(struct be_cache *cache);
/* For cache*.c: its parts. */
bool be_cache_is_verified(const struct be_cache *cache, const char *sha256, int64_t *size);
void be_cache_note_verified(const struct be_cache *cache, const struct be_object *object);
void be_cache_forget(struct be_cache *cache);
/* For cache*.c: LOCK_SH or LOCK_EX of flock(2), in the place of the lock that is held. */
int be_cache_lock(struct be_cache *cache, int how, struct be_error *err) BE_MUST_CHECK;

/* A file on its way into the cache. Errors of writing name the cache and say what to do when it is full. */
struct be_cache_file {
	const struct be_cache *cache;
	char *path;
	int fd;
	struct be_hash hash;
	int64_t size;
};
#define BE_CACHE_FILE_INIT \
	{                  \
		.fd = -1   \
	}
int be_cache_file_open(struct be_cache_file *file, const struct be_cache *cache, struct be_error *err) BE_MUST_CHECK;
int be_cache_file_write(struct be_cache_file *file, const void *data, size_t len, struct be_error *err) BE_MUST_CHECK;
/* Puts the file in its place as an object. */
int be_cache_file_keep(struct be_cache_file *file, struct be_object *object, struct be_error *err) BE_MUST_CHECK;
void be_cache_file_drop(struct be_cache_file *file); /* removes it unless it was kept */
#define be_autocachefile be_cleanup(be_cache_file_drop)

/* Moves a finished file of the same file system into the cache if its bytes are those of @sha256 (NULL: whatever they
 * are). */
int be_cache_adopt(const struct be_cache *cache, const char *path, const char *sha256, struct be_object *object,
		   struct be_error *err) BE_MUST_CHECK;

/* The object of that hash, verified. False when it is not there (any more). */
bool be_cache_object(const struct be_cache *cache, const char *sha256, struct be_object *object);
/* The object that @key of @kind leads to, verified. */
bool be_cache_get(const struct be_cache *cache, const char *kind, const char *key, struct be_object *object);
int be_cache_set(const struct be_cache *cache, const char *kind, const char *key, const struct be_object *object,
		 struct be_error *err) BE_MUST_CHECK;

/* The same for texts of moderate size. */
bool be_cache_get_text(const struct be_cache *cache, const char *kind, const char *key, struct be_buf *text);
int be_cache_set_text(const struct be_cache *cache, const char *kind, const char *key, const char *text, size_t len,
		      struct be_error *err) BE_MUST_CHECK;

/* A file for pwrite; without @path it has no name and goes away by itself, else the caller adopts or removes it. -1 on
 * failure. */
int be_cache_scratch(const struct be_cache *cache, char **path, struct be_error *err) BE_MUST_CHECK;
/* A folder for the caller, who removes it by be_remove_tree; NULL on failure. */
char *be_cache_tempdir(const struct be_cache *cache, struct be_error *err);
/* What there is in the cache. */
struct be_cache_use {
	size_t objects, keys, temporary; /* files */
	int64_t bytes;                   /* of objects and keys, as they lie on the disk */
	int64_t lists;                   /* of package lists */
};
int be_cache_measure(const struct be_cache *cache, struct be_cache_use *use, struct be_error *err) BE_MUST_CHECK;
/*
 * Removes what was not used for @age seconds (< 0: any), then of the rest what was used longest ago until at most
 * @bytes (< 0: any) are left, and all temporary files. Waits until no build has the cache open. @removed is what went.
 */
int be_cache_prune(struct be_cache *cache, int64_t age, int64_t bytes, struct be_cache_use *removed,
		   struct be_error *err) BE_MUST_CHECK;

/* A hint that names the cache, for what could not be written there; returns -1. */
int be_cache_hint(const struct be_cache *cache, struct be_error *err);
/* Does the error say that there is no room? A child's error is known by its text alone. */
bool be_disk_is_full(const struct be_error *err);

#endif
