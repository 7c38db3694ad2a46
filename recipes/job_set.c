/* `--set`: what a person wants different in a job. */
#include "job_parts.h"

#include <string.h>

static struct be_node *parse_value(const char *text, const char *setting, struct be_error *err)
{
	if (!*text)
		return be_node_null();
	if (strchr("[{\"'", *text))
		return be_node_load(text, strlen(text), setting, err);
	struct be_node *node = be_node_str(text);
	node->quoted = false;
	return node;
}

/* A value from the command line has no position in a file; its setting stands for it in messages. */
static struct be_node *one_key(const char *key, struct be_node *value, const char *setting, struct be_error *err)
{
	if (!value)
		return NULL;
	if (!*key) {
		be_node_free(value);
		be_fail_usage(err, "--set \"%s\": the key is missing", setting);
		return NULL;
	}
	struct be_node *map = be_node_map();
	be_set(map, key, value);
	return map;
}

struct be_node *be_job_parse_setting(const char *setting, struct be_error *err)
{
	const char *equal = strchr(setting, '='), *colon = strchr(setting, ':');
	be_autofree char *name = be_strf("--set \"%s\"", setting);
	if (equal && (!colon || equal < colon)) {
		be_autofree char *copy = be_strndup(setting, (size_t)(equal - setting));
		return one_key(be_trim(copy), parse_value(equal + 1, name, err), setting, err);
	}
	if (colon && (colon[1] == ' ' || !colon[1])) {
		be_autonode struct be_node *map = be_node_load(setting, strlen(setting), name, err);
		if (map && map->kind == BE_MAP && map->n == 1)
			return be_steal(&map);
		if (!map)
			return NULL;
	}
	be_fail_usage(err, "--set \"%s\": neither KEY=VALUE nor \"KEY: VALUE\"", setting);
	return NULL;
}

/* Sets @key wherever it stands below a program that declares it; returns how often. */
static unsigned set_where_it_stands(struct be_node *at, const struct be_key *key, const struct be_node *value,
				    const struct be_keys *keys)
{
	unsigned n = 0;
	for (size_t i = 0; i < at->n; i++) {
		struct be_node *below = at->items[i];
		const struct be_key *holder = be_key_find(keys, at->keys[i]);
		if (below->kind != BE_MAP || (holder && (holder->uses & BE_KEY_MONITOR)))
			continue;
		bool declares = holder && (holder->uses & BE_KEY_PROGRAM) && be_key_declared_by(key, holder->program);
		if (declares && be_get(below, key->name)) {
			be_set(below, key->name, be_node_clone(value));
			n++;
		}
		n += set_where_it_stands(below, key, value, keys);
	}
	return n;
}

/* Adds @key to the first program in the job that declares it. */
static bool add_to_program(struct be_node *at, const struct be_key *key, const struct be_node *value,
			   const struct be_keys *keys)
{
	for (size_t i = 0; i < at->n; i++) {
		struct be_node *below = at->items[i];
		const struct be_key *holder = be_key_find(keys, at->keys[i]);
		bool declares = holder && (holder->uses & BE_KEY_PROGRAM) && be_key_declared_by(key, holder->program);
		if (declares && (below->kind == BE_NULL || below->kind == BE_MAP)) {
			if (below->kind == BE_NULL) {
				below = be_node_map();
				be_set(at, at->keys[i], below);
			}
			be_set(below, key->name, be_node_clone(value));
			return true;
		}
		if (below->kind == BE_MAP && !(holder && (holder->uses & BE_KEY_MONITOR)) &&
		    add_to_program(below, key, value, keys))
			return true;
	}
	return false;
}

int be_job_set(struct be_node *job, const struct be_node *setting, const struct be_keys *keys, struct be_error *err)
{
	const char *name = setting->keys[0];
	const struct be_node *value = setting->items[0];
	const struct be_key *key = be_key_find(keys, name);
	bool option = key && (key->uses & BE_KEY_OPTION) && !(key->uses & (BE_KEY_PROGRAM | BE_KEY_OURS));
	if (!option || be_get(job, name))
		return be_job_merge(job, setting, keys, err);
	if (set_where_it_stands(job, key, value, keys) || add_to_program(job, key, value, keys))
		return 0;
	return be_job_merge(job, setting, keys, err);
}
