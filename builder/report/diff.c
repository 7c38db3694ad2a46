#include "builder/report/diff.h"

#include <math.h>
#include <string.h>

#include "builder/report/diff_parts.h"

/* Rows behind those with evidence: what the recipe asked, factors without evidence, packages. */
enum { RECIPE = BE_DIFF_NO_RANK, PLAIN, PACKAGE };
static const char *const kind_names[] = { [BE_DIFF_MEASURED] = "measured",
					  [BE_DIFF_ARGUED] = "argued",
					  [BE_DIFF_NAMED] = "named",
					  [RECIPE] = "recipe",
					  [PLAIN] = "none",
					  [PACKAGE] = "package" };

struct row {
	struct be_node *node;
	unsigned rank;
	double effect;
	size_t order; /* in the catalogue */
};

struct rows {
	struct row *v;
	size_t n;
};

static void add_row(struct rows *rows, const char *name, unsigned rank, double effect, struct be_node *a,
		    struct be_node *b, struct be_node *evidence)
{
	struct be_node *node = be_node_map();
	be_set_str(node, "name", name);
	be_set_str(node, "kind", kind_names[rank]);
	if (evidence)
		be_set(node, "evidence", evidence);
	be_set(node, "a", a);
	be_set(node, "b", b);
	rows->v = be_realloc(rows->v, rows->n + 1, sizeof(*rows->v));
	rows->v[rows->n] = (struct row){ node, rank, effect, rows->n };
	rows->n++;
}

