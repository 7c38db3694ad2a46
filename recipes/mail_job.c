/* A table as a job: options below the programs that they belong to, in LKP's order of keys. */
#include "mail_parts.h"

#include <fnmatch.h>
#include <string.h>

struct nest {
	const struct be_node *table, *rules, *programs;
	struct be_node *parameters; /* the table's, and what its path_params say */
	struct be_strv own;         /* programs of the testcase, dotted where they stand in a block */
	bool known;                 /* the testcase has programs that are known */
	struct be_node *job;
	bool placed; /* the programs have their place in the job */
};

static bool has(const struct be_node *list, const char *name)
{
	for (size_t i = 0; list && i < list->n; i++) {
		const char *text = list->kind == BE_MAP ? list->keys[i] : list->items[i]->text;
		if (text && strcmp(text[0] == '=' ? text + 1 : text, name) == 0)
			return true;
	}
	return false;
}

/* The last part of "if role client.netperf". */
static const char *program_name(const char *dotted)
{
	const char *dot = strrchr(dotted, '.');
	return dot ? dot + 1 : dotted;
}

static const struct be_node *options_of(const struct nest *nest, const char *program)
{
	static const char *const kinds[] = { "run", "setup", "daemon" };
	for (size_t i = 0; i < BE_ARRAY_LEN(kinds); i++) {
		const struct be_node *options = be_get(be_get(nest->programs, kinds[i]), program);
		if (options)
			return options;
	}
	return NULL;
}

/* Keys of the job beside the parameters. */
static const char *const frame[] = { "commit", "kconfig", "compiler", "rootfs", "version" };
static const char *const made[] = { "testcase", "category", "lkp_rules", "testbox", "tbox_group", "unstated" };

/* Would the options of a program of this name stand below a key that the job has for something else? */
static bool is_taken(const struct nest *nest, const char *name)
{
	bool taken = strchr(name, '.') || be_get(be_get(nest->table, "parameters"), name) ||
		     has(be_get(nest->rules, "shared"), name);
	for (size_t i = 0; i < BE_ARRAY_LEN(frame); i++)
		taken = taken || strcmp(frame[i], name) == 0;
	for (size_t i = 0; i < BE_ARRAY_LEN(made); i++)
		taken = taken || strcmp(made[i], name) == 0;
	return taken;
}

static int find_programs(struct nest *nest, struct be_error *err)
{
	const char *testcase = be_get_str(nest->table, "testcase", "");
	be_get_strv(be_get(nest->rules, "programs"), testcase, &nest->own);
	if (!nest->own.n && is_taken(nest, testcase)) {
		be_fail_usage(err,
			      "line %s: testcase: \"%.80s\" is no test's name: a job has such a key for something else",
			      be_get_str(nest->table, "line", "?"), testcase);
		return be_hint(err, "correct the mail, or write the job file by hand");
	}
	if (!nest->own.n && *testcase)
		be_strv_add(&nest->own, testcase);
	for (size_t i = 0; i < nest->own.n; i++)
		if (options_of(nest, program_name(nest->own.v[i])))
			nest->known = true;
	return 0;
}

/* Where parameter @key stands: a dotted path, to be freed; NULL: at the top. */
static char *place_of(const struct nest *nest, const char *key)
{
	const struct be_node *owners = be_get(nest->rules, "owners");
	if (has(be_get(nest->rules, "shared"), key) || be_get(be_get(nest->programs, "setup"), key))
		return NULL;
	for (size_t i = 0; owners && i < owners->n; i++)
		if (fnmatch(owners->keys[i], key, 0) == 0)
			return be_strdup(owners->items[i]->text);
	for (size_t i = nest->own.n; i-- > 0;) {
		const char *program = program_name(nest->own.v[i]);
		if (has(options_of(nest, program), key) || has(be_get(be_get(nest->rules, "options"), program), key) ||
		    !nest->known)
			return be_strdup(nest->own.v[i]);
	}
	return NULL;
}

/*
 * The joined values without those that the mail names, whose keys leave @keys: older paths are not in the order of
 * their keys. NULL when none is named. The caller frees.
 */
