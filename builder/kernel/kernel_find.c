/* The forms in which a kernel is given, and what is taken from each. */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "builder/kernel/kernel.h"

#define PACKAGE "linux-image-"
#define METAPACKAGE PACKAGE "amd64"
#define CONFIG_MAX (4u << 20)
#define IN_TREE "arch/x86/boot/bzImage"
#define BLOCK (64u << 10)

static int keep_fd(const struct be_cache *cache, int fd, int64_t offset, int64_t size, const char *name,
		   struct be_object *object, struct be_error *err)
{
	be_autofree char *block = be_alloc(BLOCK);
	be_autocachefile struct be_cache_file file = BE_CACHE_FILE_INIT;
	if (be_cache_file_open(&file, cache, err) != 0)
		return -1;
	while (size > 0) {
		ssize_t n = pread(fd, block, size < BLOCK ? (size_t)size : BLOCK, offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return be_fail_errno(err, n ? errno : EIO, "%s: cannot be read", name);
		if (be_cache_file_write(&file, block, (size_t)n, err) != 0)
			return -1;
		offset += n;
		size -= n;
	}
	return be_cache_file_keep(&file, object, err);
}

static int keep_file(const struct be_cache *cache, const char *path, struct be_object *object, struct be_error *err)
{
	struct stat st;
	be_autofd int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) != 0)
		return be_fail_errno(err, errno, "%s: cannot be opened", path);
	return keep_fd(cache, fd, 0, st.st_size, path, object, err);
}

/* Image and configuration are in the cache: reads what they say. */
static int read_image(struct be_kernel *kernel, struct be_error *err)
{
	kernel->release = be_kernel_release(kernel->image.path, err);
	if (!kernel->release)
		return -1;
	return kernel->config.path ? be_read_file(kernel->config.path, CONFIG_MAX, &kernel->config_text, err) : 0;
}

/* In /boot or, since Debian 14, in the folder of the modules. */
static const struct be_entry *find_part(const struct be_tree *tree, const char *in_boot, const char *in_modules)
{
	for (size_t i = 0; i < tree->n; i++)
		if (tree->entries[i].type == BE_ENTRY_FILE &&
		    (fnmatch(in_boot, tree->entries[i].path, FNM_PATHNAME) == 0 ||
		     fnmatch(in_modules, tree->entries[i].path, FNM_PATHNAME) == 0))
			return &tree->entries[i];
	return NULL;
}

/* Image and configuration, if they were taken from this archive before: "IMAGE CONFIG", hashes, "-" for none. */
static void recall(struct be_kernel *kernel)
{
	const struct be_cache *cache = kernel->suite->cache;
	char image[BE_HASH_TEXT], config[BE_HASH_TEXT];
	be_autobuf struct be_buf line = { 0 };
	if (!be_cache_get_text(cache, "kernel", kernel->id, &line) ||
	    sscanf(line.data, "%64[0-9a-f] %64[-0-9a-f]", image, config) != 2)
		return;
	if (!be_streq(config, "-") && !be_cache_object(cache, config, &kernel->config))
		return;
	be_cache_object(cache, image, &kernel->image);
}

int be_kernel_read(struct be_kernel *kernel, struct be_error *err)
{
	const struct be_cache *cache = kernel->suite->cache;
	if (kernel->release)
		return 0;
	if (kernel->image.path)
		return read_image(kernel, err);
	if (be_kernel_unpack(kernel, err) != 0)
		return -1;
	const struct be_entry *image = find_part(&kernel->files, "boot/vmlinuz*", "usr/lib/modules/*/vmlinuz");
	const struct be_entry *config = find_part(&kernel->files, "boot/config*", "usr/lib/modules/*/config");
	if (!image) {
		be_fail_usage(err, "%s: holds no vmlinuz", kernel->archive ? kernel->archive : kernel->package);
		return be_hint(err, "of what `make bindeb-pkg` leaves, give the linux-image package");
	}
	int fd = kernel->files.scratch;
	if (keep_fd(cache, fd, image->offset, image->size, image->path, &kernel->image, err) != 0 ||
	    (config && keep_fd(cache, fd, config->offset, config->size, config->path, &kernel->config, err) != 0))
		return -1;
	be_autofree char *line = be_strf("%s %s\n", kernel->image.sha256, config ? kernel->config.sha256 : "-");
	if (be_cache_set_text(cache, "kernel", kernel->id, line, strlen(line), err) != 0)
		return -1;
	return read_image(kernel, err);
}

