#include "builder/kernel/modules.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

#define RULES "modules-1" /* changes when the same kernel and names make another member */

/* Where modules stand whose aliases are looked for by name: soft dependencies name algorithms ("crc32c"). */
static const char *const alias_folders[] = { "kernel/crypto/", "kernel/arch/x86/crypto/", "kernel/lib/",
					     "kernel/arch/x86/lib/" };

/* Symbols whose modules have another name: for the hint only. */
static const struct {
	const char *module, *symbol;
} symbols[] = {
	{ "ahci", "SATA_AHCI" },
	{ "brd", "BLK_DEV_RAM" },
	{ "btrfs", "BTRFS_FS" },
	{ "ext4", "EXT4_FS" },
	{ "f2fs", "F2FS_FS" },
	{ "nd_e820", "X86_PMEM_LEGACY" },
	{ "nd_pmem", "BLK_DEV_PMEM" },
	{ "nfit", "ACPI_NFIT" },
	{ "nvme", "BLK_DEV_NVME" },
	{ "raid0", "MD_RAID0" },
	{ "raid1", "MD_RAID1" },
	{ "raid10", "MD_RAID10" },
	{ "raid456", "MD_RAID456" },
	{ "sd_mod", "BLK_DEV_SD" },
	{ "virtio_blk", "VIRTIO_BLK" },
	{ "virtio_console", "VIRTIO_CONSOLE" },
	{ "virtio_pci", "VIRTIO_PCI" },
	{ "virtio_scsi", "SCSI_VIRTIO" },
	{ "xfs", "XFS_FS" },
};

static char *symbol_of(const char *name)
{
	for (size_t i = 0; i < BE_ARRAY_LEN(symbols); i++)
		if (be_streq(symbols[i].module, name))
			return be_strdup(symbols[i].symbol);
	char *symbol = be_strdup(name);
	for (char *p = symbol; *p; p++)
		if (*p >= 'a' && *p <= 'z')
			*p = (char)(*p - 'a' + 'A');
	return symbol;
}

static struct be_module *find(const struct be_modules *modules, const char *name)
{
	for (size_t i = 0; i < modules->n; i++)
		if (be_streq(modules->v[i].name, name))
			return &modules->v[i];
	return NULL;
}

static int read_aliases(struct be_modules *modules, struct be_error *err)
{
	if (modules->aliases_read)
		return 0;
	modules->aliases_read = true;
	for (size_t i = 0; i < modules->n; i++)
		for (size_t k = 0; k < BE_ARRAY_LEN(alias_folders); k++)
			if (be_starts(modules->v[i].path, alias_folders[k]) &&
			    be_module_extract(modules, &modules->v[i], err) != 0)
				return -1;
	return 0;
}

/* Chooses all modules of a folder, "kernel/drivers/ata/". Of one that this kernel built in or left out none is there.
 */
static int choose_folder(struct be_modules *modules, const char *folder)
{
	int found = 0;
	for (size_t i = 0; i < modules->n; i++) {
		if (!be_starts(modules->v[i].path, folder))
			continue;
		modules->v[i].chosen = true;
		found++;
	}
	return found;
}

/* Chooses by name or, where no module has that name, all that have it as an alias. Returns how many, 0 also where it is
 * built in (then @builtin is set), -1 on failure. */
static int choose(struct be_modules *modules, const char *asked, bool *builtin, struct be_error *err)
{
	be_autofree char *name = be_module_name(asked);
	struct be_module *module = find(modules, name);
	*builtin = false;
	if (module) {
		module->chosen = true;
		return 1;
	}
	if (be_strv_has(&modules->builtin, name)) {
		*builtin = true;
		return 0;
	}
	if (read_aliases(modules, err) != 0)
		return -1;
	int found = 0;
	for (size_t i = 0; i < modules->n; i++) {
		if (!be_strv_has(&modules->v[i].aliases, asked))
			continue;
		modules->v[i].chosen = true;
		found++;
	}
	return found;
}

/* Goes on until nothing new is chosen. A module that depends on one that is not there is damaged; a soft dependency may
 * be missing. */
static int close_over(struct be_modules *modules, struct be_error *err)
{
	bool grown = true, builtin;
	be_autofree bool *done = be_alloc(modules->n + 1);
	while (grown) {
		grown = false;
		for (size_t i = 0; i < modules->n; i++) {
			struct be_module *module = &modules->v[i];
			if (!module->chosen || done[i])
				continue;
			grown = done[i] = true;
			if (be_module_extract(modules, module, err) != 0)
				return -1;
			for (size_t k = 0; k < module->depends.n; k++) {
				int n = choose(modules, module->depends.v[k], &builtin, err);
				if (n < 0)
					return -1;
				if (n == 0 && !builtin)
					return be_fail(err, "module %s depends on %s, which this kernel does not have",
						       module->name, module->depends.v[k]);
			}
			for (size_t k = 0; k < module->soft.n; k++)
				if (choose(modules, module->soft.v[k], &builtin, err) < 0)
					return -1;
		}
	}
	return 0;
}