static char *without_named(const char *path, const struct be_node *named, struct be_strv *keys)
{
	be_autostrv struct be_strv pieces = { 0 }, others = { 0 };
	be_autobuf struct be_buf rest = { 0 };
	be_strv_split(&pieces, path, "-");
	for (size_t i = 0; i < pieces.n; i++) {
		bool is_named = false;
		for (size_t k = 0; k < named->n && !is_named; k++)
			is_named = named->items[k]->text && strcmp(named->items[k]->text, pieces.v[i]) == 0;
		if (!is_named)
			be_buf_addf(&rest, "%s%s", rest.len ? "-" : "", pieces.v[i]);
	}
	for (size_t i = 0; i < keys->n; i++)
		if (!be_get(named, keys->v[i]))
			be_strv_add(&others, keys->v[i]);
	if (others.n == keys->n || !rest.len)
		return NULL;
	be_strv_free(keys);
	*keys = (struct be_strv){ 0 };
	be_strv_add_all(keys, &others);
	return be_buf_steal(&rest);
}

/* The parameters that the mail names, and those whose values it only joins. */
static int collect_parameters(struct nest *nest, struct be_error *err)
{
	const struct be_node *named = be_get(nest->table, "parameters"), *patterns = be_get(nest->rules, "values");
	const char *path = be_get_str(nest->table, "path_params", NULL);
	nest->parameters = named ? be_node_clone(named) : be_node_map();
	if (!path)
		return 0;
	be_autostrv struct be_strv keys = { 0 };
	for (size_t i = 0; patterns && i < patterns->n; i++) {
		const char *key = patterns->keys[i];
		bool option = false;
		for (size_t k = 0; k < nest->own.n; k++)
			option |= has(options_of(nest, program_name(nest->own.v[k])), key);
		be_autofree char *owner = option ? NULL : place_of(nest, key);
		if (option || owner || be_get(be_get(nest->programs, "setup"), key) || strcmp(key, "ucode") == 0)
			be_strv_add(&keys, key);
	}
	be_autonode struct be_node *decoded = NULL;
	if (be_mail_decode(path, patterns, &keys, &decoded, err) != 0)
		return -1;
	be_autofree char *rest = decoded ? NULL : without_named(path, nest->parameters, &keys);
	if (rest && be_mail_decode(rest, patterns, &keys, &decoded, err) != 0)
		return -1;
	for (size_t i = 0; decoded && i < decoded->n; i++)
		if (!be_get(nest->parameters, decoded->keys[i]))
			be_set(nest->parameters, decoded->keys[i], be_node_clone(decoded->items[i]));
	return 0;
}

/* Gives the testcase's programs their place; one without options has null as its value. */
static void place_programs(struct nest *nest)
{
	for (size_t i = 0; !nest->placed && i < nest->own.n; i++)
		if (!be_get_path(nest->job, nest->own.v[i]))
			be_set_path(nest->job, nest->own.v[i], be_node_null());
	nest->placed = true;
}

/* Sets @key below @place; a set-up that had a plain value, as fs: ext4, becomes a map that holds it. */
static void set_below(struct be_node *job, const char *place, const char *key, const struct be_node *value)
{
	struct be_node *old = be_get_path(job, place);
	if (!old || old->kind != BE_MAP) {
		struct be_node *map = be_node_map();
		if (old && old->kind == BE_SCALAR)
			be_set(map, place, be_node_clone(old));
		be_set_path(job, place, map);
		old = map;
	}
	be_set(old, key, be_node_clone(value));
}

static void add_parameter(struct nest *nest, const char *key, const struct be_node *value)
{
	be_autofree char *place = place_of(nest, key);
	if (!place && strcmp(key, "cpufreq_governor") == 0)
		place_programs(nest); /* the harness adds the governor behind the job's own keys */
	if (!place) {
		struct be_node *old = be_get(nest->job, key);
		if (old && old->kind == BE_MAP)
			be_set(old, key, be_node_clone(value));
		else
			be_set(nest->job, key, be_node_clone(value));
		return;
	}
	for (size_t i = 0; i < nest->own.n; i++)
		if (strcmp(nest->own.v[i], place) == 0)
			place_programs(nest);
	set_below(nest->job, place, key, value);
}

