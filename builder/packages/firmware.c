#include "builder/packages/firmware.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

#define NAME "firmware"
#define PLACE "usr/lib/firmware/"

void be_firmware_free(struct be_firmware *firmware)
{
	struct be_error ignored = BE_ERROR_INIT;
	if (firmware->dir)
		be_remove_tree(firmware->dir, &ignored);
	free(firmware->dir);
	free(firmware->ucode);
	be_strv_free(&firmware->programs);
	*firmware = (struct be_firmware){ 0 };
}

static int make_folder_of(const char *path, struct be_error *err)
{
	be_autofree char *folder = be_strndup(path, (size_t)(strrchr(path, '/') - path));
	return be_mkdirs(folder, 0755, err);
}

static int write_entry(const struct be_tree *tree, const struct be_entry *entry, const char *path, struct be_error *err)
{
	be_automapping struct be_mapping content = { 0 };
	const struct be_entry *file = entry->type == BE_ENTRY_HARDLINK ? be_tree_find(tree, entry->target) : entry;
	if (entry->type == BE_ENTRY_DIR)
		return be_mkdirs(path, 0755, err);
	if (make_folder_of(path, err) != 0)
		return -1;
	if (entry->type == BE_ENTRY_SYMLINK)
		return symlink(entry->target, path) == 0 ? 0 : be_fail_errno(err, errno, "%s", path);
	if (!file || file->type != BE_ENTRY_FILE)
		return be_fail(err, "%s: a link to nothing", entry->path);
	if (file->size && !be_tree_map(tree, file, &content, err))
		return -1;
	return be_write_file(path, content.data, (size_t)file->size, 0644, err);
}

int be_firmware_write(const struct be_tree *tree, const char *dir, struct be_error *err)
{
	size_t written = 0;
	for (size_t i = 0; i < tree->n; i++) {
		const struct be_entry *entry = &tree->entries[i];
		if (!be_starts(entry->path, PLACE))
			continue;
		be_autofree char *path = be_strf("%s/%s", dir, entry->path + strlen(PLACE));
		if (write_entry(tree, entry, path, err) != 0)
			return -1;
		written++;
	}
	return written ? 0 : be_fail(err, "it holds no /" PLACE);
}

/* Beside the firmware lies what is none of it. */
static char *files_of(const char *dir)
{
	return be_strf("%s/" NAME, dir);
}

static int unpack(struct be_package *package, const struct be_cache *cache, const char *dir, struct be_error *err)
{
	be_autofree char *files = files_of(dir);
	struct be_deb deb = { .package = package, .tree = BE_TREE_INIT };
	int rc = be_deb_unpack(&deb, cache, err);
	if (rc == 0 && be_firmware_write(&deb.tree, files, err) != 0)
		rc = be_wrap(err, "package %s %s", package->name, package->version);
	be_deb_free(&deb);
	return rc;
}

/* The archive itself, by a name that says what it is. */
static int place(struct be_package *package, const struct be_cache *cache, const char *dir, struct be_error *err)
{
	be_autoobject struct be_object object = { .path = NULL };
	be_autofree char *path = be_strf("%s/%s.deb", dir, package->name);
	if (!be_cache_object(cache, package->sha256, &object))
		return be_fail(err, "package %s: is not in the cache any more", package->name);
	return symlink(object.path, path) == 0 ? 0 : be_fail_errno(err, errno, "%s", path);
}

/* Does with each of the packages what @use does. */
static int fetch(struct be_firmware *firmware, const struct be_strv *packages, const struct be_cache *cache,
		 struct be_progress *progress, const char *wish,
		 int (*use)(struct be_package *, const struct be_cache *, const char *, struct be_error *),
		 struct be_error *err)
{
	struct be_suite suite = { 0 };
	if (!firmware->dir)
		firmware->dir = be_cache_tempdir(cache, err);
	int rc = firmware->dir ? be_suite_open_firmware(&suite, cache, progress, wish, err) : -1;
	for (size_t i = 0; rc == 0 && i < packages->n; i++) {
		be_autopackages struct be_packages found = { 0 };
		rc = be_apt_show(&suite, packages->v[i], &found, err);
		if (rc == 0)
			rc = be_apt_fetch(&suite, &found.v, 1, err);
		if (rc == 0)
			rc = use(&found.v[0], cache, firmware->dir, err);
	}
	be_suite_close(&suite);
	if (rc == 0)
		return 0;
	return be_hint(err,
		       "Debian 12 and later have such packages, in non-free-firmware; or give the files themselves: "
		       "--program " NAME "=DIR, --ucode FILE");
}

/* The packages of the plan's image.given, when nobody has given what they hold. */
static void packages_of(const struct be_node *plan, const struct be_strv *programs, struct be_strv *packages)
{
	const struct be_node *list = be_get_path(plan, "image.given");
	for (size_t i = 0; i < programs->n; i++)
		if (be_starts(programs->v[i], NAME "="))
			return;
	for (size_t i = 0; list && i < list->n; i++)
		if (be_streq(be_get_str(list->items[i], "name", NULL), NAME))
			be_get_strv(list->items[i], "packages", packages);
}

int be_firmware_fetch(struct be_firmware *firmware, const struct be_node *plan, const struct be_strv *programs,
		      const struct be_cache *cache, struct be_progress *progress, const char *wish,
		      struct be_error *err)
{
	be_autostrv struct be_strv packages = { 0 };
	*firmware = (struct be_firmware){ 0 };
	if (programs)
		be_strv_add_all(&firmware->programs, programs);
	packages_of(plan, &firmware->programs, &packages);
	if (!packages.n)
		return 0;
	be_progress_step(progress, "firmware");
	if (fetch(firmware, &packages, cache, progress, wish, unpack, err) != 0)
		return -1;
	be_autofree char *files = files_of(firmware->dir);
	be_strv_addf(&firmware->programs, NAME "=%s", files);
	be_progress_done(progress, "%zu packages", packages.n);
	return 0;
}

int be_firmware_ucode(struct be_firmware *firmware, const char *given, const struct be_cache *cache,
		      struct be_progress *progress, const char *wish, struct be_error *err)
{
	be_autostrv struct be_strv packages = { 0 };
	if (!given)
		return 0;
	if (be_exists(given) || (!be_streq(given, "intel-microcode") && !be_streq(given, "amd64-microcode"))) {
		firmware->ucode = be_strdup(given);
		return 0;
	}
	be_progress_step(progress, "microcode");
	be_strv_add(&packages, given);
	if (fetch(firmware, &packages, cache, progress, wish, place, err) != 0)
		return -1;
	firmware->ucode = be_strf("%s/%s.deb", firmware->dir, given);
	be_progress_done(progress, "package %s", given);
	return 0;
}
