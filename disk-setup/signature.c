#include "signature.h"

#include <blkid/blkid.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK 4096        /* no device has larger logical blocks: what a direct read is aligned to */
#define PIECE (128 << 10) /* bytes */
#define EDGE (1 << 20)    /* bytes at the begin and at the end of a device that hold data, or the device is free */
#define SIGNATURES_MAX 64 /* a device that still shows signatures after so many is not ours to understand */

bool be_signature_ours(const struct be_signature *s)
{
	if (s->table)
		return false;
	return (s->uuid && be_starts(s->uuid, BE_UUID_PREFIX)) ||
	       (strcmp(s->type, "f2fs") == 0 && be_streq(s->label, BE_FS_LABEL));
}

char *be_signature_text(const struct be_signature *s)
{
	be_autobuf struct be_buf b = { 0 };
	if (strcmp(s->type, BE_UNKNOWN_DATA) == 0)
		return be_strdup("data of no known kind");
	be_buf_adds(&b, s->type);
	if (s->table)
		be_buf_adds(&b, " partition table");
	if (s->label)
		be_buf_addf(&b, " labelled \"%s\"", s->label);
	if (be_signature_ours(s))
		be_buf_adds(&b, " made by mkbenchenv");
	else if (s->uuid && !s->table)
		be_buf_addf(&b, ", UUID %s", s->uuid);
	return be_buf_steal(&b);
}

void be_signature_uuid(const struct be_strv *paths, char uuid[37])
{
	uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a: names few devices apart, protects nothing */
	for (size_t i = 0; i < paths->n; i++)
		for (const char *p = paths->v[i];; p++) {
			hash = (hash ^ (unsigned char)*p) * 0x100000001b3u;
			if (!*p)
				break;
		}
	/* The variant bits of RFC 4122 are set, so that every tool takes it for an ordinary UUID. */
	snprintf(uuid, 37, BE_UUID_PREFIX "%04x-%012" PRIx64, (unsigned)(hash >> 48 & 0x3fff) | 0x8000u,
		 hash & 0xffffffffffffu);
}

static blkid_probe new_probe(int fd, struct be_error *err)
{
	blkid_probe pr = blkid_new_probe();
	if (!pr || blkid_probe_set_device(pr, fd, 0, 0) != 0) {
		if (pr)
			blkid_free_probe(pr);
		be_fail(err, "libblkid cannot use the device");
		return NULL;
	}
	blkid_probe_enable_superblocks(pr, 1);
	blkid_probe_set_superblocks_flags(pr, BLKID_SUBLKS_MAGIC | BLKID_SUBLKS_TYPE | BLKID_SUBLKS_USAGE |
						      BLKID_SUBLKS_LABEL | BLKID_SUBLKS_UUID | BLKID_SUBLKS_BADCSUM);
	blkid_probe_enable_partitions(pr, 1);
	blkid_probe_set_partitions_flags(pr, BLKID_PARTS_MAGIC | BLKID_PARTS_FORCE_GPT);
	return pr;
}

/* Labels are what somebody once wrote to a disk: what a document or a terminal could not take becomes "?". */
static char *value(blkid_probe pr, const char *name)
{
	const char *data = NULL;
	size_t len = 0;
	if (blkid_probe_lookup_value(pr, name, &data, &len) != 0 || !data || !*data)
		return NULL;
	be_autofree char *raw = be_strndup(data, len);
	be_autobuf struct be_buf text = { 0 };
	for (const char *p = raw; *p;) {
		size_t n = be_utf8_length(p);
		if (n > 1 || (n == 1 && *p >= ' '))
			be_buf_add(&text, p, n);
		else
			be_buf_addc(&text, '?');
		p += n ? n : 1;
	}
	return be_buf_steal(&text);
}

static bool read_signature(blkid_probe pr, struct be_signature *s)
{
	*s = (struct be_signature){ .type = value(pr, "TYPE") };
	if (s->type) {
		s->label = value(pr, "LABEL");
		s->uuid = value(pr, "UUID");
		return true;
	}
	s->type = value(pr, "PTTYPE");
	s->table = true;
	s->uuid = s->type ? value(pr, "PTUUID") : NULL;
	return s->type != NULL;
}

static void free_signature(struct be_signature *s)
{
	free(s->type);
	free(s->label);
	free(s->uuid);
}

static bool same(const struct be_signature *a, const struct be_signature *b)
{
	return be_streq(a->type, b->type) && a->table == b->table && be_streq(a->uuid, b->uuid);
}