/* Rank of a key in a job where the mail sorted them by name: that of mail.yaml, else behind all ranked ones. */
static size_t rank(const struct nest *nest, const char *key)
{
	const struct be_node *order = be_get(nest->rules, "order"), *last = be_get(nest->rules, "last");
	for (size_t i = 0; order && i < order->n; i++)
		if (strcmp(order->items[i]->text, key) == 0)
			return i;
	for (size_t i = 0; last && i < last->n; i++)
		if (strcmp(last->items[i]->text, key) == 0)
			return 2000 + i;
	return 1000;
}

static void add_parameters(struct nest *nest)
{
	const struct be_node *parameters = nest->parameters;
	bool sorted = be_get_bool(nest->table, "sorted", false) || be_get(nest->table, "path_params");
	size_t n = parameters->n;
	be_autofree bool *done = be_alloc(n + 1);
	for (size_t k = 0; k < n; k++) {
		size_t next = n;
		for (size_t i = 0; i < n; i++)
			if (!done[i] && (next == n || (sorted && rank(nest, parameters->keys[i]) <
									 rank(nest, parameters->keys[next]))))
				next = i;
		done[next] = true;
		add_parameter(nest, parameters->keys[next], parameters->items[next]);
	}
	place_programs(nest);
}

static void add_frame(struct nest *nest)
{
	const char *tbox = be_get_str(nest->table, "tbox_group", NULL);
	be_set_str(nest->job, "testbox", tbox);
	be_set_str(nest->job, "tbox_group", tbox);
	for (size_t i = 0; i < BE_ARRAY_LEN(frame); i++)
		be_set_str(nest->job, frame[i], be_get_str(nest->table, frame[i], NULL));
}

static bool stated(const struct nest *nest, const char *key)
{
	return be_get(nest->parameters, key) || be_get(nest->table, key);
}

static void list_unstated(struct nest *nest, struct be_strv *unstated)
{
	be_autostrv struct be_strv needed = { 0 };
	const struct be_node *needs = be_get(nest->rules, "needs");
	be_get_strv(needs, be_get_str(nest->table, "testcase", ""), &needed);
	be_get_strv(needs, "any", &needed);
	for (size_t i = 0; i < needed.n; i++) {
		/* "test|class": either will do */
		be_autostrv struct be_strv choices = { 0 };
		bool found = false;
		be_strv_split(&choices, needed.v[i], "|");
		for (size_t k = 0; k < choices.n; k++)
			found |= stated(nest, choices.v[k]);
		if (!found && choices.n)
			be_strv_add(unstated, choices.v[0]);
	}
}

static int make_job(struct nest *nest, struct be_strv *unstated, struct be_error *err)
{
	const char *testcase = be_get_str(nest->table, "testcase", NULL);
	nest->job = be_node_map();
	be_set_str(nest->job, "testcase", testcase);
	be_set_str(nest->job, "category", be_get_str(be_get(nest->rules, "category"), testcase ? testcase : "", NULL));
	be_set_str(nest->job, "lkp_rules", be_get_str(nest->table, "date", NULL));
	if (be_get(nest->job, "lkp_rules"))
		be_get(nest->job, "lkp_rules")->quoted = false; /* a date is written plain, as in shipped jobs */
	if (find_programs(nest, err) != 0 || collect_parameters(nest, err) != 0)
		return -1;
	add_parameters(nest);
	add_frame(nest);
	list_unstated(nest, unstated);
	if (unstated->n)
		be_set(nest->job, "unstated", be_node_strv(unstated));
	return 0;
}

struct be_node *be_mail_job(const struct be_node *table, const struct be_mail_rules *rules, struct be_strv *unstated,
			    struct be_error *err)
{
	struct nest nest = { .table = table, .rules = rules->mail, .programs = rules->programs };
	int rc = make_job(&nest, unstated, err);
	be_strv_free(&nest.own);
	be_node_free(nest.parameters);
	if (rc == 0)
		return nest.job;
	be_node_free(nest.job);
	return NULL;
}
