#include "metrics.h"

#include <errno.h>
#include <jansson.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"

#define OUTPUT_MAX (256u << 20)
#define VALUES_MAX 1000000 /* figures that one metric may fold */
#define GROUPS_MAX 9       /* of a regular expression */

void be_figures_free(struct be_figures *figures)
{
	for (size_t i = 0; i < figures->n; i++) {
		free(figures->list[i].name);
		free(figures->list[i].v);
	}
	free(figures->list);
	*figures = (struct be_figures){ 0 };
}

static struct be_figure *figure_of(struct be_figures *figures, const char *name)
{
	for (size_t i = 0; i < figures->n; i++)
		if (strcmp(figures->list[i].name, name) == 0)
			return &figures->list[i];
	figures->list = be_realloc(figures->list, figures->n + 1, sizeof(*figures->list));
	struct be_figure *figure = &figures->list[figures->n++];
	*figure = (struct be_figure){ .name = be_strdup(name) };
	return figure;
}

static void add_value(struct be_figures *figures, const char *name, double value)
{
	struct be_figure *figure = figure_of(figures, name);
	if (figure->n >= VALUES_MAX)
		return;
	figure->v = be_realloc(figure->v, figure->n + 1, sizeof(*figure->v));
	figure->v[figure->n++] = value;
}

/* A JSON document with the place where its figures go. */
struct reader {
	const char *name;
	struct be_figures *figures;
};

/*
 * Follows @path from @node: `a.b` are keys, `[]` all items of an array or object, `[3]` one item, `["99.000000"]` a key
 * that holds a dot. Returns -1 when the path is malformed.
 */
static int follow(const json_t *node, const char *path, const struct reader *to)
{
	if (!*path) {
		if (json_is_number(node))
			add_value(to->figures, to->name, json_number_value(node));
		return 0;
	}
	if (*path == '.')
		path++;
	if (be_starts(path, "[]")) {
		size_t i;
		const char *key;
		json_t *item;
		json_array_foreach(node, i, item) if (follow(item, path + 2, to) != 0) return -1;
		json_object_foreach((json_t *)node, key, item) if (follow(item, path + 2, to) != 0) return -1;
		return 0;
	}
	if (be_starts(path, "[\"")) {
		const char *end = strstr(path + 2, "\"]");
		if (!end)
			return -1;
		be_autofree char *key = be_strndup(path + 2, (size_t)(end - path - 2));
		return follow(json_object_get(node, key), end + 2, to);
	}
	if (*path == '[') {
		char *end;
		unsigned long index = strtoul(path + 1, &end, 10);
		return *end == ']' && end > path + 1 ? follow(json_array_get(node, index), end + 1, to) : -1;
	}
	size_t n = strcspn(path, ".[");
	if (n == 0)
		return -1;
	be_autofree char *key = be_strndup(path, n);
	return follow(json_object_get(node, key), path + n, to);
}

static int read_json(const char *path, const char *text, size_t len, const struct reader *to, struct be_error *err)
{
	size_t at = 0, documents = 0;
	json_error_t e = { .text = "" };
	/* Programs print remarks around their JSON, and several copies print one after the other. */
	for (const char *start; at < len && (start = memchr(text + at, '{', len - at)); documents++) {
		json_t *root = json_loadb(start, len - (size_t)(start - text), JSON_DISABLE_EOF_CHECK, &e);
		if (!root)
			break;
		int rc = follow(root, path, to);
		json_decref(root);
		if (rc != 0)
			return be_fail(err, "\"%s\" is no path into JSON", path);
		at = (size_t)(start - text) + (size_t)e.position;
	}
	return documents ? 0 : be_fail(err, "the output holds no JSON%s%s", *e.text ? ": " : "", e.text);
}

static char *group_text(const char *text, const regmatch_t *m)
{
	return m->rm_so < 0 ? be_strdup("") : be_strndup(text + m->rm_so, (size_t)(m->rm_eo - m->rm_so));
}

/* "stress-ng.{1}.ops" with the first group in its place. */
static char *expand_name(const char *name, const char *first)
{
	const char *mark = strstr(name, "{1}");
	return mark ? be_strf("%.*s%s%s", (int)(mark - name), name, first, mark + 3) : be_strdup(name);
}

static void take_match(const char *text, const regmatch_t *m, size_t last, const struct reader *to)
{
	be_autofree char *first = group_text(text, &m[last ? 1 : 0]), *word = group_text(text, &m[last]);
	be_autofree char *name = expand_name(to->name, first);
	char *end;
	double value = strtod(word, &end);
	if (*word && !*end)
		add_value(to->figures, name, value);
}

static int read_text(const char *pattern, const char *text, const struct reader *to, struct be_error *err)
{
	regex_t regex;
	regmatch_t m[GROUPS_MAX + 1];
	int rc = regcomp(&regex, pattern, REG_EXTENDED | REG_NEWLINE);
	if (rc != 0) {
		char why[128];
		regerror(rc, &regex, why, sizeof(why));
		return be_fail(err, "\"%s\": %s", pattern, why);
	}
	size_t last = regex.re_nsub < GROUPS_MAX ? regex.re_nsub : GROUPS_MAX;
	for (int flags = 0; regexec(&regex, text, last + 1, m, flags) == 0;) {
		take_match(text, m, last, to);
		if (m[0].rm_eo == 0)
			break; /* an empty match would be found for ever */
		text += m[0].rm_eo;
		flags = text[-1] == '\n' ? 0 : REG_NOTBOL;
	}
	regfree(&regex);
	return 0;
}

