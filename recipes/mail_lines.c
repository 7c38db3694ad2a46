/* From the text of a mail to lines: bytes, leftovers of HTML, quote marks, and line ends that got lost. */
#include "mail_parts.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#define FLAT_BYTES 300 /* no line of a report that was not flattened is longer and holds two anchors */
#define MAX_LINES 200000u

void be_mail_lines_free(struct be_mail_lines *lines)
{
	for (size_t i = 0; i < lines->n; i++)
		free(lines->v[i].text);
	free(lines->v);
	*lines = (struct be_mail_lines){ 0 };
}

static void add_line(struct be_mail_lines *lines, const char *text, size_t len, unsigned depth, unsigned number,
		     bool flat)
{
	if (lines->n >= MAX_LINES)
		return;
	if (lines->n == lines->cap) {
		lines->cap = lines->cap ? 2 * lines->cap : 256;
		lines->v = be_realloc(lines->v, lines->cap, sizeof(*lines->v));
	}
	be_autofree char *copy = be_strndup(text, len);
	char *trimmed = be_strdup(be_trim(copy));
	lines->v[lines->n++] = (struct be_mail_line){ trimmed, depth, number, flat };
}

/* Words beyond ASCII that matter: they stand before and behind the date of a quoted mail. */
static const struct {
	const char *utf8, *ascii;
} words[] = {
	{ "\xc2\xa0", " " },                     /* no-break space */
	{ "\xe5\x9c\xa8", "On" },                /* Chinese: at, on */
	{ "\xe5\x86\x99\xe9\x81\x93", "wrote" }, /* simplified and traditional Chinese: wrote */
	{ "\xe5\xaf\xab\xe9\x81\x93", "wrote" },
};

static const struct {
	const char *name;
	char byte;
} entities[] = {
	{ "&gt;", '>' },   { "&lt;", '<' },   { "&amp;", '&' }, { "&quot;", '"' },
	{ "&nbsp;", ' ' }, { "&#39;", '\'' }, { "&#43;", '+' }, { "&#43", '+' },
};

/* Bytes at @p that become something else; their number, 0 when @p[0] stays as it is. */
static size_t replace(const char *p, size_t len, struct be_buf *out)
{
	for (size_t i = 0; i < BE_ARRAY_LEN(words); i++) {
		size_t n = strlen(words[i].utf8);
		if (n <= len && memcmp(p, words[i].utf8, n) == 0) {
			be_buf_adds(out, words[i].ascii);
			return n;
		}
	}
	for (size_t i = 0; *p == '&' && i < BE_ARRAY_LEN(entities); i++) {
		size_t n = strlen(entities[i].name);
		if (n <= len && strncasecmp(p, entities[i].name, n) == 0) {
			be_buf_addc(out, entities[i].byte);
			return n;
		}
	}
	return 0;
}

/* Tags at whose place a line ends. */
static bool breaks_line(const char *tag)
{
	static const char *const names[] = {
		"br", "p", "/p", "div", "/div", "tr", "li", "pre", "/pre", "hr", "h1", "h2"
	};
	size_t n = strcspn(tag, " \t\n/>") + (*tag == '/' ? 1 + strcspn(tag + 1, " \t\n/>") : 0);
	for (size_t i = 0; i < BE_ARRAY_LEN(names); i++)
		if (strlen(names[i]) == n && strncasecmp(tag, names[i], n) == 0)
			return true;
	return false;
}

/* Length of the tag at @p, `<pre class="b">`; 0 when it is none. */
static size_t tag_length(const char *p, size_t len)
{
	if (len < 3 || !(isalpha((unsigned char)p[1]) || p[1] == '/' || p[1] == '!'))
		return 0;
	for (size_t i = 1; i < len && i < 2000; i++) {
		if (p[i] == '>')
			return i + 1;
		if (p[i] == '<')
			return 0;
	}
	return 0;
}

static bool is_html(const char *text, size_t len)
{
	static const char *const marks[] = { "<html", "<pre", "<br>", "<br/>", "<br />", "</div>" };
	for (size_t i = 0; i < BE_ARRAY_LEN(marks); i++)
		if (memmem(text, len, marks[i], strlen(marks[i])))
			return true;
	return false;
}

/* The text as ASCII: what is none becomes '?', control characters blanks, tags of a page are left out. */
static void clean(const char *text, size_t len, struct be_buf *out)
{
	bool html = is_html(text, len);
	for (size_t i = 0; i < len;) {
		size_t tag = html && text[i] == '<' ? tag_length(text + i, len - i) : 0;
		if (tag) {
			bool breaks = breaks_line(text + i + 1);
			i += tag;
			if (breaks) { /* and the line end behind it is the same one */
				be_buf_addc(out, '\n');
				i += i < len && text[i] == '\r';
				i += i < len && text[i] == '\n';
			}
			continue;
		}
		size_t n = replace(text + i, len - i, out);
		if (n) {
			i += n;
			continue;
		}
		unsigned char c = (unsigned char)text[i++];
		if (c == '\n' || (c >= ' ' && c < 0x7f))
			be_buf_addc(out, (char)c);
		else if (c < 0x80)
			be_buf_addc(out, ' ');
		else if ((c & 0xc0) != 0x80) /* one for each character of UTF-8 */
			be_buf_addc(out, '?');
	}
}

/* Steps over quote marks at the start of a line: "> > text", ">> text". */
static size_t quote_marks(const char *p, size_t len, unsigned *depth)
{
	size_t i = 0, end = 0;
	*depth = 0;
	for (; i < len && (p[i] == '>' || p[i] == ' ' || p[i] == '\t'); i++) {
		if (p[i] == '>') {
			++*depth;
			end = i + 1;
		}
	}
	return end;
}

