#include "builder/image/cpio.h"

#include <archive_entry.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK (128u << 10)
/* The kernel wants each member to begin at a multiple of 4 and skips zeros; at a file system's blocks members can be
 * shared between images. */
#define ALIGN 4096
#define LEVEL_HIGH 13 /* from where on zstd's tables grow beyond a few megabytes */

char *be_compressor_library(const struct be_compressor *compressor)
{
	if (be_streq(compressor->name, "zstd"))
		return be_strdup(ZSTD_versionString());
	if (be_streq(compressor->name, "gzip"))
		return be_strdup(archive_zlib_version());
	return NULL;
}

/* Compresses @len bytes, with ZSTD_e_end to the end of the frame. */
static int compress(struct be_cpio *cpio, const void *data, size_t len, ZSTD_EndDirective end, struct be_error *err)
{
	ZSTD_inBuffer in = { .src = data, .size = len };
	be_autofree char *block = be_alloc(BLOCK);
	size_t left;
	do {
		ZSTD_outBuffer out = { .dst = block, .size = BLOCK };
		left = ZSTD_compressStream2(cpio->zstd, &out, &in, end);
		if (ZSTD_isError(left))
			return be_fail(err, "writing the initrd: zstd: %s", ZSTD_getErrorName(left));
		if (out.pos && be_cache_file_write(&cpio->file, block, out.pos, err) != 0)
			return -1;
	} while (end == ZSTD_e_end ? left > 0 : in.pos < in.size);
	return 0;
}

static la_ssize_t write_out(struct archive *archive, void *data, const void *block, size_t len)
{
	struct be_cpio *cpio = data;
	if ((cpio->zstd ? compress(cpio, block, len, ZSTD_e_continue, &cpio->failed)
			: be_cache_file_write(&cpio->file, block, len, &cpio->failed)) == 0)
		return (la_ssize_t)len;
	archive_set_error(archive, EIO, "%s", cpio->failed.text);
	return -1;
}

static int fail(struct be_cpio *cpio, struct be_error *err)
{
	if (cpio->failed.text[0]) {
		*err = cpio->failed;
		return -1;
	}
	const char *text = archive_error_string(cpio->archive);
	return be_fail(err, "writing the initrd: %s", text ? text : "libarchive failed");
}

/*
 * One thread: its bytes depend on nothing but input, parameters and library. The tables of high levels are cut down:
 * three compressors at once stay below 64 MB, for one per cent of the size.
 */
static int set_zstd(struct be_cpio *cpio, int level)
{
	static const struct {
		ZSTD_cParameter key;
		int value;
	} bounds[] = { { ZSTD_c_windowLog, 21 }, { ZSTD_c_chainLog, 20 }, { ZSTD_c_hashLog, 20 } };
	bool ok = (cpio->zstd = ZSTD_createCCtx()) != NULL &&
		  !ZSTD_isError(ZSTD_CCtx_setParameter(cpio->zstd, ZSTD_c_compressionLevel, level));
	for (size_t i = 0; level >= LEVEL_HIGH && i < BE_ARRAY_LEN(bounds); i++)
		ok = ok && !ZSTD_isError(ZSTD_CCtx_setParameter(cpio->zstd, bounds[i].key, bounds[i].value));
	return ok ? 0 : -1;
}

/* The time in a gzip header is left out. */
static int set_gzip(struct archive *archive, int level)
{
	be_autofree char *text = be_strf("%d", level);
	return archive_write_add_filter_gzip(archive) == ARCHIVE_OK &&
			       archive_write_set_filter_option(archive, "gzip", "compression-level", text) ==
				       ARCHIVE_OK &&
			       archive_write_set_filter_option(archive, "gzip", "timestamp", NULL) == ARCHIVE_OK
		       ? 0
		       : -1;
}

static int set_filter(struct be_cpio *cpio, const struct be_compressor *compressor)
{
	if (be_streq(compressor->name, "zstd"))
		return set_zstd(cpio, compressor->level);
	return be_streq(compressor->name, "gzip") ? set_gzip(cpio->archive, compressor->level) : 0;
}

int be_cpio_open(struct be_cpio *cpio, const struct be_cache *cache, const struct be_compressor *compressor,
		 struct be_error *err)
{
	*cpio = (struct be_cpio){ .file = BE_CACHE_FILE_INIT, .failed = BE_ERROR_INIT };
	if (be_cache_file_open(&cpio->file, cache, err) != 0)
		return -1;
	cpio->archive = archive_write_new();
	cpio->entry = archive_entry_new();
	if (archive_write_set_format_cpio_newc(cpio->archive) != ARCHIVE_OK || set_filter(cpio, compressor) != 0 ||
	    archive_write_set_bytes_per_block(cpio->archive, BLOCK) != ARCHIVE_OK ||
	    archive_write_set_bytes_in_last_block(cpio->archive, 1) != ARCHIVE_OK ||
	    archive_write_open(cpio->archive, cpio, NULL, write_out, NULL) != ARCHIVE_OK)
		return fail(cpio, err);
	return 0;
}

