/* `{{ ... }}` that stands unquoted is no YAML: it becomes a double-quoted text on one line before YAML reads it. */
#include "job_source.h"

#include <string.h>

#include "expr.h"

static void add_escaped(struct be_buf *out, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		switch (text[i]) {
		case '\n':
			be_buf_adds(out, "\\n");
			break;
		case '\t':
			be_buf_adds(out, "\\t");
			break;
		case '"':
		case '\\':
			be_buf_addc(out, '\\');
			be_buf_addc(out, text[i]);
			break;
		default:
			be_buf_addc(out, text[i]);
		}
	}
}

/* Length of a key and its colon at @text, or 0. */
static size_t key_length(const char *text)
{
	size_t i = 0;
	if (*text == '"' || *text == '\'') {
		const char *end = strchr(text + 1, *text);
		if (!end || end[1] != ':')
			return 0;
		return (size_t)(end - text) + 2;
	}
	for (; text[i]; i++) {
		if (text[i] == ':' && (text[i + 1] == ' ' || text[i + 1] == '\t'))
			return i + 1;
		if (text[i] == '{' && text[i + 1] == '{')
			return 0;
	}
	return 0;
}

static size_t skip_blanks(const char *text, size_t i)
{
	return i + strspn(text + i, " \t");
}

/* Offset of a plain value that holds a template; false where there is none. */
static bool template_value(const char *line, size_t *start)
{
	size_t i = skip_blanks(line, 0);
	while (line[i] == '-' && line[i + 1] == ' ')
		i = skip_blanks(line, i + 1);
	if (line[i] == '#')
		return false;
	i = skip_blanks(line, i + key_length(line + i));
	if (!line[i] || strchr("\"'|>&*!#", line[i]) || (line[i] == '{' && line[i + 1] != '{'))
		return false;
	const char *open = strstr(line + i, "{{"), *comment = strstr(line + i, " #");
	if (!open || (comment && comment < open))
		return false;
	*start = i;
	return true;
}

/* Position of the template in @text that is not closed, or NULL. */
static const char *unclosed(const char *text)
{
	for (;;) {
		const char *open = strstr(text, "{{");
		if (!open)
			return NULL;
		const char *close = strstr(open, "}}");
		if (!close)
			return open;
		text = close + 2;
	}
}

/* In `[ {{ a }}, b ]` each template becomes a quoted item. */
static void fold_flow(const char *text, struct be_buf *out)
{
	char quote = '\0', before = '[';
	while (*text) {
		if (!quote && be_starts(text, "{{") && (before == '[' || before == ',')) {
			size_t n = (size_t)(strstr(text, "}}") + 2 - text);
			be_buf_addc(out, '"');
			add_escaped(out, text, n);
			be_buf_addc(out, '"');
			text += n;
			before = '}';
			continue;
		}
		if (quote ? *text == quote : *text == '"' || *text == '\'')
			quote = quote ? '\0' : *text;
		if (*text != ' ' && *text != '\n')
			before = *text;
		be_buf_addc(out, *text == '\n' ? ' ' : *text);
		text++;
	}
}

static void fold_plain(const char *text, struct be_buf *out)
{
	const char *end = text;
	for (const char *close; (close = strstr(end, "}}"));)
		end = close + 2;
	const char *comment = strstr(end, " #");
	size_t n = comment ? (size_t)(comment - text) : strlen(text);
	const char *next = end + strspn(end, " ");
	if (*next == ',' || *next == ']') /* an item of a list that goes over several lines */
		n = (size_t)(end - text);
	while (n && (text[n - 1] == ' ' || text[n - 1] == '\t'))
		n--;
	be_buf_addc(out, '"');
	add_escaped(out, text, n);
	be_buf_addc(out, '"');
	if (*next == ',' || *next == ']')
		be_buf_adds(out, next);
}

/* Folds the template that starts at @start of line @i; returns how many lines it took, or 0. */
static size_t fold(struct be_lines *in, size_t i, size_t start, struct be_lines *out, struct be_error *err)
{
	be_autobuf struct be_buf value = { 0 };
	be_buf_adds(&value, in->v[i].text + start);
	size_t taken = 1;
	while (unclosed(value.data)) {
		if (i + taken == in->n || value.len > BE_EXPR_MAX_BYTES) {
			size_t offset = (size_t)(strstr(in->v[i].text + start, "{{") - in->v[i].text);
			be_line_fail(&in->v[i], offset, err, "{{ without its }}%s",
				     value.len > BE_EXPR_MAX_BYTES ? " within the length of an expression" : "");
			return 0;
		}
		be_buf_addc(&value, '\n');
		be_buf_adds(&value, in->v[i + taken++].text);
	}
	be_autobuf struct be_buf line = { 0 };
	be_buf_add(&line, in->v[i].text, start);
	struct be_origin at = in->v[i].at;
	if (in->v[i].text[start] == '[') {
		fold_flow(value.data, &line);
	} else {
		fold_plain(value.data, &line);
		at.shift++; /* the text inside the quotes stands where it stood */
	}
	be_lines_take(out, be_buf_steal(&line), at);
	return taken;
}

int be_lines_fold(struct be_lines *in, struct be_lines *out, struct be_error *err)
{
	size_t block = SIZE_MAX; /* indent of the line that opened a block text */
	for (size_t i = 0; i < in->n;) {
		struct be_line *line = &in->v[i];
		size_t start, indent = be_line_indent(line->text);
		if (block != SIZE_MAX && line->text[indent] && indent <= block)
			block = SIZE_MAX;
		if (block == SIZE_MAX && template_value(line->text, &start)) {
			size_t taken = fold(in, i, start, out, err);
			if (!taken)
				return -1;
			i += taken;
			continue;
		}
		if (block == SIZE_MAX && be_line_opens_block(line->text))
			block = indent;
		be_lines_take(out, be_steal(&line->text), line->at);
		i++;
	}
	return 0;
}
