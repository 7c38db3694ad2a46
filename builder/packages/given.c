#include "builder/packages/given.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "builder/packages/given_parts.h"

static void given_free(struct be_given *given)
{
	free(given->name);
	free(given->place);
	free(given->source);
	be_given_files_free(&given->files);
	be_given_files_free(&given->libraries);
}

void be_givens_free(struct be_givens *givens)
{
	for (size_t i = 0; i < givens->n; i++)
		given_free(&givens->v[i]);
	for (size_t i = 0; i < givens->n_needs; i++) {
		free(givens->needs[i].library);
		free(givens->needs[i].needed_by);
	}
	free(givens->v);
	free(givens->needs);
	be_strv_free(&givens->notes);
	*givens = (struct be_givens){ 0 };
}

static const struct be_given *find(const struct be_givens *givens, const char *name)
{
	for (size_t i = 0; i < givens->n; i++)
		if (be_streq(givens->v[i].name, name))
			return &givens->v[i];
	return NULL;
}

static const struct be_node *listed(const struct be_node *plan)
{
	return be_get_path(plan, "image.given");
}

static const struct be_node *find_listed(const struct be_node *plan, const char *name)
{
	const struct be_node *list = listed(plan);
	for (size_t i = 0; list && i < list->n; i++)
		if (be_streq(be_get_str(list->items[i], "name", NULL), name))
			return list->items[i];
	return NULL;
}

/* What only the user can give comes first: of names equally near that is the one that was meant. */
static void needed_names(const struct be_node *plan, struct be_strv *names)
{
	const struct be_node *list = listed(plan);
	for (size_t i = 0; list && i < list->n; i++)
		be_strv_add(names, be_get_str(list->items[i], "name", ""));
	be_get_strv(be_get(plan, "image"), "programs", names);
}

static int unknown(const struct be_node *plan, const char *name, struct be_error *err)
{
	be_autostrv struct be_strv names = { 0 };
	const char *near = NULL;
	unsigned least = 255;
	needed_names(plan, &names);
	for (size_t i = 0; i < names.n; i++) {
		unsigned distance = be_distance(name, names.v[i]);
		if (distance < least) {
			least = distance;
			near = names.v[i];
		}
	}
	be_fail_usage(err, "--program %s: %s needs no program of that name", name,
		      be_get_str(plan, "testcase", "the job"));
	return near ? be_hint(err, "the nearest that it needs is %s", near) : -1;
}

/* The place of a program that the plan takes from a package is where the packages have programs. */
static char *place_of(const struct be_node *plan, const char *name, struct be_error *err)
{
	const struct be_node *item = find_listed(plan, name);
	be_autostrv struct be_strv programs = { 0 };
	be_get_strv(be_get(plan, "image"), "programs", &programs);
	if (!item && !be_strv_has(&programs, name)) {
		unknown(plan, name, err);
		return NULL;
	}
	if (!item)
		return be_strf("usr/bin/%s", name);
	const char *path = be_get_str(item, "path", "");
	char *place = path[0] == '/' ? be_merged_path(path) : NULL;
	if (!place)
		be_fail_usage(err, "plan: image.given: %s: \"%s\" is no absolute path", name, path);
	return place;
}

/* Does any text of the plan's steps name something below @path, or enter it? */
static bool names_below(const struct be_node *node, const char *path)
{
	if (node->kind == BE_SCALAR)
		return be_starts(node->text, path) && node->text[strlen(path)] == '/';
	for (size_t i = 0; i < node->n; i++)
		if ((node->keys && be_streq(node->keys[i], "cwd") && be_streq(node->items[i]->text, path)) ||
		    names_below(node->items[i], path))
			return true;
	return false;
}

static int check_kind(const struct be_given *given, const struct be_node *plan, const char *path, struct be_error *err)
{
	static const char *const programs[] = { "usr/bin/", "usr/sbin/", "usr/local/bin/" };
	const struct be_node *steps = be_get_path(plan, "workload.steps");
	const char *what = be_get_str(find_listed(plan, given->name), "what", "a program");
	be_autofree char *place = be_strf("/%s", given->place);
	if (!given->folder && steps && names_below(steps, place))
		return be_fail_usage(err, "--program %s=%s: is a file; needed is %s", given->name, path, what);
	for (size_t i = 0; given->folder && i < BE_ARRAY_LEN(programs); i++)
		if (be_starts(given->place, programs[i]))
			return be_fail_usage(err, "--program %s=%s: is a folder; needed is %s", given->name, path,
					     what);
	return 0;
}