static int missing_error(const struct be_modules *modules, const char *name, struct be_error *err)
{
	be_autofree char *symbol = symbol_of(name);
	const struct be_kernel *kernel = modules->kernel;
	be_fail_usage(err, "kernel %s has no %s, neither as a module nor built in", kernel->release, name);
	if (!modules->n && !modules->builtin.n)
		return be_hint(err, "where its modules are is not known: give --modules DIR, the folder that "
				    "`make modules_install` filled");
	return be_hint(err, "build it with CONFIG_%s=m or =y", symbol);
}

/* Chooses what the plan names and all that it depends on. */
static int choose_all(struct be_modules *modules, const struct be_strv *required, const struct be_strv *wanted,
		      struct be_strv *notes, struct be_error *err)
{
	bool builtin;
	for (size_t i = 0; i < required->n; i++) {
		be_autofree char *name = be_module_name(required->v[i]), *symbol = symbol_of(name);
		int n = choose(modules, required->v[i], &builtin, err);
		if (n < 0)
			return -1;
		if (n == 0 && !builtin && be_kernel_config(modules->kernel, symbol) != BE_CONFIG_YES)
			return missing_error(modules, name, err);
	}
	for (size_t i = 0; i < wanted->n; i++) {
		bool folder = be_starts(wanted->v[i], "kernel/");
		int n = folder ? choose_folder(modules, wanted->v[i]) : choose(modules, wanted->v[i], &builtin, err);
		if (n < 0)
			return -1;
		if (n == 0 && !folder && !builtin)
			be_strv_addf(notes, "module %s: kernel %s has it neither as a module nor built in",
				     wanted->v[i], modules->kernel->release);
	}
	return close_over(modules, err);
}

/* What was extracted only to look at its aliases goes again, so that depmod sees the set of the image. */
static int remove_unchosen(struct be_modules *modules, struct be_error *err)
{
	for (size_t i = 0; i < modules->n; i++) {
		be_autofree char *path = be_strf("%s/%s", modules->root, modules->v[i].path);
		if (modules->v[i].extracted && !modules->v[i].chosen && unlink(path) != 0)
			return be_fail_errno(err, errno, "%s: cannot be removed", path);
	}
	return 0;
}

/* What depmod reads, and does not write. */
static const char *const meta[] = { "modules.builtin", "modules.builtin.modinfo", "modules.order" };

bool be_modules_is_index(const char *path)
{
	const char *name = strrchr(path, '/');
	if (!be_starts(path, "usr/lib/modules/") || !name || !be_starts(++name, "modules."))
		return false;
	for (size_t i = 0; i < BE_ARRAY_LEN(meta); i++)
		if (be_streq(name, meta[i]))
			return false;
	return true;
}

static int write_meta(struct be_modules *modules, struct be_error *err)
{
	be_autobuf struct be_buf order = { 0 };
	be_autofree char *path = be_strf("%s/modules.order", modules->root);
	for (size_t i = 0; i + 1 < BE_ARRAY_LEN(meta); i++) {
		be_autobuf struct be_buf text = { 0 };
		be_autofree char *to = be_strf("%s/%s", modules->root, meta[i]);
		if (be_modules_meta(modules, meta[i], &text) &&
		    be_write_file(to, text.data ? text.data : "", text.len, 0644, err) != 0)
			return -1;
	}
	/* depmod orders by this file what the file system lists in any order. */
	for (size_t i = 0; i < modules->n; i++)
		if (modules->v[i].chosen)
			be_buf_addf(&order, "%s\n", modules->v[i].path);
	return be_write_file(path, order.data ? order.data : "", order.len, 0644, err);
}

/* An ordinary user's PATH lacks the folders of system programs. */
static const char *depmod_program(void)
{
	static const char *const places[] = { "/usr/sbin/depmod", "/sbin/depmod" };
	for (size_t i = 0; i < BE_ARRAY_LEN(places); i++)
		if (access(places[i], X_OK) == 0)
			return places[i];
	return "depmod";
}

/* "kmod version 30" is the first line. */
static char *ask_version(void)
{
	const char *argv[] = { depmod_program(), "--version", NULL };
	struct be_error ignored = BE_ERROR_INIT;
	be_autorun struct be_run run = { .argv = (char *const *)argv };
	if (be_run_ok(&run, &ignored) != 0 || !run.out.data)
		return NULL;
	run.out.data[strcspn(run.out.data, "\n")] = '\0';
	const char *blank = strrchr(run.out.data, ' ');
	return blank ? be_strdup(blank + 1) : NULL;
}

char *be_depmod_version(const struct be_cache *cache)
{
	struct stat st;
	struct be_error ignored = BE_ERROR_INIT;
	be_autobuf struct be_buf kept = { 0 };
	be_autohash struct be_hash hash = { 0 };
	char key[BE_HASH_TEXT];
	const char *program = depmod_program();
	if (stat(program, &st) != 0)
		return ask_version();
	be_autofree char *identity = be_file_identity(&st);
	be_hash_start(&hash);
	be_hash_adds(&hash, program);
	be_hash_adds(&hash, identity);
	be_hash_end(&hash, key);
	if (be_cache_get_text(cache, "depmod", key, &kept))
		return be_buf_steal(&kept);
	char *version = ask_version();
	if (version && be_cache_set_text(cache, "depmod", key, version, strlen(version), &ignored) != 0)
		return version; /* only asked again */
	return version;
}

