#include "builder/packages/deb_select.h"

#include <fnmatch.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "builder/packages/deb_closure.h"
#include "builder/packages/json_list.h"

#define FIRMWARE "usr/lib/firmware"
#define RULES "select-2" /* changes when the same packages and names may lead to other files */

void be_selection_free(struct be_selection *selection)
{
	for (size_t i = 0; i < selection->n; i++)
		be_strv_free(&selection->picks[i].paths);
	free(selection->picks);
	free(selection->oldest_kernel);
	be_strv_free(&selection->notes);
	be_strv_free(&selection->absent);
	*selection = (struct be_selection){ 0 };
}

/* A path of the plan as our trees name it; the pattern's own characters stay. */
static char *tree_path(const char *path, struct be_error *err)
{
	char *merged = path[0] == '/' ? be_merged_path(path) : NULL;
	if (!merged)
		be_fail_usage(err, "plan: image.files: \"%s\" is no absolute path", path);
	return merged;
}

static bool take_program(struct be_closure *closure, const char *program)
{
	static const char *const folders[] = { "usr/bin", "usr/sbin" };
	for (size_t i = 0; i < BE_ARRAY_LEN(folders); i++) {
		be_autofree char *path = be_strf("%s/%s", folders[i], program);
		if (be_closure_take(closure, path))
			return true;
	}
	return false;
}

static char *names_of(const struct be_closure *closure, size_t n)
{
	be_autobuf struct be_buf text = { 0 };
	for (size_t i = 0; i < n; i++)
		be_buf_addf(&text, "%s%s", i ? ", " : "", closure->packages->v[i].name);
	return be_buf_steal(&text);
}

/* Looks in the packages that the plan names, then further and further in what they depend on: the program of a
 * metapackage is in the package behind it. */
static int take_programs(struct be_closure *closure, const struct be_strv *programs, struct be_error *err)
{
	for (size_t i = 0; i < programs->n; i++) {
		bool found;
		while (!(found = take_program(closure, programs->v[i]))) {
			int more = be_closure_widen(closure, err);
			if (more < 0)
				return -1;
			if (more == 0)
				break;
		}
		if (found)
			continue;
		be_autofree char *names = names_of(closure, closure->named);
		be_fail(err,
			"program %s: not in /usr/bin or /usr/sbin of the packages %s (%s), nor of the %zu packages "
			"that they depend on",
			programs->v[i], names, closure->suite->name, closure->packages->n - closure->named);
		return be_hint(err, "name the package that has it, or another suite, or give it by --program %s=PATH",
			       programs->v[i]);
	}
	return 0;
}

/* Of the first @packages packages, those that are read. */
static size_t take_matches(struct be_closure *closure, const char *pattern, size_t packages)
{
	size_t found = 0;
	for (size_t i = 0; i < packages; i++) {
		const struct be_tree *tree = &closure->debs[i].tree;
		for (size_t k = 0; closure->chosen[i] && k < tree->n; k++)
			if (fnmatch(pattern, tree->entries[k].path, FNM_PATHNAME | FNM_PERIOD) == 0 &&
			    be_closure_take_below(closure, tree->entries[k].path))
				found++;
	}
	return found;
}

/*
 * Patterns that match nothing in the packages that the plan names are looked for in what those depend on, one step
 * further at a time until each has a match: Python's library is in a package with its version in its name.
 */
static int take_far_matches(struct be_closure *closure, const struct be_strv *patterns, struct be_selection *selection,
			    struct be_error *err)
{
	bool missing = patterns->n > 0;
	for (int more = 1; missing && more;) {
		more = be_closure_widen(closure, err);
		if (more < 0)
			return -1;
		missing = false;
		for (size_t i = 0; i < patterns->n; i++)
			missing |= take_matches(closure, patterns->v[i], closure->packages->n) == 0;
	}
	for (size_t i = 0; missing && i < patterns->n; i++)
		if (!take_matches(closure, patterns->v[i], closure->packages->n))
			be_strv_addf(&selection->notes, "files: nothing in the packages of %s matches /%s",
				     closure->suite->name, patterns->v[i]);
	return 0;
}

