#include "builder/report/manifest.h"

#include "factor.h"

static void set_clone(struct be_node *map, const char *key, const struct be_node *value)
{
	if (value)
		be_set(map, key, be_node_clone(value));
}

/* What the builder said of each factor stands in the image's manifest. */
static struct be_node *built_factors(const struct be_node *image)
{
	const struct be_node *environment = be_get(image, "environment");
	struct be_node *built = be_node_map();
	for (size_t i = 0; environment && i < environment->n; i++)
		set_clone(built, environment->keys[i], be_get(environment->items[i], "built"));
	return built;
}

static bool has_deviation(const struct be_node *list, const struct be_node *one)
{
	for (size_t i = 0; i < list->n; i++)
		if (be_streq(be_get_str(list->items[i], "text", NULL), be_get_str(one, "text", NULL)))
			return true;
	return false;
}

static void add_deviations(struct be_node *list, const struct be_node *more)
{
	for (size_t i = 0; more && more->kind == BE_SEQ && i < more->n; i++)
		if (!has_deviation(list, more->items[i]))
			be_add(list, be_node_clone(more->items[i]));
}

static struct be_node *machine(const struct be_node *image, const struct be_run_facts *facts)
{
	const struct be_node *last = facts->after ? facts->after : facts->before;
	const struct be_node *observed = be_get(last, "machine");
	struct be_node *map = be_node_clone(be_get(image, "machine"));
	if (!map || map->kind != BE_MAP) {
		be_node_free(map);
		map = be_node_map();
	}
	set_clone(map, "host", be_get(be_get(facts->plan, "machine"), "host"));
	for (size_t i = 0; observed && observed->kind == BE_MAP && i < observed->n; i++)
		set_clone(map, observed->keys[i], observed->items[i]);
	set_clone(map, "twin", facts->twin);
	return map;
}

/* The observation after the run with what only the workload's output tells. The caller frees. */
static struct be_node *with_measured(const struct be_node *after, const struct be_node *measured)
{
	struct be_node *all = be_node_clone(after);
	struct be_node *environment = be_get(all, "environment");
	for (size_t i = 0; environment && environment->kind == BE_MAP && i < measured->n; i++)
		be_set(environment, measured->keys[i], be_node_clone(measured->items[i]));
	return all;
}

struct be_node *be_manifest_merge(const struct be_node *image, const struct be_run_facts *facts)
{
	struct be_node *manifest = be_node_clone(image);
	be_autonode struct be_node *built = built_factors(image);
	be_autonode struct be_node *told =
		facts->after && facts->measured ? with_measured(facts->after, facts->measured) : NULL;
	const struct be_node *after = told ? told : facts->after;
	be_set(manifest, "environment", be_environment_make(facts->plan, built, facts->before, after));
	struct be_node *deviations = be_node_seq();
	add_deviations(deviations, be_get(image, "deviations"));
	add_deviations(deviations, facts->deviations);
	add_deviations(deviations, be_get(facts->before, "deviations"));
	add_deviations(deviations, be_get(facts->after, "deviations"));
	be_set(manifest, "deviations", deviations);
	be_set(manifest, "machine", machine(image, facts));
	const struct be_node *last = facts->after ? facts->after : facts->before;
	const struct be_node *actions = be_get(last, "actions"), *layout = be_get(last, "layout");
	set_clone(manifest, "actions", actions ? actions : be_get(facts->before, "actions"));
	set_clone(manifest, "layout", layout ? layout : be_get(facts->before, "layout"));
	struct be_node *had = be_get(manifest, "layout");
	if (be_get(had, "filesystems"))
		be_set_str(had, "testdir", be_get_str(be_get(facts->plan, "layout"), "testdir", NULL));
	be_unset(manifest, "result");
	set_clone(manifest, "result", facts->result);
	return manifest;
}
