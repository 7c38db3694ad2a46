#include "builder/image/member.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "builder/progress.h"

#define BLOCK (128u << 10)

void be_member_free(struct be_member *member)
{
	for (size_t i = 0; i < member->n; i++) {
		free(member->v[i].path);
		free(member->v[i].target);
	}
	free(member->v);
	*member = (struct be_member){ 0 };
}

struct range {
	int fd;
	int64_t at, end;
	char block[BLOCK];
};

static la_ssize_t read_range(struct archive *archive, void *data, const void **block)
{
	struct range *range = data;
	int64_t left = range->end - range->at;
	ssize_t n;
	do
		n = pread(range->fd, range->block, left < BLOCK ? (size_t)left : BLOCK, range->at);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		archive_set_error(archive, errno, "%s", strerror(errno));
	else
		range->at += n;
	*block = range->block;
	return n;
}

static int fail(struct archive *archive, const char *name, struct be_error *err)
{
	const char *text = archive_error_string(archive);
	return be_fail(err, "%s: no cpio archive that a kernel unpacks: %s", name, text ? text : "is cut off");
}

static int read_content(struct archive *archive, struct be_member_entry *entry, const char *name, struct be_error *err)
{
	be_autohash struct be_hash hash = { 0 };
	const void *block;
	size_t len;
	la_int64_t at, expected = 0;
	int rc;
	be_hash_start(&hash);
	while ((rc = archive_read_data_block(archive, &block, &len, &at)) == ARCHIVE_OK) {
		if (at != expected)
			return be_fail(err, "%s: %s has a hole", name, entry->path);
		be_hash_add(&hash, block, len);
		expected += (la_int64_t)len;
	}
	if (rc != ARCHIVE_EOF)
		return fail(archive, name, err);
	be_hash_end(&hash, entry->sha256);
	return 0;
}

static int add_entry(struct be_member *member, size_t *cap, struct archive *archive, struct archive_entry *from,
		     const char *name, struct be_error *err)
{
	const char *path = archive_entry_pathname(from), *hardlink = archive_entry_hardlink(from);
	if (!path)
		return be_fail(err, "%s: an entry has no name", name);
	if (member->n == *cap) {
		*cap = *cap ? *cap * 2 : 64;
		member->v = be_realloc(member->v, *cap, sizeof(*member->v));
	}
	struct be_member_entry *entry = &member->v[member->n++];
	*entry = (struct be_member_entry){ .path = be_strdup(path),
					   .mode = archive_entry_mode(from),
					   .size = archive_entry_size(from),
					   .target = be_strdup(hardlink ? hardlink : archive_entry_symlink(from)),
					   .hardlink = hardlink != NULL,
					   .links = archive_entry_nlink(from),
					   .inode = archive_entry_ino64(from) };
	if (archive_entry_uid(from) != 0 || archive_entry_gid(from) != 0 || archive_entry_mtime(from) != 0)
		return be_fail(err, "%s: %s tells who made it or when", name, path);
	return S_ISREG(entry->mode) && !hardlink ? read_content(archive, entry, name, err) : 0;
}

static int read_archive(struct be_member *member, struct archive *archive, struct range *range, const char *name,
			struct be_error *err)
{
	struct archive_entry *from;
	size_t cap = 0;
	int rc;
	archive_read_support_filter_zstd(archive);
	archive_read_support_filter_gzip(archive);
	archive_read_support_format_cpio(archive);
	if (archive_read_open(archive, range, NULL, read_range, NULL) != ARCHIVE_OK)
		return fail(archive, name, err);
	while ((rc = archive_read_next_header(archive, &from)) == ARCHIVE_OK)
		if (be_interrupted(err) != 0 || add_entry(member, &cap, archive, from, name, err) != 0)
			return -1;
	member->unpacked = archive_filter_bytes(archive, 0);
	return rc == ARCHIVE_EOF ? 0 : fail(archive, name, err);
}

/* Where a zstd frame ends; of other members the whole: their readers stop at an end by themselves. The kernel goes on
 * behind the frame, over zeros only. */
static int content_size(int fd, int64_t offset, int64_t size, const char *name, int64_t *content, struct be_error *err)
{
	static const unsigned char magic[] = { 0x28, 0xb5, 0x2f, 0xfd };
	int64_t page = sysconf(_SC_PAGESIZE), skip = offset % page;
	*content = size;
	if (size < (int64_t)sizeof(magic))
		return be_fail(err, "%s: is cut off", name);
	unsigned char *map = mmap(NULL, (size_t)(size + skip), PROT_READ, MAP_PRIVATE, fd, offset - skip);
	if (map == MAP_FAILED)
		return be_fail_errno(err, errno, "%s: cannot be mapped", name);
	const unsigned char *data = map + skip;
	bool zeros = true;
	if (memcmp(data, magic, sizeof(magic)) == 0) {
		size_t n = ZSTD_findFrameCompressedSize(data, (size_t)size);
		if (ZSTD_isError(n))
			zeros = false;
		else
			*content = (int64_t)n;
		for (int64_t i = *content; zeros && i < size; i++)
			zeros = data[i] == 0;
	}
	munmap(map, (size_t)(size + skip));
	return zeros ? 0 : be_fail(err, "%s: is damaged, or more than zeros follow its end", name);
}

int be_member_read(struct be_member *member, int fd, int64_t offset, int64_t size, const char *name,
		   struct be_error *err)
{
	struct stat st;
	be_autofree struct range *range = be_alloc(sizeof(*range));
	int64_t content;
	if (fstat(fd, &st) != 0 || offset < 0 || size < 0 || offset > st.st_size || size > st.st_size - offset)
		return be_fail(err, "%s: lies beyond the end of the file", name);
	if (content_size(fd, offset, size, name, &content, err) != 0)
		return -1;
	*range = (struct range){ .fd = fd, .at = offset, .end = offset + content };
	struct archive *archive = archive_read_new();
	int rc = read_archive(member, archive, range, name, err);
	archive_read_free(archive);
	return rc;
}

const struct be_member_entry *be_member_find(const struct be_member *member, const char *path)
{
	for (size_t i = member->n; i-- > 0;)
		if (be_streq(member->v[i].path, path))
			return &member->v[i];
	return NULL;
}

static const char *or_nothing(const char *text)
{
	return text ? text : "nothing";
}

char *be_member_difference(const struct be_member_entry *a, const struct be_member_entry *b, const char *other)
{
	if (a->mode != b->mode)
		return be_strf("mode %o, %s %o", a->mode, other, b->mode);
	if (a->hardlink != b->hardlink || !be_streq(a->target, b->target))
		return be_strf("leads to %s, %s to %s", or_nothing(a->target), other, or_nothing(b->target));
	if (a->size != b->size)
		return be_strf("%lld bytes, %s %lld", (long long)a->size, other, (long long)b->size);
	if (a->links != b->links)
		return be_strf("%u names, %s %u", a->links, other, b->links);
	if (!be_streq(a->sha256, b->sha256))
		return be_strf("SHA-256 %.12s, %s %.12s", a->sha256, other, b->sha256);
	return NULL;
}
