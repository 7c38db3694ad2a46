#include "workload.h"

#include <string.h>

#include "workload_scope.h"

#define DEFAULT_TIMEOUT 3600

static int lets(struct be_scope *scope, struct be_error *err)
{
	const struct be_node *let = be_get(be_get(scope->workload, "definition"), "let");
	for (size_t i = 0; let && i < let->n; i++) {
		struct be_value value;
		if (be_scope_eval(scope, let->items[i], &value, err))
			return -1;
		be_scope_set(scope, let->keys[i], value);
	}
	return 0;
}

/* Bytes of the smallest storage; nil when one's is not known. */
static struct be_value smallest(const struct be_node *storages)
{
	int64_t least = 0;
	for (size_t i = 0; storages && i < storages->n; i++) {
		int64_t size = be_get_int(storages->items[i], "size", 0);
		if (!size)
			return be_value_nil();
		least = !least || size < least ? size : least;
	}
	return least ? be_value_int(least) : be_value_nil();
}

/* What every definition can ask: the machine's size, the test directory, how many storages there are. */
static void builtins(struct be_scope *scope, const char *testdir)
{
	const struct be_node *storages = be_get(scope->workload, "storages");
	be_scope_set(scope, "nr_cpu", scope->size.nr_cpu ? be_value_int(scope->size.nr_cpu) : be_value_nil());
	be_scope_set(scope, "nr_node", be_value_int(scope->size.nr_node ? scope->size.nr_node : 1));
	be_scope_set(scope, "memory", scope->size.memory ? be_value_int(scope->size.memory) : be_value_nil());
	be_scope_set(scope, "testdir", be_value_text(testdir));
	be_scope_set(scope, "rules", be_value_text(scope->rules));
	be_scope_set(scope, "storage_size", smallest(storages));
	be_scope_set(scope, "nr_storages", be_value_int(storages ? (int64_t)storages->n : 0));
	size_t n = storages ? storages->n : 0;
	const struct be_node *first = n ? storages->items[0] : NULL, *last = n ? storages->items[n - 1] : NULL;
	be_autobuf struct be_buf others = { 0 };
	for (size_t i = 1; i < n; i++)
		be_buf_addf(&others, "%s%s", i > 1 ? " " : "", be_get_str(storages->items[i], "device", ""));
	be_scope_set(scope, "first_mount", be_value_text(be_get_str(first, "mount", NULL)));
	be_scope_set(scope, "first_device", be_value_text(be_get_str(first, "device", NULL)));
	be_scope_set(scope, "last_device", be_value_text(be_get_str(last, "device", NULL)));
	be_scope_set(scope, "other_devices", be_value_text(others.data));
}

/* What makes a job impossible, in the definition's own words: `refuse: [{if: EXPR, text: TEXT}]`. */
static int refusals(struct be_scope *scope, struct be_error *err)
{
	const struct be_node *refuse = be_get(be_get(scope->workload, "definition"), "refuse");
	for (size_t i = 0; refuse && i < refuse->n; i++) {
		int holds = be_scope_holds(scope, refuse->items[i], err);
		if (holds < 0)
			return -1;
		if (!holds)
			continue;
		const struct be_node *reason = be_get(refuse->items[i], "text");
		be_autofree char *text = reason ? be_scope_text(scope, reason, err) : be_strdup("refused");
		if (!text)
			return -1;
		be_fail_usage(err, "%s: %s", be_get_str(scope->workload, "name", "?"), text);
		const char *hint = be_get_str(refuse->items[i], "hint", NULL);
		return hint ? be_hint(err, "%s", hint) : -1;
	}
	return 0;
}

static int enter(struct be_scope *scope, const char *testdir, struct be_node *values, struct be_strv *notes,
		 struct be_error *err)
{
	builtins(scope, testdir);
	return be_scope_parameters(scope, values, notes, err) || lets(scope, err) || refusals(scope, err) ? -1 : 0;
}

