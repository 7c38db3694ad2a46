#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "builder/rebuild/bundle.h"

#define BLOCK (128u << 10)
#define MANIFEST "manifest.yaml"
#define GIVEN "given/"

/* The first header of a tar archive that begins with the manifest. */
bool be_is_bundle(const char *path)
{
	char head[512];
	struct stat st;
	if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
		return false;
	be_autofd int fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && read(fd, head, sizeof(head)) == (ssize_t)sizeof(head) && strcmp(head, MANIFEST) == 0 &&
	       memcmp(head + 257, "ustar", 5) == 0;
}

struct reader {
	struct archive *archive;
	const char *path;
	int64_t bytes; /* of the bundle */
	const struct be_cache *cache;
	struct be_buf manifest;
	struct be_strv *programs;
	char **folder;
};

static int fail(struct reader *reader, struct be_error *err)
{
	const char *text = archive_error_string(reader->archive);
	be_fail(err, "%s: %s", reader->path, text ? text : "is damaged");
	return be_hint(err, "pack the bundle again by `mkbenchenv pack`");
}

static int read_manifest(struct reader *reader, struct be_error *err)
{
	char block[4096];
	la_ssize_t n;
	while ((n = archive_read_data(reader->archive, block, sizeof(block))) > 0) {
		be_buf_add(&reader->manifest, block, (size_t)n);
		if (reader->manifest.len > BE_NODE_MAX_BYTES)
			return be_fail_usage(err, "%s: its manifest is too large", reader->path);
	}
	return n == 0 ? 0 : fail(reader, err);
}

/* Whatever a bundle holds is kept under the hash that it has: what nobody asks for does no harm. */
static int keep_object(struct reader *reader, struct be_error *err)
{
	be_autofree char *block = be_alloc(BLOCK);
	be_autocachefile struct be_cache_file file = BE_CACHE_FILE_INIT;
	be_autoobject struct be_object object = { .path = NULL };
	la_ssize_t n;
	if (be_cache_file_open(&file, reader->cache, err) != 0)
		return -1;
	while ((n = archive_read_data(reader->archive, block, BLOCK)) > 0)
		if (be_interrupted(err) != 0 || be_cache_file_write(&file, block, (size_t)n, err) != 0)
			return -1;
	return n == 0 ? be_cache_file_keep(&file, &object, err) : fail(reader, err);
}

/* "given/NAME" is a file or folder; what is in it is written as it was packed. */
static int keep_given(struct reader *reader, struct archive_entry *entry, const char *name, struct be_error *err)
{
	be_autostrv struct be_strv parts = { 0 };
	be_strv_split(&parts, name, "/");
	if (!*reader->folder)
		*reader->folder = be_cache_tempdir(reader->cache, err);
	if (!*reader->folder)
		return -1;
	be_autofree char *to = be_strf("%s/%s", *reader->folder, name), *folder = be_strdup(to);
	mode_t type = archive_entry_filetype(entry);
	*strrchr(folder, '/') = '\0';
	if (be_mkdirs(type == AE_IFDIR ? to : folder, 0755, err) != 0)
		return -1;
	be_autofree char *program = be_strf("%s=%s/" GIVEN "%s", parts.v[1], *reader->folder, parts.v[1]);
	if (!be_strv_has(reader->programs, program))
		be_strv_add(reader->programs, program);
	if (type == AE_IFDIR)
		return 0;
	if (type == AE_IFLNK)
		return symlink(archive_entry_symlink(entry), to) == 0 ? 0 : be_fail_errno(err, errno, "%s", to);
	be_autofd int fd =
		open(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, archive_entry_perm(entry) & 0777);
	if (fd < 0)
		return be_fail_errno(err, errno, "%s: cannot be created", to);
	return archive_read_data_into_fd(reader->archive, fd) == ARCHIVE_OK ? 0 : fail(reader, err);
}

static bool leads_out(const char *name)
{
	be_autostrv struct be_strv parts = { 0 };
	be_strv_split(&parts, name, "/");
	return name[0] == '/' || be_strv_has(&parts, "..") || !parts.n;
}

/* "given/NAME" with a name that --program takes; a program itself is no link, which could lead to a file of ours. */
static bool is_given(const char *name, mode_t type)
{
	be_autostrv struct be_strv parts = { 0 };
	be_strv_split(&parts, name, "/");
	return be_starts(name, GIVEN) && parts.n > 1 && !be_strv_has(&parts, ".") && !strchr(parts.v[1], '=') &&
	       (parts.n > 2 || type != AE_IFLNK);
}

/* A link that was packed may not be written through. */
static bool is_below_link(const struct reader *reader, const char *name)
{
	for (const char *slash = strchr(name, '/'); slash && *reader->folder; slash = strchr(slash + 1, '/')) {
		be_autofree char *path = be_strf("%s/%.*s", *reader->folder, (int)(slash - name), name);
		struct stat st;
		if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
			return true;
	}
	return false;
}

static int read_entry(struct reader *reader, struct archive_entry *entry, struct be_error *err)
{
	const char *name = archive_entry_pathname(entry);
	mode_t type = archive_entry_filetype(entry);
	if (!name || leads_out(name) || (type != AE_IFREG && type != AE_IFDIR && type != AE_IFLNK))
		return be_fail_usage(err, "%s: \"%s\" does not belong into a bundle", reader->path, name ? name : "");
	/* Holes would become zeros, terabytes of them. */
	if (archive_entry_size(entry) > reader->bytes)
		return be_fail_usage(err, "%s: \"%s\" is larger than the bundle", reader->path, name);
	if (be_streq(name, MANIFEST) && type == AE_IFREG)
		return read_manifest(reader, err);
	if (is_given(name, type) && !is_below_link(reader, name))
		return keep_given(reader, entry, name, err);
	if ((be_starts(name, "packages/") || be_starts(name, "objects/")) && type == AE_IFREG)
		return keep_object(reader, err);
	return be_fail_usage(err, "%s: \"%s\" does not belong into a bundle", reader->path, name);
}

static int read_all(struct reader *reader, struct be_error *err)
{
	struct archive_entry *entry;
	struct stat st;
	int rc;
	if (stat(reader->path, &st) != 0)
		return be_fail_errno(err, errno, "%s", reader->path);
	reader->bytes = st.st_size;
	archive_read_support_format_tar(reader->archive);
	if (archive_read_open_filename(reader->archive, reader->path, BLOCK) != ARCHIVE_OK)
		return fail(reader, err);
	while ((rc = archive_read_next_header(reader->archive, &entry)) == ARCHIVE_OK)
		if (read_entry(reader, entry, err) != 0)
			return -1;
	return rc == ARCHIVE_EOF ? 0 : fail(reader, err);
}

struct be_node *be_bundle_read(const char *path, const struct be_cache *cache, struct be_strv *programs, char **folder,
			       struct be_error *err)
{
	struct be_node *manifest = NULL;
	struct reader reader = {
		.archive = archive_read_new(), .path = path, .cache = cache, .programs = programs, .folder = folder
	};
	if (read_all(&reader, err) == 0)
		manifest =
			be_node_load(reader.manifest.data ? reader.manifest.data : "", reader.manifest.len, path, err);
	archive_read_free(reader.archive);
	be_buf_free(&reader.manifest);
	return manifest;
}
