/* Reading the catalogue. Its data is checked here once, so that nobody who uses it has to. */
#include "factor.h"

#include <errno.h>
#include <string.h>

#include "base/file.h"

static const char *const scopes[] = { "run", "disk", "fs", "md", "cpu", "node", NULL };
static const char *const phases[] = { "before", "both", "after", "during", NULL };
static const char *const comparisons[] = {
	"exact", "number", "bytes", "capacity", "set", "word", "prefix", "none", NULL
};
static const char *const evidence_kinds[] = { "measured", "argued", "named", "none", NULL };

/* What each kind of observation needs; SCHEMA.md, section 3. */
static const struct {
	const char *kind, *needs[2];
} observe_kinds[] = {
	{ "file", { "path" } },      { "file-field", { "path", "field" } },
	{ "directory", { "path" } }, { "glob", { "path" } },
	{ "statfs", { "path" } },    { "mount", { "path", "field" } },
	{ "probe", { "name" } },     { "tool", { "argv" } },
	{ "run", { "name" } },       { "plan", { "name" } },
	{ "builder", { "name" } },   { "none", { "reason" } },
};

static bool known(const char *const *words, const char *word)
{
	for (; *words; words++)
		if (strcmp(*words, word) == 0)
			return true;
	return false;
}

/* A key that may hold one of a few words. */
static int check_word(const struct be_node *map, const char *name, const char *key, const char *const *words,
		      struct be_error *err)
{
	const struct be_node *value = be_get(map, key);
	if (!value || (value->kind == BE_SCALAR && known(words, value->text)))
		return 0;
	be_autobuf struct be_buf list = { 0 };
	for (size_t i = 0; words[i]; i++)
		be_buf_addf(&list, "%s%s", i ? ", " : "", words[i]);
	return be_fail_usage(err, "%s: factor %s: `%s:` must be one of %s", be_where(value), name, key, list.data);
}

static int check_observe(const struct be_node *stanza, const char *name, struct be_error *err)
{
	const struct be_node *observe = be_get(stanza, "observe");
	const char *kind = be_get_str(observe, "kind", NULL);
	if (!kind)
		return be_fail_usage(err, "%s: factor %s: `observe:` needs a map with `kind:`", be_where(stanza), name);
	for (size_t i = 0; i < BE_ARRAY_LEN(observe_kinds); i++) {
		if (strcmp(observe_kinds[i].kind, kind) != 0)
			continue;
		for (size_t k = 0; k < BE_ARRAY_LEN(observe_kinds[i].needs); k++) {
			const char *key = observe_kinds[i].needs[k];
			if (key && !be_get(observe, key))
				return be_fail_usage(err, "%s: factor %s: an observation of kind %s needs `%s:`",
						     be_where(observe), name, kind, key);
		}
		return 0;
	}
	return be_fail_usage(err, "%s: factor %s: unknown kind of observation \"%s\"", be_where(observe), name, kind);
}

static int check_evidence(const struct be_node *stanza, const char *name, struct be_error *err)
{
	const struct be_node *list = be_get(stanza, "evidence");
	if (list && list->kind != BE_SEQ)
		return be_fail_usage(err, "%s: factor %s: `evidence:` must be a list", be_where(list), name);
	for (size_t i = 0; list && i < list->n; i++) {
		if (!be_get_str(list->items[i], "kind", NULL))
			return be_fail_usage(err, "%s: factor %s: evidence needs `kind:`", be_where(list->items[i]),
					     name);
		if (check_word(list->items[i], name, "kind", evidence_kinds, err) != 0)
			return -1;
	}
	return 0;
}

static int check(const struct be_node *stanza, const char *name, struct be_error *err)
{
	if (stanza->kind != BE_MAP)
		return be_fail_usage(err, "%s: factor %s: must be a map", be_where(stanza), name);
	if (!be_get_str(stanza, "why", NULL))
		return be_fail_usage(err, "%s: factor %s: `why:` is missing", be_where(stanza), name);
	if (!be_get_str(stanza, "scope", NULL))
		return be_fail_usage(err, "%s: factor %s: `scope:` is missing", be_where(stanza), name);
	if (check_word(stanza, name, "scope", scopes, err) != 0 || check_word(stanza, name, "when", phases, err) != 0 ||
	    check_word(stanza, name, "compare", comparisons, err) != 0)
		return -1;
	return check_evidence(stanza, name, err) != 0 ? -1 : check_observe(stanza, name, err);
}

static bool has_factor(const struct be_node *all, const char *name)
{
	for (size_t i = 0; i < all->n; i++)
		if (strcmp(be_get_str(all->items[i], "name", ""), name) == 0)
			return true;
	return false;
}

static int add_group(struct be_node *all, const struct be_node *doc, const char *path, struct be_error *err)
{
	const char *group = be_get_str(doc, "group", NULL);
	const struct be_node *factors = be_get(doc, "factors");
	if (strcmp(be_get_str(doc, "mkbenchenv", ""), "factors") != 0 || be_get_int(doc, "schema", 0) != 1)
		return be_fail_usage(err, "%s: is no factors document of schema 1", path);
	if (!group || !factors || factors->kind != BE_MAP)
		return be_fail_usage(err, "%s: needs `group:` and a map `factors:`", path);
	for (size_t i = 0; i < factors->n; i++) {
		const struct be_node *stanza = factors->items[i];
		const char *name = factors->keys[i];
		if (check(stanza, name, err) != 0)
			return -1;
		if (has_factor(all, name))
			return be_fail_usage(err, "%s: factor %s stands in another group too", be_where(stanza), name);
		struct be_node *entry = be_node_map();
		be_set_str(entry, "name", name);
		be_set_str(entry, "group", group);
		for (size_t k = 0; k < stanza->n; k++)
			be_set(entry, stanza->keys[k], be_node_clone(stanza->items[k]));
		be_add(all, entry);
	}
	return 0;
}

static int check_within(const struct be_node *all, struct be_error *err)
{
	for (size_t i = 0; i < all->n; i++) {
		const struct be_node *outer = be_get(all->items[i], "within");
		if (outer && (outer->kind != BE_SCALAR || !has_factor(all, outer->text)))
			return be_fail_usage(err, "%s: factor %s: `within:` names no factor", be_where(outer),
					     be_get_str(all->items[i], "name", ""));
	}
	return 0;
}

struct be_node *be_factors_load(const char *data_dir, struct be_error *err)
{
	be_autofree char *dir = be_strf("%s/factors", data_dir);
	be_autostrv struct be_strv names = { 0 };
	struct be_root root = { .prefix = "" };
	if (be_root_list(&root, dir, &names) != 0) {
		be_fail_errno(err, errno, "%s: the factor catalogue cannot be read", dir);
		be_hint(err, "MKBENCHENV_DATA names the folder `recipes` of an installed or unpacked mkbenchenv.");
		return NULL;
	}
	be_autonode struct be_node *all = be_node_seq();
	for (size_t i = 0; i < names.n; i++) {
		if (!be_ends(names.v[i], ".yaml"))
			continue;
		be_autofree char *path = be_strf("%s/%s", dir, names.v[i]);
		be_autonode struct be_node *doc = be_node_load_file(path, err);
		if (!doc || add_group(all, doc, path, err) != 0)
			return NULL;
	}
	if (all->n == 0) {
		be_fail(err, "%s: holds no factor", dir);
		return NULL;
	}
	if (check_within(all, err) != 0)
		return NULL;
	return be_steal(&all);
}
