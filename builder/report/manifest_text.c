#include "builder/report/manifest.h"

#include <stdlib.h>
#include <string.h>

#include "builder/report/manifest_text.h"
#include "builder/report/picture.h"
#include "units.h"

#define LINES_SHOWN 96 /* of the default view: under 100, whatever the run */
#define TABLE_LINES 6  /* of the factors' table beside its rows */
#define ROWS_LEAST 12
#define DEVIATION_LINES 24 /* of the default view */
#define PICTURE_LINES 16   /* of the default view */

static size_t lines_of(const struct be_buf *text)
{
	size_t n = 0;
	for (size_t i = 0; i < text->len; i++)
		n += text->data[i] == '\n';
	return n;
}

static void add_title(const struct be_node *manifest, struct be_buf *out)
{
	const char *host = be_get_str(be_get(manifest, "machine"), "host", NULL);
	if (!host)
		host = be_get_str(be_get_path(manifest, "recipe.resolved"), "tbox_group", NULL);
	bool twin = be_get_path(manifest, "machine.twin") != NULL;
	be_autofree char *title = be_strf("mkbenchenv manifest %s  %s%s%s%s", be_get_str(manifest, "schema", "1"),
					  be_get_str(manifest, "name", ""), host ? " on " : "", host ? host : "",
					  twin ? ", QEMU twin" : "");
	be_wrap_text(out, "", "  ", title);
	if (strcmp(be_get_str(be_get_path(manifest, "machine.twin"), "accelerator", ""), "tcg") == 0)
		be_buf_adds(out, "NOT COMPARABLE with hardware: TCG\n");
	be_buf_addc(out, '\n');
}

/* The pair of lines that the robot prints above a comparison: keys and values, keys sorted. */
static void recipe_line(const struct be_node *manifest, struct be_strv *keys, struct be_strv *values)
{
	const struct be_node *parameters = be_get_path(manifest, "recipe.parameters");
	for (size_t i = 0; parameters && parameters->kind == BE_MAP && i < parameters->n; i++)
		be_strv_add(keys, parameters->keys[i]);
	be_strv_sort_unique(keys);
	for (size_t i = 0; i < keys->n; i++)
		be_strv_add(values, be_get_str(parameters, keys->v[i], ""));
}

/* Joined by slashes and broken after one, so that the pieces can be joined again. */
static void add_joined(struct be_buf *out, const struct be_strv *words, const char *end)
{
	be_autostrv struct be_strv pieces = { 0 };
	for (size_t i = 0; i < words->n; i++) {
		be_autofree char *word = be_text_public(words->v[i]);
		be_strv_addf(&pieces, "%s%s", word, i + 1 < words->n ? "/" : end);
	}
	be_wrap_words(out, "  ", "  ", &pieces, "");
}

static void add_recipe(const struct be_node *manifest, struct be_buf *out)
{
	be_autostrv struct be_strv keys = { 0 }, values = { 0 };
	recipe_line(manifest, &keys, &values);
	if (!keys.n)
		return;
	add_joined(out, &keys, ":");
	add_joined(out, &values, "");
	be_buf_addc(out, '\n');
}

static void add_image(const struct be_node *manifest, struct be_buf *out)
{
	const struct be_node *image = be_get(manifest, "image"), *kernel = be_get_path(manifest, "lock.kernel");
	const struct be_node *rules = be_get(manifest, "rules");
	char size[32];
	if (!image) { /* the statement of a machine */
		be_buf_addf(out, "kernel    %s\n", be_get_str(be_get(manifest, "machine"), "kernel", "unknown"));
		return;
	}
	be_buf_addf(out, "image     %s (initrd %s)\n", be_get_str(image, "id", "not built"),
		    be_size_text(be_get_int(be_get(image, "initrd"), "size", 0), size));
	const char *package = be_get_str(kernel, "package", NULL), *version = be_get_str(kernel, "version", NULL);
	be_autofree char *line = be_strf("%s%s%s%s%s%s", be_get_str(kernel, "release", "unknown"), package ? " (" : "",
					 package ? package : "", package && version ? " " : "",
					 package && version ? version : "", package ? ")" : "");
	be_wrap_text(out, "kernel    ", "          ", line);
	be_buf_addf(out, "rules     of the harness on %s (%s)\n", be_get_str(rules, "date", "?"),
		    be_get_str(rules, "from", "?"));
	const char *suite = be_get_str(be_get(manifest, "lock"), "suite", NULL);
	if (suite)
		be_buf_addf(out, "packages  Debian %s\n", suite);
}

