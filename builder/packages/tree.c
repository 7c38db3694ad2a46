#include "builder/packages/tree.h"

#include <archive_entry.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "builder/progress.h"

#define ALIGN 4096 /* contents begin at pages, so that each can be mapped by itself */

static void entry_free(struct be_entry *entry)
{
	free(entry->path);
	free(entry->target);
	if (entry->elf)
		be_elf_free(entry->elf);
	free(entry->elf);
}

void be_tree_free(struct be_tree *tree)
{
	for (size_t i = 0; i < tree->n; i++)
		entry_free(&tree->entries[i]);
	free(tree->entries);
	be_close_fd(&tree->scratch);
	*tree = (struct be_tree)BE_TREE_INIT;
}

char *be_merged_path(const char *path)
{
	static const char *const merged[] = { "bin", "sbin", "lib", "lib32", "lib64", "libx32" };
	be_autostrv struct be_strv parts = { 0 };
	be_autobuf struct be_buf out = { 0 };
	be_strv_split(&parts, path, "/");
	for (size_t i = 0; i < parts.n; i++) {
		if (be_streq(parts.v[i], "."))
			continue;
		if (be_streq(parts.v[i], ".."))
			return NULL;
		for (size_t k = 0; !out.len && k < BE_ARRAY_LEN(merged); k++)
			if (be_streq(parts.v[i], merged[k]))
				be_buf_adds(&out, "usr");
		if (out.len)
			be_buf_addc(&out, '/');
		be_buf_adds(&out, parts.v[i]);
	}
	return out.len ? be_buf_steal(&out) : NULL;
}

char *be_link_path(const char *path, const char *target, const char *rest)
{
	be_autostrv struct be_strv parts = { 0 };
	be_autobuf struct be_buf out = { 0 };
	if (target[0] != '/') {
		be_strv_split(&parts, path, "/");
		free(parts.v[--parts.n]);
		parts.v[parts.n] = NULL;
	}
	be_strv_split(&parts, target, "/");
	be_strv_split(&parts, rest, "/");
	size_t depth = 0;
	be_autofree const char **kept = be_alloc((parts.n + 1) * sizeof(char *));
	for (size_t i = 0; i < parts.n; i++) {
		if (be_streq(parts.v[i], "."))
			continue;
		if (!be_streq(parts.v[i], ".."))
			kept[depth++] = parts.v[i];
		else if (depth)
			depth--;
	}
	for (size_t i = 0; i < depth; i++)
		be_buf_addf(&out, "%s%s", i ? "/" : "", kept[i]);
	return out.len ? be_merged_path(out.data) : NULL;
}

static int compare_entries(const void *a, const void *b)
{
	const struct be_entry *x = a, *y = b;
	return strcmp(x->path, y->path);
}

struct be_entry *be_tree_find(const struct be_tree *tree, const char *path)
{
	struct be_entry key = { .path = (char *)path };
	return tree->n ? bsearch(&key, tree->entries, tree->n, sizeof(key), compare_entries) : NULL;
}

/* The same name twice: the later entry is the file, as it would be after unpacking (folders of /lib and /usr/lib meet
 * here). qsort is not stable, so that the order of entry is part of the comparison by way of the address. */
static int compare_stable(const void *a, const void *b, void *base)
{
	const struct be_entry *const *x = a, *const *y = b;
	(void)base;
	int order = strcmp((*x)->path, (*y)->path);
	return order ? order : (*x < *y ? -1 : 1);
}

void be_tree_sort(struct be_tree *tree)
{
	if (!tree->n)
		return;
	struct be_entry **order = be_alloc(tree->n * sizeof(struct be_entry *));
	for (size_t i = 0; i < tree->n; i++)
		order[i] = &tree->entries[i];
	qsort_r(order, tree->n, sizeof(struct be_entry *), compare_stable, NULL);
	struct be_entry *sorted = be_alloc(tree->n * sizeof(*sorted));
	size_t n = 0;
	for (size_t i = 0; i < tree->n; i++) {
		if (i + 1 < tree->n && be_streq(order[i]->path, order[i + 1]->path))
			entry_free(order[i]);
		else
			sorted[n++] = *order[i];
	}
	free(order);
	free(tree->entries);
	tree->entries = sorted;
	tree->n = n;
}

static int archive_fail(struct archive *archive, const char *name, struct be_error *err)
{
	const char *text = archive_error_string(archive);
	return be_fail(err, "%s: %s", name, text ? text : "is damaged");
}

