/*
 * One member of an initrd: a cpio archive (newc) by libarchive, compressed, straight into the cache. Everything that
 * would tell where and when it was made is fixed here: owner 0, time 0, device 0, inode numbers counted from 1.
 */
#ifndef BE_CPIO_H
#define BE_CPIO_H

#include <archive.h>
#include <stdint.h>
#include <zstd.h>

#include "builder/image/cache.h"

/* How members are compressed: what the kernel can unpack decides. */
struct be_compressor {
	const char *name; /* zstd, gzip or none */
	int level;        /* 0 with none */
};
/* Version of the library that compresses, for the lock: the bytes depend on it. The caller frees. */
char *be_compressor_library(const struct be_compressor *compressor);

struct be_cpio {
	struct archive *archive;
	struct archive_entry *entry;
	struct be_cache_file file;
	ZSTD_CCtx *zstd;        /* or NULL */
	struct be_error failed; /* of the writing callback: libarchive carries no error of ours */
	int64_t inode;
	struct be_strv folders; /* made so far, in their order */
};
int be_cpio_open(struct be_cpio *cpio, const struct be_cache *cache, const struct be_compressor *compressor,
		 struct be_error *err) BE_MUST_CHECK;
/* Paths have no slash at either end. Folders above that no call has made yet are made, mode 0755. */
int be_cpio_folder(struct be_cpio *cpio, const char *path, unsigned mode, struct be_error *err) BE_MUST_CHECK;
int be_cpio_symlink(struct be_cpio *cpio, const char *path, const char *target, struct be_error *err) BE_MUST_CHECK;
int be_cpio_text(struct be_cpio *cpio, const char *path, unsigned mode, const void *data, size_t len,
		 struct be_error *err) BE_MUST_CHECK;

/* A file with several names: all are added one after the other with the same inode; the first carries the content. */
struct be_cpio_links {
	int64_t inode; /* 0 before the first */
	unsigned n;    /* how many names there will be; 1 for an ordinary file */
};
/* @size bytes of @fd from @offset on. */
int be_cpio_file(struct be_cpio *cpio, const char *path, unsigned mode, int fd, int64_t offset, int64_t size,
		 struct be_cpio_links *links, struct be_error *err) BE_MUST_CHECK;

/* Ends the archive, pads it to 4096 bytes and puts it into the cache; @unpacked is the size of the cpio itself. */
int be_cpio_close(struct be_cpio *cpio, struct be_object *object, int64_t *unpacked,
		  struct be_error *err) BE_MUST_CHECK;
void be_cpio_drop(struct be_cpio *cpio); /* after a failure; harmless after be_cpio_close */
#define be_autocpio be_cleanup(be_cpio_drop)

#endif
