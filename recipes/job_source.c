/* Reading: bytes to lines. What mail did to a file is undone here, so that positions are those of the file. */
#include "job_source.h"

#include <string.h>

#include "base/file.h"

#define MAX_LINES BE_NODE_MAX_NODES

void be_lines_free(struct be_lines *lines)
{
	for (size_t i = 0; i < lines->n; i++)
		free(lines->v[i].text);
	free(lines->v);
	*lines = (struct be_lines){ 0 };
}

void be_lines_take(struct be_lines *lines, char *text, struct be_origin at)
{
	if (lines->n == lines->cap) {
		lines->cap = lines->cap ? lines->cap * 2 : 64;
		lines->v = be_realloc(lines->v, lines->cap, sizeof(*lines->v));
	}
	lines->bytes += strlen(text) + 1;
	lines->v[lines->n++] = (struct be_line){ text, at };
}

int be_line_fail(const struct be_line *line, size_t offset, struct be_error *err, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	char what[1024];
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	long col = (long)offset + 1 - line->at.shift;
	return be_fail_usage(err, "%s:%u:%ld: %s", line->at.file, line->at.line, col > 0 ? col : 1, what);
}

size_t be_line_indent(const char *text)
{
	return strspn(text, " ");
}

bool be_line_opens_block(const char *text)
{
	size_t n = strlen(text);
	while (n && (text[n - 1] == ' ' || text[n - 1] == '\t'))
		n--;
	while (n && strchr("+-0123456789", text[n - 1]))
		n--;
	return n > 1 && (text[n - 1] == '|' || text[n - 1] == '>') && text[n - 2] == ' ';
}

/* A document that is no text is refused at the byte that shows it. */
static int check_text(const struct be_buf *text, const char *name, struct be_error *err)
{
	const char *data = text->data;
	unsigned line = 1, col = 1;
	if (be_starts(data, "\xff\xfe") || be_starts(data, "\xfe\xff")) {
		be_fail_usage(err, "%s:1:1: UTF-16 text; job files are UTF-8", name);
		return be_hint(err, "convert it: iconv -f UTF-16 -t UTF-8");
	}
	for (size_t i = 0; i < text->len;) {
		size_t n = be_utf8_length(data + i);
		unsigned char c = (unsigned char)data[i];
		if (c == '\0')
			return be_fail_usage(err, "%s:%u:%u: a NUL byte", name, line, col);
		if (n == 0 && c < 0x80)
			return be_fail_usage(err, "%s:%u:%u: the control character 0x%02x", name, line, col, c);
		if (n == 0)
			return be_fail_usage(err, "%s:%u:%u: the byte 0x%02x is not UTF-8", name, line, col, c);
		col++;
		if (c == '\n') {
			line++;
			col = 1;
		}
		i += n;
	}
	return 0;
}

/* Quoted-printable, as far as a text can show it: each '=' is the start of an escape or the end of a line. */
static bool is_quoted_printable(const char *text)
{
	bool seen = false;
	for (const char *p = strchr(text, '='); p; p = strchr(p + 1, '=')) {
		if (p[1] == '\n' || (p[1] == '\r' && p[2] == '\n'))
			continue;
		for (int i = 1; i <= 2; i++)
			if (!(p[i] >= '0' && p[i] <= '9') && !(p[i] >= 'A' && p[i] <= 'F'))
				return false;
		seen = seen || strncmp(p, "=3D", 3) == 0;
	}
	return seen;
}

static int hex(char c)
{
	return c <= '9' ? c - '0' : c - 'A' + 10;
}

static void decode_printable(char *text)
{
	char *out = text;
	for (const char *p = text; *p; p++) {
		if (*p == '=' && p[1] && p[2]) {
			*out++ = (char)(hex(p[1]) * 16 + hex(p[2]));
			p += 2;
		} else {
			*out++ = *p;
		}
	}
	*out = '\0';
}

