#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "builder/image/image_folder.h"
#include "builder/image/ucode.h"
#include "builder/packages/given.h"
#include "builder/rebuild/bundle.h"

#define BLOCK (128u << 10)

struct writer {
	const struct be_pack *pack;
	const struct be_node *manifest;
	struct be_cache cache;
	struct be_progress progress;
	struct archive *archive;
	struct archive_entry *entry;
	struct be_strv objects; /* hashes */
	int64_t bytes;
};

static int fail(struct writer *writer, struct be_error *err)
{
	const char *text = archive_error_string(writer->archive);
	return be_fail(err, "%s: %s", writer->pack->output, text ? text : "cannot be written");
}

/* Owner and time are left out: who packs the same gets the same. */
static int put_header(struct writer *writer, const char *name, mode_t mode, int64_t size, const char *target,
		      struct be_error *err)
{
	archive_entry_clear(writer->entry);
	archive_entry_set_pathname(writer->entry, name);
	archive_entry_set_mode(writer->entry, mode);
	archive_entry_set_size(writer->entry, size);
	archive_entry_set_mtime(writer->entry, 0, 0);
	if (target)
		archive_entry_set_symlink(writer->entry, target);
	return archive_write_header(writer->archive, writer->entry) == ARCHIVE_OK ? 0 : fail(writer, err);
}

static int put_text(struct writer *writer, const char *name, const struct be_buf *text, struct be_error *err)
{
	if (put_header(writer, name, S_IFREG | 0644, (int64_t)text->len, NULL, err) != 0)
		return -1;
	return archive_write_data(writer->archive, text->data, text->len) == (la_ssize_t)text->len ? 0
												   : fail(writer, err);
}

static int put_file(struct writer *writer, const char *name, const char *path, unsigned mode, struct be_error *err)
{
	struct stat st;
	be_autofree char *block = be_alloc(BLOCK);
	be_autofd int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) != 0)
		return be_fail_errno(err, errno, "%s: cannot be opened", path);
	if (put_header(writer, name, S_IFREG | mode, st.st_size, NULL, err) != 0)
		return -1;
	for (int64_t left = st.st_size; left > 0;) {
		ssize_t n = read(fd, block, BLOCK);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return be_fail(err, "%s: became shorter while it was read", path);
		if (be_interrupted(err) != 0)
			return -1;
		if (archive_write_data(writer->archive, block, (size_t)n) != n)
			return fail(writer, err);
		left -= n;
		writer->bytes += n;
	}
	return 0;
}

static int put_object(struct writer *writer, const char *name, const char *sha256, struct be_error *err)
{
	be_autofree char *path = be_strf("%s/objects/%s", writer->cache.dir, sha256);
	return put_file(writer, name, path, 0644, err);
}

static int put_packages(struct writer *writer, const struct be_packages *packages, struct be_error *err)
{
	for (size_t i = 0; i < packages->n; i++) {
		const struct be_package *package = &packages->v[i];
		be_autofree char *name =
			be_strf("packages/%s_%s_%s.deb", package->name, package->version, package->architecture);
		if (put_object(writer, name, package->sha256, err) != 0)
			return -1;
	}
	return 0;
}

/* A part of the image folder that we pack from, into the cache if it has the hash. */
static bool take_part(struct writer *writer, const char *file, int64_t offset, int64_t size, const char *sha256)
{
	be_autofree char *path = be_strf("%s/%s", writer->pack->source, file), *block = be_alloc(BLOCK);
	be_autocachefile struct be_cache_file out = BE_CACHE_FILE_INIT;
	be_autoobject struct be_object object = { .path = NULL };
	struct be_error ignored = BE_ERROR_INIT;
	struct stat st;
	be_autofd int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) != 0 || be_cache_file_open(&out, &writer->cache, &ignored) != 0)
		return false;
	for (int64_t left = size < 0 ? st.st_size : size; left > 0;) {
		ssize_t n = pread(fd, block, left < BLOCK ? (size_t)left : BLOCK, offset);
		if (n <= 0 || be_cache_file_write(&out, block, (size_t)n, &ignored) != 0)
			return false;
		offset += n;
		left -= n;
	}
	return be_cache_file_keep(&out, &object, &ignored) == 0 && be_streq(object.sha256, sha256);
}

