/* The plan for people: sections of a few lines each. */
#include <string.h>

#include "plan.h"
#include "units.h"

#define WIDTH 96

/* Text in lines of at most WIDTH columns, all but the first indented by @indent blanks. */
static void wrapped(struct be_buf *out, size_t at, size_t indent, const char *text)
{
	size_t col = at;
	bool first = true;
	for (size_t n; *(text += strspn(text, " \n")); text += n, first = false) {
		n = strcspn(text, " \n");
		if (!first && col + n + 1 > WIDTH) {
			be_buf_addf(out, "\n%*s", (int)indent, "");
			col = indent;
		} else if (!first) {
			be_buf_addc(out, ' ');
			col++;
		}
		be_buf_add(out, text, n);
		col += n;
	}
	be_buf_addc(out, '\n');
}

static void entry(struct be_buf *out, const char *label, const char *text)
{
	be_buf_addf(out, "  %-16s ", label);
	wrapped(out, 19, 19, text);
}

static void section(struct be_buf *out, const char *title)
{
	be_buf_addf(out, "\n%s\n", title);
}

static char *words(const struct be_node *list)
{
	be_autobuf struct be_buf text = { 0 };
	for (size_t i = 0; list && i < list->n; i++) {
		if (i)
			be_buf_addc(&text, ' ');
		if (list->items[i]->kind == BE_SCALAR)
			be_buf_add_shell(&text, list->items[i]->text);
	}
	return be_buf_steal(&text);
}

static void argv_entry(struct be_buf *out, const char *label, const struct be_node *argv)
{
	be_autofree char *text = words(argv);
	entry(out, label, text);
}

static void number(struct be_buf *out, const struct be_node *m, const char *key, const char *what)
{
	const char *text = be_get_str(m, key, NULL);
	if (text)
		be_buf_addf(out, ", %s %s%s", text, what, strcmp(text, "1") == 0 ? "" : "s");
}

static void machine(struct be_buf *out, const struct be_node *m)
{
	be_autobuf struct be_buf text = { 0 };
	char size[32];
	section(out, "machine");
	be_buf_adds(&text, be_get_str(m, "host", "?"));
	number(&text, m, "nr_cpu", "CPU");
	number(&text, m, "nr_socket", "socket");
	number(&text, m, "nr_node", "NUMA node");
	if (be_get(m, "memory"))
		be_buf_addf(&text, ", %s", be_size_text(be_get_int(m, "memory", 0), size));
	entry(out, "host", text.data);
	const char *brand = be_get_str(m, "brand", be_get_str(m, "model", NULL));
	if (brand)
		entry(out, "processor", brand);
}

static void device_lines(struct be_buf *out, const struct be_node *devices)
{
	char size[32];
	for (size_t i = 0; devices && i < devices->n; i++) {
		const struct be_node *d = devices->items[i];
		int64_t bytes = be_get_int(d, "size", 0);
		be_autofree char *text = be_strf("%s %s%s%s", be_get_str(d, "kind", ""), be_get_str(d, "path", ""),
						 bytes ? ", " : "", bytes ? be_size_text(bytes, size) : "");
		entry(out, be_get_str(d, "name", ""), text);
	}
}

static void layout(struct be_buf *out, const struct be_node *l)
{
	const struct be_node *arrays = be_get(l, "arrays"), *fs = be_get(l, "filesystems");
	section(out, "disks");
	device_lines(out, be_get(l, "devices"));
	for (size_t i = 0; arrays && i < arrays->n; i++)
		argv_entry(out, be_get_str(arrays->items[i], "name", ""), be_get(arrays->items[i], "argv"));
	for (size_t i = 0; fs && i < fs->n; i++) {
		if (be_get(fs->items[i], "mkfs"))
			argv_entry(out, "make", be_get(fs->items[i], "mkfs"));
		argv_entry(out, "mount", be_get(fs->items[i], "mount_argv"));
	}
	entry(out, "test directory", be_get_str(l, "testdir", "/"));
}

static void settings(struct be_buf *out, const struct be_node *list)
{
	if (!list || !list->n)
		return;
	section(out, "settings");
	for (size_t i = 0; i < list->n; i++) {
		const struct be_node *s = list->items[i];
		const char *target = be_get_str(s, "path", be_get_str(s, "name", "scaling_governor"));
		be_autofree char *text =
			be_strf("%s = %s (%s)", target, be_get_str(s, "value", ""), be_get_str(s, "why", ""));
		entry(out, be_get_str(s, "kind", ""), text);
	}
}

static void values(struct be_buf *out, const struct be_node *map)
{
	for (size_t i = 0; map && i < map->n; i++) {
		const struct be_node *v = map->items[i];
		const char *of = be_get_str(v, "of", NULL);
		be_autofree char *text = of ? be_strf("%s of %s %s = %s", be_get_str(v, "asked", ""), of,
						      be_get_str(v, "base", ""), be_get_str(v, "value", ""))
					    : be_strf("%s", be_get_str(v, "value", ""));
		entry(out, map->keys[i], text);
	}
}

static void indented(struct be_buf *out, const char *text)
{
	be_autostrv struct be_strv lines = { 0 };
	be_strv_split(&lines, text, "\n");
	for (size_t i = 0; i < lines.n; i++) {
		be_buf_adds(out, "                     ");
		wrapped(out, 21, 23, lines.v[i]);
	}
}

static void workload(struct be_buf *out, const struct be_node *w)
{
	const struct be_node *steps = be_get(w, "steps");
	be_autofree char *title = be_strf("workload %s", be_get_str(w, "name", ""));
	section(out, title);
	values(out, be_get(w, "values"));
	for (size_t i = 0; steps && i < steps->n; i++) {
		const struct be_node *s = steps->items[i];
		bool prepare = strcmp(be_get_str(s, "role", ""), "run") != 0;
		argv_entry(out, be_get_str(s, "name", ""), be_get(s, "argv"));
		if (be_get(s, "stdin") && !prepare)
			indented(out, be_get_str(s, "stdin", ""));
	}
}

static void deviations(struct be_buf *out, const struct be_node *list)
{
	if (!list || !list->n)
		return;
	section(out, "deviations");
	for (size_t i = 0; i < list->n; i++)
		entry(out, be_get_str(list->items[i], "topic", ""), be_get_str(list->items[i], "text", ""));
}

int be_plan_text(const struct be_node *plan, struct be_buf *out, struct be_error *err)
{
	const struct be_node *rules = be_get(plan, "rules");
	if (!be_get(plan, "layout") || !be_get(plan, "workload"))
		return be_fail(err, "this is no plan: it has no layout and workload");
	be_buf_addf(out, "%s\n", be_get_str(plan, "name", "?"));
	be_buf_addf(out, "harness rules of %s (%s)\n", be_get_str(rules, "date", "?"), be_get_str(rules, "from", "?"));
	machine(out, be_get(plan, "machine"));
	section(out, "boot");
	argv_entry(out, "command line", be_get_path(plan, "boot.cmdline"));
	layout(out, be_get(plan, "layout"));
	settings(out, be_get(plan, "settings"));
	workload(out, be_get(plan, "workload"));
	section(out, "image");
	const char *suite = be_get_str(be_get(plan, "image"), "suite", NULL);
	if (suite)
		entry(out, "suite", suite);
	argv_entry(out, "packages", be_get_path(plan, "image.packages"));
	argv_entry(out, "modules", be_get_path(plan, "image.modules"));
	deviations(out, be_get(plan, "deviations"));
	return 0;
}
