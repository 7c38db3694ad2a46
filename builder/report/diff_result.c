/* Figures of runs side by side, in the form of the robot's tables. */
#include "builder/report/diff_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct figure {
	double sum, squares;
	size_t n;
};

/* Adds the metric of the runs that came to their end. */
static struct figure collect(const struct be_node *side, const char *metric)
{
	struct figure f = { 0 };
	for (size_t i = 0; i < side->n; i++) {
		const struct be_node *result = be_get_path(side->items[i], "manifest.result");
		const struct be_node *value = be_get(be_get(result, "metrics"), metric);
		if (!value || strcmp(be_get_str(result, "state", ""), "done") != 0)
			continue;
		double x = be_get_real(be_get(result, "metrics"), metric, 0);
		f.sum += x;
		f.squares += x * x;
		f.n++;
	}
	return f;
}

/* Standard deviation in percent of the mean, of the runs as they are (not an estimate for others), as the robot has it.
 */
static double stddev_percent(const struct figure *f, double mean)
{
	double variance = f->squares / (double)f->n - mean * mean;
	return mean != 0 && variance > 0 ? 100 * sqrt(variance) / fabs(mean) : 0;
}

static struct be_node *figure_node(const struct figure *f)
{
	struct be_node *node = be_node_map();
	double mean = f->sum / (double)f->n;
	be_set(node, "mean", be_node_real(mean));
	if (f->n > 1)
		be_set(node, "stddev", be_node_real(stddev_percent(f, mean)));
	be_set_int(node, "runs", (int64_t)f->n);
	return node;
}

/* Of a metric that is a percentage itself, the change is a difference. */
static double change(const char *metric, double a, double b)
{
	return be_ends(metric, "%") ? b - a : 100 * (b - a) / fabs(a);
}

static void add_metric(const struct be_node *a, const struct be_node *b, const char *metric, struct be_node *results)
{
	struct figure x = collect(a, metric), y = collect(b, metric);
	struct be_node *row = be_node_map();
	be_set_str(row, "metric", metric);
	if (x.n)
		be_set(row, "a", figure_node(&x));
	if (y.n)
		be_set(row, "b", figure_node(&y));
	double mean = x.n ? x.sum / (double)x.n : 0;
	bool told = x.n && y.n && (mean != 0 || be_ends(metric, "%"));
	if (told)
		be_set(row, "change", be_node_real(change(metric, mean, y.sum / (double)y.n)));
	if (x.n || y.n)
		be_add(results, row);
	else
		be_node_free(row);
}

static void metrics_of(const struct be_node *side, struct be_strv *metrics)
{
	for (size_t i = 0; i < side->n; i++) {
		const struct be_node *map = be_get_path(side->items[i], "manifest.result.metrics");
		for (size_t k = 0; map && map->kind == BE_MAP && k < map->n; k++)
			if (!be_strv_has(metrics, map->keys[k]))
				be_strv_add(metrics, map->keys[k]);
	}
}

struct be_node *be_diff_results(const struct be_node *a, const struct be_node *b)
{
	be_autostrv struct be_strv metrics = { 0 };
	struct be_node *results = be_node_seq();
	metrics_of(a, &metrics);
	metrics_of(b, &metrics);
	for (size_t i = 0; i < metrics.n; i++)
		add_metric(a, b, metrics.v[i], results);
	return results;
}

/* Numbers as the robot writes them: 0.03, 104.97, 2508, 1.998e+10. */
static void format_number(char *out, size_t size, double x)
{
	double abs = fabs(x);
	snprintf(out, size, abs >= 1e8 ? "%.4g" : abs >= 1000 ? "%.0f" : "%.2f", x);
}

/* A mean in 10 columns and, where it is 2 % or more, "± 12%" in the next 6. */
static void add_figure(const struct be_node *figure, struct be_buf *out)
{
	char number[32] = "", deviation[32] = "";
	long percent = lround(be_get_real(figure, "stddev", 0));
	if (figure)
		format_number(number, sizeof(number), be_get_real(figure, "mean", 0));
	if (percent >= 2)
		snprintf(deviation, sizeof(deviation), " \xc2\xb1%3ld%%", percent);
	/* the sign has two bytes and one column */
	be_buf_addf(out, "%10s%-*s", number, percent >= 2 ? 7 : 6, deviation);
}

static void add_change(const struct be_node *row, struct be_buf *out)
{
	const char *metric = be_get_str(row, "metric", "");
	double x = be_get_real(row, "change", 0);
	char text[32] = "";
	if (be_get(row, "change"))
		snprintf(text, sizeof(text),
			 be_ends(metric, "%") ? "%+.1f "
			 : fabs(x) < 10000    ? "%+.1f%%"
					      : "%+.1e%%",
			 x);
	be_buf_addf(out, " %9s ", text);
}

static bool nothing(const struct be_node *row)
{
	return be_get_real(be_get(row, "a"), "mean", 0) == 0 && be_get_real(be_get(row, "b"), "mean", 0) == 0;
}

void be_diff_results_text(const struct be_node *results, struct be_buf *out)
{
	be_buf_adds(out, "               A                           B\n"
			 "---------------- ---------------------------\n"
			 "         %stddev     %change         %stddev\n"
			 "             \\          |                \\\n");
	for (size_t i = 0; i < results->n; i++) {
		const struct be_node *row = results->items[i];
		be_autobuf struct be_buf line = { 0 };
		if (nothing(row)) /* a read test has figures of its writes too */
			continue;
		add_figure(be_get(row, "a"), &line);
		add_change(row, &line);
		add_figure(be_get(row, "b"), &line);
		be_buf_addf(out, "%s  %s\n", line.data, be_get_str(row, "metric", ""));
	}
}
