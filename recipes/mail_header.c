/* Heads of the robot's tables: a line of keys and a line of values, and the commits below them. */
#include "mail_parts.h"

#include <ctype.h>
#include <string.h>

#define MAX_WRAPPED 4 /* lines that keys or values may be wrapped to */
#define MAX_COMMITS 8
#define COMMIT_LINES 4 /* the commits of a table stand that near below its head */

static bool key_char(char c)
{
	return isalnum((unsigned char)c) || strchr("_.+-=%", c);
}

/* `a/b/c:`, with at least three keys one of which is the testcase; @closed false: the colon is still to come. */
static bool is_keys(const char *text, bool closed)
{
	size_t n = strlen(text), slashes = 0;
	if (n < 6 || (text[n - 1] == ':') != closed)
		return false;
	n -= closed;
	for (size_t i = 0; i < n; i++) {
		if (text[i] != '/' && !key_char(text[i]))
			return false;
		if (text[i] == '/' && (i == 0 || i + 1 == n || text[i + 1] == '/') && closed)
			return false;
		slashes += text[i] == '/';
	}
	return slashes >= 2;
}

static bool is_rule(const char *text)
{
	size_t n = strspn(text, "=");
	return n >= 5 && !text[n];
}

static struct be_node *split_keys(const char *text)
{
	be_autostrv struct be_strv keys = { 0 };
	be_strv_split(&keys, text, "/:");
	return be_strv_has(&keys, "testcase") ? be_node_strv(&keys) : NULL;
}

/* The keys that begin at line @at, moved to the line behind them; NULL: no head begins there. */
static struct be_node *read_keys(const struct be_mail_lines *lines, size_t *at)
{
	const struct be_mail_line *line = &lines->v[*at];
	if (is_keys(line->text, true)) {
		++*at;
		return split_keys(line->text);
	}
	if (!*at || !is_rule(lines->v[*at - 1].text) || !is_keys(line->text, false))
		return NULL;
	be_autobuf struct be_buf joined = { 0 };
	for (size_t i = *at; i < lines->n && i < *at + MAX_WRAPPED && lines->v[i].depth == line->depth; i++) {
		be_buf_adds(&joined, lines->v[i].text);
		if (is_keys(joined.data, true)) {
			*at = i + 1;
			return split_keys(joined.data);
		}
	}
	return NULL;
}

static size_t count_slashes(const char *text)
{
	size_t n = 0;
	for (; *text; text++)
		n += *text == '/';
	return n;
}

/* The values at line @at or behind empty lines, wrapped or not, as one text; the caller frees. */
static char *read_values(const struct be_mail_lines *lines, size_t *at, size_t keys)
{
	size_t i = *at;
	while (i < lines->n && i < *at + MAX_WRAPPED && !lines->v[i].text[0])
		i++;
	be_autobuf struct be_buf values = { 0 };
	for (size_t end = i + MAX_WRAPPED; i < lines->n && i < end; i++) {
		const char *text = lines->v[i].text;
		if (!text[0] || be_mail_key(text) || is_rule(text))
			break;
		bool slash = values.len && (values.data[values.len - 1] == '/' || text[0] == '/');
		be_buf_addf(&values, "%s%s", values.len && !slash ? " " : "", text);
		if (count_slashes(values.data) + 1 >= keys) {
			i++;
			break;
		}
	}
	*at = i;
	return be_buf_steal(&values);
}

/* "commit:" and the commits below it, each at the start of a line. */
static void read_list(const struct be_mail_lines *lines, size_t at, struct be_node *commits)
{
	for (size_t i = at + 1; i < lines->n && commits->n < MAX_COMMITS; i++) {
		be_autofree char *commit = be_mail_commit(lines->v[i].text);
		if (!commit)
			break;
		be_add_str(commits, commit);
	}
}

/* The heads of the columns: two commits or more in one line. */
static void read_columns(const char *text, struct be_node *commits)
{
	be_autostrv struct be_strv words = { 0 };
	be_strv_split(&words, text, " ");
	for (size_t i = 0; i < words.n && i < MAX_COMMITS; i++) {
		be_autofree char *commit = be_mail_commit(words.v[i]);
		if (!commit)
			break;
		be_add_str(commits, commit);
	}
}

void be_mail_read_commits(const struct be_mail_lines *lines, size_t at, struct be_node *table)
{
	be_autonode struct be_node *commits = be_node_seq();
	for (size_t end = at + COMMIT_LINES; at < lines->n && at < end; at++) {
		if (be_mail_after(lines->v[at].text, "commit:")) {
			read_list(lines, at, commits);
			break;
		}
		be_autonode struct be_node *columns = be_node_seq();
		read_columns(lines->v[at].text, columns);
		if (columns->n > 1) {
			be_set(table, "commits", be_steal(&columns));
			return;
		}
	}
	if (commits->n)
		be_set(table, "commits", be_steal(&commits));
}

static bool sorted(const struct be_node *keys)
{
	size_t falls = 0;
	for (size_t i = 1; i < keys->n; i++)
		falls += strcmp(keys->items[i - 1]->text, keys->items[i]->text) > 0;
	return falls <= 2; /* fs2 and fs1 stand before fs */
}

void be_mail_find_headers(const struct be_mail_lines *lines, struct be_node *tables)
{
	for (size_t i = 0; i < lines->n && tables->n < BE_MAIL_MAX_TABLES; i++) {
		size_t at = i;
		be_autonode struct be_node *keys = read_keys(lines, &at);
		if (!keys)
			continue;
		be_autofree char *values = read_values(lines, &at, keys->n);
		struct be_node *table = be_node_map();
		be_set_str(table, "form", "header");
		be_set_int(table, "line", lines->v[i].number);
		be_set(table, "keys", be_node_clone(keys));
		be_set_str(table, "values", values);
		if (sorted(keys))
			be_set(table, "sorted", be_node_bool(true));
		be_mail_read_commits(lines, at, table);
		be_mail_set_date(table, lines, i);
		be_add(tables, table);
		i = at - 1;
	}
}