/* Takes @s unless the device has it already: GPT, FAT and others show once for each of their copies. */
static void add_signature(struct be_device *d, struct be_signature *s)
{
	for (size_t i = 0; i < d->nsignatures; i++)
		if (same(&d->signatures[i], s)) {
			free_signature(s);
			return;
		}
	d->signatures = be_realloc(d->signatures, d->nsignatures + 1, sizeof(*s));
	d->signatures[d->nsignatures++] = *s;
}

/* @blank: both edges are known to hold zeros. The labels of ZFS are there, a megabyte that libblkid would read into
 * fresh memory each. */
static int probe(struct be_device *d, int fd, const char *node, bool blank, struct be_error *err)
{
	char *at_edges[] = { "zfs_member", NULL };
	blkid_probe pr = new_probe(fd, err);
	if (!pr)
		return be_wrap(err, "%s", node);
	if (blank)
		blkid_probe_filter_superblocks_type(pr, BLKID_FLTR_NOTIN, at_edges);
	int rc;
	for (unsigned i = 0; (rc = blkid_do_probe(pr)) == 0 && i < SIGNATURES_MAX; i++) {
		struct be_signature s;
		if (read_signature(pr, &s))
			add_signature(d, &s);
	}
	blkid_free_probe(pr);
	return rc < 0 ? be_fail(err, "%s cannot be probed for what it carries (an I/O error?)", node) : 0;
}

/* Half a hundred probes of libblkid read a few bytes here and there, and each would wait for the disk: what they read
 * comes into the page cache first, by few requests at once. Only a hint; a place that is missing here costs one wait.
 */
static void fetch_superblocks(int fd)
{
	static const struct {
		off_t offset, len; /* below zero: counted from the end */
	} places[] = {
		{ 0, 72 << 10 },     { 128 << 10, 4096 },         { 256 << 10, 4096 },
		{ 512 << 10, 4096 }, { 1 << 20, 4096 },           { 2 << 20, 4096 },
		{ 4 << 20, 4096 },   { -(512 << 10), 512 << 10 }, { -1580544, 4096 },
	};
	off_t end = lseek(fd, 0, SEEK_END);
	for (size_t i = 0; i < BE_ARRAY_LEN(places); i++) {
		off_t offset = places[i].offset < 0 ? end + places[i].offset : places[i].offset;
		if (offset >= 0 && offset < end)
			posix_fadvise(fd, offset, places[i].len, POSIX_FADV_WILLNEED);
	}
}

/* Past the page cache, which needs none of it afterwards: an emulated processor takes its time over copying from there.
 */
static int open_direct(const char *node)
{
	struct stat st;
	int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
	return open(node, stat(node, &st) == 0 && S_ISBLK(st.st_mode) ? flags | O_DIRECT : flags);
}

/* Is there anything but zeros in @len bytes at @offset, of which the device may have fewer? In pieces that fit a cache,
 * each looked at by one memcmp: an emulated processor takes its time over a loop, and over touching fresh pages. */