/* A pattern that matches nothing nearby is added to @far. */
static int take_file(struct be_closure *closure, const char *file, struct be_strv *far, struct be_error *err)
{
	be_autofree char *path = tree_path(file, err);
	if (!path)
		return -1;
	if (strpbrk(path, "*?[")) {
		if (!take_matches(closure, path, closure->named))
			be_strv_add(far, path);
		return 0;
	}
	while (!be_closure_take_below(closure, path)) {
		int more = be_closure_widen(closure, err);
		if (more < 0)
			return -1;
		if (more == 0) {
			be_fail(err, "file %s: in none of the %zu packages of %s", file, closure->packages->n,
				closure->suite->name);
			return be_hint(err, "name the package that has it, or another suite");
		}
	}
	return 0;
}

static int take_libraries(struct be_closure *closure, const struct be_strv *libraries, struct be_selection *selection,
			  struct be_error *err)
{
	for (size_t i = 0; i < libraries->n; i++) {
		int more = 1;
		bool found;
		while (!(found = be_closure_take_library(closure, libraries->v[i])) && more > 0)
			more = be_closure_widen(closure, err);
		if (more < 0)
			return -1;
		if (!found)
			be_strv_add(&selection->absent, libraries->v[i]);
	}
	return 0;
}

static int take_firmware(struct be_closure *closure, const struct be_strv *packages, struct be_error *err)
{
	for (size_t i = 0; i < packages->n; i++) {
		int found = be_closure_take_package(closure, packages->v[i], FIRMWARE, err);
		if (found < 0)
			return -1;
		if (!found) {
			be_fail(err, "firmware: package %s of %s holds no /" FIRMWARE, packages->v[i],
				closure->suite->name);
			return be_hint(err,
				       "name the package that has the files, or give them by --program firmware=DIR");
		}
	}
	return 0;
}

static int select_files(struct be_closure *closure, const struct be_select_request *request,
			struct be_selection *selection, struct be_error *err)
{
	be_autostrv struct be_strv far = { 0 };
	if (be_closure_start(closure, err) != 0 || take_programs(closure, &request->programs, err) != 0)
		return -1;
	for (size_t i = 0; i < request->files.n; i++)
		if (take_file(closure, request->files.v[i], &far, err) != 0)
			return -1;
	if (take_firmware(closure, &request->firmware, err) != 0 ||
	    take_far_matches(closure, &far, selection, err) != 0 ||
	    take_libraries(closure, &request->libraries, selection, err) != 0)
		return -1;
	return be_closure_finish(closure, err);
}

static bool newer(const char *a, const char *b)
{
	unsigned x[3] = { 0 }, y[3] = { 0 };
	if (sscanf(a, "%u.%u.%u", &x[0], &x[1], &x[2]) < 1 || sscanf(b, "%u.%u.%u", &y[0], &y[1], &y[2]) < 1)
		return false;
	for (int i = 0; i < 3; i++)
		if (x[i] != y[i])
			return x[i] > y[i];
	return false;
}

static void read_oldest_kernel(const struct be_closure *closure, struct be_selection *selection)
{
	for (size_t i = 0; i < closure->n; i++) {
		const char *oldest = closure->queue[i].entry->elf->oldest_kernel;
		if (!oldest || (selection->oldest_kernel && !newer(oldest, selection->oldest_kernel)))
			continue;
		free(selection->oldest_kernel);
		selection->oldest_kernel = be_strdup(oldest);
	}
}

static void read_picks(const struct be_closure *closure, struct be_selection *selection)
{
	selection->picks = be_alloc((closure->packages->n + 1) * sizeof(*selection->picks));
	for (size_t i = 0; i < closure->packages->n; i++) {
		struct be_pick *pick = &selection->picks[selection->n];
		const struct be_tree *tree = &closure->debs[i].tree;
		pick->package = i;
		for (size_t k = 0; closure->chosen[i] && k < tree->n; k++)
			if (closure->chosen[i][k])
				be_strv_add(&pick->paths, tree->entries[k].path);
		if (pick->paths.n)
			selection->n++;
	}
}

