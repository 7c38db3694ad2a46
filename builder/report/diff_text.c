/* The comparison for people: differences first, a line each, then what is known of them, then the figures. */
#include "builder/report/diff.h"

#include <string.h>

#include "builder/report/diff_parts.h"
#include "builder/report/manifest_text.h"

#define NAME_MAX_WIDTH 28
#define EVIDENCE_MAX 20
#define ROWS_SHOWN 40
#define HASH_SHOWN 12

/* Columns that @text takes: characters of UTF-8. */
static size_t columns(const char *text)
{
	size_t n = 0;
	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

static void add_cell(struct be_buf *out, const char *text, size_t width)
{
	be_autofree char *cell = be_strdup(text);
	be_text_shorten(cell, width);
	be_buf_adds(out, cell);
	for (size_t n = columns(cell); n < width; n++)
		be_buf_addc(out, ' ');
}

static bool is_hash(const char *text)
{
	size_t n = strspn(text, "0123456789abcdef");
	return n >= 40 && !text[n];
}

static void words_of(const struct be_node *value, struct be_strv *words)
{
	if (value->kind == BE_SCALAR)
		be_strv_split(words, value->text, " ,\n\t");
	for (size_t i = 0; value->kind == BE_SEQ && i < value->n; i++)
		if (value->items[i]->text)
			be_strv_add(words, value->items[i]->text);
}

/* Of two lists of words that share some, the words of @value that @other does not have; NULL: not such lists. */
static char *own_words(const struct be_node *value, const struct be_node *other)
{
	be_autostrv struct be_strv mine = { 0 }, theirs = { 0 };
	be_autobuf struct be_buf text = { 0 };
	words_of(value, &mine);
	words_of(other, &theirs);
	size_t shared = 0, own = 0;
	for (size_t i = 0; i < mine.n; i++) {
		if (be_strv_has(&theirs, mine.v[i]))
			shared++;
		else
			be_buf_addf(&text, "%s%s", own++ ? " " : "", mine.v[i]);
	}
	if (mine.n < 4 || theirs.n < 4 || 2 * shared < mine.n)
		return NULL;
	return own ? be_strf("... %s", text.data) : be_strdup("... without");
}

/* Of two maps, only the keys whose values are not the same. */
static struct be_node *own_keys(const struct be_node *value, const struct be_node *other)
{
	struct be_node *map = be_node_map();
	for (size_t i = 0; i < value->n; i++) {
		const struct be_node *theirs = be_get(other, value->keys[i]);
		if (!theirs || !be_node_equal(value->items[i], theirs))
			be_set(map, value->keys[i], be_node_clone(value->items[i]));
	}
	return map;
}

/* @value in one line, with only what tells it from @other; the caller frees. */
static char *value_text(const struct be_node *value, const struct be_node *other)
{
	if (value->kind == BE_MAP && be_get(value, "before") && be_get(value, "after")) {
		be_autofree char *before = be_value_line(be_get(value, "before"));
		be_autofree char *after = be_value_line(be_get(value, "after"));
		return be_strf("%s, then %s", before, after);
	}
	if (value->kind == BE_MAP && be_get(value, "varies")) {
		be_autofree char *all = be_value_line(be_get(value, "varies"));
		return be_strf("varies: %s", all);
	}
	if (value->kind == BE_MAP && other->kind == BE_MAP) {
		be_autonode struct be_node *own = own_keys(value, other);
		be_autofree char *text = be_value_line(own);
		return be_strdup(*text ? text : "-");
	}
	char *own = value->kind != BE_MAP && other->kind != BE_MAP ? own_words(value, other) : NULL;
	if (own)
		return own;
	char *text = be_value_line(value);
	if (is_hash(text))
		text[HASH_SHOWN] = '\0';
	return text;
}

static char *evidence_text(const struct be_node *row)
{
	const struct be_node *evidence = be_get(row, "evidence");
	const char *kind = be_get_str(row, "kind", ""), *report = be_get_str(evidence, "report", "");
	if (!evidence)
		return be_strdup(strcmp(kind, "none") == 0 ? "" : kind);
	if (strcmp(kind, "measured") == 0) {
		const char *figure = be_get_str(evidence, "figure", kind); /* behind a colon: how it came about */
		return be_strf("%s %.*s", report, (int)strcspn(figure, ":"), figure);
	}
	return be_strf("%s %s", report, kind);
}

static size_t widest(const struct be_node *rows, size_t n, char *(*cell)(const struct be_node *), size_t limit)
{
	size_t width = 0;
	for (size_t i = 0; i < n; i++) {
		be_autofree char *text = cell(rows->items[i]);
		size_t len = columns(text);
		width = len > width ? len : width;
	}
	return width < limit ? width : limit;
}

static bool one_sided(const struct be_node *row)
{
	return be_diff_is_none(be_get(row, "a")) || be_diff_is_none(be_get(row, "b"));
}

/* What only one side has and of which nothing was measured or argued fills no line of its own. */
static bool is_bulk(const struct be_node *row)
{
	const char *kind = be_get_str(row, "kind", "");
	return one_sided(row) && (strcmp(kind, "named") == 0 || strcmp(kind, "none") == 0);
}

static char *name_text(const struct be_node *row)
{
	return be_strdup(be_get_str(row, "name", ""));
}

static void add_rows(const struct be_node *rows, size_t n, struct be_buf *out)
{
	size_t name = widest(rows, n, name_text, NAME_MAX_WIDTH),
	       evidence = widest(rows, n, evidence_text, EVIDENCE_MAX);
	size_t value = (BE_DIFF_COLUMNS - name - evidence - 5) / 2;
	for (size_t i = 0; i < n; i++) {
		const struct be_node *row = rows->items[i], *a = be_get(row, "a"), *b = be_get(row, "b");
		be_autofree char *proof = evidence_text(row), *left = value_text(a, b), *right = value_text(b, a);
		be_autobuf struct be_buf line = { 0 };
		add_cell(&line, be_get_str(row, "name", ""), name);
		be_buf_adds(&line, "  ");
		if (evidence) {
			add_cell(&line, proof, evidence);
			be_buf_addc(&line, ' ');
		}
		add_cell(&line, left, value);
		be_buf_addc(&line, ' ');
		add_cell(&line, right, value);
		be_buf_addf(out, "%s\n", be_trim(line.data));
	}
}

/* Is its evidence worth quoting? What reports only name is not, nor an argument about what one side does not have. */
static bool speaks(const struct be_node *row)
{
	const char *kind = be_get_str(row, "kind", "");
	return strcmp(kind, "measured") == 0 || (strcmp(kind, "argued") == 0 && !one_sided(row));
}

/* "R3 2023-07-06 [io_uring] caec5ebe77: ...", and below it what was said of each factor. */
static void add_evidence(const struct be_node *rows, size_t n, struct be_buf *out)
{
	be_autostrv struct be_strv told = { 0 };
	for (size_t i = 0; i < n; i++) {
		const struct be_node *evidence = be_get(rows->items[i], "evidence");
		const char *report = be_get_str(evidence, "report", NULL);
		if (!report || !speaks(rows->items[i]) || be_strv_has(&told, report))
			continue;
		be_autofree char *title = be_strf("%s %s %s", report, be_get_str(evidence, "date", ""),
						  be_get_str(evidence, "title", ""));
		be_buf_adds(out, told.n ? "" : "\nWhat is known of them\n");
		be_strv_add(&told, report);
		be_wrap_text(out, "  ", "    ", title);
		for (size_t k = i; k < n; k++) {
			const struct be_node *other = be_get(rows->items[k], "evidence");
			const char *kind = be_get_str(rows->items[k], "kind", "");
			if (!be_streq(be_get_str(other, "report", NULL), report) || !speaks(rows->items[k]))
				continue;
			be_autofree char *line =
				be_strf("%s, %s%s%s: \"%s\" %s", be_get_str(rows->items[k], "name", ""), kind,
					be_get(other, "figure") ? " " : "", be_get_str(other, "figure", ""),
					be_get_str(other, "quote", ""), be_get_str(rows->items[k], "why", ""));
			be_wrap_text(out, "    ", "      ", line);
		}
	}
}

static void add_list(const struct be_node *list, const char *lead, struct be_buf *out)
{
	for (size_t i = 0; list && i < list->n; i++)
		be_wrap_text(out, lead, "  ", list->items[i]->text);
}

static void add_sides(const struct be_node *diff, struct be_buf *out)
{
	static const char *const sides[][2] = { { "a", "A " }, { "b", "B " } };
	for (size_t s = 0; s < BE_ARRAY_LEN(sides); s++) {
		const struct be_node *runs =
			be_get_path(diff, sides[s][0]) ? be_get(be_get(diff, sides[s][0]), "runs") : NULL;
		be_autobuf struct be_buf text = { 0 };
		for (size_t i = 0; runs && i < runs->n; i++)
			be_buf_addf(&text, "%s%s", i ? ", " : "", be_get_str(runs->items[i], "path", ""));
		const char *name = runs && runs->n ? be_get_str(runs->items[0], "name", NULL) : NULL;
		if (name)
			be_buf_addf(&text, ": %s", name);
		be_wrap_text(out, sides[s][1], "  ", text.data ? text.data : "");
	}
}

/* "only B has disk (24), fs (12)": by the names' first words, of what has no line. */
static void add_bulk(const struct be_node *rows, const char *side, const char *other, struct be_buf *out)
{
	be_autonode struct be_node *counts = be_node_map();
	for (size_t i = 0; i < rows->n; i++) {
		const struct be_node *row = rows->items[i];
		const char *name = be_get_str(row, "name", "");
		be_autofree char *group = be_strndup(name, strcspn(name, "."));
		if (is_bulk(row) && be_diff_is_none(be_get(row, other)))
			be_set_int(counts, group, be_get_int(counts, group, 0) + 1);
	}
	be_autobuf struct be_buf text = { 0 };
	for (size_t i = 0; i < counts->n; i++)
		be_buf_addf(&text, "%s%s (%s)", i ? ", " : "", counts->keys[i], counts->items[i]->text);
	if (counts->n) {
		be_autofree char *lead = be_strf("only %s has ", side);
		be_wrap_text(out, lead, "  ", text.data);
	}
}

static void add_summary(const struct be_node *diff, const struct be_node *shown, bool full, struct be_buf *out)
{
	const struct be_node *rows = be_get(diff, "differences"), *stated = be_get(diff, "stated");
	long long compared = be_get_int(diff, "compared", 0);
	be_buf_adds(out, rows->n ? "\n" : "");
	if (rows->n)
		be_buf_addf(out, "%zu differences%s; %lld factors compared\n", rows->n,
			    shown->n < rows->n ? " (all of them: --full)" : "", compared);
	else
		be_buf_addf(out, "same environment: %lld factors compared\n", compared);
	if (!full) {
		add_bulk(rows, "A", "b", out);
		add_bulk(rows, "B", "a", out);
	}
	if (stated->n && !full)
		be_buf_addf(out, "%zu values that every run has its own of: --full\n", stated->n);
	add_sides(diff, out);
	add_list(be_get(diff, "notes"), "note: ", out);
}

int be_diff_text(const struct be_node *diff, bool full, struct be_buf *out, struct be_error *err)
{
	const struct be_node *rows = be_get(diff, "differences"), *stated = be_get(diff, "stated");
	const struct be_node *results = be_get(diff, "results");
	if (!rows || !stated)
		return be_fail(err, "no comparison");
	be_autonode struct be_node *shown = be_node_seq();
	for (size_t i = 0; i < rows->n; i++)
		if (full || (!is_bulk(rows->items[i]) && shown->n < ROWS_SHOWN))
			be_add(shown, be_node_clone(rows->items[i]));
	add_list(be_get(diff, "reasons"), "NOT COMPARABLE: ", out);
	add_rows(shown, shown->n, out);
	add_summary(diff, shown, full, out);
	add_evidence(shown, shown->n, out);
	if (full && stated->n) {
		be_buf_adds(out, "\nValues that every run has its own of\n");
		add_rows(stated, stated->n, out);
	}
	if (results && results->n) {
		be_buf_addc(out, '\n');
		be_diff_results_text(results, out);
	}
	return 0;
}
