/*
 * The matrix: the first key that holds a list to expand is fixed to each of its items in turn, then the walk starts
 * again. So the first list is the outermost loop, and a template sees what stands fixed before it.
 */
#include "job_parts.h"

#include <string.h>

#define MAX_ATOMS 10000u
#define MAX_COST (64u << 20) /* bytes of all copies */

/* Does a list of @name expand when the programs @present are in the job? */
static bool expands(const struct be_keys *keys, const bool *present, const char *name)
{
	const struct be_key *key = be_key_find(keys, name);
	return key && ((key->uses & BE_KEY_EXPANDS) || be_job_is_parameter(keys, present, name));
}

bool be_job_is_parameter(const struct be_keys *keys, const bool *present, const char *name)
{
	const struct be_key *key = be_key_find(keys, name);
	if (!key)
		return false;
	if ((key->uses & BE_KEY_PROGRAM) && present[key->program])
		return true;
	for (size_t i = 0; i < key->n_declarers; i++)
		if (key->declarers[i].expands && present[key->declarers[i].program])
			return true;
	return false;
}

static void find_programs(const struct be_node *at, const struct be_keys *keys, bool *present)
{
	for (size_t i = 0; i < at->n; i++) {
		const struct be_key *key = at->kind == BE_MAP ? be_key_find(keys, at->keys[i]) : NULL;
		if (key && (key->uses & BE_KEY_MONITOR))
			continue;
		if (key && (key->uses & BE_KEY_PROGRAM))
			present[key->program] = true;
		find_programs(at->items[i], keys, present);
	}
}

bool *be_job_programs(const struct be_node *job, const struct be_keys *keys)
{
	bool *present = be_alloc(keys->n_programs * sizeof(*present));
	find_programs(job, keys, present);
	return present;
}

/* A place in a job: the indices from the root to it. */
struct place {
	size_t index[2 * BE_NODE_MAX_DEPTH + 2]; /* a path of keys can lead to a value that is as deep again */
	size_t depth;
};

struct walk {
	struct be_expansion *x;
	const bool *present;
	struct be_strv dimensions; /* keys of ours that were lists; "environment.FACTOR" of a factor */
	size_t n_dropped;
	struct be_node *dropped; /* copy of the first template that was nil */
};

/* @place is below the root: the root is a map. */
static struct be_node **slot(struct be_node *job, const struct place *place)
{
	for (size_t i = 0; i + 1 < place->depth; i++)
		job = job->items[place->index[i]];
	return &job->items[place->index[place->depth - 1]];
}

static const char *key_at(struct be_node *job, const struct place *place)
{
	struct be_node *at = job;
	const char *key = "";
	for (size_t i = 0; i < place->depth; i++) {
		if (at->kind == BE_MAP)
			key = at->keys[place->index[i]];
		at = at->items[place->index[i]];
	}
	return key;
}

/* Is a value at this depth below the key @top of the job one of the values that `environment:` gives factors? */
static bool is_setting(const char *top, size_t depth)
{
	return depth == 2 && be_streq(top, BE_KEY_ENVIRONMENT);
}

/* Finds the first list or template that is still to be fixed. @top: the job's key that @at is below. */
static bool find_open(const struct walk *walk, const struct be_node *at, const char *key, const char *top,
		      struct place *place)
{
	if (at->kind == BE_SCALAR)
		return be_is_template(at->text);
	if (at->kind == BE_SEQ && key && (is_setting(top, place->depth) || expands(walk->x->keys, walk->present, key)))
		return true;
	if (place->depth >= BE_ARRAY_LEN(place->index))
		return false;
	size_t depth = place->depth++;
	for (size_t i = 0; i < at->n; i++) {
		const char *below = at->kind == BE_MAP ? at->keys[i] : NULL;
		if (below && be_key_is(walk->x->keys, below, BE_KEY_MONITOR))
			continue;
		place->index[depth] = i;
		if (find_open(walk, at->items[i], below, top ? top : below, place))
			return true;
	}
	place->depth = depth;
	return false;
}

static size_t cost_of(const struct be_node *node)
{
	size_t cost = sizeof(*node) + 32 + (node->text ? strlen(node->text) + 32 : 0);
	for (size_t i = 0; i < node->n; i++)
		cost += cost_of(node->items[i]) + (node->keys ? strlen(node->keys[i]) + 48 : 16);
	return cost;
}

