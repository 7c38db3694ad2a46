#include "builder/image/segment.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "builder/image/member.h"

#define RULES "segment-2" /* changes when the same input makes other bytes */

void be_segment_free(struct be_segment *segment)
{
	free(segment->name);
	be_object_free(&segment->object);
	*segment = (struct be_segment){ 0 };
}

static void full_key(const struct be_compressor *compressor, const char *key, char out[BE_HASH_TEXT])
{
	be_autohash struct be_hash hash = { 0 };
	be_autofree char *library = be_compressor_library(compressor), *level = be_strf("%d", compressor->level);
	be_hash_start(&hash);
	be_hash_adds(&hash, RULES);
	be_hash_adds(&hash, compressor->name);
	be_hash_adds(&hash, level);
	be_hash_adds(&hash, library);
	be_hash_adds(&hash, key);
	be_hash_end(&hash, out);
}

/* The key leads to a line "SHA256 UNPACKED", that to the member itself. */
bool be_segment_find(struct be_segment *segment, const struct be_cache *cache, const struct be_compressor *compressor,
		     const char *key)
{
	char full[BE_HASH_TEXT], sha256[BE_HASH_TEXT];
	long long unpacked;
	be_autobuf struct be_buf line = { 0 };
	full_key(compressor, key, full);
	if (!be_cache_get_text(cache, "segment", full, &line) ||
	    sscanf(line.data, "%64[0-9a-f] %lld", sha256, &unpacked) != 2)
		return false;
	segment->unpacked = unpacked;
	return be_cache_object(cache, sha256, &segment->object);
}

int be_segment_keep(struct be_segment *segment, struct be_cpio *cpio, const struct be_compressor *compressor,
		    const char *key, struct be_error *err)
{
	char full[BE_HASH_TEXT];
	const struct be_cache *cache = cpio->file.cache;
	if (be_cpio_close(cpio, &segment->object, &segment->unpacked, err) != 0)
		return -1;
	full_key(compressor, key, full);
	be_autofree char *line = be_strf("%s %lld\n", segment->object.sha256, (long long)segment->unpacked);
	return be_cache_set_text(cache, "segment", full, line, strlen(line), err);
}

bool be_segment_recall(struct be_segment *segment, const struct be_cache *cache, const char *name, const char *sha256)
{
	be_automember struct be_member member = { 0 };
	struct be_error ignored = BE_ERROR_INIT;
	if (!be_cache_object(cache, sha256, &segment->object))
		return false;
	be_autofd int fd = open(segment->object.path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || be_member_read(&member, fd, 0, segment->object.size, name, &ignored) != 0)
		return false;
	segment->name = be_strdup(name);
	segment->unpacked = member.unpacked;
	return true;
}

static const struct {
	const char *path;
	unsigned mode;
} base_folders[] = {
	{ "dev", 0755 },     { "etc", 0755 },       { "mnt", 0755 },      { "proc", 0755 }, { "root", 0700 },
	{ "run", 0755 },     { "sys", 0755 },       { "tmp", 01777 },     { "usr", 0755 },  { "usr/bin", 0755 },
	{ "usr/lib", 0755 }, { "usr/lib64", 0755 }, { "usr/sbin", 0755 }, { "var", 0755 },  { "var/tmp", 01777 },
};

static const struct {
	const char *path, *target;
} base_links[] = {
	{ "bin", "usr/bin" },   { "lib", "usr/lib" },  { "lib64", "usr/lib64" },
	{ "sbin", "usr/sbin" }, { "var/run", "/run" },
};

/* root and nobody for programs that look them up, _rpc for rpcbind; the groups are those that udev's own rules name. */
static const char passwd[] = "root:x:0:0:root:/root:/bin/sh\n"
			     "_rpc:x:100:65534::/run/rpcbind:/usr/sbin/nologin\n"
			     "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n";
static const char group[] = "root:x:0:\n"
			    "tty:x:5:\n"
			    "disk:x:6:\n"
			    "lp:x:7:\n"
			    "dialout:x:20:\n"
			    "cdrom:x:24:\n"
			    "tape:x:26:\n"
			    "audio:x:29:\n"
			    "video:x:44:\n"
			    "kmem:x:15:\n"
			    "input:x:101:\n"
			    "kvm:x:102:\n"
			    "render:x:103:\n"
			    "sgx:x:104:\n"
			    "nogroup:x:65534:\n";

static int write_base(struct be_cpio *cpio, struct be_error *err)
{
	for (size_t i = 0; i < BE_ARRAY_LEN(base_folders); i++)
		if (be_cpio_folder(cpio, base_folders[i].path, base_folders[i].mode, err) != 0)
			return -1;
	for (size_t i = 0; i < BE_ARRAY_LEN(base_links); i++)
		if (be_cpio_symlink(cpio, base_links[i].path, base_links[i].target, err) != 0)
			return -1;
	if (be_cpio_text(cpio, "etc/passwd", 0644, passwd, strlen(passwd), err) != 0)
		return -1;
	return be_cpio_text(cpio, "etc/group", 0644, group, strlen(group), err);
}