/* A list as the lines of one text, each ended. */
static char *lines(struct be_scope *scope, const struct be_node *list, struct be_error *err)
{
	be_autostrv struct be_strv items = { 0 };
	be_autobuf struct be_buf text = { 0 };
	if (be_scope_list(scope, list, &items, err))
		return NULL;
	for (size_t i = 0; i < items.n; i++) {
		if (strchr(items.v[i], '\n')) {
			be_fail_usage(err, "%s: a line of a step's input or file holds a line break: '%.60s'",
				      be_where(list), items.v[i]);
			return NULL;
		}
		be_buf_adds(&text, items.v[i]);
		be_buf_addc(&text, '\n');
	}
	return be_buf_steal(&text);
}

static int step_argv(struct be_scope *scope, const struct be_node *step, bool run, struct be_node *out,
		     struct be_error *err)
{
	be_autostrv struct be_strv argv = { 0 };
	if (run)
		be_get_strv(scope->workload, "prefix", &argv);
	size_t prefix = argv.n;
	const struct be_node *list = be_get(step, "argv");
	if (!list || be_scope_list(scope, list, &argv, err))
		return list ? -1 : be_fail_usage(err, "%s: a step without argv", be_where(step));
	if (argv.n == prefix)
		return be_fail_usage(err, "%s: the step's argument vector is empty", be_where(list));
	be_set(out, "argv", be_node_strv(&argv));
	return 0;
}

static int step_stdin(struct be_scope *scope, const struct be_node *step, struct be_node *out, struct be_error *err)
{
	const struct be_node *list = be_get(step, "stdin");
	if (!list)
		return 0;
	be_autofree char *text = lines(scope, list, err);
	if (!text)
		return -1;
	be_set_str(out, "stdin", text);
	return 0;
}

/* Files by their full path: those of the definition are relative to the step's directory. */
static int step_files(struct be_scope *scope, const struct be_node *step, struct be_node *out, struct be_error *err)
{
	const struct be_node *files = be_get(step, "files");
	const char *cwd = be_get_str(out, "cwd", "/");
	if (!files || files->kind != BE_MAP)
		return 0;
	be_autonode struct be_node *map = be_node_map();
	for (size_t i = 0; i < files->n; i++) {
		be_autofree char *text = lines(scope, files->items[i], err);
		if (!text)
			return -1;
		bool below = files->keys[i][0] != '/';
		be_autofree char *path =
			be_strf("%s%s%s", below ? cwd : "", below && strcmp(cwd, "/") != 0 ? "/" : "", files->keys[i]);
		be_set_str(map, path, text);
	}
	be_set(out, "files", be_steal(&map));
	return 0;
}

static int step_texts(struct be_scope *scope, const struct be_node *step, struct be_node *out, struct be_error *err)
{
	const struct be_node *cwd = be_get(step, "cwd"), *env = be_get(step, "env");
	be_autofree char *dir = cwd ? be_scope_text(scope, cwd, err) : be_strdup("/");
	if (!dir)
		return -1;
	be_set_str(out, "cwd", dir);
	if (!env || env->kind != BE_MAP)
		return 0;
	be_autonode struct be_node *map = be_node_map();
	for (size_t i = 0; i < env->n; i++) {
		be_autofree char *text = be_scope_text(scope, env->items[i], err);
		if (!text)
			return -1;
		be_set_str(map, env->keys[i], text);
	}
	be_set(out, "env", be_steal(&map));
	return 0;
}

/* Keys whose value is an expression that gives a number. */
static int step_numbers(struct be_scope *scope, const struct be_node *step, struct be_node *out, struct be_error *err)
{
	static const char *const keys[] = { "copies", "repeat", "repeat_for", "timeout", "listens" };
	for (size_t i = 0; i < BE_ARRAY_LEN(keys); i++) {
		const struct be_node *node = be_get(step, keys[i]);
		int64_t number;
		if (!node)
			continue;
		if (be_scope_eval_int(scope, node, &number, err))
			return -1;
		if (number > (i < 2 ? 1 : 0)) /* once, and no limit, need not be said */
			be_set_int(out, keys[i], number);
	}
	const struct be_node *limit = be_get(scope->workload, "timeout"); /* the job's own */
	if (limit || !be_get(out, "timeout"))
		be_set_int(out, "timeout", limit ? be_get_int(scope->workload, "timeout", 0) : DEFAULT_TIMEOUT);
	return 0;
}

