#include "job_keys.h"

#include <string.h>

#include "base/file.h"

struct fact { /* one statement of a file */
	char *name;
	unsigned use;
	unsigned program;
	bool expands;
};

struct facts {
	struct fact *v;
	size_t n, cap;
	unsigned n_programs;
};

static void add_fact(struct facts *facts, const char *name, unsigned use, unsigned program, bool expands)
{
	if (facts->n == facts->cap) {
		facts->cap = facts->cap ? facts->cap * 2 : 2048;
		facts->v = be_realloc(facts->v, facts->cap, sizeof(*facts->v));
	}
	facts->v[facts->n++] = (struct fact){ be_strdup(name), use, program, expands };
}

static void facts_free(struct facts *facts)
{
	for (size_t i = 0; i < facts->n; i++)
		free(facts->v[i].name);
	free(facts->v);
}

static void add_programs(struct facts *facts, const struct be_node *programs, unsigned kind)
{
	for (size_t i = 0; programs && programs->kind == BE_MAP && i < programs->n; i++) {
		unsigned program = facts->n_programs++;
		add_fact(facts, programs->keys[i], kind, program, false);
		const struct be_node *options = programs->items[i];
		for (size_t k = 0; k < options->n; k++) {
			const char *name = options->items[k]->text;
			if (!name)
				continue;
			bool named = *name == '=';
			add_fact(facts, name + named, BE_KEY_OPTION | (named ? BE_KEY_NAMED : 0), program, true);
		}
	}
}

static void collect(struct facts *facts, const struct be_node *doc)
{
	static const struct {
		const char *list;
		unsigned use;
	} programs[] = { { "setup", BE_KEY_SETUP }, { "run", BE_KEY_RUN }, { "daemon", BE_KEY_DAEMON } }, lists[] = {
		{ "expandable", BE_KEY_EXPANDS }, { "ours", BE_KEY_OURS },   { "monitors", BE_KEY_MONITOR },
		{ "host", BE_KEY_HOST },          { "known", BE_KEY_KNOWN }, { "provenance", BE_KEY_PROVENANCE }
	};
	for (size_t i = 0; i < BE_ARRAY_LEN(programs); i++)
		add_programs(facts, be_get(doc, programs[i].list), programs[i].use);
	for (size_t i = 0; i < BE_ARRAY_LEN(lists); i++) {
		const struct be_node *list = be_get(doc, lists[i].list);
		for (size_t k = 0; list && k < list->n; k++)
			if (list->items[k]->text)
				add_fact(facts, list->items[k]->text, lists[i].use, 0, false);
	}
}

static int compare_facts(const void *a, const void *b)
{
	const struct fact *x = a, *y = b;
	int c = strcmp(x->name, y->name);
	return c ? c : (x->program > y->program) - (x->program < y->program);
}

static void add_to_key(struct be_key *key, const struct fact *fact)
{
	key->uses |= fact->use;
	if (fact->use & BE_KEY_PROGRAM)
		key->program = fact->program;
	if (fact->use & BE_KEY_OPTION) {
		key->declarers = be_realloc(key->declarers, key->n_declarers + 1, sizeof(*key->declarers));
		key->declarers[key->n_declarers++] =
			(struct be_declarer){ (unsigned short)fact->program, fact->expands };
	}
}

static struct be_keys *make_table(struct facts *facts)
{
	if (facts->n)
		qsort(facts->v, facts->n, sizeof(*facts->v), compare_facts);
	struct be_keys *keys = be_alloc(sizeof(*keys));
	keys->v = be_realloc(NULL, facts->n, sizeof(*keys->v));
	keys->n_programs = facts->n_programs;
	for (size_t i = 0; i < facts->n; i++) {
		if (keys->n == 0 || strcmp(keys->v[keys->n - 1].name, facts->v[i].name) != 0)
			keys->v[keys->n++] = (struct be_key){ .name = be_strdup(facts->v[i].name) };
		add_to_key(&keys->v[keys->n - 1], &facts->v[i]);
	}
	return keys;
}

/* The number of a program; one that LKP does not have is new. */
static unsigned program_number(struct facts *facts, const char *name)
{
	for (size_t i = 0; i < facts->n; i++)
		if ((facts->v[i].use & BE_KEY_PROGRAM) && strcmp(facts->v[i].name, name) == 0)
			return facts->v[i].program;
	unsigned program = facts->n_programs++;
	add_fact(facts, name, BE_KEY_RUN, program, false);
	return program;
}

