#include "builder/packages/deb_closure.h"

#include <string.h>

#include "builder/parallel.h"

#define LINKS_MAX 40 /* as the kernel follows */

/* Where the dynamic loader of Debian looks without being told (amd64; after merging /lib into /usr/lib). */
static const char *const library_folders[] = { "usr/lib/x86_64-linux-gnu", "usr/lib64", "usr/lib" };

static void missing_free(struct be_missing *missing)
{
	free(missing->library);
	free(missing->needed_by);
	be_strv_free(&missing->folders);
}

static void missing_clear(struct be_missing **list, size_t *n)
{
	for (size_t i = 0; i < *n; i++)
		missing_free(&(*list)[i]);
	free(*list);
	*list = NULL;
	*n = 0;
}

void be_closure_free(struct be_closure *closure)
{
	for (size_t i = 0; closure->chosen && i < closure->packages->n; i++)
		free(closure->chosen[i]);
	free(closure->chosen);
	free(closure->queue);
	missing_clear(&closure->missing, &closure->n_missing);
	missing_clear(&closure->optional, &closure->n_optional);
}

struct reading {
	struct be_closure *closure;
	size_t *items;
};

static int read_one(void *data, size_t i, struct be_error *err)
{
	const struct reading *reading = data;
	return be_deb_index(&reading->closure->debs[reading->items[i]], reading->closure->suite->cache, err);
}

/* Reads the packages marked in @want: those without an index in the cache are fetched and unpacked, several at once. */
static int read_packages(struct be_closure *closure, const bool *want, struct be_error *err)
{
	size_t n = 0, total = closure->packages->n;
	be_autofree size_t *items = be_alloc((total + 1) * sizeof(*items));
	be_autofree struct be_package **packages = be_alloc((total + 1) * sizeof(struct be_package *));
	for (size_t i = 0; i < total; i++) {
		closure->debs[i].package = &closure->packages->v[i];
		if (!want[i] || be_deb_index_cached(&closure->debs[i], closure->suite->cache))
			continue;
		items[n] = i;
		packages[n++] = &closure->packages->v[i];
	}
	if (be_apt_fetch(closure->suite, packages, n, err) != 0)
		return -1;
	if (n)
		be_progress_note(closure->suite->progress, "unpacking %zu packages", n);
	struct reading reading = { .closure = closure, .items = items };
	if (be_parallel(n, read_one, &reading, err) != 0)
		return -1;
	for (size_t i = 0; i < total; i++)
		if (want[i] && !closure->chosen[i])
			closure->chosen[i] = be_alloc((closure->debs[i].tree.n + 1) * sizeof(bool));
	return 0;
}

int be_closure_start(struct be_closure *closure, struct be_error *err)
{
	be_autofree bool *want = be_alloc(closure->packages->n + 1);
	closure->chosen = be_alloc((closure->packages->n + 1) * sizeof(bool *));
	for (size_t i = 0; i < closure->named; i++)
		want[i] = true;
	return read_packages(closure, want, err);
}

/* The first package, in the order of the packages, that has the path as something else than a folder; else a folder. */
static struct be_spot find(const struct be_closure *closure, const char *path)
{
	struct be_spot folder = { 0 };
	for (size_t i = 0; i < closure->packages->n; i++) {
		struct be_entry *entry = closure->chosen[i] ? be_tree_find(&closure->debs[i].tree, path) : NULL;
		if (entry && entry->type != BE_ENTRY_DIR)
			return (struct be_spot){ .deb = i, .entry = entry };
		if (entry && !folder.entry)
			folder = (struct be_spot){ .deb = i, .entry = entry };
	}
	return folder;
}

static bool take(struct be_closure *closure, const char *path, unsigned links);

static void choose(struct be_closure *closure, struct be_spot spot)
{
	size_t index = (size_t)(spot.entry - closure->debs[spot.deb].tree.entries);
	if (closure->chosen[spot.deb][index])
		return;
	closure->chosen[spot.deb][index] = true;
	if (!spot.entry->elf)
		return;
	if (closure->n == closure->cap) {
		closure->cap = closure->cap ? closure->cap * 2 : 64;
		closure->queue = be_realloc(closure->queue, closure->cap, sizeof(*closure->queue));
	}
	closure->queue[closure->n++] = spot;
}

static bool follow(struct be_closure *closure, struct be_spot spot, const char *rest, unsigned links)
{
	if (links >= LINKS_MAX)
		return false;
	choose(closure, spot);
	be_autofree char *path = be_link_path(spot.entry->path, spot.entry->target, rest);
	return path && take(closure, path, links + 1);
}

/* The path itself is in no package: one of its folders may be a link. */
static bool take_through_folder(struct be_closure *closure, const char *path, unsigned links)
{
	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		be_autofree char *folder = be_strndup(path, (size_t)(slash - path));
		struct be_spot spot = find(closure, folder);
		if (spot.entry && spot.entry->type == BE_ENTRY_SYMLINK)
			return follow(closure, spot, slash + 1, links);
	}
	return false;
}