int be_segment_base(struct be_segment *segment, const struct be_cache *cache, const struct be_compressor *compressor,
		    struct be_error *err)
{
	segment->name = be_strdup("base");
	if (be_segment_find(segment, cache, compressor, "base-2"))
		return 0;
	be_autocpio struct be_cpio cpio = { .file = BE_CACHE_FILE_INIT };
	if (be_cpio_open(&cpio, cache, compressor, err) != 0 || write_base(&cpio, err) != 0)
		return -1;
	return be_segment_keep(segment, &cpio, compressor, "base-2", err);
}

/* The folders above @path with the modes that the package gives them. */
static int write_parents(struct be_cpio *cpio, const struct be_tree *tree, const char *path, struct be_error *err)
{
	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		be_autofree char *folder = be_strndup(path, (size_t)(slash - path));
		const struct be_entry *entry = be_tree_find(tree, folder);
		if (be_cpio_folder(cpio, folder, entry && entry->type == BE_ENTRY_DIR ? entry->mode : 0755, err) != 0)
			return -1;
	}
	return 0;
}

/* All the chosen names of a file, its own and those of hard links, in their order; only the first of them writes. */
static int write_file(struct be_cpio *cpio, const struct be_tree *tree, const struct be_entry *file,
		      const struct be_strv *paths, struct be_error *err)
{
	be_autostrv struct be_strv names = { 0 };
	for (size_t i = 0; i < paths->n; i++) {
		const struct be_entry *other = be_tree_find(tree, paths->v[i]);
		if (other == file || (other && other->type == BE_ENTRY_HARDLINK && be_streq(other->target, file->path)))
			be_strv_add(&names, paths->v[i]);
	}
	struct be_cpio_links links = { .n = (unsigned)names.n };
	for (size_t i = 0; i < names.n; i++)
		if (write_parents(cpio, tree, names.v[i], err) != 0 ||
		    be_cpio_file(cpio, names.v[i], file->mode, tree->scratch, file->offset, file->size, &links, err) !=
			    0)
			return -1;
	return 0;
}

static int write_entry(struct be_cpio *cpio, const struct be_tree *tree, const char *path, const struct be_strv *paths,
		       struct be_error *err)
{
	const struct be_entry *entry = be_tree_find(tree, path);
	if (!entry)
		return be_fail(err, "%s: is no longer in the package", path);
	if (entry->type == BE_ENTRY_HARDLINK)
		return 0; /* comes with its file */
	if (entry->type == BE_ENTRY_FILE)
		return write_file(cpio, tree, entry, paths, err);
	if (write_parents(cpio, tree, path, err) != 0)
		return -1;
	if (entry->type == BE_ENTRY_DIR)
		return be_cpio_folder(cpio, path, entry->mode, err);
	return be_cpio_symlink(cpio, path, entry->target, err);
}

/* A package whose index came from the cache has not been read in this build: it may not even be there any more. */
static int unpack(struct be_suite *suite, struct be_deb *deb, struct be_error *err)
{
	if (deb->unpacked)
		return 0;
	return be_apt_fetch(suite, &deb->package, 1, err) != 0 ? -1 : be_deb_unpack(deb, suite->cache, err);
}

int be_segment_package(struct be_segment *segment, struct be_suite *suite, const struct be_compressor *compressor,
		       struct be_deb *deb, const struct be_strv *paths, struct be_error *err)
{
	const struct be_cache *cache = suite->cache;
	char key[BE_HASH_TEXT];
	be_autohash struct be_hash hash = { 0 };
	be_hash_start(&hash);
	be_hash_adds(&hash, "package");
	be_hash_adds(&hash, deb->package->sha256);
	for (size_t i = 0; i < paths->n; i++)
		be_hash_adds(&hash, paths->v[i]);
	be_hash_end(&hash, key);
	segment->name = be_strf("package/%s", deb->package->name);
	if (be_segment_find(segment, cache, compressor, key))
		return 0;
	be_autocpio struct be_cpio cpio = { .file = BE_CACHE_FILE_INIT };
	if (unpack(suite, deb, err) != 0 || be_cpio_open(&cpio, cache, compressor, err) != 0)
		return -1;
	for (size_t i = 0; i < paths->n; i++)
		if (write_entry(&cpio, &deb->tree, paths->v[i], paths, err) != 0)
			return be_wrap(err, "package %s", deb->package->name);
	return be_segment_keep(segment, &cpio, compressor, key, err);
}

int be_segment_job(struct be_segment *segment, const struct be_cache *cache, const struct be_compressor *compressor,
		   const char *plan, size_t len, struct be_error *err)
{
	be_autocpio struct be_cpio cpio = { .file = BE_CACHE_FILE_INIT };
	segment->name = be_strdup("job");
	if (be_cpio_open(&cpio, cache, compressor, err) != 0 ||
	    be_cpio_text(&cpio, "benchenv/plan.yaml", 0644, plan, len, err) != 0 ||
	    be_cpio_text(&cpio, "benchenv/complete", 0644, "complete\n", strlen("complete\n"), err) != 0)
		return -1;
	return be_cpio_close(&cpio, &segment->object, &segment->unpacked, err);
}