/* What the cache does not have may be in the image. */
static bool find_object(struct writer *writer, const char *sha256, const char *file, int64_t offset, int64_t size)
{
	be_autoobject struct be_object object = { .path = NULL };
	if (!be_hash_is_text(sha256) || be_strv_has(&writer->objects, sha256))
		return true;
	if (!be_cache_object(&writer->cache, sha256, &object) && !take_part(writer, file, offset, size, sha256))
		return false;
	be_strv_add(&writer->objects, sha256);
	return true;
}

static void lacks(struct writer *writer, const char *what, const char *sha256)
{
	be_strv_addf(&writer->pack->lock->absent,
		     "%s (SHA-256 %.12s) is not in the cache: pack from the image's folder, which has it", what,
		     sha256);
}

static void want_object(struct writer *writer, const char *what, const char *sha256, const char *file)
{
	if (!find_object(writer, sha256, file, 0, -1))
		lacks(writer, what, sha256);
}

/* Whether nothing else in a bundle can stand for the member. */
static bool is_needed(const struct writer *writer, const char *name, const char *source)
{
	if (be_streq(name, "guest"))
		return true;
	if (be_streq(name, BE_UCODE_MEMBER)) /* of a file, which is known by its hash alone; else of a package */
		return be_lock_text(writer->pack->lock, "ucode") != NULL;
	return be_streq(name, "modules") && !be_streq(source, "debian") && !be_streq(source, "package");
}

/* The others are made of the packages; as they are they serve a builder whose libzstd or depmod is another. */
static void want_members(struct writer *writer, const char *source)
{
	const struct be_node *list = be_get_path(writer->manifest, "image.segments");
	size_t missing = 0;
	for (size_t i = 0; list && list->kind == BE_SEQ && i < list->n; i++) {
		const struct be_node *item = list->items[i];
		const char *name = be_get_str(item, "name", ""), *sha256 = be_get_str(item, "sha256", NULL);
		if (find_object(writer, sha256, "initrd.img", be_get_int(item, "offset", 0),
				be_get_int(item, "size", 0)))
			continue;
		if (is_needed(writer, name, source))
			lacks(writer, name, sha256);
		else
			missing++;
	}
	if (missing)
		fprintf(stderr,
			"mkbenchenv pack: warning: %zu members are not in the cache: who has another libzstd or depmod "
			"makes other bytes of them; pack from the image's folder, which has them\n",
			missing);
}

static void want_objects(struct writer *writer)
{
	const struct be_node *kernel = be_get_path(writer->manifest, "lock.kernel");
	const char *source = be_get_str(kernel, "source", "");
	want_members(writer, source);
	if (be_streq(source, "debian"))
		return;
	if (be_streq(source, "package")) {
		be_autoobject struct be_object object = { .path = NULL };
		const char *sha256 = be_get_str(kernel, "sha256", "");
		if (be_hash_is_text(sha256) && be_lock_archive(writer->pack->lock, &writer->cache, sha256, &object))
			be_strv_add(&writer->objects, sha256);
		else
			be_strv_addf(&writer->pack->lock->absent,
				     "kernel package %.12s: give the folder with it by --packages DIR", sha256);
		return;
	}
	want_object(writer, "the kernel", be_get_str(kernel, "sha256", NULL), "vmlinuz");
	want_object(writer, "the kernel's configuration", be_get_str(kernel, "config_sha256", NULL), "kernel.config");
}

