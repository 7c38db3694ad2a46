/* Which modules a kernel has, and the content of one of them. */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <libkmod.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "builder/kernel/modules.h"

#define META_MAX (32u << 20)
#define DEPTH_MAX 16 /* of folders; the kernel's own tree has 8 */

static void module_free(struct be_module *module)
{
	free(module->name);
	free(module->path);
	free(module->file);
	be_strv_free(&module->depends);
	be_strv_free(&module->soft);
	be_strv_free(&module->aliases);
}

void be_modules_free(struct be_modules *modules)
{
	struct be_error ignored = BE_ERROR_INIT;
	if (modules->dir)
		be_remove_tree(modules->dir, &ignored);
	for (size_t i = 0; i < modules->n; i++)
		module_free(&modules->v[i]);
	free(modules->v);
	be_strv_free(&modules->builtin);
	free(modules->dir);
	free(modules->root);
	*modules = (struct be_modules){ 0 };
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

char *be_module_name(const char *path)
{
	char *name = be_strdup(base_name(path));
	name[strcspn(name, ".")] = '\0';
	for (char *p = name; *p; p++)
		if (*p == '-')
			*p = '_';
	return name;
}

static bool is_module(const char *path)
{
	return be_ends(path, ".ko") || be_ends(path, ".ko.xz") || be_ends(path, ".ko.zst") || be_ends(path, ".ko.gz");
}

/* @path is relative to the folder of modules, maybe with the ending of a compression. */
static struct be_module *add(struct be_modules *modules, const char *path)
{
	const char *end = path;
	for (const char *p = strstr(path, ".ko"); p; p = strstr(p + 1, ".ko"))
		end = p;
	if (modules->n % 256 == 0)
		modules->v = be_realloc(modules->v, modules->n + 256, sizeof(*modules->v));
	struct be_module *module = &modules->v[modules->n++];
	*module =
		(struct be_module){ .name = be_module_name(path), .path = be_strf("%.*s.ko", (int)(end - path), path) };
	return module;
}

static char *tree_prefix(const struct be_kernel *kernel)
{
	return be_strf("usr/lib/modules/%s/", kernel->release);
}

static int list_archive(struct be_modules *modules, struct be_error *err)
{
	struct be_kernel *kernel = modules->kernel;
	be_autofree char *prefix = tree_prefix(kernel);
	if (be_kernel_unpack(kernel, err) != 0)
		return -1;
	for (size_t i = 0; i < kernel->files.n; i++) {
		const struct be_entry *entry = &kernel->files.entries[i];
		if (entry->type == BE_ENTRY_FILE && be_starts(entry->path, prefix) && is_module(entry->path))
			add(modules, entry->path + strlen(prefix))->entry = entry;
	}
	if (modules->n)
		return 0;
	be_fail_usage(err, "%s: holds no modules of kernel %s", kernel->archive ? kernel->archive : kernel->package,
		      kernel->release);
	return be_hint(err, "kernel and modules must be of one build");
}

static int list_folder(struct be_modules *modules, const char *below, unsigned depth, struct be_error *err)
{
	struct be_root root = { .prefix = modules->kernel->modules };
	be_autostrv struct be_strv names = { 0 };
	if (be_root_list(&root, below, &names) != 0)
		return be_fail_errno(err, errno, "%s%s: cannot be read", root.prefix, below);
	for (size_t i = 0; i < names.n; i++) {
		be_autofree char *path = be_strf("%s/%s", below, names.v[i]), *full = be_root_path(&root, path);
		struct stat st;
		/* Symbolic links are left alone: `build` and `source` lead to the whole kernel source. */
		if (lstat(full, &st) != 0)
			return be_fail_errno(err, errno, "%s: cannot be read", full);
		if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX && list_folder(modules, path, depth + 1, err) != 0)
			return -1;
		if (S_ISREG(st.st_mode) && is_module(path))
			add(modules, path + 1)->file = be_steal(&full);
	}
	return 0;
}

