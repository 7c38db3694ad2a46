/* The block of a report that names its test: testcase, machine, parameters, a line each; and the boxes of "in addition
 * to that". */
#include "mail_parts.h"

#include <ctype.h>
#include <string.h>

#define BLOCK_LINES 80 /* a block is over at the latest that far behind its testcase */
#define MAX_WRAPPED 3  /* lines that the machine may be wrapped to */
#define MAX_PARAMETERS 64

static const char *after_any(const char *text, const char *const *prefixes)
{
	for (; *prefixes; prefixes++) {
		const char *rest = be_mail_after(text, *prefixes);
		if (rest)
			return rest;
	}
	return NULL;
}

static const char *const testcase_words[] = { "in testcase:", "testcase:", NULL };
static const char *const machine_words[] = { "on test machine:", "test machine:", NULL };
static const char *const parameter_words[] = { "with following parameters:", "parameters:", NULL };

/* What is known to belong to the line: all of it, or its first word when the line's end was lost. */
static char *line_value(const struct be_mail_line *line, const char *value)
{
	return be_strndup(value, line->flat ? strcspn(value, " ") : strlen(value));
}

/* "... with 256G memory" ends a machine; a virtual one ends with its memory, "-m 8G". */
static bool machine_ends(const char *text)
{
	const char *with = strstr(text, " memory");
	return with || be_starts(text, "qemu-");
}

/* Each run of blanks as one. */
static char *squeeze(const char *text)
{
	be_autostrv struct be_strv words = { 0 };
	be_autobuf struct be_buf out = { 0 };
	be_strv_split(&words, text, " ");
	for (size_t i = 0; i < words.n; i++)
		be_buf_addf(&out, "%s%s", i ? " " : "", words.v[i]);
	return be_buf_steal(&out);
}

/* The machine of line @at, which may go on in the next ones; moves @at to its last line. */
static char *read_machine(const struct be_mail_lines *lines, size_t *at, const char *value)
{
	be_autobuf struct be_buf text = { 0 };
	be_buf_adds(&text, value);
	unsigned depth = lines->v[*at].depth;
	for (size_t i = *at + 1; !machine_ends(text.data) && i < lines->n && i < *at + MAX_WRAPPED; i++) {
		const struct be_mail_line *next = &lines->v[i];
		if (next->depth != depth || !next->text[0] || be_mail_key(next->text))
			break;
		be_buf_addf(&text, "%s%s", text.len ? " " : "", next->text);
		*at = i;
	}
	char *end = strstr(text.data, " memory");
	if (end)
		end[strlen(" memory")] = '\0';
	return squeeze(text.data);
}

/* Keys that follow the parameters where a page lost its empty lines. */
static bool ends_parameters(const char *text)
{
	static const char *const words[] = { "test-description:", "test-url:", "commit:", "config:",
					     "compiler:",         "Link:",     "Closes:", "Reported-by:",
					     "testcase:",         "version:",  NULL };
	return after_any(text, words) != NULL;
}

static bool read_parameter(const struct be_mail_line *line, struct be_node *parameters)
{
	size_t n = be_mail_key(line->text);
	if (!n || ends_parameters(line->text) || parameters->n >= MAX_PARAMETERS)
		return false;
	const char *value = line->text + n + 1;
	value += strspn(value, " \t");
	if (!*value || be_mail_personal(value))
		return false;
	be_autofree char *key = be_strndup(line->text, n);
	be_autofree char *text = line_value(line, value);
	be_set(parameters, key, be_mail_value(text));
	return true;
}

/* The parameters behind line @at; returns the last line that was read. */
static size_t read_parameters(const struct be_mail_lines *lines, size_t at, struct be_node *table)
{
	struct be_node *parameters = be_node_map();
	unsigned depth = lines->v[at].depth;
	for (size_t i = at + 1; i < lines->n; i++) {
		const struct be_mail_line *line = &lines->v[i];
		if (!line->text[0]) {
			if (parameters->n || i > at + 3)
				break;
			continue;
		}
		if (line->depth != depth || !read_parameter(line, parameters))
			break;
		at = i;
	}
	be_set(table, "parameters", parameters);
	return at;
}

/* config:, compiler: and version: of one line. */
static void read_field(const struct be_mail_line *line, struct be_node *table)
{
	static const struct {
		const char *word, *key;
	} fields[] = { { "config:", "kconfig" }, { "compiler:", "compiler" }, { "version:", "version" } };
	for (size_t i = 0; i < BE_ARRAY_LEN(fields); i++) {
		const char *value = be_mail_after(line->text, fields[i].word);
		if (!value || !*value || be_mail_personal(value) || be_get(table, fields[i].key))
			continue;
		be_autofree char *text = line_value(line, value);
		be_set_str(table, fields[i].key, text);
	}
}

/* "FYI, we noticed the following commit (built with gcc-11):" stands above a block that has no compiler line. */
static void read_built_with(const struct be_mail_lines *lines, size_t at, struct be_node *table)
{
	static const char words[] = "commit (built with ";
	for (size_t i = at; i-- > 0 && at - i < BLOCK_LINES;) {
		const struct be_mail_line *line = &lines->v[i];
		if (line->depth != lines->v[at].depth || after_any(line->text, testcase_words))
			return;
		const char *found = strstr(line->text, words);
		if (!found)
			continue;
		found += strlen(words);
		size_t n = strcspn(found, " )");
		be_autofree char *compiler = be_strndup(found, n);
		if (n && found[n] == ')')
			be_set_str(table, "compiler", compiler);
		return;
	}
}