/* What LKP declares for a program of its own decides what expands; a program of ours declares it in its definition. */
static void add_workload(struct facts *facts, const struct be_node *doc)
{
	const struct be_node *parameters = be_get(doc, "parameters");
	be_autostrv struct be_strv programs = { 0 };
	be_get_strv(doc, "programs", &programs);
	for (size_t i = 0; i < programs.n; i++) {
		unsigned known = facts->n_programs, program = program_number(facts, programs.v[i]);
		for (size_t k = 0; parameters && parameters->kind == BE_MAP && k < parameters->n; k++) {
			const char *unit = be_get_str(parameters->items[k], "unit", "text");
			bool single = strcmp(unit, "list") != 0 && strcmp(unit, "map") != 0;
			add_fact(facts, parameters->keys[k], BE_KEY_OPTION, program, single && program >= known);
		}
	}
}

static int add_workloads(struct facts *facts, const char *data_dir, struct be_error *err)
{
	be_autofree char *folder = be_strf("%s/workloads", data_dir);
	struct be_root root = { .prefix = folder };
	be_autostrv struct be_strv names = { 0 };
	if (be_root_list(&root, "/", &names) != 0)
		return 0; /* a data folder without workloads has none */
	for (size_t i = 0; i < names.n; i++) {
		if (!be_ends(names.v[i], ".yaml"))
			continue;
		be_autofree char *path = be_strf("%s/%s", folder, names.v[i]);
		be_autonode struct be_node *doc = be_node_load_file(path, err);
		if (!doc)
			return -1;
		add_workload(facts, doc);
	}
	return 0;
}

static struct be_keys *load_table(const char *data_dir, bool workloads, struct be_error *err)
{
	be_autofree char *path = be_strf("%s/programs.yaml", data_dir);
	be_autonode struct be_node *doc = be_node_load_file(path, err);
	if (!doc) {
		be_hint(err, "the program's own data are looked for in %s; MKBENCHENV_DATA names another folder",
			data_dir);
		return NULL;
	}
	struct facts facts = { 0 };
	collect(&facts, doc);
	int rc = workloads ? add_workloads(&facts, data_dir, err) : 0;
	struct be_keys *keys = rc == 0 ? make_table(&facts) : NULL;
	facts_free(&facts);
	return keys;
}

static const struct be_keys *table_of(const char *data_dir, bool workloads, struct be_error *err)
{
	static struct table {
		char *data_dir;
		bool workloads;
		struct be_keys *keys;
		struct table *next;
	} * tables;
	for (const struct table *t = tables; t; t = t->next)
		if (t->workloads == workloads && strcmp(t->data_dir, data_dir) == 0)
			return t->keys;
	struct be_keys *keys = load_table(data_dir, workloads, err);
	if (!keys)
		return NULL;
	struct table *table = be_alloc(sizeof(*table));
	*table = (struct table){ be_strdup(data_dir), workloads, keys, tables };
	tables = table;
	return keys;
}

const struct be_keys *be_keys_of(const char *data_dir, struct be_error *err)
{
	return table_of(data_dir, false, err);
}

const struct be_keys *be_keys_with_workloads(const char *data_dir, struct be_error *err)
{
	return table_of(data_dir, true, err);
}

static int compare_name(const void *name, const void *key)
{
	return strcmp(name, ((const struct be_key *)key)->name);
}

const struct be_key *be_key_find(const struct be_keys *keys, const char *name)
{
	return keys->n ? bsearch(name, keys->v, keys->n, sizeof(*keys->v), compare_name) : NULL;
}

bool be_key_is(const struct be_keys *keys, const char *name, unsigned uses)
{
	const struct be_key *key = be_key_find(keys, name);
	return key && (key->uses & uses);
}

bool be_key_declared_by(const struct be_key *key, unsigned program)
{
	for (size_t i = 0; i < key->n_declarers; i++)
		if (key->declarers[i].program == program)
			return true;
	return false;
}

/* Two letters off is a slip in a long word and another word in a short one. */
static unsigned slips(const char *name)
{
	size_t len = strlen(name);
	return len < 3 ? 0 : len < 6 ? 1 : 2;
}

static void consider(const char *name, const struct be_key *key, const char **best, unsigned *best_distance)
{
	size_t a = strlen(name), b = strlen(key->name);
	if ((a > b ? a - b : b - a) > 2)
		return;
	unsigned distance = be_distance(name, key->name);
	if (distance < *best_distance) {
		*best_distance = distance;
		*best = key->name;
	}
}

const char *be_key_nearest(const struct be_keys *keys, const char *name, unsigned uses)
{
	const char *best = NULL;
	unsigned distance = slips(name) + 1;
	for (size_t i = 0; i < keys->n; i++)
		if (keys->v[i].uses & uses)
			consider(name, &keys->v[i], &best, &distance);
	return best;
}

const char *be_key_nearest_option(const struct be_keys *keys, const char *name, unsigned program)
{
	const char *best = NULL;
	unsigned distance = slips(name) + 1;
	for (size_t i = 0; i < keys->n; i++)
		if (be_key_declared_by(&keys->v[i], program))
			consider(name, &keys->v[i], &best, &distance);
	return best;
}