static int holds_data(int fd, off_t offset, size_t len, bool *data, const char *node, struct be_error *err)
{
	_Alignas(BLOCK) char buf[PIECE];
	for (size_t done = 0; done < len && !*data;) {
		ssize_t n = pread(fd, buf, len - done < PIECE ? len - done : PIECE, offset + (off_t)done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return be_fail_errno(err, errno, "%s cannot be read", node);
		if (n == 0)
			break;
		*data = buf[0] || memcmp(buf, buf + 1, (size_t)n - 1) != 0; /* each byte is like the one before it */
		done += (size_t)n;
	}
	return 0;
}

static int edges_hold_data(const char *node, bool *data, struct be_error *err)
{
	be_autofd int fd = open_direct(node);
	off_t end = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
	*data = false;
	if (end < 0)
		return be_fail_errno(err, errno, "%s: its size cannot be read", node);
	if (holds_data(fd, 0, EDGE, data, node, err) != 0)
		return -1;
	return end > EDGE ? holds_data(fd, end - EDGE, EDGE, data, node, err) : 0;
}

int be_signature_list(struct be_device *d, const char *node, struct be_error *err)
{
	be_autofd int fd = open(node, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return be_fail_errno(err, errno, "%s cannot be opened", node);
	return probe(d, fd, node, false, err);
}

int be_signature_probe(struct be_device *d, const char *node, struct be_error *err)
{
	be_autofd int fd = open(node, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return be_fail_errno(err, errno, "%s cannot be opened", node);
	fetch_superblocks(fd);
	bool data;
	struct be_error unread = BE_ERROR_INIT;
	bool readable = edges_hold_data(node, &data, &unread) == 0;
	if (probe(d, fd, node, readable && !data, err) != 0)
		return -1;
	if (d->nsignatures)
		return 0;
	if (!readable) {
		*err = unread;
		return -1;
	}
	/* Encryption without a header, a database, a file system that this libblkid is too old for: somebody's, of no
	 * known kind. */
	struct be_signature unknown = { .type = data ? be_strdup(BE_UNKNOWN_DATA) : NULL };
	if (data)
		add_signature(d, &unknown);
	return 0;
}

char *be_signature_partition_type(const char *node)
{
	be_autofd int fd = open(node, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	blkid_probe pr = fd < 0 ? NULL : blkid_new_probe();
	char *type = NULL;
	if (pr && blkid_probe_set_device(pr, fd, 0, 0) == 0) {
		blkid_probe_enable_superblocks(pr, 0);
		blkid_probe_enable_partitions(pr, 1);
		blkid_probe_set_partitions_flags(pr, BLKID_PARTS_ENTRY_DETAILS);
		if (blkid_do_fullprobe(pr) == 0)
			type = value(pr, "PART_ENTRY_TYPE");
	}
	if (pr)
		blkid_free_probe(pr);
	return type;
}

/* One pass over the device; the probe goes one step back by itself after each wipe, so copies are found as well. */
static int wipe_pass(blkid_probe pr, const char *node, struct be_strv *wiped, bool *table, struct be_error *err)
{
	int rc;
	for (unsigned i = 0; (rc = blkid_do_probe(pr)) == 0; i++) {
		struct be_signature s;
		if (i == SIGNATURES_MAX)
			return be_fail(err, "%s still shows signatures after %u were erased", node, i);
		if (read_signature(pr, &s)) {
			be_autofree char *name = be_signature_text(&s);
			if (!be_strv_has(wiped, name))
				be_strv_add(wiped, name);
			*table = *table || s.table;
			free_signature(&s);
		}
		errno = 0;
		if (blkid_do_wipe(pr, 0) != 0)
			return be_fail_errno(err, errno ? errno : EIO, "%s: a signature cannot be erased", node);
	}
	return rc < 0 ? be_fail(err, "%s cannot be probed while it is wiped (an I/O error?)", node) : 0;
}

int be_signature_wipe(const char *node, struct be_strv *wiped, struct be_error *err)
{
	be_autofd int fd = open(node, O_RDWR | O_EXCL | O_CLOEXEC);
	if (fd < 0)
		return be_fail_errno(err, errno, "%s cannot be opened for wiping", node);
	blkid_probe pr = new_probe(fd, err);
	if (!pr)
		return be_wrap(err, "%s", node);
	bool table = false;
	int rc = wipe_pass(pr, node, wiped, &table, err);
	blkid_free_probe(pr);
	if (rc == 0 && fsync(fd) != 0)
		rc = be_fail_errno(err, errno, "%s: the erased signatures cannot be flushed", node);
	if (rc == 0 && table && ioctl(fd, BLKRRPART) != 0 && errno != EINVAL && errno != ENOTTY)
		rc = be_fail_errno(err, errno, "%s: the kernel does not let go of the erased partitions", node);
	if (rc != 0)
		return -1;
	struct be_device left = { 0 };
	rc = probe(&left, fd, node, false, err);
	if (rc == 0 && left.nsignatures)
		rc = be_fail(err, "%s still carries %s after wiping", node, left.signatures[0].type);
	be_device_forget(&left);
	return rc;
}

int be_signature_filesystem(const char *node, const char *kind, char **uuid, struct be_error *err)
{
	char *kinds[] = { (char *)(uintptr_t)kind, NULL };
	*uuid = NULL;
	be_autofd int fd = open(node, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return be_fail_errno(err, errno, "%s cannot be opened", node);
	blkid_probe pr = new_probe(fd, err);
	if (!pr)
		return be_wrap(err, "%s", node);
	blkid_probe_enable_partitions(pr, 0);
	blkid_probe_filter_superblocks_type(pr, BLKID_FLTR_ONLYIN, kinds);
	if (blkid_do_safeprobe(pr) == 0)
		*uuid = value(pr, "UUID");
	blkid_free_probe(pr);
	return 0;
}
