#include "expr_lex.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

void be_token_free(struct be_token *token)
{
	free(token->text);
	*token = (struct be_token){ .kind = BE_TOKEN_END };
}

/* Blanks and comments; line ends are words of their own. */
static const char *skip_blanks(const char *p)
{
	p += strspn(p, " \t\r");
	if (*p == '#')
		p += strcspn(p, "\n");
	return p;
}

static const char *read_number(const char *p, struct be_token *token, struct be_error *err)
{
	token->kind = BE_TOKEN_INT;
	for (; isdigit((unsigned char)*p); p++)
		if (__builtin_mul_overflow(token->number, 10, &token->number) ||
		    __builtin_add_overflow(token->number, *p - '0', &token->number)) {
			be_fail_usage(err, "the number does not fit into 64 bits");
			return NULL;
		}
	if (isalpha((unsigned char)*p) || *p == '_' || (*p == '.' && isdigit((unsigned char)p[1]))) {
		be_fail_usage(err, "only whole decimal numbers are supported; write a size or a share as text, '4M'");
		return NULL;
	}
	return p;
}

/* One character of a quoted text. 'single' knows \\ and \' only; "double" the usual letters. */
static const char *read_escape(const char *p, char quote, struct be_buf *out, struct be_error *err)
{
	char c = p[1];
	if (c == '\\' || c == quote) {
		be_buf_addc(out, c);
		return p + 2;
	}
	if (quote == '\'') {
		be_buf_addc(out, '\\');
		return p + 1;
	}
	if (c != 'n' && c != 't') {
		be_fail_usage(err, "the escape \\%c in a text is not supported", c ? c : ' ');
		return NULL;
	}
	be_buf_addc(out, c == 'n' ? '\n' : '\t');
	return p + 2;
}

static const char *read_text(const char *p, struct be_token *token, struct be_error *err)
{
	be_autobuf struct be_buf out = { 0 };
	char quote = *p++;
	while (p && *p && *p != quote) {
		if (*p == '\\') {
			p = read_escape(p, quote, &out, err);
		} else if (quote == '"' && *p == '#' && p[1] == '{') {
			be_fail_usage(err, "#{...} in a text is not supported");
			return NULL;
		} else {
			be_buf_addc(&out, *p++);
		}
	}
	if (!p)
		return NULL;
	if (!*p) {
		be_fail_usage(err, "the text that begins here has no end");
		return NULL;
	}
	token->kind = BE_TOKEN_TEXT;
	token->text = be_buf_steal(&out);
	return p + 1;
}

static const char *read_regex(const char *p, struct be_token *token, struct be_error *err)
{
	be_autobuf struct be_buf out = { 0 };
	for (p++; *p && *p != '/' && *p != '\n'; p++) {
		if (*p == '\\' && p[1] == '/')
			p++;
		else if (*p == '\\' && p[1] && p[1] != '\n')
			be_buf_addc(&out, *p++);
		be_buf_addc(&out, *p);
	}
	if (*p != '/') {
		be_fail_usage(err, "the regular expression that begins here has no end");
		return NULL;
	}
	token->ignore_case = *++p == 'i';
	p += token->ignore_case;
	if (isalpha((unsigned char)*p)) {
		be_fail_usage(err, "of the letters behind a regular expression only i is supported");
		return NULL;
	}
	token->kind = BE_TOKEN_REGEX;
	token->text = be_buf_steal(&out);
	return p;
}

static bool name_start(char c)
{
	return isalpha((unsigned char)c) || c == '_';
}

static const char *word_end(const char *p)
{
	while (isalnum((unsigned char)*p) || *p == '_')
		p++;
	return p;
}

static const char *read_method(const char *p, struct be_token *token)
{
	const char *end = word_end(p + 1);
	if (*end == '?' && strncmp(p, ".nil", (size_t)(end - p)) == 0)
		end++;
	token->kind = BE_TOKEN_METHOD;
	token->text = be_strndup(p + 1, (size_t)(end - p) - 1);
	return end;
}

/* a.b.c up to the first part that is a method's name. */
static const char *read_name(const char *p, struct be_token *token)
{
	static const char *const methods[] = { "to_i", "to_s", "nil" };
	const char *start = p, *end = word_end(p);
	while (*end == '.' && name_start(end[1])) {
		const char *next = word_end(end + 1);
		size_t len = (size_t)(next - end) - 1;
		bool method = false;
		for (size_t i = 0; i < BE_ARRAY_LEN(methods); i++)
			method |= strlen(methods[i]) == len && memcmp(methods[i], end + 1, len) == 0;
		if (method)
			break;
		end = next;
	}
	token->kind = BE_TOKEN_NAME;
	token->text = be_strndup(start, (size_t)(end - start));
	return end;
}

static const char *read_operator(const char *p, struct be_token *token, struct be_error *err)
{
	static const char *const two[] = { "==", "!=", "<=", ">=", "=~", "!~", "&&", "||" };
	token->kind = BE_TOKEN_OPERATOR;
	for (size_t i = 0; i < BE_ARRAY_LEN(two); i++)
		if (strncmp(p, two[i], 2) == 0) {
			memcpy(token->operator, two[i], 3);
			return p + 2;
		}
	if (!strchr("+-*/%<>!?:(),", *p)) {
		be_fail_usage(err, "'%c' is not supported in an expression", *p > ' ' && *p < 127 ? *p : '?');
		return NULL;
	}
	token->operator[0] = * p;
	token->operator[1] = '\0';
	return p + 1;
}

long be_token_read(const char *text, size_t offset, bool value_before, struct be_token *token, struct be_error *err)
{
	const char *p = skip_blanks(text + offset);
	*token = (struct be_token){ .kind = BE_TOKEN_END, .offset = (size_t)(p - text) };
	if (!*p)
		return p - text;
	if (*p == '\n' || *p == ';') {
		token->kind = BE_TOKEN_NEWLINE;
		p++;
	} else if (isdigit((unsigned char)*p)) {
		p = read_number(p, token, err);
	} else if (*p == '\'' || *p == '"') {
		p = read_text(p, token, err);
	} else if (name_start(*p)) {
		p = read_name(p, token);
	} else if (*p == '.' && name_start(p[1])) {
		p = read_method(p, token);
	} else if (*p == '/' && !value_before) {
		p = read_regex(p, token, err);
	} else {
		p = read_operator(p, token, err);
	}
	return p ? p - text : -1;
}
