#include "builder/packages/deb.h"

#include <archive.h>
#include <archive_entry.h>
#include <string.h>

#define BLOCK (64u << 10)
#define CONTROL_MAX (1u << 20)
#define INDEX_KIND "index-2" /* its number changes with the form of an index */

void be_deb_free(struct be_deb *deb)
{
	be_tree_free(&deb->tree);
	deb->indexed = deb->unpacked = false;
}

/* A member of the outer archive as the input of another. */
struct member {
	struct archive *outer;
	bool ended; /* libarchive makes reading on after the end an error of the outer archive */
	char block[BLOCK];
};

static la_ssize_t read_member(struct archive *inner, void *data, const void **block)
{
	struct member *member = data;
	*block = member->block;
	if (member->ended)
		return 0;
	la_ssize_t n = archive_read_data(member->outer, member->block, BLOCK);
	if (n < 0)
		archive_set_error(inner, archive_errno(member->outer), "%s", archive_error_string(member->outer));
	member->ended = n <= 0;
	return n;
}

static void close_archive(struct archive **archive)
{
	archive_read_free(*archive);
}
#define be_autoarchive be_cleanup(close_archive)

static int archive_fail(struct archive *archive, const char *path, struct be_error *err)
{
	const char *text = archive_error_string(archive);
	be_fail(err, "%s: %s", path, text ? text : "no Debian package");
	return be_hint(err, "is this a complete .deb? `dpkg-deb --info FILE` tells");
}

/* Goes to the member of the outer archive whose name begins with @part. */
static int open_part(struct archive *outer, const char *path, const char *part, struct be_error *err)
{
	struct archive_entry *entry;
	archive_read_support_format_ar(outer);
	if (archive_read_open_filename(outer, path, BLOCK) != ARCHIVE_OK)
		return archive_fail(outer, path, err);
	while (archive_read_next_header(outer, &entry) == ARCHIVE_OK) {
		const char *name = archive_entry_pathname(entry);
		if (name && be_starts(name, part))
			return 0;
	}
	return archive_fail(outer, path, err);
}

/* A tar archive within the package at @path. */
static int open_inner(struct archive *inner, struct member *member, const char *path, const char *part,
		      struct be_error *err)
{
	if (open_part(member->outer, path, part, err) != 0)
		return -1;
	archive_read_support_filter_xz(inner);
	archive_read_support_filter_zstd(inner);
	archive_read_support_filter_gzip(inner);
	archive_read_support_filter_bzip2(inner);
	archive_read_support_filter_lzma(inner);
	archive_read_support_format_tar(inner);
	archive_read_support_format_empty(inner);
	if (archive_read_open(inner, member, NULL, read_member, NULL) != ARCHIVE_OK)
		return archive_fail(inner, path, err);
	return 0;
}

int be_deb_read(struct be_tree *tree, const char *path, const struct be_cache *cache, bool (*keep)(const char *path),
		struct be_error *err)
{
	be_autofree struct member *member = be_alloc(sizeof(*member));
	be_autoarchive struct archive *outer = archive_read_new(), *inner = archive_read_new();
	member->outer = outer;
	if (open_inner(inner, member, path, "data.tar", err) != 0)
		return -1;
	if (be_tree_add_archive(tree, inner, path, cache, keep, err) != 0)
		return -1;
	be_tree_sort(tree);
	return 0;
}

static int read_control(const char *path, struct be_buf *text, struct be_error *err)
{
	be_autofree struct member *member = be_alloc(sizeof(*member));
	be_autoarchive struct archive *outer = archive_read_new(), *inner = archive_read_new();
	struct archive_entry *entry;
	member->outer = outer;
	if (open_inner(inner, member, path, "control.tar", err) != 0)
		return -1;
	while (archive_read_next_header(inner, &entry) == ARCHIVE_OK) {
		const char *name = archive_entry_pathname(entry);
		char block[4096];
		la_ssize_t n = 0;
		if (!be_streq(name, "./control") && !be_streq(name, "control"))
			continue;
		while (text->len < CONTROL_MAX && (n = archive_read_data(inner, block, sizeof(block))) > 0)
			be_buf_add(text, block, (size_t)n);
		if (n == 0 && text->len)
			return 0;
		break;
	}
	return archive_fail(inner, path, err);
}

int be_deb_depends(struct be_package *package, const struct be_cache *cache, struct be_error *err)
{
	be_autofree char *path = be_strf("%s/objects/%s", cache->dir, package->sha256);
	be_autobuf struct be_buf text = { 0 };
	if (!be_cache_get_text(cache, "control", package->sha256, &text) &&
	    (read_control(path, &text, err) != 0 ||
	     be_cache_set_text(cache, "control", package->sha256, text.data, text.len, err) != 0))
		return be_wrap(err, "package %s", package->name);
	be_package_parse_depends(text.data, package);
	return 0;
}

bool be_deb_index_cached(struct be_deb *deb, const struct be_cache *cache)
{
	be_autobuf struct be_buf text = { 0 };
	if (deb->indexed)
		return true;
	if (!be_cache_get_text(cache, INDEX_KIND, deb->package->sha256, &text))
		return false;
	deb->indexed = be_tree_parse(&deb->tree, text.data, text.len);
	if (!deb->indexed)
		be_tree_free(&deb->tree);
	return deb->indexed;
}

int be_deb_unpack(struct be_deb *deb, const struct be_cache *cache, struct be_error *err)
{
	be_autofree char *path = be_strf("%s/objects/%s", cache->dir, deb->package->sha256);
	if (deb->unpacked)
		return 0;
	be_tree_free(&deb->tree);
	if (be_deb_read(&deb->tree, path, cache, NULL, err) != 0)
		return be_wrap(err, "package %s", deb->package->name);
	deb->indexed = deb->unpacked = true;
	return 0;
}

int be_deb_index(struct be_deb *deb, const struct be_cache *cache, struct be_error *err)
{
	if (be_deb_index_cached(deb, cache))
		return 0;
	if (be_deb_unpack(deb, cache, err) != 0)
		return -1;
	/* A name that is no UTF-8 has no JSON: such a package is read again each time. */
	be_autofree char *text = be_tree_text(&deb->tree, false);
	return text ? be_cache_set_text(cache, INDEX_KIND, deb->package->sha256, text, strlen(text), err) : 0;
}
