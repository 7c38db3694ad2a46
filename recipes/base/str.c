#include "base/str.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static _Noreturn void out_of_memory(void)
{
	fputs("mkbenchenv: out of memory\n", stderr);
	exit(BE_FAILED);
}

void *be_alloc(size_t size)
{
	void *p = calloc(1, size ? size : 1);
	if (!p)
		out_of_memory();
	return p;
}

void *be_realloc(void *p, size_t n, size_t size)
{
	p = reallocarray(p, n ? n : 1, size);
	if (!p)
		out_of_memory();
	return p;
}

char *be_strdup(const char *s)
{
	return s ? be_strndup(s, strlen(s)) : NULL;
}

char *be_strndup(const char *s, size_t n)
{
	size_t len = strnlen(s, n);
	char *copy = be_alloc(len + 1);
	memcpy(copy, s, len);
	return copy;
}

char *be_vstrf(const char *fmt, va_list args)
{
	char *out;
	if (vasprintf(&out, fmt, args) < 0)
		out_of_memory();
	return out;
}

char *be_strf(const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	char *out = be_vstrf(fmt, args);
	va_end(args);
	return out;
}

bool be_streq(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

bool be_starts(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool be_ends(const char *s, const char *suffix)
{
	size_t a = strlen(s), b = strlen(suffix);
	return a >= b && strcmp(s + a - b, suffix) == 0;
}

static bool blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

char *be_trim(char *s)
{
	while (blank(*s))
		s++;
	size_t n = strlen(s);
	while (n && blank(s[n - 1]))
		s[--n] = '\0';
	return s;
}

bool be_parse_int(const char *text, int64_t *value)
{
	char *end;
	errno = 0;
	long long number = strtoll(text, &end, 10);
	if (errno || end == text || *end)
		return false;
	*value = number;
	return true;
}

unsigned be_distance(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);
	unsigned row[64];
	if (n >= BE_ARRAY_LEN(row) || m >= BE_ARRAY_LEN(row))
		return 255;
	for (size_t j = 0; j <= m; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; i <= n; i++) {
		unsigned diagonal = row[0];
		row[0] = (unsigned)i;
		for (size_t j = 1; j <= m; j++) {
			unsigned best =
				diagonal + (tolower((unsigned char)a[i - 1]) != tolower((unsigned char)b[j - 1]));
			diagonal = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[m];
}

void be_buf_free(struct be_buf *b)
{
	free(b->data);
	*b = (struct be_buf){ 0 };
}

static void reserve(struct be_buf *b, size_t more)
{
	if (more > SIZE_MAX / 4 || b->len > SIZE_MAX / 4)
		out_of_memory();
	if (b->len + more + 1 <= b->cap)
		return;
	size_t cap = b->cap ? b->cap : 64;
	while (cap < b->len + more + 1)
		cap *= 2;
	b->data = be_realloc(b->data, cap, 1);
	b->cap = cap;
}

void be_buf_add(struct be_buf *b, const void *data, size_t len)
{
	reserve(b, len);
	if (len)
		memcpy(b->data + b->len, data, len);
	b->len += len;
	b->data[b->len] = '\0';
}

void be_buf_adds(struct be_buf *b, const char *s)
{
	be_buf_add(b, s, strlen(s));
}

void be_buf_addc(struct be_buf *b, char c)
{
	be_buf_add(b, &c, 1);
}

void be_buf_addf(struct be_buf *b, const char *fmt, ...)
{
	va_list args, again;
	va_start(args, fmt);
	va_copy(again, args);
	int n = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	if (n < 0)
		out_of_memory();
	reserve(b, (size_t)n);
	vsnprintf(b->data + b->len, (size_t)n + 1, fmt, again);
	va_end(again);
	b->len += (size_t)n;
}

char *be_buf_steal(struct be_buf *b)
{
	if (!b->data)
		return be_strdup("");
	char *data = b->data;
	*b = (struct be_buf){ 0 };
	return data;
}

void be_buf_add_shell(struct be_buf *b, const char *s)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%^";
	if (*s && strspn(s, plain) == strlen(s)) {
		be_buf_adds(b, s);
		return;
	}
	be_buf_addc(b, '\'');
	for (; *s; s++) {
		if (*s == '\'')
			be_buf_adds(b, "'\\''");
		else
			be_buf_addc(b, *s);
	}
	be_buf_addc(b, '\'');
}

void be_strv_free(struct be_strv *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->v[i]);
	free(s->v);
	*s = (struct be_strv){ 0 };
}

void be_strv_take(struct be_strv *s, char *text)
{
	if (s->n + 2 > s->cap) { /* one slot stays for the NULL at its end */
		s->cap = s->cap ? s->cap * 2 : 8;
		s->v = be_realloc(s->v, s->cap, sizeof(char *));
	}
	s->v[s->n++] = text;
	s->v[s->n] = NULL;
}

void be_strv_add(struct be_strv *s, const char *text)
{
	be_strv_take(s, be_strdup(text));
}

void be_strv_addf(struct be_strv *s, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	be_strv_take(s, be_vstrf(fmt, args));
	va_end(args);
}

void be_strv_add_all(struct be_strv *s, const struct be_strv *more)
{
	for (size_t i = 0; i < more->n; i++)
		be_strv_add(s, more->v[i]);
}

bool be_strv_has(const struct be_strv *s, const char *text)
{
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->v[i], text) == 0)
			return true;
	return false;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void be_strv_sort_unique(struct be_strv *s)
{
	if (!s->n)
		return;
	qsort(s->v, s->n, sizeof(char *), compare);
	size_t kept = 1;
	for (size_t i = 1; i < s->n; i++) {
		if (strcmp(s->v[i], s->v[kept - 1]) == 0)
			free(s->v[i]);
		else
			s->v[kept++] = s->v[i];
	}
	s->n = kept;
	s->v[kept] = NULL;
}

void be_strv_split(struct be_strv *s, const char *text, const char *seps)
{
	while (*text) {
		size_t n = strcspn(text, seps);
		if (n)
			be_strv_take(s, be_strndup(text, n));
		text += n;
		text += strspn(text, seps);
	}
}
