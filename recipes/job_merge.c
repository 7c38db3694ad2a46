/* How documents and settings are laid over one another (lib/job.rb of lkp-tests: revise_hash). */
#include "job_parts.h"

#include <string.h>

/* Keys of which every mention adds. */
static bool accumulates(const char *key)
{
	static const char *const exact[] = { "mail_to", "mail_cc", "constraints" };
	static const char *const single[] = { "need_memory", "need_cpu", "need_modules" };
	for (size_t i = 0; i < BE_ARRAY_LEN(exact); i++)
		if (strcmp(key, exact[i]) == 0)
			return true;
	for (size_t i = 0; i < BE_ARRAY_LEN(single); i++)
		if (strcmp(key, single[i]) == 0)
			return false;
	return be_starts(key, "need_");
}

/* `environment.disk.write_cache`: a factor's name has dots of its own, which lead no deeper. */
static bool names_a_factor(const char *path)
{
	return be_starts(path, "environment.") || be_starts(path, "expect.");
}

/* The map that holds the last part of @path, made where it is missing; @last is that part. */
static struct be_node *holder_of(struct be_node *job, const char *path, const char **last, bool make)
{
	bool factor = names_a_factor(path);
	const char *dot;
	while (job && (dot = strchr(path, '.'))) {
		be_autofree char *part = be_strndup(path, (size_t)(dot - path));
		struct be_node *below = be_get(job, part);
		if ((!below || below->kind != BE_MAP) && make) {
			below = be_node_map();
			be_set(job, part, below);
		}
		job = below && below->kind == BE_MAP ? below : NULL;
		path = dot + 1;
		if (factor)
			break;
	}
	*last = path;
	return job;
}

static bool has_item(const struct be_node *seq, const struct be_node *item)
{
	for (size_t i = 0; i < seq->n; i++)
		if (be_node_equal(seq->items[i], item))
			return true;
	return false;
}

static int check_length(size_t n, const struct be_node *value, struct be_error *err)
{
	if (n <= BE_NODE_MAX_KEYS)
		return 0;
	return be_fail_usage(err, "%s%sa list of more than %u items is not merged", be_where(value),
			     value->file ? ": " : "", BE_NODE_MAX_KEYS);
}

static size_t length(const struct be_node *node)
{
	return node->kind == BE_SEQ ? node->n : 1;
}

static void add_items(struct be_node *seq, const struct be_node *from)
{
	if (from->kind != BE_SEQ) {
		if (!has_item(seq, from))
			be_add(seq, be_node_clone(from));
		return;
	}
	for (size_t i = 0; i < from->n; i++)
		if (!has_item(seq, from->items[i]))
			be_add(seq, be_node_clone(from->items[i]));
}

static int append(struct be_node *holder, const char *key, const struct be_node *value, struct be_error *err)
{
	struct be_node *old = be_get(holder, key);
	if (!old || old->kind == BE_NULL) {
		be_set(holder, key, be_node_clone(value));
		return 0;
	}
	if (value->kind == BE_NULL)
		return 0;
	if (old->kind == BE_MAP && value->kind == BE_MAP) {
		for (size_t i = 0; i < value->n; i++)
			be_set(old, value->keys[i], be_node_clone(value->items[i]));
		return 0;
	}
	if (check_length(length(old) + length(value), value, err) != 0)
		return -1;
	struct be_node *seq = be_node_seq();
	seq->file = value->file;
	seq->line = value->line;
	seq->col = value->col;
	add_items(seq, old);
	add_items(seq, value);
	be_set(holder, key, seq);
	return 0;
}

static void drop_items(struct be_node *seq, const struct be_node *values)
{
	size_t kept = 0;
	for (size_t i = 0; i < seq->n; i++) {
		if (values->kind == BE_SEQ ? has_item(values, seq->items[i]) : be_node_equal(values, seq->items[i]))
			be_node_free(seq->items[i]);
		else
			seq->items[kept++] = seq->items[i];
	}
	seq->n = kept;
}

static int remove_from(struct be_node *holder, const char *key, const struct be_node *value, struct be_error *err)
{
	struct be_node *old = be_get(holder, key);
	if (!old)
		return 0;
	if (check_length(length(old), value, err) != 0 || check_length(length(value), value, err) != 0)
		return -1;
	if (value->kind == BE_NULL || (old->kind == BE_SCALAR && be_node_equal(old, value))) {
		be_unset(holder, key);
	} else if (old->kind == BE_SEQ) {
		drop_items(old, value);
	} else if (old->kind == BE_MAP && value->kind == BE_SCALAR) {
		be_unset(old, value->text);
	} else if (old->kind == BE_MAP) {
		for (size_t i = 0; i < value->n; i++) {
			const char *name = value->kind == BE_MAP ? value->keys[i] : value->items[i]->text;
			if (name)
				be_unset(old, name);
		}
	}
	return 0;
}

static bool is_path(const char *name)
{
	unsigned parts = 1;
	for (const char *p = name; *p; p++)
		parts += *p == '.';
	return parts <= BE_NODE_MAX_DEPTH && *name != '.' && !be_ends(name, ".") && !strstr(name, "..");
}

static int merge_key(struct be_node *job, const char *key, const struct be_node *value, const struct be_keys *keys,
		     struct be_error *err)
{
	size_t n = strlen(key);
	char sign = n > 1 ? key[n - 1] : '\0';
	bool operator= sign == '+' || sign == '-';
	be_autofree char *name = be_strndup(key, operator? n - 1 : n);
	const char *last = name;
	struct be_node *holder = job;
	/* Some options have dots in their names: memory.high of cgroup2. */
	if (strchr(name, '.') && !be_key_is(keys, name, BE_KEY_OPTION)) {
		if (!is_path(name))
			return be_fail_usage(err, "%s%s\"%.80s\" is no path of keys", be_where(value),
					     value->file ? ": " : "", key);
		holder = holder_of(job, name, &last, sign != '-');
	}
	if (!holder)
		return 0;
	if (sign == '-')
		return remove_from(holder, last, value, err);
	if (sign == '+' || (holder == job && accumulates(last)))
		return append(holder, last, value, err);
	be_set(holder, last, be_node_clone(value));
	return 0;
}

int be_job_merge(struct be_node *job, const struct be_node *over, const struct be_keys *keys, struct be_error *err)
{
	for (size_t i = 0; i < over->n; i++)
		if (merge_key(job, over->keys[i], over->items[i], keys, err) != 0)
			return -1;
	return 0;
}
