/*
 * The archive that a kernel's modules are in. Decompressing one takes seconds, and each recipe wants other modules of
 * it: what images are likely to want is kept in the cache, as the scratch file that it was unpacked to.
 */
#include <archive.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "builder/packages/deb.h"
#include "builder/kernel/kernel.h"

#define KIND "kernel-files-1" /* its number changes with the choice below and with the form of an index */
#define BLOCK (64u << 10)

/* Two thirds of a distribution's modules, that no benchmark of disks or processors loads. They can be had all the same:
 * the archive is read again for them. */
static const char *const unlikely[] = {
	"/kernel/sound/",         "/kernel/drivers/bluetooth/",    "/kernel/drivers/gpu/",
	"/kernel/drivers/hid/",   "/kernel/drivers/hwmon/",        "/kernel/drivers/iio/",
	"/kernel/drivers/input/", "/kernel/drivers/isdn/",         "/kernel/drivers/leds/",
	"/kernel/drivers/media/", "/kernel/drivers/net/wireless/", "/kernel/drivers/staging/",
	"/kernel/drivers/video/", "/kernel/net/bluetooth/",        "/kernel/net/mac80211/",
	"/kernel/net/wireless/",
};

static bool is_part(const char *path)
{
	return be_starts(path, "boot/vmlinuz") || be_starts(path, "boot/config") || be_starts(path, "usr/lib/modules/");
}

static bool is_unlikely(const char *path)
{
	for (size_t i = 0; i < BE_ARRAY_LEN(unlikely); i++)
		if (strstr(path, unlikely[i]))
			return is_part(path);
	return false;
}

static bool is_likely(const char *path)
{
	return is_part(path) && !is_unlikely(path);
}

static void close_archive(struct archive **archive)
{
	archive_read_free(*archive);
}

/* modules.cgz of the robot: a compressed cpio archive. */
static int read_cpio(struct be_tree *tree, const char *path, const struct be_cache *cache,
		     bool (*keep)(const char *path), struct be_error *err)
{
	be_cleanup(close_archive) struct archive *archive = archive_read_new();
	archive_read_support_filter_gzip(archive);
	archive_read_support_filter_xz(archive);
	archive_read_support_filter_zstd(archive);
	archive_read_support_format_cpio(archive);
	if (archive_read_open_filename(archive, path, BLOCK) != ARCHIVE_OK) {
		const char *text = archive_error_string(archive);
		return be_fail_usage(err, "%s: no cpio archive of modules: %s", path, text ? text : "not readable");
	}
	if (be_tree_add_archive(tree, archive, path, cache, keep, err) != 0)
		return -1;
	be_tree_sort(tree);
	return 0;
}

static int read_archive(struct be_kernel *kernel, struct be_tree *tree, bool (*keep)(const char *path),
			struct be_error *err)
{
	const struct be_cache *cache = kernel->suite->cache;
	be_progress_note(kernel->suite->progress, "unpacking");
	for (size_t i = 0; i < kernel->packages.n; i++) {
		struct be_package *package = &kernel->packages.v[i];
		be_autofree char *path = be_strf("%s/objects/%s", cache->dir, package->sha256);
		if (be_apt_fetch(kernel->suite, &package, 1, err) != 0 ||
		    be_deb_read(tree, path, cache, keep, err) != 0)
			return -1;
	}
	if (kernel->packages.n)
		return 0;
	return be_streq(kernel->source, "file") ? read_cpio(tree, kernel->archive, cache, keep, err)
						: be_deb_read(tree, kernel->archive, cache, keep, err);
}

/* "HASH\n" of the scratch file, then the index. */
static bool recall(struct be_kernel *kernel)
{
	const struct be_cache *cache = kernel->suite->cache;
	be_autobuf struct be_buf text = { 0 };
	be_autoobject struct be_object object = { .path = NULL };
	if (!be_cache_get_text(cache, KIND, kernel->id, &text))
		return false;
	char *end = strchr(text.data, '\n');
	if (!end)
		return false;
	*end = '\0';
	if (!be_cache_object(cache, text.data, &object))
		return false;
	if (be_tree_parse(&kernel->files, end + 1, text.len - (size_t)(end + 1 - text.data)))
		kernel->files.scratch = open(object.path, O_RDONLY | O_CLOEXEC);
	if (kernel->files.scratch >= 0)
		return true;
	be_tree_free(&kernel->files);
	return false;
}

static int keep(struct be_kernel *kernel, const char *scratch, struct be_error *err)
{
	const struct be_cache *cache = kernel->suite->cache;
	be_autoobject struct be_object object = { .path = NULL };
	be_autofree char *index = be_tree_text(&kernel->files, true);
	if (!index || be_cache_adopt(cache, scratch, NULL, &object, err) != 0)
		return index ? -1 : 0;
	be_autofree char *text = be_strf("%s\n%s", object.sha256, index);
	return be_cache_set_text(cache, KIND, kernel->id, text, strlen(text), err);
}

int be_kernel_unpack(struct be_kernel *kernel, struct be_error *err)
{
	if (kernel->unpacked || (!kernel->archive && !kernel->packages.n))
		return 0;
	kernel->unpacked = recall(kernel);
	if (kernel->unpacked)
		return 0;
	be_autofree char *scratch = NULL;
	kernel->files.scratch = be_cache_scratch(kernel->suite->cache, &scratch, err);
	if (kernel->files.scratch < 0)
		return -1;
	int rc = read_archive(kernel, &kernel->files, is_likely, err);
	if (rc == 0)
		rc = keep(kernel, scratch, err);
	unlink(scratch); /* gone already where it was kept */
	kernel->unpacked = rc == 0;
	return rc;
}

int be_kernel_unpack_rest(struct be_kernel *kernel, struct be_error *err)
{
	return kernel->rest.n ? 0 : read_archive(kernel, &kernel->rest, is_unlikely, err);
}
