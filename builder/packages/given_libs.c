/*
 * The libraries of given programs. What the loader will find by RUNPATH, or what lies beside the program, comes along;
 * the rest is looked for in the packages of the image's release, and only then on this machine.
 */
#include <string.h>
#include <sys/stat.h>

#include "builder/packages/given_parts.h"

#define DEFAULT_FOLDER "usr/lib/x86_64-linux-gnu"

/* Where the loader looks by itself: a RUNPATH that leads there (as libtool and cmake write it) says nothing. */
static const char *const default_folders[] = { DEFAULT_FOLDER, "usr/lib64", "usr/lib" };

/* This machine's folders of libraries, Debian's and those of what was installed from source. */
static const char *const local_folders[] = { "/usr/local/lib/x86_64-linux-gnu",
					     "/usr/local/lib64",
					     "/usr/local/lib",
					     "/usr/lib/x86_64-linux-gnu",
					     "/lib/x86_64-linux-gnu",
					     "/usr/lib64",
					     "/lib64",
					     "/usr/lib",
					     "/lib" };

static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	return be_strndup(path, slash ? (size_t)(slash - path) : 0);
}

static bool is_default(const char *folder)
{
	for (size_t i = 0; i < BE_ARRAY_LEN(default_folders); i++)
		if (be_streq(folder, default_folders[i]))
			return true;
	return false;
}

/* The real path of FOLDER/LIBRARY when that is a library that can be loaded. The caller frees. */
static char *find(const char *folder, const char *library)
{
	be_autofree char *path = be_strf("%s/%s", folder, library);
	struct be_given_files files = { 0 };
	struct be_error ignored = BE_ERROR_INIT;
	be_autofree char *real = realpath(path, NULL);
	const struct be_given_file *file = real ? be_given_add(&files, library, real, &ignored) : NULL;
	bool found = file && file->elf;
	be_given_files_free(&files);
	return found ? be_steal(&real) : NULL;
}

/* Makes @source found at @path of the image. */
static int place(struct be_given *given, const char *path, const char *source, struct be_error *err)
{
	const char *inside = be_given_inside(given, source);
	if (be_given_find(&given->files, path) || be_given_find(&given->libraries, path))
		return 0;
	struct be_given_file *file = be_given_add(&given->libraries, path, source, err);
	if (!file)
		return -1;
	if (!inside)
		return 0;
	/* It is in the folder already: a link is enough, and what it needs is followed there. */
	file->target = be_strf("/%s/%s", given->place, inside);
	free(be_steal(&file->source));
	file->size = 0;
	return 0;
}

/* A folder of a RUNPATH: on this machine, and in the image. */
struct folder {
	char *here, *there;
	bool relative; /* by $ORIGIN */
};

static void folder_free(struct folder *folder)
{
	free(folder->here);
	free(folder->there);
}

/* False for what says nothing here: default folders, and paths relative to where the program is started. */
static bool read_folder(const struct be_given_file *file, const char *text, struct folder *folder)
{
	static const char *const origins[] = { "$ORIGIN", "${ORIGIN}" };
	be_autofree char *here = folder_of(file->source), *there = folder_of(file->path);
	for (size_t i = 0; i < BE_ARRAY_LEN(origins); i++) {
		const char *rest = text + strlen(origins[i]);
		if (!be_starts(text, origins[i]))
			continue;
		be_autofree char *absolute = be_strf("/%s", there);
		*folder = (struct folder){ .here = be_strf("%s%s", here, rest),
					   .there = be_link_path("", absolute, rest),
					   .relative = true };
		return folder->there != NULL;
	}
	if (text[0] != '/')
		return false;
	*folder = (struct folder){ .here = be_strdup(text), .there = be_link_path("", text, "") };
	return folder->there && !is_default(folder->there);
}

/* 1: found, 0: not. */
static int take_from(struct be_given *given, const struct folder *folder, const char *library, struct be_error *err)
{
	be_autofree char *real = find(folder->here, library);
	be_autofree char *path = be_strf("%s/%s", folder->there, library);
	if (!real)
		return 0;
	if (folder->relative && be_given_inside(given, real))
		return 1;
	return place(given, path, real, err) == 0 ? 1 : -1;
}

static int take_by_runpath(struct be_given *given, const struct be_given_file *file, const char *library,
			   struct be_error *err)
{
	be_autostrv struct be_strv parts = { 0 };
	int rc = 0;
	if (file->elf->runpath)
		be_strv_split(&parts, file->elf->runpath, ":");
	for (size_t i = 0; i < parts.n && rc == 0; i++) {
		struct folder folder = { 0 };
		if (read_folder(file, parts.v[i], &folder))
			rc = take_from(given, &folder, library, err);
		folder_free(&folder);
	}
	return rc;
}

/* In the program's own folder, or anywhere in the folder that was given. The loader does not look there, so the library
 * gets a name where it does. */