static int put_given(struct writer *writer, const char *name, const char *path, struct be_error *err)
{
	struct stat st;
	struct be_root root = { .prefix = (char *)path };
	be_autostrv struct be_strv names = { 0 };
	if (lstat(path, &st) != 0)
		return be_fail_errno(err, errno, "%s", path);
	if (S_ISLNK(st.st_mode)) {
		be_autofree char *target = be_alloc((size_t)st.st_size + 1);
		if (readlink(path, target, (size_t)st.st_size) != st.st_size)
			return be_fail(err, "%s: was changed while it was read", path);
		return put_header(writer, name, S_IFLNK | 0777, 0, target, err);
	}
	if (!S_ISDIR(st.st_mode))
		return put_file(writer, name, path, st.st_mode & 0111 ? 0755 : 0644, err);
	if (put_header(writer, name, S_IFDIR | 0755, 0, NULL, err) != 0)
		return -1;
	if (be_root_list(&root, "/", &names) != 0)
		return be_fail_errno(err, errno, "%s", path);
	for (size_t i = 0; i < names.n; i++) {
		be_autofree char *inner = be_strf("%s/%s", name, names.v[i]),
				 *full = be_strf("%s/%s", path, names.v[i]);
		if (put_given(writer, inner, full, err) != 0)
			return -1;
	}
	return 0;
}

/* Every program of the lock must be given again: a manifest says what it was, not where it is. */
static int put_programs(struct writer *writer, struct be_error *err)
{
	const struct be_strv *programs = writer->pack->programs;
	for (size_t i = 0; i < programs->n; i++) {
		const char *equals = strchr(programs->v[i], '=');
		if (!equals || equals == programs->v[i] ||
		    memchr(programs->v[i], '/', (size_t)(equals - programs->v[i])))
			return be_fail_usage(err, "--program %s: is not NAME=PATH", programs->v[i]);
		be_autofree char *name = be_strf("given/%.*s", (int)(equals - programs->v[i]), programs->v[i]);
		be_autofree char *real = realpath(equals + 1, NULL);
		if (!real)
			return be_fail_errno(err, errno, "--program %s", programs->v[i]);
		if (put_given(writer, name, real, err) != 0)
			return -1;
	}
	return 0;
}

static void check_programs(struct writer *writer)
{
	const struct be_node *given = be_get_path(writer->manifest, "lock.given");
	const struct be_strv *programs = writer->pack->programs;
	for (size_t i = 0; given && given->kind == BE_SEQ && i < given->n; i++) {
		const char *name = be_get_str(given->items[i], "name", "");
		be_autofree char *prefix = be_strf("%s=", name);
		be_autofree char *line = be_strf("program %s was given: give it by --program %s=PATH", name, name);
		bool there = be_strv_has(&writer->pack->lock->absent, line); /* libraries have their program's name */
		for (size_t k = 0; k < programs->n && !there; k++)
			there = be_starts(programs->v[k], prefix);
		if (!there)
			be_strv_add(&writer->pack->lock->absent, line);
	}
}

static int write_all(struct writer *writer, const struct be_packages *packages, const struct be_packages *kernel,
		     struct be_error *err)
{
	be_autobuf struct be_buf text = { 0 };
	if (be_node_yaml(writer->manifest, &text, err) != 0 || put_text(writer, "manifest.yaml", &text, err) != 0 ||
	    put_packages(writer, packages, err) != 0 || put_packages(writer, kernel, err) != 0)
		return -1;
	for (size_t i = 0; i < writer->objects.n; i++) {
		be_autofree char *name = be_strf("objects/%s", writer->objects.v[i]);
		if (put_object(writer, name, writer->objects.v[i], err) != 0)
			return -1;
	}
	if (put_programs(writer, err) != 0)
		return -1;
	return archive_write_close(writer->archive) == ARCHIVE_OK ? 0 : fail(writer, err);
}