/* Is every line that is not empty quoted as in a reply (`> key: value`)? */
static bool is_quoted_mail(const char *text)
{
	bool seen = false;
	while (*text) {
		size_t n = strcspn(text, "\n");
		if (*text == '>')
			seen = true;
		else if (strspn(text, " \t\r") < n)
			return false;
		text += n + (text[n] == '\n');
	}
	return seen;
}

static size_t quote_length(const char *line)
{
	size_t n = 0;
	while (line[n] == '>') {
		n++;
		if (line[n] == ' ')
			n++;
	}
	return n;
}

static int split(const char *text, const char *file, struct be_lines *out, struct be_error *err)
{
	bool printable = is_quoted_printable(text), quoted = is_quoted_mail(text);
	be_autobuf struct be_buf joined = { 0 };
	unsigned number = 0, first = 1;
	while (*text) {
		size_t n = strcspn(text, "\n"), len = n;
		number++;
		while (len && text[len - 1] == '\r')
			len--;
		size_t quote = quoted ? quote_length(text) : 0;
		if (quote > len)
			quote = len;
		bool more = printable && len > quote && text[len - 1] == '=';
		be_buf_add(&joined, text + quote, len - quote - more);
		text += n + (text[n] == '\n');
		if (more && *text)
			continue;
		if (out->n == MAX_LINES)
			return be_fail_usage(err, "%s:%u:1: more than %u lines", file, number, MAX_LINES);
		char *line = be_strndup(joined.data, joined.len);
		joined.len = 0;
		if (printable)
			decode_printable(line);
		be_lines_take(out, line, (struct be_origin){ file, first, -(int)quote });
		first = number + 1;
	}
	return 0;
}

static int refuse_ruby(const struct be_line *line, struct be_error *err)
{
	const char *code = strstr(line->text, "<%");
	bool statement = line->text[0] == '%' && !be_starts(line->text, "%YAML ") && !be_starts(line->text, "%TAG ");
	if (!code && !statement)
		return 0;
	be_line_fail(line, code && !statement ? (size_t)(code - line->text) : 0, err,
		     "Ruby code in a template (ERB); it is never run here");
	return be_hint(err, "write out what it would give, or use a {{ }} expression");
}

/* `#! title`, `:#! title:`, `? :#! title` and `:# remark:`; @title is NULL for a remark. */
static bool is_marker(const char *text, bool *long_form, char **title)
{
	text += strspn(text, " ");
	*long_form = be_starts(text, "? ");
	text += *long_form ? 2 : 0;
	bool quoted = *text == '"' || *text == '\'';
	text += quoted;
	bool key = be_starts(text, ":#");
	if (!key && (*long_form || quoted || !be_starts(text, "#! ")))
		return false;
	text += key;
	if (text[1] != '!')
		return true;
	be_autofree char *copy = be_strdup(text + 2);
	char *start = be_trim(copy);
	size_t n = strlen(start);
	while (n && strchr(":\"' ", start[n - 1]))
		n--;
	*title = be_strndup(start, n);
	return true;
}

static void add_section(struct be_source *source, unsigned line, char *title)
{
	if (!source || !title) {
		free(title);
		return;
	}
	size_t n = source->n_sections;
	if ((n & (n - 1)) == 0)
		source->sections = be_realloc(source->sections, n ? 2 * n : 1, sizeof(*source->sections));
	source->sections[source->n_sections++] = (struct be_section){ line, title };
}

static void blank(struct be_line *line)
{
	line->text[0] = '\0';
}

static void take_markers(struct be_lines *lines, struct be_source *source)
{
	for (size_t i = 0; i < lines->n; i++) {
		bool long_form;
		char *title = NULL;
		if (!is_marker(lines->v[i].text, &long_form, &title))
			continue;
		add_section(source, lines->v[i].at.line, title);
		blank(&lines->v[i]);
		/* A long key goes on until the line with its colon. */
		for (size_t k = i + 1; long_form && k < lines->n && k < i + 8; k++) {
			const char *start = lines->v[k].text + strspn(lines->v[k].text, " ");
			bool colon = start[0] == ':' && start[1] != '#';
			blank(&lines->v[k]);
			if (colon)
				break;
		}
	}
}

