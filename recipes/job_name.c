/* LKP's names: BASE-PATH_PARAMS[-COMMIT...][-ROOTFS] (lib/job.rb of lkp-tests: path_params). */
#include "job_parts.h"

#include <string.h>

#define MAX_VALUE 31u /* characters of a value that stand in a name */

struct part {
	const char *key, *value;
	size_t order;
	bool named;
};

struct parts {
	struct part *v;
	size_t n;
	const struct be_node *job;
	const struct be_keys *keys;
	const bool *present;
	const struct be_strv *dimensions;
};

static bool in_name(const struct parts *parts, const char *key, bool setting)
{
	be_autofree char *factor = be_strf(BE_KEY_ENVIRONMENT ".%s", key);
	if (setting)
		return be_strv_has(parts->dimensions, factor);
	return be_job_is_parameter(parts->keys, parts->present, key) || be_strv_has(parts->dimensions, key);
}

/* @settings: @at is the job's `environment:`. */
static void collect(struct parts *parts, const struct be_node *at, bool settings)
{
	for (size_t i = 0; at->kind == BE_MAP && i < at->n; i++) {
		const struct be_key *key = be_key_find(parts->keys, at->keys[i]);
		const struct be_node *value = at->items[i];
		if (key && (key->uses & BE_KEY_MONITOR))
			continue;
		if (value->kind == BE_SCALAR && in_name(parts, at->keys[i], settings)) {
			parts->v = be_realloc(parts->v, parts->n + 1, sizeof(*parts->v));
			bool named = settings || (key && (key->uses & BE_KEY_NAMED));
			parts->v[parts->n] = (struct part){ at->keys[i], value->text, parts->n, named };
			parts->n++;
		}
		collect(parts, value, at == parts->job && strcmp(at->keys[i], BE_KEY_ENVIRONMENT) == 0);
	}
}

static int compare_parts(const void *a, const void *b)
{
	const struct part *x = a, *y = b;
	int c = strcmp(x->key, y->key);
	return c ? c : (x->order > y->order) - (x->order < y->order);
}

static void add_clean(struct be_buf *out, const char *text)
{
	static const char allowed[] = "-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+=:.%";
	for (; *text; text++) {
		if (((unsigned char)*text & 0xc0) == 0x80)
			continue; /* a character of several bytes becomes one sign */
		be_buf_addc(out, strchr(allowed, *text) ? *text : '_');
	}
}

/* The first characters, not bytes, of @text. */
static char *cut(const char *text)
{
	size_t n = 0, characters = 0;
	for (; text[n]; n++) {
		if (((unsigned char)text[n] & 0xc0) != 0x80 && characters++ == MAX_VALUE)
			break;
	}
	return be_strndup(text, n);
}

static void add_parameters(struct be_buf *out, struct parts *parts)
{
	if (parts->n)
		qsort(parts->v, parts->n, sizeof(*parts->v), compare_parts);
	else
		be_buf_adds(out, "-defaults");
	for (size_t i = 0; i < parts->n; i++) {
		be_autofree char *value = cut(parts->v[i].value);
		be_buf_addc(out, '-');
		if (parts->v[i].named) {
			add_clean(out, parts->v[i].key);
			be_buf_addc(out, '=');
		}
		add_clean(out, value);
	}
}

char *be_job_name(const char *base, const struct be_node *job, const struct be_keys *keys, const bool *present,
		  const struct be_strv *dimensions)
{
	struct parts parts = { .job = job, .keys = keys, .present = present, .dimensions = dimensions };
	collect(&parts, job, false);
	be_autobuf struct be_buf out = { 0 };
	add_clean(&out, base);
	add_parameters(&out, &parts);
	free(parts.v);
	for (size_t i = 0; i < job->n; i++) {
		const char *key = job->keys[i];
		if (job->items[i]->kind == BE_SCALAR && (strcmp(key, "commit") == 0 || be_ends(key, "_commit")) &&
		    be_key_is(keys, key, BE_KEY_EXPANDS)) {
			be_buf_addc(&out, '-');
			add_clean(&out, job->items[i]->text);
		}
	}
	const char *rootfs = be_get_str(job, "rootfs", NULL);
	if (rootfs) {
		const char *slash = strrchr(rootfs, '/');
		be_buf_addc(&out, '-');
		add_clean(&out, slash ? slash + 1 : rootfs);
	}
	return be_buf_steal(&out);
}