/* Beside its place first: the old bundle or the whole new one. */
static int write_file(struct writer *writer, const struct be_packages *packages, const struct be_packages *kernel,
		      struct be_error *err)
{
	const char *output = writer->pack->output;
	be_autofree char *temporary = be_strf("%s.XXXXXX", output);
	be_autofd int fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return be_fail_errno(err, errno, "%s: cannot be created", temporary);
	writer->archive = archive_write_new();
	writer->entry = archive_entry_new();
	int rc = archive_write_set_format_pax_restricted(writer->archive) == ARCHIVE_OK &&
				 archive_write_open_fd(writer->archive, fd) == ARCHIVE_OK
			 ? write_all(writer, packages, kernel, err)
			 : fail(writer, err);
	archive_entry_free(writer->entry);
	archive_write_free(writer->archive);
	if (rc == 0 && (fchmod(fd, 0644) != 0 || rename(temporary, output) != 0))
		rc = be_fail_errno(err, errno, "%s: cannot be put in place", output);
	if (rc != 0) {
		unlink(temporary);
		be_hint(err, "make room where %s goes, or give another place with -o", output);
	}
	return rc;
}

static int find_all(struct writer *writer, struct be_packages *packages, struct be_packages *kernel,
		    struct be_error *err)
{
	struct be_lock *lock = writer->pack->lock;
	struct be_suite suite = { 0 };
	be_autostrv struct be_strv none = { 0 };
	size_t named, n = 0;
	const char *name = be_lock_suite(lock);
	if (!name || !be_suite_name_is_sane(name))
		return be_fail_usage(err, "manifest: lock.suite names no Debian release");
	if (be_lock_packages(lock, &none, packages, &named, err) != 0 || be_lock_kernel(lock, kernel, err) != 0 ||
	    be_lock_package(lock, "ucode", kernel, err) != 0 || be_lock_package(lock, "stub", kernel, err) != 0)
		return -1;
	be_autofree struct be_package **wanted = be_alloc((packages->n + kernel->n + 1) * sizeof(struct be_package *));
	for (size_t i = 0; i < packages->n; i++)
		wanted[n++] = &packages->v[i];
	for (size_t i = 0; i < kernel->n; i++)
		wanted[n++] = &kernel->v[i];
	be_suite_locked(&suite, &writer->cache, &writer->progress, name);
	int rc = be_lock_fetch(lock, &suite, wanted, n, err);
	be_suite_close(&suite);
	want_objects(writer);
	check_programs(writer);
	return rc != 0 ? -1 : be_lock_check(lock, err);
}

/* A manifest, an image's file or a device in the place of the bundle was a slip. */
static int check_output(const char *path, struct be_error *err)
{
	struct stat st;
	if (!*path)
		return be_fail_usage(err, "the name of the bundle is empty");
	if (lstat(path, &st) != 0 || be_is_bundle(path))
		return 0;
	be_fail_usage(err, "%s: is there and is no bundle", path);
	return be_hint(err, "Choose another file with -o.");
}

static int pack(struct writer *writer, struct be_error *err)
{
	be_autopackages struct be_packages packages = { 0 }, kernel = { 0 };
	if (check_output(writer->pack->output, err) != 0)
		return -1;
	be_progress_step(&writer->progress, "bundle");
	if (be_cache_open(&writer->cache, writer->pack->cache, err) != 0 ||
	    find_all(writer, &packages, &kernel, err) != 0 || write_file(writer, &packages, &kernel, err) != 0)
		return -1;
	be_progress_done(&writer->progress, "%s, %zu packages, %.1f MB", writer->pack->output, packages.n + kernel.n,
			 (double)writer->bytes / 1e6);
	return 0;
}

int be_bundle_write(const struct be_pack *request, struct be_error *err)
{
	struct writer writer = { .pack = request, .manifest = request->lock->manifest };
	be_progress_start(&writer.progress, request->quiet);
	be_interrupt_catch();
	int rc = pack(&writer, err);
	be_progress_clear(&writer.progress);
	be_cache_close(&writer.cache);
	be_strv_free(&writer.objects);
	be_interrupt_release();
	return rc;
}
