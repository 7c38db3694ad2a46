/* The factors of a manifest as a table: evidence, what was asked, what was observed. */
#include "builder/report/manifest_text.h"

#include <libsmartcols.h>
#include <locale.h>
#include <string.h>

#include "builder/report/manifest.h"
#include "units.h"

#define NAME_MAX_WIDTH 30
#define EVIDENCE_MAX 14
#define ASKED_MAX 14

/* How much a kind of evidence says; the first counts most. */
static const char *const ranks[] = { "measured", "argued", "named" };

struct row {
	const char *name;
	const struct be_node *entry;
	size_t rank; /* index of ranks[], or its length */
	char *evidence, *asked, *observed;
};

static const struct be_node *find_factor(const struct be_node *factors, const char *name)
{
	for (size_t i = 0; factors && i < factors->n; i++)
		if (strcmp(be_get_str(factors->items[i], "name", ""), name) == 0)
			return factors->items[i];
	return NULL;
}

/* The strongest evidence of a factor, and its rank. */
static const struct be_node *best_evidence(const struct be_node *factor, size_t *rank)
{
	const struct be_node *list = be_get(factor, "evidence"), *best = NULL;
	*rank = BE_ARRAY_LEN(ranks);
	for (size_t i = 0; list && i < list->n; i++) {
		for (size_t r = 0; r < *rank; r++) {
			if (strcmp(be_get_str(list->items[i], "kind", ""), ranks[r]) == 0) {
				*rank = r;
				best = list->items[i];
				break;
			}
		}
	}
	return best;
}

static bool differs(const struct be_node *entry)
{
	return strcmp(be_get_str(entry, "verdict", ""), "differs") == 0;
}

/* Bytes read as sizes; what is no plain number stays as it is. */
static struct be_node *readable(const struct be_node *factor, const struct be_node *value)
{
	const char *compare = be_get_str(factor, "compare", "");
	struct be_node *out = be_node_clone(value);
	if (strcmp(compare, "bytes") != 0 && strcmp(compare, "capacity") != 0)
		return out;
	for (size_t i = 0; i < (out->kind == BE_SCALAR ? 1 : out->n); i++) {
		struct be_node *item = out->kind == BE_SCALAR ? out : out->items[i];
		char size[32];
		int64_t bytes;
		if (item->kind != BE_SCALAR || be_scalar_type(item->text) != BE_TYPE_INT ||
		    !be_parse_int(item->text, &bytes))
			continue;
		free(item->text);
		item->text = be_strdup(be_size_text(bytes, size));
	}
	return out;
}

static char *value_text(const struct be_node *factor, const struct be_node *value)
{
	be_autonode struct be_node *shown = readable(factor, value);
	return be_value_line(shown);
}

static char *observed_text(const struct be_node *factor, const struct be_node *entry)
{
	const char *verdict = be_get_str(entry, "verdict", "");
	if (be_starts(verdict, "not observable") || strcmp(verdict, "not applicable") == 0)
		return be_strndup(verdict, strcspn(verdict, ":"));
	const struct be_node *observed = be_get(entry, "observed"), *after = be_get(entry, "after");
	if (!observed)
		return be_value_line(observed);
	be_autofree char *first = value_text(factor, observed);
	if (!after || be_node_equal(observed, after))
		return be_strdup(first);
	be_autofree char *last = value_text(factor, after);
	return be_strf("%s, then %s", first, last);
}

/* "R3 -33.1 %": a change up to its percent sign; the whole figure is in `explain`. */
static char *evidence_text(const struct be_node *evidence, size_t rank)
{
	if (!evidence || rank >= BE_ARRAY_LEN(ranks))
		return be_strdup("");
	const char *report = be_get_str(evidence, "report", "");
	const char *figure = rank == 0 ? be_get_str(evidence, "figure", "") : "";
	const char *percent = strchr(figure, '%');
	if ((*figure == '+' || *figure == '-') && percent && percent - figure < EVIDENCE_MAX - 4)
		return be_strf("%s %.*s", report, (int)(percent - figure + 1), figure);
	return be_strf("%s %s", report, ranks[rank]);
}

static char *asked_text(const struct be_node *factor, const struct be_node *entry)
{
	const struct be_node *requested = be_get(entry, "requested");
	return requested ? value_text(factor, requested) : be_strdup("-");
}

