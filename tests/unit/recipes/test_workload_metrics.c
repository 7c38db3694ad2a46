/* The figures that each workload's definition reads from what its program prints. */
#include <criterion/criterion.h>
#include <string.h>

#include "metrics.h"
#include "workload.h"

static void add_figures(const struct be_node *metric, const char *text, struct be_buf *out)
{
	struct be_error err = BE_ERROR_INIT;
	be_autofigures struct be_figures figures = { 0 };
	cr_expect_eq(be_metric_read(metric, text, strlen(text), &figures, &err), 0, "%s", err.text);
	for (size_t i = 0; i < figures.n; i++) {
		be_buf_addf(out, "%s%s:", out->len ? "; " : "", figures.list[i].name);
		for (size_t k = 0; k < figures.list[i].n; k++)
			be_buf_addf(out, " %g", figures.list[i].v[k]);
	}
}

/* The metrics that hold for the parameters, as the planner leaves them in a plan. */
static struct be_node *metrics_of(const char *name, const struct be_node *parameters)
{
	struct be_error err = BE_ERROR_INIT;
	be_autofree char *path = be_strf("recipes/workloads/%s.yaml", name);
	struct be_node *definition = be_node_load_file(path, &err);
	cr_assert_not_null(definition, "%s", err.text);
	be_autonode struct be_node *workload = be_node_map();
	struct be_node *given = parameters ? be_node_clone(parameters) : be_node_map(), *out = be_node_seq();
	const struct be_node *declared = be_get(definition, "parameters");
	for (size_t i = 0; i < declared->n; i++)
		if (be_get_bool(declared->items[i], "required", false) && !be_get(given, declared->keys[i]))
			be_set_str(given, declared->keys[i], "1");
	be_unset(definition, "refuse");
	be_set(workload, "definition", definition);
	be_set(workload, "parameters", given);
	be_set(workload, "storages", be_node_seq());
	const struct be_machine_size size = { .nr_cpu = 2, .nr_node = 1, .memory = INT64_C(1) << 30 };
	cr_assert_eq(be_workload_entries(workload, "metrics", "/", &size, "2026-07-30", out, &err), 0, "%s: %s", name,
		     err.text);
	return out;
}

Test(workload_metrics, what_programs_print)
{
	struct be_error err = BE_ERROR_INIT;
	be_autonode struct be_node *cases = be_node_load_file("tests/golden/metrics.yaml", &err);
	cr_assert_not_null(cases, "%s", err.text);
	cr_expect_geq(cases->n, 20u);
	for (size_t i = 0; i < cases->n; i++) {
		const struct be_node *c = cases->items[i];
		const char *name = be_get_str(c, "workload", "?"), *output = be_get_str(c, "output", "");
		be_autonode struct be_node *metrics = metrics_of(name, be_get(c, "as"));
		be_autobuf struct be_buf found = { 0 };
		be_buf_adds(&found, "");
		for (size_t k = 0; k < metrics->n; k++)
			add_figures(metrics->items[k], output, &found);
		cr_expect_str_eq(found.data, be_get_str(c, "figures", ""), "%s: %s", name, found.data);
	}
}
