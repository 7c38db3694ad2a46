#include "base/node.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"

/* File names in messages outlive the trees that mention them. */
const char *be_node_intern(const char *name)
{
	static struct be_strv names;
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	size_t i = 0;
	pthread_mutex_lock(&lock);
	while (i < names.n && strcmp(names.v[i], name) != 0)
		i++;
	if (i == names.n)
		be_strv_add(&names, name);
	const char *kept = names.v[i];
	pthread_mutex_unlock(&lock);
	return kept;
}

void be_node_free(struct be_node *node)
{
	if (!node)
		return;
	for (size_t i = 0; i < node->n; i++) {
		be_node_free(node->items[i]);
		if (node->keys)
			free(node->keys[i]);
	}
	free(node->keys);
	free(node->items);
	free(node->key_lines);
	free(node->text);
	free(node);
}

void be_node_free_ptr(struct be_node **node)
{
	be_node_free(*node);
}

static struct be_node *make(enum be_kind kind)
{
	struct be_node *node = be_alloc(sizeof(*node));
	node->kind = kind;
	return node;
}

struct be_node *be_node_null(void)
{
	return make(BE_NULL);
}

struct be_node *be_node_map(void)
{
	return make(BE_MAP);
}

struct be_node *be_node_seq(void)
{
	return make(BE_SEQ);
}

size_t be_utf8_length(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	if (*s < 0x80)
		return *s == '\n' || *s == '\t' || *s == '\r' || (*s >= 0x20 && *s != 0x7f);
	size_t n = *s >= 0xf0 ? 4 : *s >= 0xe0 ? 3 : 2;
	if (*s < 0xc2 || *s > 0xf4)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f) || (*s == 0xf0 && s[1] < 0x90) ||
	    (*s == 0xf4 && s[1] > 0x8f))
		return 0;
	if ((*s == 0xc2 && s[1] < 0xa0 && s[1] != 0x85) || (*s == 0xef && s[1] == 0xbf && s[2] > 0xbd))
		return 0;
	return n;
}

/* Kernel and tool output may hold any byte; documents may not. */
static char *printable(const char *text)
{
	char *out = be_strdup(text);
	for (unsigned char *p = (unsigned char *)out; *p;) {
		size_t n = be_utf8_length((const char *)p);
		if (n == 0)
			*p++ = '?';
		else
			p += n;
	}
	return out;
}

struct be_node *be_node_str(const char *text)
{
	struct be_node *node = make(BE_SCALAR);
	node->text = printable(text ? text : "");
	node->quoted = true;
	return node;
}

struct be_node *be_node_strf(const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	be_autofree char *text = be_vstrf(fmt, args);
	va_end(args);
	return be_node_str(text);
}

struct be_node *be_node_int(int64_t value)
{
	struct be_node *node = make(BE_SCALAR);
	node->text = be_strf("%" PRId64, value);
	return node;
}

struct be_node *be_node_real(double value)
{
	struct be_node *node = make(BE_SCALAR);
	if (!isfinite(value)) {
		node->text = be_strdup(isnan(value) ? ".nan" : value > 0 ? ".inf" : "-.inf");
		return node;
	}
	/* printf would use the locale's decimal point. */
	bool negative = value < 0;
	double whole = 0, part = modf(fabs(value), &whole);
	if (whole > 9e15) {
		node->text = be_strf("%s%.0f", negative ? "-" : "", whole);
		return node;
	}
	uint64_t w = (uint64_t)whole, f = (uint64_t)llround(part * 1e6);
	if (f == 1000000) {
		f = 0;
		w++;
	}
	be_autofree char *digits = be_strf("%06" PRIu64, f);
	size_t len = 6;
	while (len > 1 && digits[len - 1] == '0')
		digits[--len] = '\0';
	node->text = be_strf("%s%" PRIu64 ".%s", negative ? "-" : "", w, digits);
	return node;
}

struct be_node *be_node_bool(bool value)
{
	struct be_node *node = make(BE_SCALAR);
	node->text = be_strdup(value ? "true" : "false");
	return node;
}

struct be_node *be_node_strv(const struct be_strv *list)
{
	struct be_node *seq = be_node_seq();
	for (size_t i = 0; i < list->n; i++)
		be_add_str(seq, list->v[i]);
	return seq;
}