/*
 * Not everything is worth a line: whatever was asked, what was measured to matter, and what was argued to matter and
 * could be observed.
 */
static bool is_shown(const struct row *row, bool full)
{
	const char *verdict = be_get_str(row->entry, "verdict", "");
	if (full || be_get(row->entry, "requested"))
		return true;
	if (strcmp(verdict, "not applicable") == 0)
		return false;
	return row->rank == 0 || (row->rank == 1 && !be_starts(verdict, "not observable"));
}

static size_t collect(const struct be_node *manifest, const struct be_node *factors, bool full, struct row **rows)
{
	const struct be_node *environment = be_get(manifest, "environment");
	size_t n = 0;
	if (!environment || environment->kind != BE_MAP) /* not every manifest that is shown was written by us */
		return 0;
	/* What differs comes first, then the rest by its evidence. */
	for (size_t group = 0; group <= BE_ARRAY_LEN(ranks) + 1; group++) {
		for (size_t i = 0; i < environment->n; i++) {
			struct row row = { .name = environment->keys[i], .entry = environment->items[i] };
			const struct be_node *factor = find_factor(factors, row.name);
			const struct be_node *evidence = best_evidence(factor, &row.rank);
			if ((differs(row.entry) ? 0 : row.rank + 1) != group || !is_shown(&row, full))
				continue;
			row.evidence = evidence_text(evidence, row.rank);
			row.asked = asked_text(factor, row.entry);
			row.observed = observed_text(factor, row.entry);
			*rows = be_realloc(*rows, n + 1, sizeof(**rows));
			(*rows)[n++] = row;
		}
	}
	return n;
}

static size_t widest(const struct row *rows, size_t n, size_t offset, size_t limit)
{
	size_t width = 0;
	for (size_t i = 0; i < n; i++) {
		const char *cell = *(char *const *)((const char *)&rows[i] + offset);
		size_t len = strlen(cell);
		width = len > width ? len : width;
	}
	return width < limit ? width : limit;
}

/* Cuts all cells so that mark, four columns and the blanks between them fit the line. */
static void fit(struct row *rows, size_t n)
{
	size_t name = widest(rows, n, offsetof(struct row, name), NAME_MAX_WIDTH);
	size_t evidence = widest(rows, n, offsetof(struct row, evidence), EVIDENCE_MAX);
	size_t asked = widest(rows, n, offsetof(struct row, asked), ASKED_MAX);
	size_t used = 2 + name + 1 + evidence + 1 + asked + 1;
	for (size_t i = 0; i < n; i++) {
		be_text_shorten(rows[i].evidence, evidence);
		be_text_shorten(rows[i].asked, asked);
		be_text_shorten(rows[i].observed, BE_MANIFEST_COLUMNS - used);
	}
}

static void add_lines(struct be_buf *out, const char *text)
{
	be_autostrv struct be_strv lines = { 0 };
	be_strv_split(&lines, text, "\n");
	for (size_t i = 0; i < lines.n; i++) {
		size_t len = strlen(lines.v[i]);
		while (len && lines.v[i][len - 1] == ' ')
			len--;
		be_buf_add(out, lines.v[i], len);
		be_buf_addc(out, '\n');
	}
}

/* Outside a UTF-8 locale libsmartcols would escape what is not ASCII; the documents are UTF-8 wherever we run. */
static int print_table(struct libscols_table *table, char **text)
{
	locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	locale_t old = utf8 ? uselocale(utf8) : (locale_t)0;
	int rc = scols_print_table_to_string(table, text);
	if (utf8) {
		uselocale(old);
		freelocale(utf8);
	}
	return rc;
}

