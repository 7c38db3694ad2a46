#include "builder/image/ucode.h"

#include <fnmatch.h>
#include <string.h>

#include "base/file.h"
#include "builder/packages/deb.h"

#define CONTAINER_MAX (256u << 20)

/* What the kernel's early loader looks for, and where packages and other tools' images have it. */
static const struct vendor {
	const char *member;
	const char *sources[2]; /* patterns of fnmatch(3) */
} vendors[] = {
	{ "kernel/x86/microcode/GenuineIntel.bin",
	  { "usr/lib/firmware/intel-ucode/*", "kernel/x86/microcode/GenuineIntel.bin" } },
	{ "kernel/x86/microcode/AuthenticAMD.bin",
	  { "usr/lib/firmware/amd-ucode/*.bin", "kernel/x86/microcode/AuthenticAMD.bin" } },
};
enum { INTEL, AMD, VENDORS };

/* The vendor of a container, by its first words: Intel's header version and loader revision are 1, AMD's magic is
 * "DMA". */
static int vendor_of(const char *data, size_t len)
{
	static const char one[] = { 1, 0, 0, 0 };
	if (len >= 48 && memcmp(data, one, 4) == 0 && memcmp(data + 20, one, 4) == 0)
		return INTEL;
	return len >= 12 && memcmp(data, "DMA\0", 4) == 0 ? AMD : VENDORS;
}

static int no_microcode(const char *path, struct be_error *err)
{
	be_fail_usage(err, "%s: holds no microcode", path);
	return be_hint(err,
		       "give intel-microcode or amd64-microcode, which are fetched, the .deb of one of these, an early "
		       "initrd, or a vendor's container");
}

static bool comes_from(const struct vendor *vendor, const struct be_entry *entry)
{
	for (size_t i = 0; i < BE_ARRAY_LEN(vendor->sources); i++)
		if (fnmatch(vendor->sources[i], entry->path, FNM_PATHNAME | FNM_PERIOD) == 0)
			return entry->type == BE_ENTRY_FILE;
	return false;
}

/* Adds all containers of the tree, in the order of their names. */
static int collect(const struct be_tree *tree, struct be_buf found[VENDORS], struct be_error *err)
{
	for (size_t i = 0; i < tree->n; i++) {
		for (int v = 0; v < VENDORS; v++) {
			be_automapping struct be_mapping content = { 0 };
			if (!comes_from(&vendors[v], &tree->entries[i]))
				continue;
			if (!be_tree_map(tree, &tree->entries[i], &content, err))
				return -1;
			if (vendor_of(content.data, (size_t)tree->entries[i].size) == v)
				be_buf_add(&found[v], content.data, (size_t)tree->entries[i].size);
		}
	}
	return 0;
}

static void free_reader(struct archive **a)
{
	archive_read_free(*a);
}

/* 0 with what the archive holds, also nothing; -1. */
static int read_archive(const char *path, bool is_package, const struct be_cache *cache, struct be_buf found[VENDORS],
			struct be_error *err)
{
	be_autotree struct be_tree tree = BE_TREE_INIT;
	be_cleanup(free_reader) struct archive *a = archive_read_new();
	if (is_package)
		return be_deb_read(&tree, path, cache, NULL, err) != 0 ? -1 : collect(&tree, found, err);
	archive_read_support_format_cpio(a);
	if (archive_read_open_filename(a, path, 65536) != ARCHIVE_OK)
		return 0;
	if (be_tree_add_archive(&tree, a, path, cache, NULL, err) != 0)
		return -1;
	be_tree_sort(&tree);
	return collect(&tree, found, err);
}

static int read_microcode(const char *path, const struct be_cache *cache, struct be_buf found[VENDORS],
			  struct be_error *err)
{
	static const char package[] = "!<arch>\n", cpio[] = "070701";
	be_autobuf struct be_buf file = { 0 };
	if (be_read_file(path, CONTAINER_MAX, &file, err) != 0)
		return be_hint(err,
			       "--ucode takes a file, or the name of the package intel-microcode or amd64-microcode");
	if (!file.len)
		return no_microcode(path, err);
	int vendor = vendor_of(file.data, file.len);
	bool is_package = be_starts(file.data, package);
	if (vendor != VENDORS)
		be_buf_add(&found[vendor], file.data, file.len);
	else if ((is_package || be_starts(file.data, cpio)) && read_archive(path, is_package, cache, found, err) != 0)
		return -1;
	return found[INTEL].len || found[AMD].len ? 0 : no_microcode(path, err);
}

static int write_member(struct be_segment *segment, const struct be_cache *cache, const struct be_buf found[VENDORS],
			struct be_error *err)
{
	const struct be_compressor plain = { .name = "none" };
	be_autocpio struct be_cpio cpio = { .file = BE_CACHE_FILE_INIT };
	segment->name = be_strdup(BE_UCODE_MEMBER);
	if (be_cpio_open(&cpio, cache, &plain, err) != 0)
		return -1;
	for (int v = 0; v < VENDORS; v++)
		if (found[v].len && be_cpio_text(&cpio, vendors[v].member, 0644, found[v].data, found[v].len, err) != 0)
			return -1;
	return be_cpio_close(&cpio, &segment->object, &segment->unpacked, err);
}

bool be_ucode_is_package(const char *ucode)
{
	return (be_streq(ucode, "intel-microcode") || be_streq(ucode, "amd64-microcode")) && !be_exists(ucode);
}

int be_segment_ucode(struct be_segment *segment, const struct be_cache *cache, const char *path, struct be_error *err)
{
	struct be_buf found[VENDORS] = { { 0 }, { 0 } };
	int rc = read_microcode(path, cache, found, err);
	if (rc == 0)
		rc = write_member(segment, cache, found, err);
	for (int v = 0; v < VENDORS; v++)
		be_buf_free(&found[v]);
	return rc;
}
