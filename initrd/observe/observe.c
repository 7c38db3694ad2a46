#include "initrd/observe/observe.h"
#include "initrd/observe/probes.h"

#include <libmount/libmount.h>
#include <regex.h>
#include <stdarg.h>
#include <string.h>

#include "disk-setup/use.h"

struct be_reading be_reading_value(struct be_node *value)
{
	return (struct be_reading){ .state = BE_READ, .value = value };
}

struct be_reading be_reading_text(const char *text)
{
	return be_reading_value(be_node_str(text));
}

static struct be_reading reason(enum be_reading_state state, const char *fmt, va_list args)
{
	return (struct be_reading){ .state = state, .text = be_vstrf(fmt, args) };
}

struct be_reading be_reading_absent(const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	struct be_reading r = reason(BE_ABSENT, fmt, args);
	va_end(args);
	return r;
}

struct be_reading be_reading_not_observable(const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	struct be_reading r = reason(BE_NOT_OBSERVABLE, fmt, args);
	va_end(args);
	return r;
}

struct be_reading be_reading_not_applicable(const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	struct be_reading r = reason(BE_NOT_APPLICABLE, fmt, args);
	va_end(args);
	return r;
}

void be_reading_free(struct be_reading *reading)
{
	be_node_free(reading->value);
	free(reading->text);
	*reading = (struct be_reading){ 0 };
}

char *be_match(const char *pattern, const char *text)
{
	regex_t regex;
	regmatch_t group[2];
	char *found = NULL;
	if (regcomp(&regex, pattern, REG_EXTENDED) != 0)
		return NULL;
	if (regexec(&regex, text, 2, group, 0) == 0) {
		regmatch_t m = group[group[1].rm_so >= 0];
		found = be_strndup(text + m.rm_so, (size_t)(m.rm_eo - m.rm_so));
	}
	regfree(&regex);
	return found;
}

static const char *const scope_things[BE_SCOPE_COUNT] = {
	"run", "test disk", "array", "test file system", "CPU", "node"
};

/* Does any of the instances of @scope have one of the kinds? */
static bool any_kind(const struct be_observer *o, enum be_scope scope, const struct be_strv *kinds)
{
	const struct be_instances *list = &o->scopes->of[scope];
	for (size_t i = 0; i < list->n; i++)
		if (list->v[i].kind && be_strv_has(kinds, list->v[i].kind))
			return true;
	return false;
}

/* Checks one condition of `only:` for an instance; NULL: holds, else the reason. */
static char *unmet(const struct be_look *look, const struct be_node *only, const char *key, enum be_scope scope)
{
	be_autostrv struct be_strv kinds = { 0 };
	be_get_strv(only, key, &kinds);
	if (!kinds.n)
		return NULL;
	bool holds = look->scope == scope ? look->at->kind && be_strv_has(&kinds, look->at->kind)
					  : any_kind(look->o, scope, &kinds);
	return holds ? NULL : be_strf("only for %s %s", scope_things[scope], kinds.v[0]);
}

static char *unmet_condition(const struct be_look *look, const struct be_node *factor)
{
	const struct be_node *only = be_get(factor, "only");
	char *why = unmet(look, only, "fs", BE_SCOPE_FS);
	if (!why)
		why = unmet(look, only, "disk", BE_SCOPE_DISK);
	be_autostrv struct be_strv testcases = { 0 };
	be_get_strv(only, "testcase", &testcases);
	if (!why && testcases.n && !be_strv_has(&testcases, be_get_str(look->o->plan, "testcase", "")))
		why = be_strf("only for testcase %s", testcases.v[0]);
	return why;
}

/* Looks at one of the factor's paths. */
static struct be_reading look_at_path(const struct be_look *asked, be_look_fn fn, const char *path)
{
	struct be_look look = *asked;
	const char *missing = NULL;
	be_autofree char *expanded = be_scope_expand(look.o->scopes, look.scope, look.at, path, &missing);
	if (!expanded)
		return be_reading_not_observable("%s was not found: %.*s has no name",
						 look.at->key ? look.at->key : "it", (int)strcspn(missing, "}") + 1,
						 missing);
	look.path = expanded;
	return fn(&look);
}