/* Debian 14 splits linux-image-RELEASE into linux-binary-RELEASE, linux-modules-RELEASE and more. */
static int find_parts(struct be_kernel *kernel, struct be_error *err)
{
	const char *release = kernel->package + strlen(PACKAGE);
	be_autostrv struct be_strv depends = { 0 };
	be_strv_add_all(&depends, &kernel->packages.v[0].depends);
	for (size_t i = 0; i < depends.n; i++)
		if (be_starts(depends.v[i], "linux-") && be_ends(depends.v[i], release) &&
		    be_apt_show(kernel->suite, depends.v[i], &kernel->packages, err) != 0)
			return -1;
	return 0;
}

static void name_packages(struct be_kernel *kernel)
{
	be_autohash struct be_hash hash = { 0 };
	kernel->source = be_strdup("debian");
	kernel->version = be_strdup(kernel->packages.v[0].version);
	be_hash_start(&hash);
	for (size_t i = 0; i < kernel->packages.n; i++)
		be_hash_adds(&hash, kernel->packages.v[i].sha256);
	be_hash_end(&hash, kernel->id);
	recall(kernel);
}

void be_kernel_of_packages(struct be_kernel *kernel, struct be_suite *suite, struct be_packages *packages)
{
	*kernel = (struct be_kernel)BE_KERNEL_INIT;
	kernel->suite = suite;
	kernel->packages = *packages;
	*packages = (struct be_packages){ 0 };
	kernel->package = be_strdup(kernel->packages.v[0].name);
	name_packages(kernel);
}

int be_kernel_stored(struct be_kernel *kernel, struct be_suite *suite, const char *source, const char *image,
		     const char *config, struct be_error *err)
{
	*kernel = (struct be_kernel)BE_KERNEL_INIT;
	kernel->suite = suite;
	kernel->source = be_strdup(source);
	kernel->stored = true;
	if (!be_cache_object(suite->cache, image, &kernel->image) ||
	    (config && !be_cache_object(suite->cache, config, &kernel->config)))
		return be_fail(err, "the cache does not hold kernel %.12s", image);
	return read_image(kernel, err);
}

/* linux-image-amd64 depends on the package of the kernel itself. */
static int find_debian(struct be_kernel *kernel, struct be_error *err)
{
	be_autopackages struct be_packages meta = { 0 };
	if (be_apt_show(kernel->suite, METAPACKAGE, &meta, err) != 0)
		return -1;
	for (size_t i = 0; i < meta.v[0].depends.n && !kernel->package; i++)
		if (be_starts(meta.v[0].depends.v[i], PACKAGE))
			kernel->package = be_strdup(meta.v[0].depends.v[i]);
	if (!kernel->package)
		return be_fail(err, "%s of %s names no kernel package", METAPACKAGE, kernel->suite->name);
	if (be_apt_show(kernel->suite, kernel->package, &kernel->packages, err) != 0 || find_parts(kernel, err) != 0)
		return -1;
	name_packages(kernel);
	return 0;
}

static bool is_deb(const char *path)
{
	char magic[8] = "";
	be_autofd int fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && read(fd, magic, sizeof(magic)) == (ssize_t)sizeof(magic) &&
	       memcmp(magic, "!<arch>\n", 8) == 0;
}

static int find_package(struct be_kernel *kernel, const char *path, struct be_error *err)
{
	kernel->source = be_strdup("package");
	kernel->archive = be_strdup(path);
	if (be_hash_file(path, kernel->id, NULL, err) != 0)
		return -1;
	recall(kernel);
	return 0;
}

/* The first of these that is a file: where people and the robot keep a kernel's configuration. */
static int take_config(struct be_kernel *kernel, const char *folder, struct be_error *err)
{
	be_autofree char *named = be_strf("config-%s", kernel->release);
	const char *const names[] = { ".config", named, "config", "kernel.config" };
	for (size_t i = 0; i < BE_ARRAY_LEN(names); i++) {
		be_autofree char *path = be_strf("%s/%s", folder, names[i]);
		if (!be_exists(path))
			continue;
		if (keep_file(kernel->suite->cache, path, &kernel->config, err) != 0)
			return -1;
		return be_read_file(kernel->config.path, CONFIG_MAX, &kernel->config_text, err);
	}
	return 0;
}