static int add(struct be_givens *givens, const struct be_node *plan, const char *text, struct be_error *err)
{
	const char *equals = strchr(text, '=');
	if (!equals || equals == text || !equals[1])
		return be_fail_usage(err, "--program %s: is not NAME=PATH", text);
	be_autofree char *name = be_strndup(text, (size_t)(equals - text));
	if (find(givens, name))
		return be_fail_usage(err, "--program %s: is given twice", name);
	be_autofree char *place = place_of(plan, name, err);
	if (!place)
		return -1;
	givens->v = be_realloc(givens->v, givens->n + 1, sizeof(*givens->v));
	struct be_given *given = &givens->v[givens->n++];
	*given = (struct be_given){ .name = be_steal(&name), .place = be_steal(&place) };
	if (be_given_read(given, equals + 1, err) != 0)
		return be_wrap(err, "--program %s", given->name);
	if (!find_listed(plan, given->name))
		be_strv_addf(&givens->notes, "%s is not that of a package but one given by --program", given->name);
	return check_kind(given, plan, equals + 1, err);
}

/* One message each: a user who has to build several wants to know of all of them. */
static int check_missing(const struct be_givens *givens, const struct be_node *plan, struct be_error *err)
{
	const struct be_node *list = listed(plan);
	for (size_t i = 0; list && i < list->n; i++) {
		const char *name = be_get_str(list->items[i], "name", "");
		if (find(givens, name) || be_get(list->items[i], "packages"))
			continue;
		if (err->text[0])
			be_error_print(err, "mkbenchenv build");
		*err = (struct be_error)BE_ERROR_INIT;
		be_fail_usage(err, "%s is not in Debian and must be given: %s", name,
			      be_get_str(list->items[i], "what", "the program"));
		be_hint(err, "--program %s=PATH", name);
	}
	return err->text[0] ? -1 : 0;
}

static int compare_givens(const void *a, const void *b)
{
	const struct be_given *x = a, *y = b;
	return strcmp(x->name, y->name);
}

int be_givens_open(struct be_givens *givens, const struct be_node *plan, const struct be_strv *programs,
		   struct be_error *err)
{
	for (size_t i = 0; programs && i < programs->n; i++)
		if (add(givens, plan, programs->v[i], err) != 0)
			return -1;
	if (check_missing(givens, plan, err) != 0)
		return -1;
	/* The order of the options must not show in the image. */
	if (givens->n)
		qsort(givens->v, givens->n, sizeof(*givens->v), compare_givens);
	be_strv_sort_unique(&givens->notes);
	for (size_t i = 0; i < givens->n; i++)
		if (be_givens_follow(givens, i, err) != 0)
			return be_wrap(err, "--program %s", givens->v[i].name);
	return 0;
}

void be_givens_packages(const struct be_givens *givens, const struct be_node *plan, struct be_strv *packages)
{
	const struct be_node *list = listed(plan);
	for (size_t i = 0; list && i < list->n; i++)
		if (!find(givens, be_get_str(list->items[i], "name", "")))
			be_get_strv(list->items[i], "packages", packages);
}

void be_givens_leave_out(const struct be_givens *givens, struct be_strv *programs)
{
	be_autostrv struct be_strv all = *programs;
	*programs = (struct be_strv){ 0 };
	for (size_t i = 0; i < all.n; i++)
		if (!find(givens, all.v[i]))
			be_strv_add(programs, all.v[i]);
}

/* Asks until nothing new is needed: a library of this machine may need others that a package has. */
static int ask(struct be_givens *givens, struct be_select_request *request, struct be_selection *selection, bool recall,
	       struct be_error *err)
{
	int more = 1;
	while (more > 0) {
		be_strv_free(&request->libraries);
		for (size_t i = 0; i < givens->n_needs; i++)
			be_strv_add(&request->libraries, givens->needs[i].library);
		be_strv_sort_unique(&request->libraries);
		be_selection_free(selection);
		if (recall ? !be_select_recall(request, selection) : be_select(request, selection, err) != 0)
			return -1;
		more = be_givens_take_local(givens, &selection->absent, err);
	}
	return more;
}

bool be_givens_recall(struct be_givens *givens, struct be_select_request *request, struct be_selection *selection)
{
	struct be_error ignored = BE_ERROR_INIT;
	if (ask(givens, request, selection, true, &ignored) == 0)
		return true;
	be_selection_free(selection);
	return false;
}

int be_givens_select(struct be_givens *givens, struct be_select_request *request, struct be_selection *selection,
		     struct be_error *err)
{
	return ask(givens, request, selection, false, err);
}