/* Tries the factor's paths in order; where none exists, the first one's reason stands. */
static struct be_reading look_at_paths(const struct be_look *look, be_look_fn fn)
{
	be_autostrv struct be_strv paths = { 0 };
	be_get_strv(look->how, "path", &paths);
	if (!paths.n)
		return fn(look);
	struct be_reading first = look_at_path(look, fn, paths.v[0]);
	for (size_t i = 1; i < paths.n && first.state == BE_ABSENT; i++) {
		struct be_reading other = look_at_path(look, fn, paths.v[i]);
		struct be_reading *worse = other.state == BE_ABSENT ? &other : &first;
		struct be_reading better = other.state == BE_ABSENT ? first : other;
		be_reading_free(worse);
		first = better;
	}
	return first;
}

static struct be_reading look(const struct be_look *look, const struct be_node *factor)
{
	be_autofree char *unmet = unmet_condition(look, factor);
	if (unmet)
		return be_reading_not_applicable("%s", unmet);
	const char *kind = be_get_str(look->how, "kind", "");
	be_look_fn fn = be_observe_kind(kind);
	if (!fn)
		return be_reading_not_observable("this init does not know the observation kind \"%s\"", kind);
	struct be_reading r = look_at_paths(look, fn);
	const char *absent = be_get_str(look->how, "absent", NULL);
	if (r.state == BE_ABSENT && absent) {
		be_reading_free(&r);
		return be_reading_text(absent);
	}
	if (r.state == BE_ABSENT)
		r.state = BE_NOT_OBSERVABLE;
	return r;
}

static bool same(const struct be_reading *a, const struct be_reading *b)
{
	if (a->state != b->state)
		return false;
	return a->state == BE_READ ? be_node_equal(a->value, b->value) : be_streq(a->text, b->text);
}

static struct be_node *stated(struct be_reading *r)
{
	struct be_node *node = be_node_map();
	if (r->state == BE_READ)
		be_set(node, "value", be_steal(&r->value));
	else
		be_set_str(node, r->state == BE_NOT_APPLICABLE ? "not_applicable" : "not_observable", r->text);
	return node;
}

/* Readings that differ: a map by instance. Instances to which the factor does not apply are left out. */
static struct be_node *stated_map(const struct be_instances *list, struct be_reading *readings)
{
	struct be_node *map = be_node_map();
	for (size_t i = 0; i < list->n; i++) {
		struct be_reading *r = &readings[i];
		if (r->state == BE_READ)
			be_set(map, list->v[i].key, be_steal(&r->value));
		else if (r->state == BE_NOT_OBSERVABLE)
			be_set(map, list->v[i].key, be_node_strf("not observable: %s", r->text));
	}
	struct be_node *node = be_node_map();
	be_set(node, "value", map);
	return node;
}

/* One value where all agree to which the factor applies. */
static struct be_node *fold(const struct be_instances *list, struct be_reading *readings)
{
	struct be_reading *first = NULL;
	for (size_t i = 0; i < list->n; i++) {
		if (readings[i].state == BE_NOT_APPLICABLE)
			continue;
		if (first && !same(first, &readings[i]))
			return stated_map(list, readings);
		if (!first)
			first = &readings[i];
	}
	return stated(first ? first : &readings[0]);
}

char *be_observe_text(const struct be_observer *o, const char *path)
{
	const char *known = be_get_str(o->texts, path, NULL);
	if (known)
		return be_strdup(known);
	char *text = be_root_text(&o->root, path);
	if (text && o->texts && be_starts(path, "/proc/"))
		be_set_str(o->texts, path, text);
	return text;
}

const struct be_node *be_observe_table(const struct be_observer *o, const char *key,
				       struct be_node *(*make)(const struct be_observer *o))
{
	if (!be_get(o->tables, key))
		be_set(o->tables, key, make(o));
	return be_get(o->tables, key);
}