static int by_weight(const void *x, const void *y)
{
	const struct row *a = x, *b = y;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (fabs(a->effect - b->effect) > 1e-9)
		return a->effect > b->effect ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* Was the environment of any run observed? An image's manifest only says what was built. */
static bool booted(const struct be_node *side)
{
	for (size_t i = 0; i < side->n; i++)
		if (be_get_path(side->items[i], "manifest.result"))
			return true;
	return false;
}

/* The evidence with the title of its report. */
static struct be_node *evidence_node(const struct be_node *evidence, const struct be_node *reports)
{
	static const char *const keys[] = { "report", "figure", "quote" };
	struct be_node *node = be_node_map();
	const char *id = be_get_str(evidence, "report", "");
	const struct be_node *report = be_get(be_get(reports, "reports"), id);
	for (size_t i = 0; i < BE_ARRAY_LEN(keys); i++)
		be_set_str(node, keys[i], be_get_str(evidence, keys[i], NULL));
	be_set_str(node, "title", be_get_str(report, "title", NULL));
	be_set_str(node, "date", be_get_str(report, "date", NULL));
	return node;
}

static bool is_text(const struct be_node *value, const char *text)
{
	return value->kind == BE_SCALAR && strcmp(value->text, text) == 0;
}

/* What a factor's effect was measured within, as a file system's options within one file system, differs itself. */
static bool is_elsewhere(const struct be_diff_input *in, const struct be_node *factor, bool observed)
{
	const char *name = be_get_str(factor, "within", NULL);
	for (size_t i = 0; name && i < in->factors->n; i++) {
		const struct be_node *outer = in->factors->items[i];
		if (!be_streq(be_get_str(outer, "name", NULL), name))
			continue;
		const char *compare = be_get_str(outer, "compare", "exact");
		be_autonode struct be_node *a = be_diff_value(in->a, name, compare, observed);
		be_autonode struct be_node *b = be_diff_value(in->b, name, compare, observed);
		return !be_diff_same(compare, a, b);
	}
	return false;
}

/* Compares one factor; true when both sides state it. */
static bool compare_factor(const struct be_diff_input *in, const struct be_node *factor, bool observed,
			   struct rows *rows, struct be_node *stated)
{
	const char *name = be_get_str(factor, "name", ""), *compare = be_get_str(factor, "compare", "exact");
	bool counts = strcmp(compare, "none") != 0;
	be_autonode struct be_node *a = be_diff_value(in->a, name, compare, observed);
	be_autonode struct be_node *b = be_diff_value(in->b, name, compare, observed);
	if (is_text(a, BE_NOT_STATED) && is_text(b, BE_NOT_STATED))
		return false;
	if (be_diff_same(compare, a, b))
		return true;
	if (!counts) {
		struct be_node *row = be_node_map();
		be_set_str(row, "name", name);
		be_set(row, "a", be_steal(&a));
		be_set(row, "b", be_steal(&b));
		be_add(stated, row);
		return true;
	}
	unsigned rank;
	double effect;
	const struct be_node *evidence = be_diff_evidence(factor, &rank, &effect);
	/* What was measured lay between two values, not between one and none. */
	if (be_diff_is_none(a) || be_diff_is_none(b) || is_elsewhere(in, factor, observed))
		effect = 0;
	add_row(rows, name, rank == BE_DIFF_NO_RANK ? (unsigned)PLAIN : rank, effect, be_steal(&a), be_steal(&b),
		evidence ? evidence_node(evidence, in->reports) : NULL);
	be_set_str(rows->v[rows->n - 1].node, "why", be_get_str(factor, "why", NULL));
	return true;
}

/* Factors that a manifest has and the catalogue does not know any more are compared as they are. */
static void compare_unknown(const struct be_diff_input *in, bool observed, struct rows *rows)
{
	const struct be_node *first = be_get_path(in->a->items[0], "manifest.environment");
	for (size_t i = 0; first && first->kind == BE_MAP && i < first->n; i++) {
		bool known = false;
		for (size_t k = 0; k < in->factors->n && !known; k++)
			known = strcmp(be_get_str(in->factors->items[k], "name", ""), first->keys[i]) == 0;
		if (known)
			continue;
		be_autonode struct be_node *a = be_diff_value(in->a, first->keys[i], "exact", observed);
		be_autonode struct be_node *b = be_diff_value(in->b, first->keys[i], "exact", observed);
		if (!be_diff_same("exact", a, b))
			add_row(rows, first->keys[i], PLAIN, 0, be_steal(&a), be_steal(&b), NULL);
	}
}

/* The keys of @map, a map below each run's manifest, of all runs. */
static void keys_of(const struct be_node *side, const char *path, struct be_strv *keys)
{
	for (size_t i = 0; i < side->n; i++) {
		const struct be_node *map = be_get_path(be_get(side->items[i], "manifest"), path);
		for (size_t k = 0; map && map->kind == BE_MAP && k < map->n; k++)
			be_strv_add(keys, map->keys[k]);
	}
}

/* One key of such a map as a side's value. */
static struct be_node *key_value(const struct be_node *side, const char *path, const char *key)
{
	be_autonode struct be_node *values = be_node_seq();
	for (size_t i = 0; i < side->n; i++) {
		const struct be_node *value = be_get(be_get_path(be_get(side->items[i], "manifest"), path), key);
		bool again = false;
		for (size_t k = 0; k < values->n && !again; k++)
			again = value ? be_node_equal(values->items[k], value)
				      : is_text(values->items[k], BE_NOT_STATED);
		if (!again)
			be_add(values, value ? be_node_clone(value) : be_node_str(BE_NOT_STATED));
	}
	if (values->n == 1)
		return be_node_clone(values->items[0]);
	struct be_node *varies = be_node_map();
	be_set(varies, "varies", be_steal(&values));
	return varies;
}

static void compare_parameters(const struct be_diff_input *in, struct rows *rows)
{
	be_autostrv struct be_strv keys = { 0 };
	keys_of(in->a, "recipe.parameters", &keys);
	keys_of(in->b, "recipe.parameters", &keys);
	be_strv_sort_unique(&keys);
	for (size_t i = 0; i < keys.n; i++) {
		be_autonode struct be_node *a = key_value(in->a, "recipe.parameters", keys.v[i]);
		be_autonode struct be_node *b = key_value(in->b, "recipe.parameters", keys.v[i]);
		be_autofree char *name = be_strf("job %s", keys.v[i]);
		if (!be_node_equal(a, b))
			add_row(rows, name, RECIPE, 0, be_steal(&a), be_steal(&b), NULL);
	}
}

/* name -> version of the packages in the first run's lock: all runs of a side have the same image. */
static struct be_node *versions(const struct be_node *side)
{
	const struct be_node *packages = be_get_path(side->items[0], "manifest.lock.packages");
	struct be_node *map = be_node_map();
	for (size_t i = 0; packages && packages->kind == BE_SEQ && i < packages->n; i++)
		be_set_str(map, be_get_str(packages->items[i], "name", ""),
			   be_get_str(packages->items[i], "version", NULL));
	return map;
}

static void compare_packages(const struct be_diff_input *in, struct rows *rows)
{
	be_autonode struct be_node *a = versions(in->a), *b = versions(in->b);
	be_autostrv struct be_strv names = { 0 };
	for (size_t i = 0; i < a->n; i++)
		be_strv_add(&names, a->keys[i]);
	for (size_t i = 0; i < b->n; i++)
		be_strv_add(&names, b->keys[i]);
	be_strv_sort_unique(&names);
	for (size_t i = 0; i < names.n; i++) {
		const char *x = be_get_str(a, names.v[i], "not there"), *y = be_get_str(b, names.v[i], "not there");
		be_autofree char *name = be_strf("package %s", names.v[i]);
		if (strcmp(x, y) != 0)
			add_row(rows, name, PACKAGE, 0, be_node_str(x), be_node_str(y), NULL);
	}
}

/* What a machine that we did not start says it runs on. */
static const char *hypervisor(const struct be_node *run)
{
	const struct be_node *environment = be_get_path(run, "manifest.environment");
	const char *observed = be_get_str(be_get(environment, "cpu.hypervisor"), "observed", "none");
	return strcmp(observed, "none") == 0 ? "hardware" : observed;
}

/* Where a side's runs took place: "TCG", "KVM", "hardware"; several joined. */
static char *places(const struct be_node *side)
{
	be_autostrv struct be_strv names = { 0 };
	be_autobuf struct be_buf text = { 0 };
	for (size_t i = 0; i < side->n; i++) {
		const char *twin =
			be_get_str(be_get_path(side->items[i], "manifest.machine.twin"), "accelerator", NULL);
		be_strv_add(&names, !twin ? hypervisor(side->items[i]) : strcmp(twin, "tcg") == 0 ? "TCG" : "KVM");
	}
	be_strv_sort_unique(&names);
	for (size_t i = 0; i < names.n; i++)
		be_buf_addf(&text, "%s%s", i ? " and " : "", names.v[i]);
	return be_buf_steal(&text);
}

static void compare_places(const struct be_diff_input *in, struct be_node *reasons, struct be_node *notes)
{
	be_autofree char *a = places(in->a), *b = places(in->b);
	if (!booted(in->a) || !booted(in->b))
		return;
	if (strcmp(a, b) != 0)
		be_add(strstr(a, "TCG") || strstr(b, "TCG") ? reasons : notes,
		       be_node_strf("A ran on %s, B on %s", a, b));
	else if (strcmp(a, "TCG") == 0)
		be_add_str(notes,
			   "both ran under TCG: the environments compare, the figures say nothing about hardware");
}

/* A value in words, for a sentence. */
static const char *word_of(const struct be_node *value)
{
	return value->kind == BE_SCALAR ? value->text : "several";
}

static void compare_basics(const struct be_diff_input *in, bool observed, struct be_node *reasons)
{
	be_autonode struct be_node *a = be_diff_value(in->a, "testfile.filesystem", "exact", observed);
	be_autonode struct be_node *b = be_diff_value(in->b, "testfile.filesystem", "exact", observed);
	if (!be_diff_same("exact", a, b))
		be_add(reasons, be_node_strf("another test file system: %s against %s", word_of(a), word_of(b)));
	const char *x = be_get_str(be_get(in->a->items[0], "manifest"), "testcase", "");
	const char *y = be_get_str(be_get(in->b->items[0], "manifest"), "testcase", "");
	if (strcmp(x, y) != 0)
		be_add(reasons, be_node_strf("another benchmark: %s against %s", x, y));
}

static struct be_node *describe_side(const struct be_node *side, const char *letter, struct be_node *notes)
{
	struct be_node *node = be_node_map(), *runs = be_node_seq();
	for (size_t i = 0; i < side->n; i++) {
		const struct be_node *manifest = be_get(side->items[i], "manifest");
		const char *state = be_get_str(be_get(manifest, "result"), "state", NULL);
		struct be_node *run = be_node_map();
		be_set_str(run, "path", be_get_str(side->items[i], "path", ""));
		be_set_str(run, "name", be_get_str(manifest, "name", NULL));
		be_set_str(run, "image", be_get_str(be_get(manifest, "image"), "id", NULL));
		be_set_str(run, "state", state);
		be_add(runs, run);
		if (state && strcmp(state, "done") != 0 && strcmp(state, "observed") != 0)
			be_add(notes, be_node_strf("run %zu of %s is not in the figures: %s", i + 1, letter, state));
	}
	be_set(node, "runs", runs);
	return node;
}

static struct be_node *sorted(struct rows *rows)
{
	struct be_node *list = be_node_seq();
	if (rows->n)
		qsort(rows->v, rows->n, sizeof(*rows->v), by_weight);
	for (size_t i = 0; i < rows->n; i++)
		be_add(list, rows->v[i].node);
	free(rows->v);
	*rows = (struct rows){ 0 };
	return list;
}

struct be_node *be_diff_make(const struct be_diff_input *in)
{
	struct be_node *diff = be_node_map(), *reasons = be_node_seq(), *notes = be_node_seq(), *stated = be_node_seq();
	bool observed = booted(in->a) && booted(in->b);
	struct rows rows = { 0 };
	int64_t compared = 0;
	for (size_t i = 0; i < in->factors->n; i++)
		compared += compare_factor(in, in->factors->items[i], observed, &rows, stated);
	compare_unknown(in, observed, &rows);
	compare_parameters(in, &rows);
	compare_packages(in, &rows);
	compare_places(in, reasons, notes);
	compare_basics(in, observed, reasons);
	if (!observed)
		be_add_str(notes, booted(in->a) || booted(in->b) ? "one side was not booted: what was built is compared"
								 : "neither was booted: what was built is compared");
	be_set(diff, "same", be_node_bool(rows.n == 0));
	be_set_int(diff, "compared", compared);
	be_set(diff, "comparable", be_node_bool(reasons->n == 0));
	be_set(diff, "reasons", reasons);
	be_set(diff, "a", describe_side(in->a, "A", notes));
	be_set(diff, "b", describe_side(in->b, "B", notes));
	be_set(diff, "notes", notes);
	be_set(diff, "differences", sorted(&rows));
	be_set(diff, "stated", stated);
	be_set(diff, "results", be_diff_results(in->a, in->b));
	return diff;
}