static int print_rows(const struct row *rows, size_t n, struct be_buf *out, struct be_error *err)
{
	struct libscols_table *table = scols_new_table();
	enum { MARK, NAME, EVIDENCE, ASKED, OBSERVED, COLUMNS };
	char *text = NULL;
	int rc = table ? 0 : -1;
	for (size_t i = 0; rc == 0 && i < COLUMNS; i++)
		rc = scols_table_new_column(table, "", 0, 0) ? 0 : -1; /* a name would set a least width */
	for (size_t i = 0; rc == 0 && i < n; i++) {
		struct libscols_line *line = scols_table_new_line(table, NULL);
		const char *cells[COLUMNS] = { [MARK] = differs(rows[i].entry) ? "!" : " ",
					       [NAME] = rows[i].name,
					       [EVIDENCE] = rows[i].evidence,
					       [ASKED] = rows[i].asked,
					       [OBSERVED] = rows[i].observed };
		for (size_t c = 0; line && rc == 0 && c < COLUMNS; c++)
			rc = scols_line_set_data(line, c, cells[c]);
		rc = line ? rc : -1;
	}
	if (rc == 0) {
		scols_table_enable_noheadings(table, 1);
		scols_table_set_termforce(table, SCOLS_TERMFORCE_NEVER);
		rc = print_table(table, &text);
	}
	if (rc == 0)
		add_lines(out, text);
	free(text);
	scols_unref_table(table);
	return rc == 0 ? 0 : be_fail(err, "the table of factors cannot be laid out");
}

static void count_verdicts(const struct be_node *environment, struct be_buf *out)
{
	static const char *const verdicts[][2] = { { "as requested", "as requested" },
						   { "differs", "differ" },
						   { "not requested", "not requested" },
						   { "not applicable", "not applicable" },
						   { "not observable", "not observable" } };
	be_autobuf struct be_buf line = { 0 };
	be_buf_addf(&line, "%zu factors:", environment->n);
	for (size_t v = 0; v < BE_ARRAY_LEN(verdicts); v++) {
		size_t n = 0;
		for (size_t i = 0; i < environment->n; i++)
			n += be_starts(be_get_str(environment->items[i], "verdict", ""), verdicts[v][0]);
		if (n)
			be_buf_addf(&line, "%s %zu %s", line.data[line.len - 1] == ':' ? "" : ",", n, verdicts[v][1]);
	}
	be_wrap_text(out, "", "  ", line.data);
}

int be_factor_table(const struct be_node *manifest, const struct be_node *factors, size_t most, struct be_buf *out,
		    struct be_error *err)
{
	bool full = most == 0;
	const struct be_node *environment = be_get(manifest, "environment");
	struct row *rows = NULL;
	size_t n = collect(manifest, factors, full, &rows);
	size_t shown = full || n <= most ? n : most;
	int rc = 0;
	if (n) {
		fit(rows, shown);
		be_buf_adds(out, full ? "all factors: evidence, asked, observed (! differs)\n"
				      : "what decided results before: evidence, asked, observed (! differs)\n");
		rc = print_rows(rows, shown, out, err);
		if (shown < n)
			be_buf_addf(out, "  and %zu more: mkbenchenv show --full\n", n - shown);
	}
	if (rc == 0 && environment && environment->n)
		count_verdicts(environment, out);
	for (size_t i = 0; i < n; i++) {
		free(rows[i].evidence);
		free(rows[i].asked);
		free(rows[i].observed);
	}
	free(rows);
	return rc;
}

static void add_field(struct be_buf *out, const struct be_node *entry, const char *key)
{
	const struct be_node *value = be_get(entry, key);
	if (!value)
		return;
	be_autofree char *line = be_value_line(value), *first = be_strf("  %-10s ", key);
	be_wrap_text(out, first, "             ", line);
}

int be_factor_entry(const struct be_node *manifest, const struct be_node *factors, const char *name, struct be_buf *out,
		    struct be_error *err)
{
	static const char *const keys[] = { "requested", "built", "observed", "after", "verdict", "reason" };
	const struct be_node *entry = be_get(be_get(manifest, "environment"), name);
	const struct be_node *factor = find_factor(factors, name);
	if (!entry) {
		be_fail_usage(err, "the manifest has no factor \"%s\"", name);
		return be_hint(err, "`mkbenchenv show --full` lists those that it has.");
	}
	be_buf_addf(out, "%s\n", name);
	for (size_t i = 0; i < BE_ARRAY_LEN(keys); i++)
		add_field(out, entry, keys[i]);
	add_field(out, factor, "why");
	const struct be_node *evidence = be_get(factor, "evidence");
	for (size_t i = 0; evidence && i < evidence->n; i++)
		add_field(out, evidence->items[i], "quote");
	return 0;
}