/* {"oldest_kernel": ..., "notes": [...], "absent": [...], "picks": [[package's number, [path, ...]], ...]} */
static char *selection_text(const struct be_selection *selection)
{
	json_t *picks = json_array();
	for (size_t i = 0; i < selection->n; i++)
		json_array_append_new(picks, json_pack("[Io]", (json_int_t)selection->picks[i].package,
						       be_json_list(&selection->picks[i].paths)));
	json_t *all =
		json_pack("{ss?sososo}", "oldest_kernel", selection->oldest_kernel, "notes",
			  be_json_list(&selection->notes), "absent", be_json_list(&selection->absent), "picks", picks);
	char *text = all ? json_dumps(all, JSON_COMPACT) : NULL;
	json_decref(all);
	return text;
}

static bool parse_selection(const struct be_buf *text, size_t packages, struct be_selection *selection)
{
	json_t *all = json_loadb(text->data, text->len, 0, NULL), *picks = json_object_get(all, "picks"), *item;
	size_t i;
	bool ok = json_is_array(picks);
	selection->oldest_kernel = be_strdup(json_string_value(json_object_get(all, "oldest_kernel")));
	be_json_list_read(json_object_get(all, "notes"), &selection->notes);
	be_json_list_read(json_object_get(all, "absent"), &selection->absent);
	selection->picks = be_alloc((json_array_size(picks) + 1) * sizeof(*selection->picks));
	json_array_foreach(picks, i, item)
	{
		struct be_pick *pick = &selection->picks[selection->n++];
		pick->package = (size_t)json_integer_value(json_array_get(item, 0));
		be_json_list_read(json_array_get(item, 1), &pick->paths);
		ok = ok && pick->package < packages && pick->paths.n;
	}
	json_decref(all);
	if (!ok)
		be_selection_free(selection);
	return ok;
}

static void hash_list(struct be_hash *hash, const struct be_strv *list)
{
	be_hash_adds(hash, NULL);
	for (size_t i = 0; i < list->n; i++)
		be_hash_adds(hash, list->v[i]);
}

static void selection_key(const struct be_select_request *request, char key[BE_HASH_TEXT])
{
	be_autohash struct be_hash hash = { 0 };
	be_hash_start(&hash);
	be_hash_adds(&hash, RULES);
	for (size_t i = 0; i < request->packages->n; i++) {
		be_hash_adds(&hash, i < request->named ? "named" : "");
		be_hash_adds(&hash, request->packages->v[i].sha256);
	}
	hash_list(&hash, &request->programs);
	hash_list(&hash, &request->files);
	hash_list(&hash, &request->libraries);
	hash_list(&hash, &request->firmware);
	be_hash_end(&hash, key);
}

bool be_select_recall(const struct be_select_request *request, struct be_selection *selection)
{
	char key[BE_HASH_TEXT];
	be_autobuf struct be_buf text = { 0 };
	selection_key(request, key);
	return be_cache_get_text(request->suite->cache, "select", key, &text) &&
	       parse_selection(&text, request->packages->n, selection);
}

static int keep(const struct be_select_request *request, const struct be_selection *selection, struct be_error *err)
{
	char key[BE_HASH_TEXT];
	be_autofree char *text = selection_text(selection);
	selection_key(request, key);
	return text ? be_cache_set_text(request->suite->cache, "select", key, text, strlen(text), err) : 0;
}

int be_select(const struct be_select_request *request, struct be_selection *selection, struct be_error *err)
{
	struct be_closure closure = {
		.suite = request->suite, .packages = request->packages, .debs = request->debs, .named = request->named
	};
	int rc = select_files(&closure, request, selection, err);
	if (rc == 0) {
		read_oldest_kernel(&closure, selection);
		read_picks(&closure, selection);
		rc = keep(request, selection, err);
	}
	be_closure_free(&closure);
	return rc;
}