/* "Intel(R) Xeon(R) ..., 4 threads, 2 sockets, 2 nodes, 2.0 GiB, TCG", as far as it was observed. */
static void add_machine(const struct be_node *manifest, struct be_buf *out)
{
	static const char *const facts[][2] = { { "cpu.model", "" },           { "cpu.count", " threads" },
						{ "cpu.sockets", " sockets" }, { "memory.numa_nodes", " nodes" },
						{ "memory.total", "" },        { "cpu.hypervisor", "" } };
	const struct be_node *environment = be_get(manifest, "environment");
	be_autobuf struct be_buf text = { 0 };
	for (size_t i = 0; i < BE_ARRAY_LEN(facts); i++) {
		const char *value = be_get_str(be_get(environment, facts[i][0]), "observed", NULL);
		char size[32];
		bool one = value && strcmp(value, "1") == 0;
		if (!value || strcmp(value, "none") == 0)
			continue;
		if (strcmp(facts[i][0], "memory.total") == 0)
			value = be_size_text(strtoll(value, NULL, 10), size);
		be_buf_addf(&text, "%s%s%.*s", text.len ? ", " : "", value,
			    (int)strlen(facts[i][1]) - (one && *facts[i][1]), facts[i][1]);
	}
	if (text.len)
		be_wrap_text(out, "machine   ", "          ", text.data);
}

static void add_deviations(const struct be_node *manifest, bool full, struct be_buf *out)
{
	const struct be_node *list = be_get(manifest, "deviations");
	if (!list || list->n == 0)
		return;
	be_buf_adds(out, "deviations\n");
	for (size_t i = 0; i < list->n; i++) {
		if (!full && lines_of(out) >= DEVIATION_LINES) {
			be_buf_addf(out, "  and %zu more: mkbenchenv show --full\n", list->n - i);
			break;
		}
		be_autofree char *text = be_text_public(be_get_str(list->items[i], "text", ""));
		be_wrap_text(out, "  ", "    ", text);
	}
	be_buf_addc(out, '\n');
}

static void add_metrics(const struct be_node *result, struct be_buf *out)
{
	const struct be_node *metrics = be_get(result, "metrics");
	/* A read test has figures of its writes too: nothing. */
	for (size_t i = 0; metrics && metrics->kind == BE_MAP && i < metrics->n; i++)
		if (be_get_real(metrics, metrics->keys[i], 0) != 0)
			be_buf_addf(out, "  %-40s %s\n", metrics->keys[i], metrics->items[i]->text);
}

static void add_field(struct be_buf *out, const char *name, const char *text)
{
	if (!text)
		return;
	be_autofree char *clean = be_text_public(text), *first = be_strf("  %-10s ", name);
	be_wrap_text(out, first, "             ", clean);
}

static void add_result(const struct be_node *manifest, struct be_buf *out)
{
	const struct be_node *result = be_get(manifest, "result");
	if (!result)
		return;
	be_buf_adds(out, "\nresult\n");
	add_field(out, "state", be_get_str(result, "state", "unknown"));
	add_field(out, "step", be_get_str(result, "step", NULL));
	add_field(out, "reason", be_get_str(result, "reason", NULL));
	add_field(out, "incomplete", be_get_str(result, "incomplete", NULL));
	const struct be_node *ended = be_get_path(manifest, "environment");
	be_autofree char *by = be_value_line(be_get(be_get(ended, "workload.ended_by"), "observed"));
	add_field(out, "ended by", *by ? by : NULL);
	add_metrics(result, out);
	be_autofree char *missing = be_value_line(be_get(result, "metrics_missing"));
	add_field(out, "missing", *missing ? missing : NULL);
	const char *console = be_get_str(result, "console", NULL);
	if (!console)
		return;
	be_buf_adds(out, "  console, its last lines\n");
	be_autostrv struct be_strv lines = { 0 };
	be_strv_split(&lines, console, "\n");
	for (size_t i = 0; i < lines.n; i++) {
		be_autofree char *clean = be_text_public(lines.v[i]);
		be_text_shorten(clean, BE_MANIFEST_COLUMNS - 4);
		be_buf_addf(out, "    %s\n", clean);
	}
}

static int add_layout(const struct be_node *manifest, bool full, struct be_buf *out, struct be_error *err)
{
	size_t before = out->len;
	if (be_picture_manifest(manifest, full ? 0 : PICTURE_LINES, out, err) != 0)
		return -1;
	if (out->len > before)
		be_buf_addc(out, '\n');
	return 0;
}

int be_manifest_text(const struct be_node *manifest, const struct be_node *factors, const struct be_manifest_view *view,
		     struct be_buf *out, struct be_error *err)
{
	if (view->factor)
		return be_factor_entry(manifest, factors, view->factor, out, err);
	be_autobuf struct be_buf deviations = { 0 }, result = { 0 };
	size_t begin = out->len;
	add_title(manifest, out);
	add_recipe(manifest, out);
	add_image(manifest, out);
	add_machine(manifest, out);
	be_buf_addc(out, '\n');
	add_deviations(manifest, view->full, &deviations);
	add_result(manifest, &result);
	be_buf_add(out, deviations.data, deviations.len);
	if (add_layout(manifest, view->full, out, err) != 0)
		return -1;
	/* The factors get the lines that are left. */
	const struct be_buf head = { .data = out->data + begin, .len = out->len - begin };
	size_t used = lines_of(&head) + lines_of(&result) + TABLE_LINES;
	size_t rows = used + ROWS_LEAST < LINES_SHOWN ? LINES_SHOWN - used : ROWS_LEAST;
	if (be_factor_table(manifest, factors, view->full ? 0 : rows, out, err) != 0)
		return -1;
	be_buf_add(out, result.data, result.len);
	return 0;
}
