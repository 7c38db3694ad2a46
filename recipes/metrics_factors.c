/* Factors that only the workload's output tells: the figure of each iteration, and the tail behind the mean. */
#include <string.h>

#include "metrics.h"

#define FIGURES_MAX 200 /* of one metric that a manifest lists */

static struct be_node *stated(const char *key, struct be_node *value)
{
	struct be_node *entry = be_node_map();
	be_set(entry, key, value);
	return entry;
}

static struct be_node *figures_list(const struct be_figure *figure, double scale)
{
	struct be_node *list = be_node_seq();
	for (size_t i = 0; i < figure->n && i < FIGURES_MAX; i++)
		be_add(list, be_node_real(figure->v[i] * scale));
	return list;
}

/* Adds the figures of @metric, one by one or as they were folded into @metrics. */
static void add_metric(const struct be_node *metric, const struct be_node *steps, const char *dir, bool one_by_one,
		       const struct be_node *metrics, struct be_node *map)
{
	be_autofigures struct be_figures figures = { 0 };
	struct be_error ignored = BE_ERROR_INIT;
	if (be_metric_collect(metric, steps, dir, &figures, &ignored) != 0)
		return;
	for (size_t i = 0; i < figures.n; i++) {
		const char *name = figures.list[i].name;
		if (one_by_one)
			be_set(map, name, figures_list(&figures.list[i], be_get_real(metric, "scale", 1)));
		else if (be_get_real(metrics, name, 0) != 0) /* a read test has figures of its writes too: nothing */
			be_set(map, name, be_node_clone(be_get(metrics, name)));
	}
}

static struct be_node *factor(const struct be_node *workload, const struct be_node *steps, const char *dir,
			      const struct be_node *metrics, const char *key, const char *none)
{
	const struct be_node *list = be_get_path(workload, "definition.metrics");
	be_autonode struct be_node *map = be_node_map();
	bool known = false;
	for (size_t i = 0; list && i < list->n; i++) {
		if (!be_get_bool(list->items[i], key, false))
			continue;
		known = true;
		add_metric(list->items[i], steps, dir, strcmp(key, "iterations") == 0, metrics, map);
	}
	if (!known)
		return stated("not_applicable", be_node_str(none));
	if (!map->n)
		return stated("not_observable", be_node_str("the workload's output holds no such figure"));
	return stated("value", be_steal(&map));
}

struct be_node *be_metrics_factors(const struct be_node *workload, const struct be_node *steps, const char *dir,
				   const struct be_node *metrics)
{
	struct be_node *factors = be_node_map();
	be_set(factors, "workload.iteration_figures",
	       factor(workload, steps, dir, metrics, "iterations", "this benchmark states one figure"));
	be_set(factors, "workload.tail",
	       factor(workload, steps, dir, metrics, "tail", "this benchmark states no percentiles"));
	return factors;
}
