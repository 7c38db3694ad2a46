#include "builder/report/import.h"

#include <string.h>

#include "mail.h"

void be_import_free(struct be_import *import)
{
	be_node_free(import->tables);
	free(import->job);
	free(import->host);
	be_strv_free(&import->job_unstated);
	be_strv_free(&import->host_unstated);
	*import = (struct be_import){ 0 };
}

static const char *form_of(const struct be_node *table)
{
	return be_get_str(table, "form", "");
}

static void list(const struct be_node *tables, struct be_buf *out)
{
	for (size_t i = 0; i < tables->n; i++) {
		be_autofree char *title = be_mail_title(tables->items[i]);
		be_buf_addf(out, "\n%4zu  line %s: %.160s%s", i + 1, be_get_str(tables->items[i], "line", "?"), title,
			    strcmp(form_of(tables->items[i]), "box") == 0 ? " (in a box of the mail)" : "");
	}
}

/* The number of the table to take; 0 with an error. */
static size_t choose(const char *path, const struct be_node *tables, size_t number, const char *option,
		     struct be_error *err)
{
	be_autobuf struct be_buf lines = { 0 };
	size_t choices = be_mail_choices(tables);
	if (!number && choices == 1)
		return 1;
	list(tables, &lines);
	if (number && number <= tables->n)
		return number;
	if (number)
		be_fail_usage(err, "%s: has no table %zu; its tables are:%s", path, number, lines.data);
	else
		be_fail_usage(err, "%s: reports %zu tests, one is needed:%s", path, choices, lines.data);
	be_hint(err, "Choose one with %s N.", option);
	return 0;
}

static char *comment_list(const char *title, const struct be_strv *names)
{
	be_autobuf struct be_buf text = { 0 };
	for (size_t i = 0; i < names->n; i++)
		be_buf_addf(&text, "%s %s", i ? "," : title, names->v[i]);
	if (names->n)
		be_buf_addc(&text, '\n');
	return be_buf_steal(&text);
}

/* The document with a comment that says where it comes from and what the mail does not state. */
static char *document(const struct be_node *tree, const char *what, const struct be_import *import,
		      const struct be_strv *unstated, struct be_error *err)
{
	be_autobuf struct be_buf text = { 0 };
	const struct be_node *table = import->tables->items[import->number - 1];
	be_autofree char *missing = comment_list("# Unstated:", unstated);
	be_buf_addf(&text, "# %s, from a report mail", what);
	if (import->tables->n > 1)
		be_buf_addf(&text, " (its table %zu of %zu)", import->number, import->tables->n);
	be_buf_addf(&text, " of %s by mkbenchenv import.\n%s", be_get_str(table, "date", "an unknown day"), missing);
	if (tree && be_node_yaml(tree, &text, err) != 0)
		return NULL;
	return be_buf_steal(&text);
}

static int mail_text(const char *path, const struct be_buf *content, struct be_buf *out, bool *job_attached,
		     struct be_error *err)
{
	if (!content)
		return be_mail_text(path, out, job_attached, err);
	if (be_mail_decode_text(content->data, content->len, out, job_attached, err) != 0)
		return be_wrap(err, "%s", path);
	return 0;
}

int be_import(const char *path, const struct be_buf *content, const char *data_dir, size_t number, const char *option,
	      struct be_import *out, struct be_error *err)
{
	*out = (struct be_import){ 0 };
	be_autobuf struct be_buf text = { 0 };
	be_automailrules struct be_mail_rules rules = { 0 };
	if (be_mail_rules_load(data_dir, &rules, err) != 0 ||
	    mail_text(path, content, &text, &out->job_attached, err) != 0)
		return -1;
	out->tables = be_mail_read(text.data ? text.data : "", text.len, &rules, err);
	if (!out->tables)
		return be_wrap(err, "%s", path);
	out->number = choose(path, out->tables, number, option, err);
	if (!out->number)
		return -1;
	const struct be_node *table = out->tables->items[out->number - 1];
	be_autonode struct be_node *job = be_mail_job(table, &rules, &out->job_unstated, err);
	if (!job)
		return be_wrap(err, "%s", path);
	be_autonode struct be_node *host = be_mail_host(table, &out->host_unstated);
	out->job = document(job, "Job", out, &out->job_unstated, err);
	if (!out->job)
		return -1;
	if (host) {
		out->host = document(host, "Host file", out, &out->host_unstated, err);
		if (!out->host)
			return -1;
	}
	return 0;
}

static void note_unstated(const char *what, const struct be_strv *names, struct be_strv *notes)
{
	be_autofree char *text = comment_list("", names);
	if (names->n)
		be_strv_addf(notes, "%s not stated:%.*s", what, (int)strcspn(text, "\n"), text);
}

static void note_date(const struct be_node *table, struct be_strv *notes)
{
	const char *date = be_get_str(table, "date", NULL);
	if (!date)
		be_strv_add(notes, "the mail has no date: today's harness rules hold");
	else if (strcmp(be_get_str(table, "date_from", ""), "thread") == 0)
		be_strv_addf(notes,
			     "the mail has no date: the harness rules are of %s, the day of another mail of the thread",
			     date);
}

void be_import_notes(const struct be_import *import, struct be_strv *notes)
{
	const struct be_node *table = import->tables->items[import->number - 1];
	be_autofree char *title = be_mail_title(table);
	size_t own = be_mail_choices(import->tables);
	be_strv_addf(notes, "table %zu of %zu: %s", import->number, import->tables->n, title);
	note_unstated("of the job", &import->job_unstated, notes);
	note_unstated("of the machine", &import->host_unstated, notes);
	note_date(table, notes);
	if (import->job_attached)
		be_strv_add(notes,
			    "the job file itself is attached to the mail and says more: save it and give it instead");
	if (import->tables->n > own && import->number <= own)
		be_strv_addf(notes, "boxes of the mail name %zu further tests: tables %zu to %zu",
			     import->tables->n - own, own + 1, import->tables->n);
}
