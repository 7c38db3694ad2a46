#include "builder/kernel/vmlinux.h"

#include <archive.h>
#include <archive_entry.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

/* Offsets in a bzImage: Documentation/arch/x86/boot.rst of Linux. */
#define SETUP_SECTORS 0x1f1
#define HEADER_MAGIC 0x202 /* "HdrS" */
#define HEADER_VERSION 0x206
#define PAYLOAD_OFFSET 0x248
#define PAYLOAD_LENGTH 0x24c
#define SECTOR 512
#define PAYLOAD_VERSION 0x0208 /* protocol that has the payload's place */

#define NOTE_PHYS32_ENTRY 18 /* ELF note of owner "Xen": where a PVH start enters; include/xen/interface/elfnote.h */

static int find_payload(int fd, const char *name, off_t *start, size_t *length, struct be_error *err)
{
	unsigned char h[0x250];
	if (pread(fd, h, sizeof(h), 0) != (ssize_t)sizeof(h) || memcmp(h + HEADER_MAGIC, "HdrS", 4) != 0)
		return be_fail(err, "%s: is no bzImage", name);
	uint16_t version;
	uint32_t offset, size;
	memcpy(&version, h + HEADER_VERSION, sizeof(version));
	memcpy(&offset, h + PAYLOAD_OFFSET, sizeof(offset));
	memcpy(&size, h + PAYLOAD_LENGTH, sizeof(size));
	if (le16toh(version) < PAYLOAD_VERSION || le32toh(size) < 8)
		return be_fail(err, "%s: a kernel too old to say where its payload lies", name);
	unsigned sectors = h[SETUP_SECTORS] ? h[SETUP_SECTORS] : 4;
	*start = (off_t)(sectors + 1) * SECTOR + le32toh(offset);
	*length = le32toh(size);
	return 0;
}

static void free_reader(struct archive **a)
{
	archive_read_free(*a);
}

/* Unpacks @payload into @file. What follows the compressed data (its unpacked size) may end the reading early. */
static int unpack(const char *name, const void *payload, size_t length, struct be_cache_file *file,
		  struct be_error *err)
{
	be_cleanup(free_reader) struct archive *a = archive_read_new();
	struct archive_entry *entry;
	archive_read_support_filter_all(a);
	archive_read_support_format_raw(a);
	if (archive_read_open_memory(a, payload, length) != ARCHIVE_OK ||
	    archive_read_next_header(a, &entry) != ARCHIVE_OK)
		return be_fail(err, "%s: its compression is unknown: %s", name, archive_error_string(a));
	static const char magic[4] = { 0x7f, 'E', 'L', 'F' };
	char block[65536];
	la_ssize_t n;
	while ((n = archive_read_data(a, block, sizeof(block))) > 0) {
		if (file->size == 0 && (n < 4 || memcmp(block, magic, 4) != 0))
			return be_fail(err, "%s: its payload is no ELF file", name);
		if (be_cache_file_write(file, block, (size_t)n, err) != 0)
			return -1;
	}
	if (n < 0 || file->size == 0)
		return be_fail(err, "%s: cannot be unpacked: %s", name, archive_error_string(a));
	return 0;
}

static bool is_pvh_note(Elf_Data *data)
{
	size_t offset = 0, name, desc;
	GElf_Nhdr note;
	while (data && (offset = gelf_getnote(data, offset, &note, &name, &desc)) > 0)
		if (note.n_type == NOTE_PHYS32_ENTRY && note.n_namesz == 4 &&
		    memcmp((char *)data->d_buf + name, "Xen", 4) == 0)
			return true;
	return false;
}

static void end_elf(Elf **elf)
{
	elf_end(*elf);
}

static bool has_pvh_entry(const char *path)
{
	be_autofd int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || elf_version(EV_CURRENT) == EV_NONE)
		return false;
	be_cleanup(end_elf) Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	size_t headers = 0;
	if (!elf || elf_getphdrnum(elf, &headers) != 0)
		return false;
	for (size_t i = 0; i < headers; i++) {
		GElf_Phdr segment;
		if (gelf_getphdr(elf, (int)i, &segment) && segment.p_type == PT_NOTE &&
		    is_pvh_note(elf_getdata_rawchunk(elf, (int64_t)segment.p_offset, segment.p_filesz, ELF_T_NHDR)))
			return true;
	}
	return false;
}

static int make(const struct be_cache *cache, const char *bzimage, struct be_object *out, struct be_error *err)
{
	be_autofd int fd = open(bzimage, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return be_fail_errno(err, errno, "%s: cannot be opened", bzimage);
	off_t start = 0;
	size_t length = 0;
	if (find_payload(fd, bzimage, &start, &length, err) != 0)
		return -1;
	be_autobuf struct be_buf image = { 0 };
	if (be_read_fd(fd, bzimage, 256u << 20, &image, err) != 0)
		return -1;
	if ((size_t)start > image.len || length > image.len - (size_t)start)
		return be_fail(err, "%s: is cut off", bzimage);
	/* gzip ends with the unpacked size by itself; behind the other formats the build adds it: no part of the
	 * stream. */
	const char *payload = image.data + start;
	bool gzip = (unsigned char)payload[0] == 0x1f && (unsigned char)payload[1] == 0x8b;
	be_autocachefile struct be_cache_file file = BE_CACHE_FILE_INIT;
	if (be_cache_file_open(&file, cache, err) != 0 ||
	    unpack(bzimage, payload, gzip ? length : length - 4, &file, err) != 0)
		return -1;
	return be_cache_file_keep(&file, out, err);
}

int be_vmlinux_get(const struct be_cache *cache, const char *bzimage, const char *sha256, struct be_object *out,
		   struct be_error *err)
{
	if (!be_cache_get(cache, "vmlinux", sha256, out)) {
		if (make(cache, bzimage, out, err) != 0 || be_cache_set(cache, "vmlinux", sha256, out, err) != 0)
			return -1;
	}
	if (has_pvh_entry(out->path))
		return 0;
	be_object_free(out);
	return be_fail(err, "%s: its kernel has no PVH entry", bzimage);
}