struct be_node *be_node_clone(const struct be_node *node)
{
	if (!node)
		return NULL;
	struct be_node *copy = make(node->kind);
	copy->quoted = node->quoted;
	copy->line = node->line;
	copy->col = node->col;
	copy->file = node->file;
	copy->text = be_strdup(node->text);
	copy->n = copy->cap = node->n;
	if (node->n) {
		copy->items = be_realloc(NULL, node->n, sizeof(*copy->items));
		if (node->keys)
			copy->keys = be_realloc(NULL, node->n, sizeof(*copy->keys));
		if (node->key_lines) {
			copy->key_lines = be_realloc(NULL, node->n, sizeof(*copy->key_lines));
			memcpy(copy->key_lines, node->key_lines, node->n * sizeof(*copy->key_lines));
		}
	}
	for (size_t i = 0; i < node->n; i++) {
		copy->items[i] = be_node_clone(node->items[i]);
		if (node->keys)
			copy->keys[i] = be_strdup(node->keys[i]);
	}
	return copy;
}

bool be_node_equal(const struct be_node *a, const struct be_node *b)
{
	if (!a || !b)
		return a == b;
	if (a->kind != b->kind || a->n != b->n || !be_streq(a->text, b->text))
		return false;
	for (size_t i = 0; i < a->n; i++)
		if ((a->keys && strcmp(a->keys[i], b->keys[i]) != 0) || !be_node_equal(a->items[i], b->items[i]))
			return false;
	return true;
}

struct be_node *be_get(const struct be_node *map, const char *key)
{
	if (!map || map->kind != BE_MAP)
		return NULL;
	for (size_t i = 0; i < map->n; i++)
		if (strcmp(map->keys[i], key) == 0)
			return map->items[i];
	return NULL;
}

struct be_node *be_get_path(const struct be_node *map, const char *dotted)
{
	be_autostrv struct be_strv parts = { 0 };
	be_strv_split(&parts, dotted, ".");
	struct be_node *at = (struct be_node *)map;
	for (size_t i = 0; i < parts.n && at; i++)
		at = be_get(at, parts.v[i]);
	return at;
}

const char *be_get_str(const struct be_node *map, const char *key, const char *fallback)
{
	const struct be_node *node = be_get(map, key);
	return node && node->kind == BE_SCALAR ? node->text : fallback;
}

int64_t be_get_int(const struct be_node *map, const char *key, int64_t fallback)
{
	const char *text = be_get_str(map, key, NULL);
	if (!text || !*text)
		return fallback;
	int64_t value;
	return be_parse_int(text, &value) ? value : fallback;
}

double be_get_real(const struct be_node *map, const char *key, double fallback)
{
	const char *text = be_get_str(map, key, NULL);
	if (!text || !*text)
		return fallback;
	char *end;
	errno = 0;
	double value = strtod(text, &end);
	return errno || *end ? fallback : value;
}

static bool one_of(const char *text, const char *const *words)
{
	for (; *words; words++)
		if (strcmp(text, *words) == 0)
			return true;
	return false;
}

/* The truth words of YAML 1.1 as libyaml's users read them; y and n stay text, as in Ruby. */
static const char *const true_words[] = { "true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON", NULL };
static const char *const false_words[] = { "false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF", NULL };
static const char *const null_words[] = { "", "~", "null", "Null", "NULL", NULL };

bool be_get_bool(const struct be_node *map, const char *key, bool fallback)
{
	const char *text = be_get_str(map, key, NULL);
	if (!text)
		return fallback;
	if (one_of(text, true_words))
		return true;
	return one_of(text, false_words) ? false : fallback;
}

void be_get_strv(const struct be_node *map, const char *key, struct be_strv *out)
{
	const struct be_node *node = be_get(map, key);
	if (!node)
		return;
	if (node->kind == BE_SCALAR)
		be_strv_add(out, node->text);
	for (size_t i = 0; node->kind == BE_SEQ && i < node->n; i++)
		if (node->items[i]->kind == BE_SCALAR)
			be_strv_add(out, node->items[i]->text);
}

static void grow(struct be_node *node, bool with_keys)
{
	if (node->n < node->cap)
		return;
	node->cap = node->cap ? node->cap * 2 : 4;
	node->items = be_realloc(node->items, node->cap, sizeof(*node->items));
	if (with_keys)
		node->keys = be_realloc(node->keys, node->cap, sizeof(*node->keys));
	if (node->key_lines)
		node->key_lines = be_realloc(node->key_lines, node->cap, sizeof(*node->key_lines));
}

