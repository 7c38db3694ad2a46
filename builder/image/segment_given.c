/* What the user gave by --program, as a member of its own. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "builder/image/segment.h"

static void hash_files(struct be_hash *hash, const struct be_given_files *files)
{
	be_hash_adds(hash, NULL);
	for (size_t i = 0; i < files->n; i++) {
		const struct be_given_file *file = &files->v[i];
		be_hash_adds(hash, file->path);
		be_hash_adds(hash, file->target);
		be_hash_adds(hash, file->source ? file->sha256 : NULL);
		be_hash_adds(hash, file->program ? "program" : NULL);
	}
}

/* The bytes must be those that were hashed: the lock states them. */
static int check_unchanged(const struct be_given_file *file, int fd, struct be_error *err)
{
	be_autohash struct be_hash hash = { 0 };
	char sha256[BE_HASH_TEXT];
	be_hash_start(&hash);
	if (be_hash_add_range(&hash, fd, 0, file->size, file->source, err) != 0)
		return -1;
	be_hash_end(&hash, sha256);
	return be_streq(sha256, file->sha256) ? 0 : be_fail(err, "%s: was changed during the build", file->source);
}

static int write_file(struct be_cpio *cpio, const struct be_given_file *file, struct be_error *err)
{
	struct be_cpio_links links = { .n = 1 };
	be_autofd int fd = open(file->source, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return be_fail_errno(err, errno, "%s: cannot be read", file->source);
	/* Modes but for the right to execute are the owner's umask, which must not show. */
	if (be_cpio_file(cpio, file->path, file->program ? 0755 : 0644, fd, 0, file->size, &links, err) != 0)
		return -1;
	return check_unchanged(file, fd, err);
}

static int write_files(struct be_cpio *cpio, const struct be_given_files *files, struct be_error *err)
{
	for (size_t i = 0; i < files->n; i++) {
		const struct be_given_file *file = &files->v[i];
		int rc;
		if (be_interrupted(err) != 0)
			return -1;
		if (file->source)
			rc = write_file(cpio, file, err);
		else if (file->target)
			rc = be_cpio_symlink(cpio, file->path, file->target, err);
		else
			rc = be_cpio_folder(cpio, file->path, 0755, err);
		if (rc != 0)
			return -1;
	}
	return 0;
}

int be_segment_given(struct be_segment *segment, const struct be_cache *cache, const struct be_compressor *compressor,
		     const struct be_given *given, struct be_error *err)
{
	char key[BE_HASH_TEXT];
	be_autohash struct be_hash hash = { 0 };
	segment->name = be_strf("given/%s", given->name);
	be_hash_start(&hash);
	be_hash_adds(&hash, "given");
	hash_files(&hash, &given->files);
	hash_files(&hash, &given->libraries);
	be_hash_end(&hash, key);
	if (be_segment_find(segment, cache, compressor, key))
		return 0;
	be_autocpio struct be_cpio cpio = { .file = BE_CACHE_FILE_INIT };
	if (be_cpio_open(&cpio, cache, compressor, err) != 0 || write_files(&cpio, &given->files, err) != 0 ||
	    write_files(&cpio, &given->libraries, err) != 0)
		return -1;
	return be_segment_keep(segment, &cpio, compressor, key, err);
}
