#include "builder/lab/table.h"

#include <libsmartcols.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "builder/progress.h"

void be_table_init(struct be_table *table, bool quiet)
{
	*table = (struct be_table){ .quiet = quiet, .live = !quiet && isatty(STDERR_FILENO) };
}

void be_table_free(struct be_table *table)
{
	for (size_t i = 0; i < table->n; i++) {
		free(table->rows[i].machine);
		free(table->rows[i].image);
		free(table->rows[i].stage);
		free(table->rows[i].detail);
	}
	free(table->rows);
	*table = (struct be_table){ 0 };
}

static struct be_table_row *row_of(struct be_table *table, const char *machine)
{
	for (size_t i = 0; i < table->n; i++)
		if (strcmp(table->rows[i].machine, machine) == 0)
			return &table->rows[i];
	table->rows = be_realloc(table->rows, table->n + 1, sizeof(*table->rows));
	table->rows[table->n] = (struct be_table_row){ .machine = be_strdup(machine) };
	return &table->rows[table->n++];
}

static void replace(char **text, const char *with)
{
	char *copy = be_strdup(with);
	free(*text);
	*text = copy;
}

void be_table_set(struct be_table *table, const char *machine, const char *image, const char *stage, const char *fmt,
		  ...)
{
	struct be_table_row *row = row_of(table, machine);
	be_autofree char *detail = NULL;
	if (fmt) {
		va_list args;
		va_start(args, fmt);
		detail = be_vstrf(fmt, args);
		va_end(args);
	}
	bool fresh = !be_streq(row->stage, stage);
	if (fresh)
		row->since = be_monotonic();
	if (image)
		replace(&row->image, image);
	replace(&row->stage, stage);
	replace(&row->detail, detail);
	table->changed = true;
	if (fresh && !table->quiet && !table->live)
		fprintf(stderr, "serve: %s: %s%s%s\n", machine, stage, detail ? ": " : "", detail ? detail : "");
}

static void fill(struct libscols_table *out, const struct be_table *table)
{
	static const struct {
		const char *name;
		int flags;
	} columns[] = { { "MACHINE", 0 }, { "IMAGE", 0 }, { "STAGE", 0 }, { "SECONDS", SCOLS_FL_RIGHT }, { "", 0 } };
	for (size_t i = 0; i < BE_ARRAY_LEN(columns); i++)
		scols_table_new_column(out, columns[i].name, 0, columns[i].flags);
	for (size_t i = 0; i < table->n; i++) {
		const struct be_table_row *row = &table->rows[i];
		struct libscols_line *line = scols_table_new_line(out, NULL);
		be_autofree char *since = be_strf("%.0f", be_monotonic() - row->since);
		const char *cells[] = { row->machine, row->image, row->stage, since, row->detail };
		for (size_t k = 0; line && k < BE_ARRAY_LEN(cells); k++)
			if (scols_line_set_data(line, k, cells[k] ? cells[k] : "") != 0)
				return;
	}
}

void be_table_draw(struct be_table *table)
{
	if (!table->live || !table->n)
		return;
	struct libscols_table *out = scols_new_table();
	char *text = NULL;
	if (!out)
		return;
	fill(out, table);
	if (scols_print_table_to_string(out, &text) == 0 && text) {
		/* Up to where it began, and everything below is drawn anew. */
		if (table->drawn)
			fprintf(stderr, "\033[%zuA\033[J", table->drawn);
		fprintf(stderr, "%s\n", text);
		table->drawn = table->n + 1;
	}
	free(text);
	scols_unref_table(out);
}
