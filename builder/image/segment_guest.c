/* The guest's own programs, from the folder that the build left or that was installed. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/node.h"
#include "builder/image/segment.h"

int be_segment_check_guest(const char *dir, struct be_error *err)
{
	be_autofree char *init = be_strf("%s/init", dir);
	if (*dir && be_exists(init))
		return 0;
	be_fail(err, "the guest's programs are not there: no init in \"%s\"", dir);
	return be_hint(err, "run `make` first, or set MKBENCHENV_GUEST to the folder with init and disk-setup");
}

/* Files below @dir as paths relative to it, sorted. Links to folders are not followed. */
static int list_files(const char *dir, const char *below, struct be_strv *files, struct be_error *err)
{
	struct be_root root = { .prefix = (char *)dir };
	be_autostrv struct be_strv names = { 0 };
	if (be_root_list(&root, *below ? below : "/", &names) != 0)
		return be_fail_errno(err, errno, "%s%s: cannot be read", dir, below);
	for (size_t i = 0; i < names.n; i++) {
		be_autofree char *path = be_strf("%s/%s", below, names.v[i]), *full = be_strf("%s%s", dir, path);
		struct stat st;
		if (lstat(full, &st) != 0)
			return be_fail_errno(err, errno, "%s: cannot be read", full);
		if (S_ISLNK(st.st_mode) && stat(full, &st) == 0 && S_ISDIR(st.st_mode))
			continue;
		if (S_ISDIR(st.st_mode) && list_files(dir, path, files, err) != 0)
			return -1;
		if (S_ISREG(st.st_mode))
			be_strv_add(files, path + 1);
	}
	return 0;
}

static int write_files(struct be_cpio *cpio, const char *dir, const struct be_strv *files, struct be_error *err)
{
	for (size_t i = 0; i < files->n; i++) {
		be_autofree char *full = be_strf("%s/%s", dir, files->v[i]);
		be_autofree char *path =
			be_streq(files->v[i], "init") ? be_strdup("init") : be_strf("benchenv/%s", files->v[i]);
		be_autofd int fd = open(full, O_RDONLY | O_CLOEXEC);
		struct stat st;
		struct be_cpio_links links = { .n = 1 };
		if (fd < 0 || fstat(fd, &st) != 0)
			return be_fail_errno(err, errno, "%s: cannot be read", full);
		/* Programs and libraries alike: who built them, under which umask, must not show. */
		if (be_cpio_file(cpio, path, 0755, fd, 0, st.st_size, &links, err) != 0)
			return -1;
	}
	return 0;
}

int be_segment_guest_list(const char *dir, struct be_node *list, struct be_error *err)
{
	char sha256[BE_HASH_TEXT];
	be_autostrv struct be_strv files = { 0 };
	if (be_segment_check_guest(dir, err) != 0 || list_files(dir, "", &files, err) != 0)
		return -1;
	for (size_t i = 0; i < files.n; i++) {
		be_autofree char *full = be_strf("%s/%s", dir, files.v[i]);
		int64_t size = 0;
		if (be_hash_file(full, sha256, &size, err) != 0)
			return -1;
		struct be_node *item = be_node_map();
		be_set_str(item, "path", files.v[i]);
		be_set_int(item, "size", size);
		be_set_str(item, "sha256", sha256);
		be_add(list, item);
	}
	return 0;
}

int be_segment_guest(struct be_segment *segment, const struct be_cache *cache, const struct be_compressor *compressor,
		     const char *dir, const struct be_node *list, struct be_error *err)
{
	char key[BE_HASH_TEXT];
	be_autostrv struct be_strv files = { 0 };
	be_autohash struct be_hash hash = { 0 };
	segment->name = be_strdup("guest");
	be_hash_start(&hash);
	be_hash_adds(&hash, "guest");
	for (size_t i = 0; i < list->n; i++) {
		be_strv_add(&files, be_get_str(list->items[i], "path", ""));
		be_hash_adds(&hash, files.v[i]);
		be_hash_adds(&hash, be_get_str(list->items[i], "sha256", ""));
	}
	be_hash_end(&hash, key);
	if (be_segment_find(segment, cache, compressor, key))
		return 0;
	be_autocpio struct be_cpio cpio = { .file = BE_CACHE_FILE_INIT };
	if (be_cpio_open(&cpio, cache, compressor, err) != 0 || write_files(&cpio, dir, &files, err) != 0)
		return -1;
	return be_segment_keep(segment, &cpio, compressor, key, err);
}
