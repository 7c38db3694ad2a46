#include "initrd/modules.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libkmod.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COLDPLUG_ROUNDS 6 /* bus, adapter, target, disk and two to spare */

static struct kmod_ctx *context(void)
{
	static struct kmod_ctx *ctx;
	if (!ctx) {
		ctx = kmod_new(NULL, NULL);
		if (ctx) {
			kmod_set_log_priority(ctx, 0);
			kmod_load_resources(ctx);
		}
	}
	return ctx;
}

/* Loads all modules that @alias (a name or a modalias) stands for. Returns how many were found, or -errno. */
static int load_alias(const char *alias)
{
	struct kmod_ctx *ctx = context();
	if (!ctx)
		return -ENOMEM;
	struct kmod_list *list = NULL, *item;
	int rc = kmod_module_new_from_lookup(ctx, alias, &list), found = 0;
	kmod_list_foreach(item, list)
	{
		struct kmod_module *module = kmod_module_get_module(item);
		int one = kmod_module_probe_insert_module(module, 0, NULL, NULL, NULL, NULL);
		if (one < 0)
			rc = one;
		found++;
		kmod_module_unref(module);
	}
	kmod_module_unref_list(list);
	return rc < 0 ? rc : found;
}

int be_module_load(const char *name, struct be_error *err)
{
	int rc = load_alias(name);
	if (rc > 0)
		return 0;
	errno = rc < 0 ? -rc : ENOENT;
	if (errno == ENOENT)
		return be_fail(err, "module %s is not in the image", name);
	return be_fail_errno(err, errno, "module %s cannot be loaded", name);
}

bool be_module_is_driver(const char *name)
{
	struct kmod_module *module;
	struct kmod_ctx *ctx = context();
	if (!ctx || kmod_module_new_from_name(ctx, name, &module) != 0)
		return false;
	const char *path = kmod_module_get_path(module);
	bool driver = path && strstr(path, "/kernel/drivers/");
	kmod_module_unref(module);
	return driver;
}

static void collect(int dirfd, const char *name, struct be_strv *aliases)
{
	int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	struct dirent *e;
	while ((e = readdir(dir)) != NULL) {
		if (e->d_type == DT_DIR && e->d_name[0] != '.')
			collect(fd, e->d_name, aliases);
		if (strcmp(e->d_name, "modalias") != 0)
			continue;
		be_autofd int file = openat(fd, e->d_name, O_RDONLY | O_CLOEXEC);
		char text[4096];
		ssize_t n = file >= 0 ? read(file, text, sizeof(text) - 1) : 0;
		if (n > 0) {
			text[n] = '\0';
			be_strv_add(aliases, be_trim(text));
		}
	}
	closedir(dir);
}

size_t be_modules_coldplug(const struct be_root *root)
{
	be_autofree char *devices = be_root_path(root, "/sys/devices");
	be_autostrv struct be_strv done = { 0 };
	for (int round = 0; round < COLDPLUG_ROUNDS; round++) {
		be_autostrv struct be_strv aliases = { 0 };
		collect(AT_FDCWD, devices, &aliases);
		be_strv_sort_unique(&aliases);
		size_t fresh = 0;
		for (size_t i = 0; i < aliases.n; i++) {
			if (be_strv_has(&done, aliases.v[i]))
				continue;
			load_alias(aliases.v[i]);
			be_strv_add(&done, aliases.v[i]);
			fresh++;
		}
		if (!fresh)
			break;
	}
	return done.n;
}