/* A build tree's modules.order names them as kernel/fs/x.ko, fs/x.ko or fs/x.o, by the age of the tree. */
static int list_tree(struct be_modules *modules, struct be_error *err)
{
	const char *tree = modules->kernel->tree;
	be_autofree char *order = be_strf("%s/modules.order", tree);
	be_autobuf struct be_buf text = { 0 };
	be_autostrv struct be_strv lines = { 0 };
	if (!be_exists(order))
		return 0; /* CONFIG_MODULES is off, or `make modules` was not run: what is missing will say so */
	if (be_read_file(order, META_MAX, &text, err) != 0)
		return -1;
	be_strv_split(&lines, text.data, "\n");
	for (size_t i = 0; i < lines.n; i++) {
		char *dot = strrchr(lines.v[i], '.');
		if (!dot)
			continue;
		*dot = '\0';
		const char *inner = lines.v[i] + (be_starts(lines.v[i], "kernel/") ? strlen("kernel/") : 0);
		be_autofree char *file = be_strf("%s/%s.ko", tree, inner),
				 *plain = be_strf("%s/%s.ko", tree, lines.v[i]);
		be_autofree char *path = be_strf("kernel/%s.ko", inner);
		/* kernel/ is a folder of the source, too. */
		if (be_exists(plain))
			add(modules, path)->file = be_steal(&plain);
		else
			add(modules, path)->file = be_steal(&file);
	}
	return 0;
}

bool be_modules_meta(const struct be_modules *modules, const char *name, struct be_buf *text)
{
	const struct be_kernel *kernel = modules->kernel;
	struct be_error ignored = BE_ERROR_INIT;
	if (kernel->archive || kernel->packages.n) {
		be_autofree char *prefix = tree_prefix(kernel), *path = be_strf("%s%s", prefix, name);
		const struct be_entry *entry = be_tree_find(&kernel->files, path);
		be_automapping struct be_mapping mapping = { 0 };
		if (!entry || entry->type != BE_ENTRY_FILE || !be_tree_map(&kernel->files, entry, &mapping, &ignored))
			return false;
		be_buf_add(text, mapping.data, (size_t)entry->size);
		return true;
	}
	const char *folder = kernel->modules ? kernel->modules : kernel->tree;
	if (!folder)
		return false;
	be_autofree char *path = be_strf("%s/%s", folder, name);
	return be_read_file(path, META_MAX, text, &ignored) == 0;
}

int be_modules_list(struct be_modules *modules, struct be_kernel *kernel, struct be_error *err)
{
	*modules = (struct be_modules){ .kernel = kernel };
	int rc = 0;
	if (kernel->archive || kernel->packages.n)
		rc = list_archive(modules, err);
	else if (kernel->modules)
		rc = list_folder(modules, "", 0, err);
	else if (kernel->tree)
		rc = list_tree(modules, err);
	if (rc != 0)
		return -1;
	be_autobuf struct be_buf text = { 0 };
	be_autostrv struct be_strv lines = { 0 };
	if (be_modules_meta(modules, "modules.builtin", &text))
		be_strv_split(&lines, text.data, "\n");
	for (size_t i = 0; i < lines.n; i++)
		be_strv_take(&modules->builtin, be_module_name(lines.v[i]));
	modules->dir = be_cache_tempdir(kernel->suite->cache, err);
	if (!modules->dir)
		return -1;
	modules->root = be_strf("%s/lib/modules/%s", modules->dir, kernel->release);
	return be_mkdirs(modules->root, 0755, err);
}

static void close_archive(struct archive **archive)
{
	archive_read_free(*archive);
}

static int decompress(const void *data, size_t len, int fd, const char *name, struct be_error *err)
{
	be_cleanup(close_archive) struct archive *archive = archive_read_new();
	struct archive_entry *entry;
	archive_read_support_filter_xz(archive);
	archive_read_support_filter_zstd(archive);
	archive_read_support_filter_gzip(archive);
	archive_read_support_format_raw(archive);
	if (archive_read_open_memory(archive, data, len) != ARCHIVE_OK ||
	    archive_read_next_header(archive, &entry) != ARCHIVE_OK ||
	    archive_read_data_into_fd(archive, fd) != ARCHIVE_OK) {
		const char *text = archive_error_string(archive);
		return be_fail(err, "module %s: %s", name, text ? text : "cannot be decompressed");
	}
	return 0;
}