static struct be_node *render_step(struct be_scope *scope, const struct be_node *step, struct be_error *err)
{
	be_autonode struct be_node *out = be_node_map();
	const char *role = be_get_str(step, "role", "run");
	be_set_str(out, "name", be_get_str(step, "name", "step"));
	be_set_str(out, "role", role);
	if (step_argv(scope, step, strcmp(role, "run") == 0, out, err) || step_stdin(scope, step, out, err) ||
	    step_texts(scope, step, out, err) || step_files(scope, step, out, err) ||
	    step_numbers(scope, step, out, err))
		return NULL;
	if (be_get_bool(step, "may_fail", false))
		be_set(out, "may_fail", be_node_bool(true));
	if (be_get(step, "accepts"))
		be_set(out, "accepts", be_node_clone(be_get(step, "accepts")));
	if (be_get(step, "transcript"))
		be_set(out, "transcript", be_node_clone(be_get(step, "transcript")));
	return be_steal(&out);
}

static int render_steps(struct be_scope *scope, struct be_node *out, struct be_error *err)
{
	const struct be_node *steps = be_get(be_get(scope->workload, "definition"), "steps");
	for (size_t i = 0; steps && i < steps->n; i++) {
		int holds = be_scope_holds(scope, steps->items[i], err);
		struct be_node *step = holds > 0 ? render_step(scope, steps->items[i], err) : NULL;
		if (holds < 0 || (holds && !step))
			return -1;
		if (step)
			be_add(out, step);
	}
	return 0;
}

int be_workload_render(const struct be_node *workload, const char *testdir, const struct be_machine_size *size,
		       const char *rules, struct be_node **steps, struct be_node **values, struct be_strv *notes,
		       struct be_error *err)
{
	be_autoscope struct be_scope scope = { .workload = workload, .rules = rules, .size = *size };
	be_autonode struct be_node *rendered = be_node_seq(), *numbers = be_node_map();
	if (enter(&scope, testdir, numbers, notes, err) || render_steps(&scope, rendered, err))
		return -1;
	*steps = be_steal(&rendered);
	*values = be_steal(&numbers);
	return 0;
}

/* Entries of a list of the definition that hold, their texts rendered: settings and deviations. */
static int entries(struct be_scope *scope, const char *key, struct be_node *out, struct be_error *err)
{
	const struct be_node *list = be_get(be_get(scope->workload, "definition"), key);
	for (size_t i = 0; list && i < list->n; i++) {
		const struct be_node *from = list->items[i];
		int holds = be_scope_holds(scope, from, err);
		if (holds < 0)
			return -1;
		be_autonode struct be_node *entry = be_node_map();
		for (size_t k = 0; holds && k < from->n; k++) {
			if (be_streq(from->keys[k], "if") || be_streq(from->keys[k], "since") ||
			    be_streq(from->keys[k], "until") || from->items[k]->kind != BE_SCALAR)
				continue;
			be_autofree char *text = be_scope_text(scope, from->items[k], err);
			if (!text)
				return -1;
			struct be_node *value = be_node_str(text);
			value->quoted = from->items[k]->quoted;
			be_set(entry, from->keys[k], value);
		}
		if (holds)
			be_add(out, be_steal(&entry));
	}
	return 0;
}

int be_workload_entries(const struct be_node *workload, const char *key, const char *testdir,
			const struct be_machine_size *size, const char *rules, struct be_node *out,
			struct be_error *err)
{
	be_autoscope struct be_scope scope = { .workload = workload, .rules = rules, .size = *size };
	be_autonode struct be_node *numbers = be_node_map();
	be_autostrv struct be_strv notes = { 0 };
	if (enter(&scope, testdir, numbers, &notes, err))
		return -1;
	return entries(&scope, key, out, err);
}

int be_workload_list(const struct be_node *workload, const char *key, const char *rules, struct be_strv *out,
		     struct be_error *err)
{
	const struct be_node *list = be_get(be_get(workload, "definition"), key);
	be_autoscope struct be_scope scope = { .workload = workload, .rules = rules };
	return list ? be_scope_list(&scope, list, out, err) : 0;
}