static bool is_picked(const struct be_selection *selection, const char *path)
{
	for (size_t i = 0; i < selection->n; i++)
		if (be_strv_has(&selection->picks[i].paths, path))
			return true;
	return false;
}

/* An earlier program's file for the same place: 0 none, 1 the same file, -1 another. */
static int taken(const struct be_givens *givens, size_t owner, const struct be_given_file *file, struct be_error *err)
{
	for (size_t i = 0; i < owner; i++) {
		const struct be_given_file *other = be_given_find(&givens->v[i].libraries, file->path);
		if (!other)
			continue;
		if (be_streq(other->sha256, file->sha256))
			return 1;
		be_fail_usage(err, "library %s: %s and %s bring different ones", file->path, givens->v[i].name,
			      givens->v[owner].name);
		return be_hint(err, "link them with a RUNPATH of $ORIGIN, or put both into one folder");
	}
	return 0;
}

static int settle_libraries(struct be_givens *givens, size_t owner, const struct be_selection *selection,
			    struct be_error *err)
{
	struct be_given *given = &givens->v[owner];
	struct be_given_files all = given->libraries, kept = { 0 }, dropped = { 0 };
	int rc = 0;
	kept.v = be_alloc((all.n + 1) * sizeof(*kept.v));
	dropped.v = be_alloc((all.n + 1) * sizeof(*dropped.v));
	for (size_t i = 0; i < all.n; i++) {
		bool picked = is_picked(selection, all.v[i].path);
		int same = picked ? 0 : taken(givens, owner, &all.v[i], err);
		if (picked)
			be_strv_addf(&givens->notes, "/%s of %s: the package's was taken, other programs use it too",
				     all.v[i].path, given->name);
		if (same < 0)
			rc = -1;
		if (picked || same > 0)
			dropped.v[dropped.n++] = all.v[i];
		else
			kept.v[kept.n++] = all.v[i];
	}
	free(all.v);
	be_given_files_free(&dropped);
	given->libraries = kept;
	return rc;
}

static bool is_newer(const char *needs, const char *has)
{
	unsigned x[2] = { 0 }, y[2] = { 0 };
	if (sscanf(needs, "%u.%u", &x[0], &x[1]) != 2 || sscanf(has, "%u.%u", &y[0], &y[1]) != 2)
		return false;
	return x[0] != y[0] ? x[0] > y[0] : x[1] > y[1];
}

/* Built on a newer release than the image's, a program would end at its start: "version `GLIBC_2.38' not found". */
static int check_libc(const struct be_given *given, const struct be_given_files *files,
		      const struct be_select_request *request, struct be_error *err)
{
	const char *has = NULL;
	for (size_t i = 0; i < request->packages->n; i++)
		if (be_streq(request->packages->v[i].name, "libc6"))
			has = request->packages->v[i].version;
	for (size_t i = 0; has && i < files->n; i++) {
		const struct be_elf *elf = files->v[i].elf;
		if (!elf || !elf->libc || !is_newer(elf->libc, has))
			continue;
		be_fail_usage(err, "/%s of %s needs the C library %s, the image has %s (Debian %s)", files->v[i].path,
			      given->name, elf->libc, has, request->suite->name);
		return be_hint(err, "choose a newer release by --suite, or build it statically or on that release");
	}
	return 0;
}

int be_givens_settle(struct be_givens *givens, const struct be_select_request *request,
		     const struct be_selection *selection, struct be_error *err)
{
	for (size_t i = 0; i < givens->n; i++) {
		struct be_given *given = &givens->v[i];
		if (settle_libraries(givens, i, selection, err) != 0 ||
		    check_libc(given, &given->files, request, err) != 0 ||
		    check_libc(given, &given->libraries, request, err) != 0)
			return -1;
	}
	return 0;
}

static void lock(struct be_node *list, const char *name, const char *path, int64_t size, const char *sha256)
{
	struct be_node *item = be_node_map();
	be_set_str(item, "name", name);
	be_set(item, "path", be_node_strf("/%s", path));
	be_set_int(item, "size", size);
	be_set_str(item, "sha256", sha256);
	be_add(list, item);
}

struct be_node *be_givens_lock(const struct be_givens *givens)
{
	struct be_node *list = be_node_seq();
	for (size_t i = 0; i < givens->n; i++) {
		const struct be_given *given = &givens->v[i];
		lock(list, given->name, given->place, given->size, given->sha256);
		for (size_t k = 0; k < given->libraries.n; k++) {
			const struct be_given_file *file = &given->libraries.v[k];
			if (file->source)
				lock(list, given->name, file->path, file->size, file->sha256);
		}
	}
	return list;
}