static int map_file(const char *path, struct be_mapping *mapping, struct be_error *err)
{
	struct stat st;
	be_autofd int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) != 0)
		return be_fail_errno(err, errno, "%s: cannot be opened", path);
	if (st.st_size == 0)
		return be_fail(err, "%s: is empty", path);
	void *base = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (base == MAP_FAILED)
		return be_fail_errno(err, errno, "%s: cannot be read", path);
	*mapping = (struct be_mapping){ .base = base, .len = (size_t)st.st_size, .data = base };
	return 0;
}

static int map_entry(struct be_kernel *kernel, const struct be_entry *entry, struct be_mapping *mapping,
		     struct be_error *err)
{
	const struct be_tree *tree = &kernel->files;
	if (entry->offset < 0) {
		if (be_kernel_unpack_rest(kernel, err) != 0)
			return -1;
		tree = &kernel->rest;
		entry = be_tree_find(tree, entry->path);
	}
	if (!entry || entry->offset < 0)
		return be_fail(err, "%s: the kernel's archive changed while it was read",
			       entry ? entry->path : "a module");
	return be_tree_map(tree, entry, mapping, err) ? 0 : -1;
}

static int write_plain(struct be_modules *modules, const struct be_module *module, const char *path,
		       struct be_error *err)
{
	be_automapping struct be_mapping mapping = { 0 };
	if (module->entry ? map_entry(modules->kernel, module->entry, &mapping, err) != 0
			  : map_file(module->file, &mapping, err) != 0)
		return -1;
	be_autofree char *folder = be_strndup(path, (size_t)(base_name(path) - 1 - path));
	if (be_mkdirs(folder, 0755, err) != 0)
		return -1;
	be_autofd int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return be_fail_errno(err, errno, "%s: cannot be created", path);
	if (be_elf_magic(mapping.data, mapping.len))
		return be_write_fd(fd, path, mapping.data, mapping.len, err);
	return decompress(mapping.data, mapping.len, fd, module->name, err);
}

/* softdep: "pre: crc32c post: xxhash64" */
static void read_info(struct be_module *module, const char *key, const char *value)
{
	be_autostrv struct be_strv words = { 0 };
	if (be_streq(key, "alias"))
		be_strv_add(&module->aliases, value);
	else if (be_streq(key, "depends"))
		be_strv_split(&module->depends, value, ",");
	else if (be_streq(key, "softdep"))
		be_strv_split(&words, value, " ");
	for (size_t i = 0; i < words.n; i++)
		if (!be_ends(words.v[i], ":"))
			be_strv_add(&module->soft, words.v[i]);
}

static int read_modinfo(struct be_module *module, const char *path, struct be_error *err)
{
	static const char *const no_config = NULL;
	struct kmod_ctx *ctx = kmod_new(NULL, &no_config);
	struct kmod_module *mod = NULL;
	struct kmod_list *list = NULL, *item;
	int rc = ctx ? kmod_module_new_from_path(ctx, path, &mod) : -ENOMEM;
	if (rc >= 0)
		rc = kmod_module_get_info(mod, &list);
	kmod_list_foreach(item, list)
		read_info(module, kmod_module_info_get_key(item), kmod_module_info_get_value(item));
	kmod_module_info_free_list(list);
	kmod_module_unref(mod);
	kmod_unref(ctx);
	return rc < 0 ? be_fail_errno(err, -rc, "module %s: its .modinfo cannot be read", module->name) : 0;
}

int be_module_extract(struct be_modules *modules, struct be_module *module, struct be_error *err)
{
	be_autofree char *path = be_strf("%s/%s", modules->root, module->path);
	if (module->extracted)
		return 0;
	if (be_interrupted(err) != 0)
		return -1;
	if (write_plain(modules, module, path, err) != 0)
		return be_cache_hint(modules->kernel->suite->cache, err);
	if (read_modinfo(module, path, err) != 0)
		return -1;
	module->extracted = true;
	return 0;
}