bool be_observe_is_live(const struct be_node *factor)
{
	const struct be_node *how = be_get(factor, "observe");
	const char *kind = be_get_str(how, "kind", "");
	return be_streq(kind, "statfs") || be_streq(kind, "tool") ||
	       (be_streq(kind, "probe") && be_probe_is_live(be_get_str(how, "name", "")));
}

/* What the recording says of a factor that only the running system told. */
static struct be_node *recorded(const struct be_observer *o, const struct be_node *factor)
{
	const struct be_node *reading = be_get(o->readings, be_get_str(factor, "name", ""));
	if (reading)
		return be_node_clone(reading);
	struct be_node *node = be_node_map();
	be_set_str(node, "not_observable", "only the running system tells, and the recorded one has no reading of it");
	return node;
}

static struct be_node *observe_factor(const struct be_observer *o, const struct be_node *factor)
{
	enum be_scope scope;
	if (o->readings && be_observe_is_live(factor))
		return recorded(o, factor);
	const struct be_node *earlier = be_get(o->earlier, be_get_str(factor, "name", ""));
	if (earlier && be_get_bool(be_get(factor, "observe"), "once", false))
		return be_node_clone(earlier);
	struct be_reading none;
	if (!be_scope_parse(be_get_str(factor, "scope", NULL), &scope)) {
		none = be_reading_not_observable("this init does not know the scope \"%s\"",
						 be_get_str(factor, "scope", ""));
		struct be_node *node = stated(&none);
		be_reading_free(&none);
		return node;
	}
	const struct be_instances *list = &o->scopes->of[scope];
	if (!list->n) {
		none = be_reading_not_applicable("there is no %s", scope_things[scope]);
		struct be_node *node = stated(&none);
		be_reading_free(&none);
		return node;
	}
	struct be_reading *readings = be_alloc(list->n * sizeof(*readings));
	for (size_t i = 0; i < list->n; i++) {
		struct be_look at = { .o = o, .how = be_get(factor, "observe"), .scope = scope, .at = &list->v[i] };
		readings[i] = look(&at, factor);
	}
	struct be_node *node = fold(list, readings);
	for (size_t i = 0; i < list->n; i++)
		be_reading_free(&readings[i]);
	free(readings);
	return node;
}

/* `during` is what was sampled while the workload ran: it is known only after it. */
static bool belongs(const struct be_node *factor, enum be_phase phase)
{
	const char *when = be_get_str(factor, "when", "before");
	if (be_streq(when, "both"))
		return true;
	return be_streq(when, "before") == (phase == BE_BEFORE);
}

struct be_node *be_observe(const struct be_observer *asked, enum be_phase phase)
{
	struct be_node *environment = be_node_map();
	be_autonode struct be_node *tools = be_node_map(), *tables = be_node_map(), *texts = be_node_map();
	be_autokmsg struct be_kmsg log = { 0 };
	struct be_observer o = *asked;
	struct be_error ignored = BE_ERROR_INIT;
	o.tools = tools;
	o.tables = tables;
	o.texts = texts;
	o.log = asked->log ? asked->log : &log;
	be_kmsg_update(o.log, &o.root);
	/* On file systems that are mounted they change little: after the workload nobody asks. */
	be_cleanup(be_supers_free) struct be_supers *supers =
		phase == BE_BEFORE && !o.readings && !o.earlier ? be_supers_start(&o) : NULL;
	o.supers = supers;
	o.mounts = be_use_table(&o.root, "/proc/self/mountinfo", &ignored);
	const struct be_node *factors = be_get(o.plan, "factors");
	for (size_t i = 0; factors && i < factors->n; i++) {
		const struct be_node *factor = factors->items[i];
		const char *name = be_get_str(factor, "name", NULL);
		const char *kind = be_get_str(be_get(factor, "observe"), "kind", "");
		/* What the builder knows it says itself, in the manifest. */
		if (name && belongs(factor, phase) && !be_streq(kind, "builder"))
			be_set(environment, name, observe_factor(&o, factor));
	}
	mnt_unref_table(o.mounts);
	return environment;
}