void be_cpio_drop(struct be_cpio *cpio)
{
	archive_entry_free(cpio->entry);
	archive_write_free(cpio->archive);
	ZSTD_freeCCtx(cpio->zstd);
	cpio->zstd = NULL;
	cpio->entry = NULL;
	cpio->archive = NULL;
	be_cache_file_drop(&cpio->file);
	be_strv_free(&cpio->folders);
}

/* A warning would mean that something was left out or changed: that is no image. */
static int put_header(struct be_cpio *cpio, struct be_error *err)
{
	return archive_write_header(cpio->archive, cpio->entry) == ARCHIVE_OK ? 0 : fail(cpio, err);
}

static void start_entry(struct be_cpio *cpio, const char *path, mode_t mode, int64_t inode, unsigned links)
{
	archive_entry_clear(cpio->entry);
	archive_entry_set_pathname(cpio->entry, path);
	archive_entry_set_mode(cpio->entry, mode);
	archive_entry_set_ino64(cpio->entry, inode ? inode : ++cpio->inode);
	archive_entry_set_nlink(cpio->entry, links);
	archive_entry_set_uid(cpio->entry, 0);
	archive_entry_set_gid(cpio->entry, 0);
	archive_entry_set_mtime(cpio->entry, 0, 0);
	archive_entry_set_size(cpio->entry, 0);
}

static int make_folders(struct be_cpio *cpio, const char *path, struct be_error *err)
{
	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		be_autofree char *folder = be_strndup(path, (size_t)(slash - path));
		if (!be_strv_has(&cpio->folders, folder) && be_cpio_folder(cpio, folder, 0755, err) != 0)
			return -1;
	}
	return 0;
}

int be_cpio_folder(struct be_cpio *cpio, const char *path, unsigned mode, struct be_error *err)
{
	if (be_strv_has(&cpio->folders, path))
		return 0;
	if (make_folders(cpio, path, err) != 0)
		return -1;
	be_strv_add(&cpio->folders, path);
	start_entry(cpio, path, S_IFDIR | mode, 0, 2);
	return put_header(cpio, err);
}

int be_cpio_symlink(struct be_cpio *cpio, const char *path, const char *target, struct be_error *err)
{
	if (make_folders(cpio, path, err) != 0)
		return -1;
	start_entry(cpio, path, S_IFLNK | 0777, 0, 1);
	archive_entry_set_symlink(cpio->entry, target);
	archive_entry_set_size(cpio->entry, (la_int64_t)strlen(target));
	return put_header(cpio, err);
}

static int put_data(struct be_cpio *cpio, const void *data, size_t len, struct be_error *err)
{
	return archive_write_data(cpio->archive, data, len) == (la_ssize_t)len ? 0 : fail(cpio, err);
}

int be_cpio_text(struct be_cpio *cpio, const char *path, unsigned mode, const void *data, size_t len,
		 struct be_error *err)
{
	if (make_folders(cpio, path, err) != 0)
		return -1;
	start_entry(cpio, path, S_IFREG | mode, 0, 1);
	archive_entry_set_size(cpio->entry, (la_int64_t)len);
	if (put_header(cpio, err) != 0)
		return -1;
	return len ? put_data(cpio, data, len, err) : 0;
}

static int copy(struct be_cpio *cpio, const char *path, int fd, int64_t offset, int64_t size, struct be_error *err)
{
	be_autofree char *block = be_alloc(BLOCK);
	while (size > 0) {
		ssize_t n = pread(fd, block, size < BLOCK ? (size_t)size : BLOCK, offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return be_fail_errno(err, errno, "%s: cannot be read", path);
		if (n == 0)
			return be_fail(err, "%s: became shorter while it was read", path);
		if (put_data(cpio, block, (size_t)n, err) != 0)
			return -1;
		offset += n;
		size -= n;
	}
	return 0;
}

int be_cpio_file(struct be_cpio *cpio, const char *path, unsigned mode, int fd, int64_t offset, int64_t size,
		 struct be_cpio_links *links, struct be_error *err)
{
	bool first = links->inode == 0;
	if (make_folders(cpio, path, err) != 0)
		return -1;
	start_entry(cpio, path, S_IFREG | mode, links->inode, links->n);
	links->inode = archive_entry_ino64(cpio->entry);
	archive_entry_set_size(cpio->entry, first ? size : 0);
	if (put_header(cpio, err) != 0)
		return -1;
	return first ? copy(cpio, path, fd, offset, size, err) : 0;
}

int be_cpio_close(struct be_cpio *cpio, struct be_object *object, int64_t *unpacked, struct be_error *err)
{
	static const char zeros[ALIGN];
	if (archive_write_close(cpio->archive) != ARCHIVE_OK)
		return fail(cpio, err);
	if (cpio->zstd && compress(cpio, NULL, 0, ZSTD_e_end, err) != 0)
		return -1;
	*unpacked = archive_filter_bytes(cpio->archive, 0);
	size_t odd = (size_t)(cpio->file.size % ALIGN);
	if (odd && be_cache_file_write(&cpio->file, zeros, ALIGN - odd, err) != 0)
		return -1;
	return be_cache_file_keep(&cpio->file, object, err);
}