static int run_depmod(const struct be_modules *modules, struct be_error *err)
{
	const char *argv[] = { depmod_program(), "-b", modules->dir, modules->kernel->release, NULL };
	be_autorun struct be_run run = { .argv = (char *const *)argv };
	if (be_run_interruptible(&run, err) != 0)
		return be_hint(err, "depmod is in the package kmod");
	return 0;
}

/* @path relative to the temporary folder's lib/modules/RELEASE. */
static int pack_file(struct be_cpio *cpio, const struct be_modules *modules, const char *path, struct be_error *err)
{
	be_autofree char *from = be_strf("%s/%s", modules->root, path);
	be_autofree char *to = be_strf("usr/lib/modules/%s/%s", modules->kernel->release, path);
	struct be_cpio_links links = { .n = 1 };
	struct stat st;
	be_autofd int fd = open(from, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) != 0)
		return be_fail_errno(err, errno, "%s: cannot be read", from);
	return be_cpio_file(cpio, to, 0644, fd, 0, st.st_size, &links, err);
}

static int pack(struct be_cpio *cpio, const struct be_modules *modules, struct be_error *err)
{
	struct be_root root = { .prefix = modules->root };
	be_autostrv struct be_strv names = { 0 };
	if (be_root_list(&root, "/", &names) != 0)
		return be_fail_errno(err, errno, "%s: cannot be read", modules->root);
	for (size_t i = 0; i < names.n; i++)
		if (be_starts(names.v[i], "modules.") && pack_file(cpio, modules, names.v[i], err) != 0)
			return -1;
	for (size_t i = 0; i < modules->n; i++)
		if (modules->v[i].chosen && pack_file(cpio, modules, modules->v[i].path, err) != 0)
			return -1;
	return 0;
}

static int compare_modules(const void *a, const void *b)
{
	const struct be_module *x = a, *y = b;
	return strcmp(x->path, y->path);
}

static int make(struct be_segment *segment, struct be_kernel *kernel, const struct be_compressor *compressor,
		const struct be_strv *required, const struct be_strv *wanted, const char *key, struct be_strv *notes,
		struct be_error *err)
{
	be_automodules struct be_modules modules = { 0 };
	be_autocpio struct be_cpio cpio = { .file = BE_CACHE_FILE_INIT };
	if (be_modules_list(&modules, kernel, err) != 0)
		return -1;
	if (modules.n)
		qsort(modules.v, modules.n, sizeof(*modules.v), compare_modules);
	if (choose_all(&modules, required, wanted, notes, err) != 0 || remove_unchosen(&modules, err) != 0 ||
	    write_meta(&modules, err) != 0 || run_depmod(&modules, err) != 0 ||
	    be_cpio_open(&cpio, kernel->suite->cache, compressor, err) != 0 || pack(&cpio, &modules, err) != 0)
		return -1;
	return key ? be_segment_keep(segment, &cpio, compressor, key, err)
		   : be_cpio_close(&cpio, &segment->object, &segment->unpacked, err);
}

static void hash_names(struct be_hash *hash, const struct be_strv *names)
{
	be_hash_adds(hash, NULL);
	for (size_t i = 0; i < names->n; i++)
		be_hash_adds(hash, names->v[i]);
}

int be_modules_segment(struct be_segment *segment, struct be_kernel *kernel, const struct be_compressor *compressor,
		       const struct be_strv *required, const struct be_strv *wanted, struct be_strv *notes,
		       struct be_error *err)
{
	const struct be_cache *cache = kernel->suite->cache;
	char key[BE_HASH_TEXT];
	be_autohash struct be_hash hash = { 0 };
	be_autobuf struct be_buf kept = { 0 };
	be_autofree char *depmod = be_depmod_version(cache);
	segment->name = be_strdup("modules");
	be_hash_start(&hash);
	be_hash_adds(&hash, RULES);
	be_hash_adds(&hash, kernel->id);
	be_hash_adds(&hash, kernel->release);
	be_hash_adds(&hash, kernel->config.path ? kernel->config.sha256 : NULL);
	be_hash_adds(&hash, depmod);
	hash_names(&hash, required);
	hash_names(&hash, wanted);
	be_hash_end(&hash, key);
	if (!*kernel->id)
		return make(segment, kernel, compressor, required, wanted, NULL, notes, err);
	if (be_segment_find(segment, cache, compressor, key) && be_cache_get_text(cache, "modules", key, &kept)) {
		be_strv_split(notes, kept.data, "\n");
		return 0;
	}
	if (make(segment, kernel, compressor, required, wanted, key, notes, err) != 0)
		return -1;
	for (size_t i = 0; i < notes->n; i++)
		be_buf_addf(&kept, "%s\n", notes->v[i]);
	return be_cache_set_text(cache, "modules", key, kept.data ? kept.data : "", kept.len, err);
}