static int write_at(int fd, const void *data, size_t len, int64_t at, struct be_error *err)
{
	const char *p = data;
	while (len) {
		ssize_t n = pwrite(fd, p, len, at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return be_fail_errno(err, errno, "unpacking");
		p += n;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

static void read_elf(struct be_tree *tree, struct be_entry *entry)
{
	be_automapping struct be_mapping mapping = { 0 };
	struct be_error ignored = BE_ERROR_INIT;
	if (!be_tree_map(tree, entry, &mapping, &ignored))
		return;
	struct be_elf elf = { 0 };
	if (be_elf_read(mapping.data, (size_t)entry->size, &elf)) {
		entry->elf = be_alloc(sizeof(elf));
		*entry->elf = elf;
	}
}

static int read_content(struct be_tree *tree, struct be_entry *entry, struct archive *archive, const char *name,
			struct be_error *err)
{
	const void *block;
	size_t len;
	la_int64_t at;
	int rc;
	bool elf = false;
	off_t end = lseek(tree->scratch, 0, SEEK_END);
	if (end < 0)
		return be_fail_errno(err, errno, "unpacking %s", name);
	entry->offset = (end + ALIGN - 1) / ALIGN * ALIGN;
	while ((rc = archive_read_data_block(archive, &block, &len, &at)) == ARCHIVE_OK) {
		if (at == 0)
			elf = be_elf_magic(block, len);
		if (write_at(tree->scratch, block, len, entry->offset + at, err) != 0)
			return be_wrap(err, "%s", name);
	}
	if (rc != ARCHIVE_EOF)
		return archive_fail(archive, name, err);
	if (ftruncate(tree->scratch, entry->offset + entry->size) != 0)
		return be_fail_errno(err, errno, "unpacking %s", name);
	if (elf)
		read_elf(tree, entry);
	return 0;
}

/* The content of a hard link is that of the first name, which may itself have been moved below /usr. */
static bool read_kind(struct be_entry *entry, struct archive_entry *from)
{
	const char *hardlink = archive_entry_hardlink(from);
	mode_t mode = archive_entry_mode(from);
	entry->mode = mode & 07777;
	if (hardlink) {
		entry->type = BE_ENTRY_HARDLINK;
		entry->target = be_merged_path(hardlink);
		return entry->target != NULL;
	}
	switch (mode & S_IFMT) {
	case S_IFREG:
		entry->type = BE_ENTRY_FILE;
		entry->size = archive_entry_size(from);
		return true;
	case S_IFDIR:
		entry->type = BE_ENTRY_DIR;
		return true;
	case S_IFLNK:
		entry->type = BE_ENTRY_SYMLINK;
		entry->target = be_strdup(archive_entry_symlink(from));
		return entry->target != NULL;
	default:
		return false;
	}
}

static int add_entry(struct be_tree *tree, struct archive *archive, struct archive_entry *from, const char *name,
		     bool (*keep)(const char *path), size_t *cap, struct be_error *err)
{
	const char *path = archive_entry_pathname(from);
	struct be_entry entry = { .path = path ? be_merged_path(path) : NULL, .offset = -1 };
	if (!entry.path || !read_kind(&entry, from)) {
		entry_free(&entry);
		return 0;
	}
	if (tree->n == *cap) {
		*cap = *cap ? *cap * 2 : 256;
		tree->entries = be_realloc(tree->entries, *cap, sizeof(entry));
	}
	tree->entries[tree->n++] = entry;
	if (entry.type != BE_ENTRY_FILE || (keep && !keep(entry.path)))
		return 0;
	return read_content(tree, &tree->entries[tree->n - 1], archive, name, err);
}

int be_tree_add_archive(struct be_tree *tree, struct archive *archive, const char *name, const struct be_cache *cache,
			bool (*keep)(const char *path), struct be_error *err)
{
	size_t cap = tree->n;
	struct archive_entry *entry;
	int rc;
	if (tree->scratch < 0)
		tree->scratch = be_cache_scratch(cache, NULL, err);
	if (tree->scratch < 0)
		return -1;
	while ((rc = archive_read_next_header(archive, &entry)) == ARCHIVE_OK) {
		if (be_interrupted(err) != 0)
			return -1;
		if (add_entry(tree, archive, entry, name, keep, &cap, err) != 0)
			return be_cache_hint(cache, err);
	}
	return rc == ARCHIVE_EOF ? 0 : archive_fail(archive, name, err);
}

bool be_tree_map(const struct be_tree *tree, const struct be_entry *entry, struct be_mapping *mapping,
		 struct be_error *err)
{
	if (entry->size == 0) {
		*mapping = (struct be_mapping){ .data = "" };
		return true;
	}
	void *base = mmap(NULL, (size_t)entry->size, PROT_READ, MAP_PRIVATE, tree->scratch, entry->offset);
	if (base == MAP_FAILED) {
		be_fail_errno(err, errno, "%s: cannot be mapped", entry->path);
		return false;
	}
	*mapping = (struct be_mapping){ .base = base, .len = (size_t)entry->size, .data = base };
	return true;
}

void be_mapping_free(struct be_mapping *mapping)
{
	if (mapping->base)
		munmap(mapping->base, mapping->len);
	*mapping = (struct be_mapping){ 0 };
}