/* @folder is the modules' own, or holds it as RELEASE or lib/modules/RELEASE. */
static int take_modules(struct be_kernel *kernel, const char *folder, struct be_error *err)
{
	be_autofree char *inner = be_strf("%s/%s", folder, kernel->release);
	be_autofree char *installed = be_strf("%s/lib/modules/%s", folder, kernel->release);
	be_autofree char *merged = be_strf("%s/usr/lib/modules/%s", folder, kernel->release);
	const char *const places[] = { folder, inner, installed, merged };
	for (size_t i = 0; i < BE_ARRAY_LEN(places); i++) {
		be_autofree char *order = be_strf("%s/modules.order", places[i]),
				 *below = be_strf("%s/kernel", places[i]);
		if (!be_exists(order) && !be_exists(below))
			continue;
		kernel->modules = be_strdup(places[i]);
		return 0;
	}
	be_fail_usage(err, "%s: holds no modules of kernel %s", folder, kernel->release);
	return be_hint(err,
		       "give the folder that `make modules_install INSTALL_MOD_PATH=DIR` filled, or its "
		       "lib/modules/%s",
		       kernel->release);
}

static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? be_strndup(path, slash == path ? 1 : (size_t)(slash - path)) : be_strdup(".");
}

static int find_tree(struct be_kernel *kernel, const char *folder, const char *modules, struct be_error *err)
{
	be_autofree char *image = be_strf("%s/%s", folder, IN_TREE);
	kernel->source = be_strdup("tree");
	if (keep_file(kernel->suite->cache, image, &kernel->image, err) != 0 || read_image(kernel, err) != 0 ||
	    take_config(kernel, folder, err) != 0)
		return -1;
	if (modules)
		return take_modules(kernel, modules, err);
	kernel->tree = be_strdup(folder);
	return 0;
}

static int find_file(struct be_kernel *kernel, const char *path, const char *modules, struct be_error *err)
{
	be_autofree char *folder = folder_of(path), *cgz = be_strf("%s/modules.cgz", folder);
	kernel->source = be_strdup("file");
	if (keep_file(kernel->suite->cache, path, &kernel->image, err) != 0)
		return -1;
	kernel->release = be_kernel_release(path, err);
	if (!kernel->release || take_config(kernel, folder, err) != 0)
		return -1;
	if (modules)
		return take_modules(kernel, modules, err);
	if (!be_exists(cgz))
		return 0;
	kernel->archive = be_strdup(cgz);
	return be_hash_file(cgz, kernel->id, NULL, err);
}

static int find_folder(struct be_kernel *kernel, const char *folder, const char *modules, struct be_error *err)
{
	static const char *const names[] = { "vmlinuz", "bzImage" };
	be_autofree char *in_tree = be_strf("%s/%s", folder, IN_TREE);
	if (be_exists(in_tree))
		return find_tree(kernel, folder, modules, err);
	for (size_t i = 0; i < BE_ARRAY_LEN(names); i++) {
		be_autofree char *path = be_strf("%s/%s", folder, names[i]);
		if (be_exists(path))
			return find_file(kernel, path, modules, err);
	}
	be_fail_usage(err, "%s: holds neither %s nor vmlinuz", folder, IN_TREE);
	return be_hint(err, "give a kernel image, a build tree, a folder with vmlinuz and modules.cgz, or a .deb");
}

int be_kernel_find(struct be_kernel *kernel, struct be_suite *suite, const char *wish, const char *modules,
		   struct be_error *err)
{
	struct stat st;
	*kernel = (struct be_kernel)BE_KERNEL_INIT;
	kernel->suite = suite;
	if (!wish || be_streq(wish, "debian"))
		return modules ? be_fail_usage(err, "--modules goes with --kernel FILE") : find_debian(kernel, err);
	if (stat(wish, &st) != 0) {
		be_fail_errno(err, errno, "kernel %s", wish);
		err->status = BE_USAGE;
		return be_hint(err, "--kernel takes `debian`, a kernel image, a build tree or a .deb");
	}
	if (S_ISDIR(st.st_mode))
		return find_folder(kernel, wish, modules, err);
	if (!S_ISREG(st.st_mode)) /* opening a pipe would wait for its writer, even past an interrupt */
		return be_fail_usage(err, "kernel %s: is a device, pipe or socket and no file", wish);
	if (is_deb(wish))
		return modules ? be_fail_usage(err, "--modules does not go with a .deb, which has its own")
			       : find_package(kernel, wish, err);
	be_autofree char *whole = be_strf("./%s", wish);
	if (be_ends(whole, "/" IN_TREE)) {
		whole[strlen(whole) - strlen("/" IN_TREE)] = '\0';
		return find_tree(kernel, wish[0] == '/' ? whole + 2 : whole, modules, err);
	}
	return find_file(kernel, wish, modules, err);
}