/* Every copy and every template costs a walk over the job. */
static int charge(struct be_expansion *x, const struct be_node *at, const struct be_node *job, struct be_error *err)
{
	x->cost += cost_of(job);
	if (x->cost <= MAX_COST && x->out->n < MAX_ATOMS)
		return 0;
	be_fail_usage(err, "%s: the lists and templates multiply to too much (%zu jobs so far)", be_where(at),
		      x->out->n);
	return be_hint(err, "fix some of the lists with --set");
}

/* Notes that the list at @place, of ours, is a dimension: names show it. */
static void note_dimension(struct walk *walk, struct be_node *job, const struct place *place)
{
	const char *key = key_at(job, place);
	bool setting = is_setting(job->keys[place->index[0]], place->depth);
	be_autofree char *name = setting ? be_strf(BE_KEY_ENVIRONMENT ".%s", key) : be_strdup(key);
	if ((setting || be_key_is(walk->x->keys, key, BE_KEY_OURS)) && !be_strv_has(&walk->dimensions, name))
		be_strv_add(&walk->dimensions, name);
}

static int expand(struct walk *walk, struct be_node *job, struct be_error *err);

/* Takes the list out first: each copy gets one item, not all of them. */
static int expand_list(struct walk *walk, struct be_node *job, const struct place *place, struct be_error *err)
{
	struct be_node **at = slot(job, place);
	be_autonode struct be_node *list = *at;
	*at = be_node_null();
	note_dimension(walk, job, place);
	if (list->n == 0)
		be_strv_addf(&walk->x->out->warnings, "%s: the list of \"%s\" is empty: no job comes of it",
			     be_where(list), key_at(job, place));
	int rc = 0;
	for (size_t i = 0; i < list->n && rc == 0; i++) {
		rc = charge(walk->x, list, job, err);
		if (rc != 0)
			break;
		struct be_node *copy = be_node_clone(job);
		struct be_node **there = slot(copy, place);
		be_node_free(*there);
		*there = be_steal(&list->items[i]);
		list->items[i] = be_node_null();
		rc = expand(walk, copy, err);
	}
	be_node_free(job);
	return rc;
}

/* Sets @dropped when the template is nil. */
static int fix_template(struct walk *walk, struct be_node *job, const struct place *place, bool *dropped,
			struct be_error *err)
{
	struct be_node **at = slot(job, place), *value;
	if (charge(walk->x, *at, job, err) != 0 || be_template_eval(*at, job, &walk->x->machine, &value, err) != 0)
		return -1;
	*dropped = !value;
	if (!value) {
		if (!walk->n_dropped++) {
			walk->dropped = be_node_clone(*at);
			walk->dropped->col++; /* behind the quote, where the {{ stands */
		}
		return 0;
	}
	be_node_free(*at);
	*at = value;
	return 0;
}

static void add_atom(struct walk *walk, struct be_node *job)
{
	struct be_jobs *out = walk->x->out;
	if ((out->n & (out->n - 1)) == 0)
		out->atoms = be_realloc(out->atoms, out->n ? out->n * 2 : 1, sizeof(*out->atoms));
	out->atoms[out->n++] = (struct be_atom){
		.name = be_job_name(walk->x->base, job, walk->x->keys, walk->present, &walk->dimensions),
		.job = job,
	};
}

/* Owns @job. */
static int expand(struct walk *walk, struct be_node *job, struct be_error *err)
{
	for (;;) {
		struct place place = { .depth = 0 };
		if (!find_open(walk, job, NULL, NULL, &place)) {
			add_atom(walk, job);
			return 0;
		}
		if ((*slot(job, &place))->kind == BE_SEQ)
			return expand_list(walk, job, &place, err);
		bool dropped = false;
		if (fix_template(walk, job, &place, &dropped, err) != 0 || dropped) {
			be_node_free(job);
			return dropped ? 0 : -1;
		}
	}
}

int be_job_expand(struct be_expansion *expansion, struct be_node *job, struct be_error *err)
{
	be_autofree bool *present = be_job_programs(job, expansion->keys);
	struct walk walk = { .x = expansion, .present = present };
	int rc = charge(expansion, job, job, err);
	if (rc == 0)
		rc = expand(&walk, job, err);
	else
		be_node_free(job);
	if (walk.n_dropped)
		be_strv_addf(&expansion->out->warnings,
			     "%s: this template is nil for %zu combination%s: dropped, as LKP does",
			     be_where(walk.dropped), walk.n_dropped, walk.n_dropped > 1 ? "s" : "");
	be_node_free(walk.dropped);
	be_strv_free(&walk.dimensions);
	return rc;
}