int be_metric_read(const struct be_node *metric, const char *text, size_t len, struct be_figures *figures,
		   struct be_error *err)
{
	const char *json = be_get_str(metric, "json", NULL), *match = be_get_str(metric, "match", NULL);
	struct reader to = { .name = be_get_str(metric, "name", ""), .figures = figures };
	if (json)
		return read_json(json, text, len, &to, err);
	if (match)
		return read_text(match, text, &to, err);
	return be_fail(err, "neither `json:` nor `match:` says where the figure is");
}

static bool fold(const char *how, const struct be_figure *values, double *out)
{
	double sum = 0, least = values->v[0], most = values->v[0];
	for (size_t i = 0; i < values->n; i++) {
		sum += values->v[i];
		least = values->v[i] < least ? values->v[i] : least;
		most = values->v[i] > most ? values->v[i] : most;
	}
	if (strcmp(how, "sum") == 0)
		*out = sum;
	else if (strcmp(how, "mean") == 0)
		*out = sum / (double)values->n;
	else if (strcmp(how, "min") == 0)
		*out = least;
	else if (strcmp(how, "max") == 0)
		*out = most;
	else if (strcmp(how, "first") == 0)
		*out = values->v[0];
	else if (strcmp(how, "last") == 0)
		*out = values->v[values->n - 1];
	else
		return false;
	return true;
}

/* The output of one step, of which the guest chose the name: it may lead only to what was received. */
static int read_output(const struct be_node *metric, const struct be_node *step, const char *from, const char *dir,
		       struct be_figures *figures, struct be_error *err)
{
	const char *file = be_get_str(step, from, NULL);
	if (!file)
		return 0;
	if (!be_starts(file, "workload/") || strchr(file + strlen("workload/"), '/'))
		return be_fail(err, "\"%s\" is no file of the workload", file);
	be_autofree char *path = be_strf("%s/%s", dir, file);
	be_autobuf struct be_buf text = { 0 };
	if (be_read_file(path, OUTPUT_MAX, &text, err) != 0)
		return -1;
	return be_metric_read(metric, text.data, text.len, figures, err);
}

/* A metric that names no step is about all that ran. */
int be_metric_collect(const struct be_node *metric, const struct be_node *steps, const char *dir,
		      struct be_figures *figures, struct be_error *err)
{
	const char *name = be_get_str(metric, "step", NULL), *from = be_get_str(metric, "from", "stdout");
	for (size_t i = 0; steps && i < steps->n; i++) {
		const struct be_node *step = steps->items[i];
		if (name ? strcmp(be_get_str(step, "name", ""), name) != 0
			 : strcmp(be_get_str(step, "role", ""), "run") != 0)
			continue;
		if (strcmp(from, "both") != 0) {
			if (read_output(metric, step, from, dir, figures, err) != 0)
				return -1;
		} else if (read_output(metric, step, "stdout", dir, figures, err) != 0 ||
			   read_output(metric, step, "stderr", dir, figures, err) != 0) {
			return -1;
		}
	}
	return figures->n ? 0 : be_fail(err, "no such figure on %s", from);
}

static void make_one(const struct be_node *metric, const struct be_node *steps, const char *dir,
		     struct be_node *metrics, struct be_strv *notes)
{
	const char *how = be_get_str(metric, "fold", "mean");
	be_autofigures struct be_figures figures = { 0 };
	struct be_error err = BE_ERROR_INIT;
	if (be_metric_collect(metric, steps, dir, &figures, &err) != 0) {
		/* Which percentiles there are depends on what the benchmark did. */
		if (!be_get_bool(metric, "tail", false))
			be_strv_addf(notes, "%s: %s", be_get_str(metric, "name", "?"), err.text);
		return;
	}
	for (size_t i = 0; i < figures.n; i++) {
		double figure;
		if (fold(how, &figures.list[i], &figure))
			be_set(metrics, figures.list[i].name, be_node_real(figure * be_get_real(metric, "scale", 1)));
		else
			be_strv_addf(notes, "%s: unknown fold \"%s\"", figures.list[i].name, how);
	}
}

/* A user's own test brings its metrics in the job: name -> regular expression, on either output. */
static void make_own(const struct be_node *own, const char *workload, const struct be_node *steps, const char *dir,
		     struct be_node *metrics, struct be_strv *notes)
{
	for (size_t i = 0; own && own->kind == BE_MAP && i < own->n; i++) {
		be_autonode struct be_node *metric = be_node_map();
		be_set(metric, "name", be_node_strf("%s.%s", workload, own->keys[i]));
		be_set_str(metric, "from", "both");
		be_set(metric, "match", be_node_clone(own->items[i]));
		make_one(metric, steps, dir, metrics, notes);
	}
}

struct be_node *be_metrics_make(const struct be_node *workload, const struct be_node *steps, const char *dir,
				struct be_strv *notes)
{
	struct be_node *metrics = be_node_map();
	const struct be_node *definition = be_get(workload, "definition"), *list = be_get(definition, "metrics");
	for (size_t i = 0; list && i < list->n; i++)
		make_one(list->items[i], steps, dir, metrics, notes);
	make_own(be_get_path(workload, "parameters.metrics"), be_get_str(definition, "workload", "own"), steps, dir,
		 metrics, notes);
	return metrics;
}