static int take_from_beside(struct be_given *given, const struct be_given_file *file, const char *library,
			    struct be_error *err)
{
	be_autofree char *folder = folder_of(file->source), *merged = be_merged_path(folder);
	be_autofree char *real = merged && !is_default(merged) ? find(folder, library) : NULL;
	be_autofree char *end = be_strf("/%s", library), *path = be_strf("%s/%s", DEFAULT_FOLDER, library);
	for (size_t i = 0; i < given->files.n && !real; i++) {
		const char *other = given->files.v[i].path;
		be_autofree char *full = be_strf("%s%s", given->source, other + strlen(given->place));
		be_autofree char *parent = folder_of(full);
		if (be_ends(other, end))
			real = find(parent, library);
	}
	if (!real)
		return 0;
	return place(given, path, real, err) == 0 ? 1 : -1;
}

static bool is_placed(const struct be_given *given, const char *library)
{
	be_autofree char *path = be_strf("%s/%s", DEFAULT_FOLDER, library);
	return be_given_find(&given->libraries, path) != NULL;
}

static void add_need(struct be_givens *givens, size_t owner, const struct be_given_file *file, const char *library)
{
	for (size_t i = 0; i < givens->n_needs; i++)
		if (givens->needs[i].owner == owner && be_streq(givens->needs[i].library, library))
			return;
	givens->needs = be_realloc(givens->needs, givens->n_needs + 1, sizeof(*givens->needs));
	givens->needs[givens->n_needs++] = (struct be_given_need){ .owner = owner,
								   .library = be_strdup(library),
								   .needed_by = be_strdup(file->path) };
}

static int want(struct be_givens *givens, size_t owner, const struct be_given_file *file, const char *library,
		struct be_error *err)
{
	struct be_given *given = &givens->v[owner];
	int rc = 0;
	if (!strchr(library, '/')) {
		rc = take_by_runpath(given, file, library, err);
		if (rc == 0)
			rc = take_from_beside(given, file, library, err);
		if (rc == 0 && is_placed(given, library))
			rc = 1;
	}
	if (rc == 0)
		add_need(givens, owner, file, library);
	return rc < 0 ? -1 : 0;
}

/* @file is a copy: taking a library may move the others. */
static int follow(struct be_givens *givens, size_t owner, struct be_given_file file, struct be_error *err)
{
	if (!file.elf || !file.source)
		return 0;
	if (file.elf->interpreter && want(givens, owner, &file, file.elf->interpreter, err) != 0)
		return -1;
	for (size_t i = 0; i < file.elf->needed.n; i++)
		if (want(givens, owner, &file, file.elf->needed.v[i], err) != 0)
			return -1;
	return 0;
}

int be_givens_follow(struct be_givens *givens, size_t owner, struct be_error *err)
{
	struct be_given *given = &givens->v[owner];
	const struct be_given_files *lists[] = { &given->files, &given->libraries };
	for (size_t k = 0; k < BE_ARRAY_LEN(lists); k++)
		while (given->followed[k] < lists[k]->n)
			if (follow(givens, owner, lists[k]->v[given->followed[k]++], err) != 0)
				return -1;
	return 0;
}

static char *find_local(const char *library)
{
	if (library[0] == '/')
		return find("", library + 1);
	for (size_t i = 0; i < BE_ARRAY_LEN(local_folders); i++) {
		char *real = find(local_folders[i], library);
		if (real)
			return real;
	}
	return NULL;
}

static int take_local(struct be_givens *givens, size_t i, struct be_error *err)
{
	const struct be_given_need need = givens->needs[i];
	struct be_given *given = &givens->v[need.owner];
	be_autofree char *real = find_local(need.library);
	be_autofree char *path =
		need.library[0] == '/' ? be_merged_path(need.library) : be_strf("%s/%s", DEFAULT_FOLDER, need.library);
	if (!real || !path) {
		be_fail(err,
			"library %s, needed by /%s of %s: not beside it, in no package of the image, and not in this "
			"machine's folders of libraries",
			need.library, need.needed_by, given->name);
		return be_hint(err, "put it into the program's folder");
	}
	givens->needs[i].local = true;
	be_strv_addf(&givens->notes, "%s of %s: no package of the image has it, the building machine's own was taken",
		     need.library, given->name);
	return place(given, path, real, err);
}

int be_givens_take_local(struct be_givens *givens, const struct be_strv *absent, struct be_error *err)
{
	size_t before = givens->n_needs;
	for (size_t i = 0; i < before; i++)
		if (!givens->needs[i].local && be_strv_has(absent, givens->needs[i].library) &&
		    take_local(givens, i, err) != 0)
			return -1;
	for (size_t i = 0; i < givens->n; i++)
		if (be_givens_follow(givens, i, err) != 0)
			return -1;
	return givens->n_needs > before;
}
