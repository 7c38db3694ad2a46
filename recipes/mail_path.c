/* Forms in which a report names its test by LKP's result path, values without their keys: 2014 to 2021. */
#include "mail_parts.h"

#include <ctype.h>
#include <string.h>

#define ROWS 12 /* a table's rows begin that near its head */

static bool path_char(char c)
{
	return isalnum((unsigned char)c) || strchr("_.+-=%:", c);
}

/* Splits "A/B/C" at its slashes; false when it is no such path. */
static bool split_path(const char *text, size_t len, struct be_strv *parts)
{
	be_autofree char *path = be_strndup(text, len);
	for (const char *p = path; *p; p++)
		if (*p != '/' && !path_char(*p))
			return false;
	be_strv_split(parts, path, "/");
	return parts->n == 3;
}

static void add_path(struct be_node *tables, const struct be_mail_lines *lines, size_t at, const char *testcase,
		     const char *values, const char *tbox_group)
{
	struct be_node *table = be_node_map();
	be_set_str(table, "form", "path");
	be_set_int(table, "line", lines->v[at].number);
	be_set_str(table, "testcase", testcase);
	be_set_str(table, "tbox_group", tbox_group);
	be_set_str(table, "path_params", values);
	be_mail_set_date(table, lines, at);
	be_mail_read_commits(lines, at + 1, table);
	be_add(tables, table);
}

/* Paths in the line of their head, and which part is what. */
static const struct {
	const char *head;
	unsigned testcase, values, machine;
} forms[] = {
	{ "testcase/path_params/tbox_group/run:", 0, 1,
	  2 }, /* .../run: will-it-scale/performance-process-100%/lkp-skl-4sp1 */
	{ "testcase/testparams/testbox:", 0, 1, 2 },
	{ "testbox/testcase/testparams:", 1, 2, 0 }, /* 2014 and 2015 */
	{ "test case:", 1, 2, 0 },                   /* test case: ivb42/fsmark/1x-64t-4M, of 2014 */
};

static bool read_path(const struct be_mail_lines *lines, size_t at, struct be_node *tables)
{
	for (size_t i = 0; i < BE_ARRAY_LEN(forms); i++) {
		const char *rest = be_mail_after(lines->v[at].text, forms[i].head);
		be_autostrv struct be_strv parts = { 0 };
		if (!rest || !split_path(rest, strcspn(rest, " "), &parts))
			continue;
		add_path(tables, lines, at, parts.v[forms[i].testcase], parts.v[forms[i].values],
			 parts.v[forms[i].machine]);
		return true;
	}
	return false;
}

/* Rows below a head that ends in "testcase/testparams/testbox": the path is a row's last word. */
static bool read_row_path(const struct be_mail_lines *lines, size_t at, struct be_node *tables)
{
	if (!be_ends(lines->v[at].text, "testcase/testparams/testbox"))
		return false;
	for (size_t i = at + 1; i < lines->n && i < at + ROWS; i++) {
		const char *last = strrchr(lines->v[i].text, ' ');
		be_autostrv struct be_strv parts = { 0 };
		if (!last || !split_path(last + 1, strlen(last + 1), &parts))
			continue;
		add_path(tables, lines, i, parts.v[0], parts.v[1], parts.v[2]);
		return true;
	}
	return false;
}

void be_mail_find_paths(const struct be_mail_lines *lines, struct be_node *tables)
{
	for (size_t i = 0; i < lines->n && tables->n < BE_MAIL_MAX_TABLES; i++)
		if (!read_path(lines, i, tables))
			read_row_path(lines, i, tables);
}