int be_lines_read(const char *path, const struct be_buf *content, struct be_source *source, struct be_lines *out,
		  struct be_error *err)
{
	be_autobuf struct be_buf text = { 0 };
	if (content && content->len > BE_NODE_MAX_BYTES)
		return be_fail_usage(err, "%s: larger than the limit of %u bytes", path, BE_NODE_MAX_BYTES);
	if (content)
		be_buf_add(&text, content->data, content->len);
	else if (be_read_input(path, BE_NODE_MAX_BYTES, &text, err) != 0)
		return -1;
	if (check_text(&text, path, err) != 0)
		return -1;
	be_autolines struct be_lines lines = { 0 };
	if (split(text.data + (be_starts(text.data, "\xef\xbb\xbf") ? 3 : 0), be_node_intern(path), &lines, err) != 0)
		return -1;
	take_markers(&lines, source);
	for (size_t i = 0; i < lines.n; i++)
		if (refuse_ruby(&lines.v[i], err) != 0)
			return -1;
	if (source)
		source->verbatim = be_buf_steal(&text);
	return be_lines_fold(&lines, out, err);
}

int be_source_read(const char *path, const struct be_buf *content, struct be_source *out, struct be_error *err)
{
	*out = (struct be_source){ .path = be_strdup(path) };
	be_autolines struct be_lines lines = { 0 };
	if (be_lines_read(path, content, out, &lines, err) != 0)
		return -1;
	return be_lines_include(&lines, path, &out->lines, err);
}

void be_source_free(struct be_source *source)
{
	be_lines_free(&source->lines);
	for (size_t i = 0; i < source->n_sections; i++)
		free(source->sections[i].title);
	free(source->sections);
	free(source->path);
	free(source->verbatim);
	*source = (struct be_source){ 0 };
}

/* YAML 1.1 counts NEL, LS and PS as ends of lines too. */
static size_t other_line_ends(const char *text)
{
	static const char *const ends[] = { "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9" };
	size_t n = 0;
	for (size_t i = 0; i < BE_ARRAY_LEN(ends); i++)
		for (const char *at = strstr(text, ends[i]); at; at = strstr(at + 1, ends[i]))
			n++;
	return n;
}

static void add_origin(struct be_origin **lines, size_t *n, struct be_origin at)
{
	if ((*n & (*n - 1)) == 0)
		*lines = be_realloc(*lines, *n ? 2 * *n : 1, sizeof(**lines));
	(*lines)[(*n)++] = at;
}

struct be_node *be_source_documents(const struct be_source *source, struct be_strv *warnings, struct be_error *err)
{
	be_autobuf struct be_buf text = { 0 };
	be_autofree struct be_origin *lines = NULL;
	size_t n_lines = 0;
	for (size_t i = 0; i < source->lines.n; i++) {
		const struct be_line *line = &source->lines.v[i];
		be_buf_adds(&text, line->text);
		be_buf_addc(&text, '\n');
		for (size_t n = other_line_ends(line->text) + 1; n; n--)
			add_origin(&lines, &n_lines, line->at);
	}
	struct be_node_source node_source = {
		.text = text.data ? text.data : "",
		.len = text.len,
		.name = source->path,
		.lines = lines,
		.n_lines = n_lines,
		.duplicates = warnings,
	};
	return be_node_read(&node_source, err);
}

char *be_source_key_where(const struct be_source *source, const struct be_node *map, size_t i)
{
	const char *file = map->items[i]->file ? map->items[i]->file : map->file;
	unsigned line = map->key_lines ? map->key_lines[i] : 0;
	if (!file || !line)
		return be_strdup(be_where(map->items[i]));
	for (size_t k = 0; k < source->lines.n; k++) {
		const struct be_line *l = &source->lines.v[k];
		if (l->at.line != line || l->at.file != file)
			continue;
		const char *at = strstr(l->text, map->keys[i]);
		long col = at ? at - l->text + 1 - l->at.shift : 1;
		return be_strf("%s:%u:%ld", file, line, col > 0 ? col : 1);
	}
	return be_strf("%s:%u:1", file, line);
}