static void append(struct be_node *map, char *key, struct be_node *value)
{
	grow(map, true);
	if (map->key_lines)
		map->key_lines[map->n] = 0;
	map->keys[map->n] = key;
	map->items[map->n++] = value;
}

void be_set(struct be_node *map, const char *key, struct be_node *value)
{
	for (size_t i = 0; i < map->n; i++) {
		if (strcmp(map->keys[i], key) == 0) {
			be_node_free(map->items[i]);
			map->items[i] = value;
			return;
		}
	}
	append(map, be_strdup(key), value);
}

void be_set_path(struct be_node *map, const char *dotted, struct be_node *value)
{
	be_autostrv struct be_strv parts = { 0 };
	be_strv_split(&parts, dotted, ".");
	for (size_t i = 0; i + 1 < parts.n; i++) {
		struct be_node *below = be_get(map, parts.v[i]);
		if (!below || below->kind != BE_MAP) {
			below = be_node_map();
			be_set(map, parts.v[i], below);
		}
		map = below;
	}
	if (parts.n)
		be_set(map, parts.v[parts.n - 1], value);
	else
		be_node_free(value);
}

void be_set_str(struct be_node *map, const char *key, const char *value)
{
	if (value)
		be_set(map, key, be_node_str(value));
}

void be_set_int(struct be_node *map, const char *key, int64_t value)
{
	be_set(map, key, be_node_int(value));
}

bool be_unset(struct be_node *map, const char *key)
{
	if (!map || map->kind != BE_MAP)
		return false;
	for (size_t i = 0; i < map->n; i++) {
		if (strcmp(map->keys[i], key) != 0)
			continue;
		free(map->keys[i]);
		be_node_free(map->items[i]);
		map->n--;
		memmove(map->keys + i, map->keys + i + 1, (map->n - i) * sizeof(*map->keys));
		memmove(map->items + i, map->items + i + 1, (map->n - i) * sizeof(*map->items));
		if (map->key_lines)
			memmove(map->key_lines + i, map->key_lines + i + 1, (map->n - i) * sizeof(*map->key_lines));
		return true;
	}
	return false;
}

void be_add(struct be_node *seq, struct be_node *value)
{
	grow(seq, false);
	seq->items[seq->n++] = value;
}

void be_add_str(struct be_node *seq, const char *value)
{
	be_add(seq, be_node_str(value));
}

const char *be_where(const struct be_node *node)
{
	static _Thread_local char ring[8][512];
	static _Thread_local unsigned next;
	if (!node || !node->file)
		return "";
	char *out = ring[next++ % BE_ARRAY_LEN(ring)];
	snprintf(out, sizeof(ring[0]), "%s:%u:%u", node->file, node->line, node->col);
	return out;
}

/* What a plain scalar would be read as by a YAML 1.1 reader. */
enum be_scalar_type be_scalar_type(const char *text)
{
	if (one_of(text, null_words))
		return BE_TYPE_NULL;
	if (one_of(text, true_words))
		return BE_TYPE_TRUE;
	if (one_of(text, false_words))
		return BE_TYPE_FALSE;
	const char *p = text + (*text == '-' || *text == '+');
	size_t digits = strspn(p, "0123456789");
	if (digits && !p[digits])
		return *p == '0' && digits > 1 ? BE_TYPE_ODD : digits > 18 ? BE_TYPE_ODD : BE_TYPE_INT;
	if (digits && p[digits] == '.' && p[digits + 1]) {
		size_t more = strspn(p + digits + 1, "0123456789");
		if (more && !p[digits + 1 + more])
			return digits > 1 && *p == '0' ? BE_TYPE_ODD : BE_TYPE_REAL;
	}
	/* 0x21, 1_000, 1e5, .5, 12:30, 2022-10-09, y, =, <<: some reader makes something else of them. */
	if ((digits || (p[0] == '.' && p[1] >= '0' && p[1] <= '9')) &&
	    strspn(p, "0123456789abcdefABCDEFxXoO_:.+-eETtZ ") == strlen(p))
		return BE_TYPE_ODD;
	static const char *const odd[] = {
		"y", "Y", "n", "N", "=", "<<", ".inf", "-.inf", ".nan", ".Inf", ".NaN", NULL
	};
	return one_of(text, odd) ? BE_TYPE_ODD : BE_TYPE_TEXT;
}