static size_t count(const char *p, size_t len, const char *word)
{
	size_t n = 0;
	for (const char *at = p; (at = memmem(at, len - (size_t)(at - p), word, strlen(word))); at += strlen(word))
		n++;
	return n;
}

static bool is_flat(const char *p, size_t len)
{
	static const char *const anchors[] = {
		" testcase: ", "test machine: ", "parameters: ", " commit: ", "=====",
	};
	size_t found = 0;
	if (len < FLAT_BYTES)
		return false;
	for (size_t i = 0; i < BE_ARRAY_LEN(anchors); i++)
		found += count(p, len, anchors[i]) > 0;
	return found >= 2;
}

/* A word that stood at the start of a line before the mail was flattened, or on a line of its own. */
enum anchor { NO_ANCHOR, QUOTE, RULE, HEADER, KEY };

static enum anchor anchor_of(const char *word, size_t len, bool quoted)
{
	size_t marks = 0, slashes = 0;
	for (size_t i = 0; i < len; i++) {
		marks += word[i] == word[0];
		slashes += word[i] == '/';
	}
	if (marks == len && word[0] == '>')
		return QUOTE;
	if (marks == len && len >= 5 && (word[0] == '=' || word[0] == '-'))
		return RULE;
	if (word[len - 1] == ':' && slashes >= 2 && !memmem(word, len, "//", 2))
		return HEADER;
	if (!quoted && len > 1 && be_mail_key(word) == len - 1)
		return KEY;
	return NO_ANCHOR;
}

/*
 * A flattened mail. Where it was quoted, each quote mark began a line, and the lines come back as they were; elsewhere
 * a line begins at each `key:`, and then only the first word behind it is known to belong to it.
 */
static void unfold(const char *p, size_t len, unsigned number, struct be_mail_lines *out)
{
	size_t start = 0, i = 0;
	unsigned depth = 0;
	bool quoted = false, alone = false;
	while (i < len) {
		size_t word = i + strspn(p + i, " \t");
		size_t end = word + strcspn(p + word, " \t\n");
		if (word >= len)
			break;
		enum anchor anchor = anchor_of(p + word, end - word, quoted);
		bool cut = anchor != NO_ANCHOR || alone;
		if (cut && (word > start || anchor == QUOTE)) {
			if (word > start || quoted)
				add_line(out, p + start, word - start, depth, number, !quoted);
			start = word;
		}
		alone = anchor == RULE || anchor == HEADER;
		if (anchor == QUOTE) {
			depth = (unsigned)(end - word);
			quoted = true;
			start = end;
		}
		i = end;
	}
	if (start < len)
		add_line(out, p + start, len - start, depth, number, !quoted);
}

void be_mail_lines_cut(const char *text, size_t len, struct be_mail_lines *out)
{
	be_autobuf struct be_buf ascii = { 0 };
	clean(text, len, &ascii);
	unsigned number = 0;
	for (size_t i = 0; i < ascii.len;) {
		const char *line = ascii.data + i;
		const char *newline = memchr(line, '\n', ascii.len - i);
		size_t n = newline ? (size_t)(newline - line) : ascii.len - i;
		unsigned depth;
		number++;
		size_t marks = quote_marks(line, n, &depth);
		if (is_flat(line, n))
			unfold(line, n, number, out);
		else
			add_line(out, line + marks, n - marks, depth, number, false);
		i += n + 1;
	}
}

size_t be_mail_key(const char *text)
{
	size_t n = 0;
	while (isalnum((unsigned char)text[n]) || (n && text[n] && strchr("_.+-=@", text[n])))
		n++;
	if (n && text[n] == ':' && (!text[n + 1] || isspace((unsigned char)text[n + 1])))
		return n;
	return 0;
}

const char *be_mail_after(const char *text, const char *prefix)
{
	size_t n = strlen(prefix);
	if (strncasecmp(text, prefix, n) != 0)
		return NULL;
	return text + n + strspn(text + n, " \t");
}

bool be_mail_personal(const char *text)
{
	for (const char *at = strchr(text, '@'); at; at = strchr(at + 1, '@'))
		if (at > text && isalnum((unsigned char)at[-1]) && isalpha((unsigned char)at[1]))
			return true;
	return false;
}

struct be_node *be_mail_value(const char *text)
{
	int64_t number;
	if (be_scalar_type(text) == BE_TYPE_INT && be_parse_int(text, &number)) {
		be_autofree char *again = be_strf("%" PRId64, number);
		if (strcmp(again, text) == 0)
			return be_node_int(number);
	}
	size_t n = strlen(text);
	bool quoted = n >= 2 && (text[0] == '"' || text[0] == '\'') && text[n - 1] == text[0] &&
		      !memchr(text + 1, text[0], n - 2);
	be_autofree char *bare = quoted ? be_strndup(text + 1, n - 2) : be_strdup(text);
	return be_node_str(bare);
}

char *be_mail_commit(const char *text)
{
	size_t n = strspn(text, "0123456789abcdef");
	bool ends = !text[n] || isspace((unsigned char)text[n]);
	if (n >= 7 && n <= 40 && ends)
		return be_strndup(text, n);
	if (text[0] != 'v' || !isdigit((unsigned char)text[1]))
		return NULL;
	n = strcspn(text, " \t");
	return n <= 40 && memchr(text, '.', n) && !be_mail_personal(text) ? be_strndup(text, n) : NULL;
}