static bool take(struct be_closure *closure, const char *path, unsigned links)
{
	struct be_spot spot = find(closure, path);
	if (!spot.entry)
		return take_through_folder(closure, path, links);
	if (spot.entry->type == BE_ENTRY_SYMLINK)
		return follow(closure, spot, "", links);
	choose(closure, spot);
	if (spot.entry->type != BE_ENTRY_HARDLINK)
		return true;
	/* The file of a hard link is in the same package. */
	struct be_spot file = { .deb = spot.deb,
				.entry = be_tree_find(&closure->debs[spot.deb].tree, spot.entry->target) };
	if (file.entry && file.entry->type == BE_ENTRY_FILE)
		choose(closure, file);
	return file.entry && file.entry->type == BE_ENTRY_FILE;
}

bool be_closure_take(struct be_closure *closure, const char *path)
{
	return take(closure, path, 0);
}

bool be_closure_take_library(struct be_closure *closure, const char *library)
{
	if (library[0] == '/') {
		be_autofree char *path = be_merged_path(library);
		return path && take(closure, path, 0);
	}
	for (size_t i = 0; i < BE_ARRAY_LEN(library_folders); i++) {
		be_autofree char *path = be_strf("%s/%s", library_folders[i], library);
		if (take(closure, path, 0))
			return true;
	}
	return false;
}

/* Takes what the package, if it is read, has below @folder. Returns how many entries these are. */
static size_t take_tree(struct be_closure *closure, size_t package, const char *folder)
{
	const struct be_tree *tree = &closure->debs[package].tree;
	be_autofree char *prefix = be_strf("%s/", folder);
	size_t n = 0;
	for (size_t i = 0; closure->chosen[package] && i < tree->n; i++) {
		if (!be_starts(tree->entries[i].path, prefix))
			continue;
		take(closure, tree->entries[i].path, 0);
		n++;
	}
	return n;
}

bool be_closure_take_below(struct be_closure *closure, const char *path)
{
	struct be_spot spot = find(closure, path);
	if (!take(closure, path, 0))
		return false;
	if (!spot.entry || spot.entry->type != BE_ENTRY_DIR)
		return true;
	for (size_t i = 0; i < closure->packages->n; i++)
		take_tree(closure, i, path);
	return true;
}

static size_t package_named(const struct be_packages *packages, const char *name)
{
	size_t i = 0;
	while (i < packages->n && !be_streq(packages->v[i].name, name))
		i++;
	return i;
}

static size_t package_of(const struct be_packages *packages, const char *name)
{
	size_t i = package_named(packages, name);
	if (i < packages->n)
		return i;
	for (i = 0; i < packages->n; i++)
		if (be_strv_has(&packages->v[i].provides, name))
			return i;
	return packages->n;
}

int be_closure_take_package(struct be_closure *closure, const char *name, const char *folder, struct be_error *err)
{
	be_autofree bool *want = be_alloc(closure->packages->n + 1);
	size_t package = package_named(closure->packages, name);
	if (package == closure->packages->n)
		return 0;
	want[package] = true;
	return read_packages(closure, want, err) != 0 ? -1 : take_tree(closure, package, folder) > 0;
}

/* Marks in @want the nearest packages that are not read yet, going from those in @from along their dependencies one
 * step at a time, until a step comes to some. Returns how many. */
static size_t nearest_unread(const struct be_closure *closure, bool *from, bool *want)
{
	const struct be_packages *packages = closure->packages;
	size_t found = 0;
	bool grown = true;
	while (grown && !found) {
		grown = false;
		be_autofree bool *step = be_alloc(packages->n + 1);
		for (size_t i = 0; i < packages->n; i++) {
			for (size_t k = 0; from[i] && k < packages->v[i].depends.n; k++) {
				size_t other = package_of(packages, packages->v[i].depends.v[k]);
				if (other < packages->n && !from[other])
					step[other] = true;
			}
		}
		for (size_t i = 0; i < packages->n; i++) {
			if (!step[i])
				continue;
			grown = from[i] = true;
			if (closure->chosen[i])
				continue;
			want[i] = true;
			found++;
		}
	}
	return found;
}

/* A lock holds only the packages that files came from: what leads to some of them may not be among them. */
static bool all_unread(const struct be_closure *closure, bool *want)
{
	bool found = false;
	for (size_t i = 0; i < closure->packages->n; i++)
		if (!closure->chosen[i])
			found = want[i] = true;
	return found;
}