static bool is_elision(const char *text)
{
	return strcmp(text, "...") == 0 || strcmp(text, "[...]") == 0 || strcmp(text, "<snip>") == 0;
}

/* Reads the block whose testcase stands in line @at. */
static struct be_node *read_block(const struct be_mail_lines *lines, size_t at, const char *testcase)
{
	struct be_node *table = be_node_map();
	be_autofree char *name = be_strndup(testcase, strcspn(testcase, " "));
	be_set_str(table, "form", "block");
	be_set_int(table, "line", lines->v[at].number);
	be_set_str(table, "testcase", name);
	be_mail_set_date(table, lines, at);
	for (size_t i = at + 1; i < lines->n && i < at + BLOCK_LINES; i++) {
		const struct be_mail_line *line = &lines->v[i];
		const char *value;
		if (line->depth < lines->v[at].depth || after_any(line->text, testcase_words) ||
		    be_mail_after(line->text, "commit:"))
			break;
		if (line->depth != lines->v[at].depth)
			continue;
		read_field(line, table);
		if ((value = after_any(line->text, machine_words)) ||
		    (line->flat && (value = be_mail_after(line->text, "machine:")))) {
			be_autofree char *machine = read_machine(lines, &i, value);
			if (!be_get(table, "machine"))
				be_set_str(table, "machine", machine);
		} else if (!be_get(table, "parameters") &&
			   (after_any(line->text, parameter_words) || is_elision(line->text)))
			i = read_parameters(lines, i, table);
	}
	if (!be_get(table, "compiler"))
		read_built_with(lines, at, table);
	return table;
}

/* A testcase's name, not the sentence "testcase: change ...". */
static bool is_name(const char *text)
{
	size_t n = strcspn(text, " ");
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr("_.+-", text[i]))
			return false;
	return n > 1;
}

void be_mail_find_blocks(const struct be_mail_lines *lines, struct be_node *tables)
{
	for (size_t i = 0; i < lines->n && tables->n < BE_MAIL_MAX_TABLES; i++) {
		const char *testcase = after_any(lines->v[i].text, testcase_words);
		if (testcase && is_name(testcase) && (lines->v[i].flat || !strchr(testcase, ' ')))
			be_add(tables, read_block(lines, i, testcase));
	}
}

/* The two cells of a row `| name | value |`, trimmed; false: the line is no row. */
static bool cells(const char *text, char **name, char **value)
{
	size_t n = strlen(text);
	if (n < 5 || text[0] != '|' || text[n - 1] != '|')
		return false;
	const char *middle = strchr(text + 1, '|');
	if (middle == text + n - 1)
		return false;
	be_autofree char *left = be_strndup(text + 1, (size_t)(middle - text - 1));
	be_autofree char *right = be_strndup(middle + 1, (size_t)(text + n - 1 - middle - 1));
	*name = be_strdup(be_trim(left));
	*value = be_strdup(be_trim(right));
	return true;
}

static void take_box_parameter(struct be_node *box, const char *value)
{
	const char *equals = strchr(value, '=');
	if (!equals || equals == value || !equals[1] || be_mail_personal(value))
		return;
	struct be_node *parameters = be_get(box, "parameters");
	if (!parameters) {
		parameters = be_node_map();
		be_set(box, "parameters", parameters);
	}
	be_autofree char *key = be_strndup(value, (size_t)(equals - value));
	if (parameters->n < MAX_PARAMETERS)
		be_set(parameters, key, be_mail_value(equals + 1));
}

static struct be_node *new_box(const struct be_mail_lines *lines, size_t at, const char *value)
{
	struct be_node *box = be_node_map();
	be_autofree char *testcase = be_strndup(value, strcspn(value, ": "));
	be_set_str(box, "form", "box");
	be_set_int(box, "line", lines->v[at].number);
	be_set_str(box, "testcase", testcase);
	be_set(box, "sorted", be_node_bool(true));
	be_mail_set_date(box, lines, at);
	return box;
}

void be_mail_find_boxes(const struct be_mail_lines *lines, struct be_node *tables)
{
	struct be_node *box = NULL;
	for (size_t i = 0; i < lines->n && tables->n < BE_MAIL_MAX_TABLES; i++) {
		be_autofree char *name = NULL, *value = NULL;
		if (!cells(lines->v[i].text, &name, &value)) {
			if (lines->v[i].text[0] != '+' && lines->v[i].text[0] != '|')
				box = NULL;
			continue;
		}
		if (strcmp(name, "testcase: change") == 0) {
			box = is_name(value) || strchr(value, ':') ? new_box(lines, i, value) : NULL;
			if (box)
				be_add(tables, box);
		} else if (box && strcmp(name, "test machine") == 0)
			be_set_str(box, "machine", value);
		else if (box && (!*name || strcmp(name, "test parameters") == 0))
			take_box_parameter(box, value);
	}
}
