/*
 * The files of an archive (a package, a folder of kernel modules): a sorted list of entries, and their content in one
 * scratch file without a name, so that an archive is decompressed once however often its files are looked at.
 *
 * Names are those of a merged /usr: what an older package ships in /bin, /sbin, /lib or /lib64 is entered below /usr,
 * where the image's symbolic links lead.
 */
#ifndef BE_TREE_H
#define BE_TREE_H

#include <archive.h>
#include <stdint.h>

#include "builder/image/cache.h"
#include "builder/packages/elf.h"

enum be_entry_type {
	BE_ENTRY_FILE = 'f',
	BE_ENTRY_DIR = 'd',
	BE_ENTRY_SYMLINK = 'l',
	BE_ENTRY_HARDLINK = 'h', /* another name of the file at `target` */
};

struct be_entry {
	char *path; /* "usr/bin/fio": without a slash at either end */
	enum be_entry_type type;
	unsigned mode;      /* permission bits */
	int64_t size;       /* file */
	int64_t offset;     /* file: where its content is in the scratch file; -1: not kept */
	char *target;       /* symlink: its text; hard link: path of the file */
	struct be_elf *elf; /* file: an ELF program or library; else NULL */
};

struct be_tree {
	struct be_entry *entries; /* sorted by path, unique */
	size_t n;
	int scratch; /* -1: no content is there */
};
#define BE_TREE_INIT          \
	{                     \
		.scratch = -1 \
	}
void be_tree_free(struct be_tree *tree);
#define be_autotree be_cleanup(be_tree_free)

/* "./lib/x" and "/lib/x" become "usr/lib/x"; NULL for a path with ".." or an empty one. The caller frees. */
char *be_merged_path(const char *path);
/* Where @rest below a link at @path leads: "usr/lib/a" with "../bin" and "b" is "usr/bin/b". NULL when it leads out of
 * the tree. The caller frees. */
char *be_link_path(const char *path, const char *target, const char *rest);
struct be_entry *be_tree_find(const struct be_tree *tree, const char *path);

/*
 * Adds everything that @archive holds. @keep says whose content is wanted (NULL: all); @name is for messages. Device
 * nodes and sockets are left out, the kernel and udev make those. The tree is sorted only by be_tree_sort. Content goes
 * to tree->scratch; one is made where there is none.
 */
int be_tree_add_archive(struct be_tree *tree, struct archive *archive, const char *name, const struct be_cache *cache,
			bool (*keep)(const char *path), struct be_error *err) BE_MUST_CHECK;
void be_tree_sort(struct be_tree *tree);

/* The content of a file in memory: read only, pages are loaded as they are touched. NULL on failure. */
struct be_mapping {
	void *base;
	size_t len;
	const char *data; /* of the entry, entry->size bytes */
};
bool be_tree_map(const struct be_tree *tree, const struct be_entry *entry, struct be_mapping *mapping,
		 struct be_error *err) BE_MUST_CHECK;
void be_mapping_free(struct be_mapping *mapping);
#define be_automapping be_cleanup(be_mapping_free)

/*
 * An index as text and back; @offsets: with the places of the contents, for a tree whose scratch file is kept. NULL
 * when a name is no UTF-8. The caller frees.
 */
char *be_tree_text(const struct be_tree *tree, bool offsets);
bool be_tree_parse(struct be_tree *tree, const char *text, size_t len);

#endif