int be_closure_widen(struct be_closure *closure, struct be_error *err)
{
	be_autofree bool *from = be_alloc(closure->packages->n + 1), *want = be_alloc(closure->packages->n + 1);
	for (size_t i = 0; i < closure->named; i++)
		from[i] = true;
	if (!nearest_unread(closure, from, want) && !all_unread(closure, want))
		return 0;
	return read_packages(closure, want, err) != 0 ? -1 : 1;
}

/*
 * DT_RUNPATH, with $ORIGIN the file's own folder, then the loader's own folders. Last the folder that the file lies in:
 * private libraries need each other without saying where, for the program that loads them knows it.
 */
static void search_folders(const struct be_entry *entry, struct be_strv *folders)
{
	be_autostrv struct be_strv parts = { 0 };
	const char *slash = strrchr(entry->path, '/');
	be_autofree char *origin = be_strf("/%.*s", slash ? (int)(slash - entry->path) : 0, entry->path);
	if (entry->elf->runpath)
		be_strv_split(&parts, entry->elf->runpath, ":");
	for (size_t i = 0; i < parts.n; i++) {
		const char *rest = parts.v[i];
		be_autofree char *folder = NULL;
		if (be_starts(rest, "$ORIGIN") || be_starts(rest, "${ORIGIN}"))
			folder = be_link_path("", origin,
					      rest + (rest[1] == '{' ? strlen("${ORIGIN}") : strlen("$ORIGIN")));
		else
			folder = be_merged_path(rest);
		if (folder)
			be_strv_take(folders, be_steal(&folder));
	}
	for (size_t i = 0; i < BE_ARRAY_LEN(library_folders); i++)
		be_strv_add(folders, library_folders[i]);
	be_strv_add(folders, origin + 1);
}

static bool take_library(struct be_closure *closure, const struct be_missing *missing)
{
	if (strchr(missing->library, '/')) {
		be_autofree char *path = be_merged_path(missing->library);
		return path && take(closure, path, 0);
	}
	for (size_t i = 0; i < missing->folders.n; i++) {
		be_autofree char *path = be_strf("%s/%s", missing->folders.v[i], missing->library);
		if (take(closure, path, 0))
			return true;
	}
	return false;
}

static void want_library(struct be_closure *closure, struct be_spot spot, const char *library, bool optional)
{
	struct be_missing missing = { .owner = spot.deb,
				      .library = be_strdup(library),
				      .needed_by = be_strdup(spot.entry->path) };
	search_folders(spot.entry, &missing.folders);
	struct be_missing **list = optional ? &closure->optional : &closure->missing;
	size_t *n = optional ? &closure->n_optional : &closure->n_missing;
	if (take_library(closure, &missing)) {
		missing_free(&missing);
		return;
	}
	*list = be_realloc(*list, *n + 1, sizeof(**list));
	(*list)[(*n)++] = missing;
}

/* Follows the files that are in the queue; taking a library may make the queue longer. */
static void follow_queue(struct be_closure *closure)
{
	while (closure->done < closure->n) {
		struct be_spot spot = closure->queue[closure->done++];
		const struct be_elf *elf = spot.entry->elf;
		if (elf->interpreter)
			want_library(closure, spot, elf->interpreter, false);
		for (size_t i = 0; i < elf->needed.n; i++)
			want_library(closure, spot, elf->needed.v[i], false);
		for (size_t i = 0; i < elf->wanted.n; i++)
			want_library(closure, spot, elf->wanted.v[i], true);
	}
}

/* Tries again what was missing, now that more packages are read. */
static void retry(struct be_closure *closure, struct be_missing *list, size_t *n)
{
	size_t kept = 0;
	for (size_t i = 0; i < *n; i++) {
		if (take_library(closure, &list[i]))
			missing_free(&list[i]);
		else
			list[kept++] = list[i];
	}
	*n = kept;
}

static int read_for_missing(struct be_closure *closure, struct be_error *err)
{
	be_autofree bool *want = be_alloc(closure->packages->n + 1);
	for (size_t i = 0; i < closure->n_missing; i++) {
		const struct be_missing *missing = &closure->missing[i];
		be_autofree bool *from = be_alloc(closure->packages->n + 1);
		from[missing->owner] = true;
		if (nearest_unread(closure, from, want) == 0)
			return be_fail(err,
				       "library %s, needed by /%s of package %s: in none of the packages that it "
				       "depends on",
				       missing->library, missing->needed_by, closure->packages->v[missing->owner].name);
	}
	return read_packages(closure, want, err);
}

int be_closure_finish(struct be_closure *closure, struct be_error *err)
{
	for (;;) {
		follow_queue(closure);
		retry(closure, closure->missing, &closure->n_missing);
		if (closure->done < closure->n)
			continue;
		if (closure->n_missing) {
			if (read_for_missing(closure, err) != 0)
				return -1;
			retry(closure, closure->missing, &closure->n_missing);
			continue;
		}
		retry(closure, closure->optional, &closure->n_optional);
		if (closure->done == closure->n)
			return 0;
	}
}
