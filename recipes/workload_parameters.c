/* Parameters: the job's own text, given a type by the definition's `unit:`. */
#include <inttypes.h>
#include <regex.h>
#include <string.h>

#include "plain.h"
#include "units.h"
#include "workload_scope.h"

struct parameter {
	const char *name;
	const struct be_node *declared; /* {unit, default, required, multiple_of} */
	const struct be_node *given;    /* the job's, or the default; NULL: none */
	bool defaulted;
};

static int wrong(const struct parameter *p, const char *wanted, struct be_error *err)
{
	const char *where = be_where(p->given);
	return be_fail_usage(err, "%s%s%s: '%.80s' is not %s", where, *where ? ": " : "", p->name, p->given->text,
			     wanted);
}

/* LKP's reading: empty, or beginning with 0, n or false is false; all else, also `off`, is true. */
static bool truth(const char *text)
{
	return *text && *text != '0' && *text != 'n' && strncmp(text, "false", 5) != 0;
}

static struct be_node *value_entry(const struct parameter *p, const char *of, int64_t base, int64_t value)
{
	struct be_node *entry = be_node_map();
	be_set_str(entry, "asked", p->given->text);
	if (p->defaulted)
		be_set(entry, "default", be_node_bool(true));
	if (of) {
		be_set_str(entry, "of", of);
		be_set_int(entry, "base", base);
	}
	be_set_int(entry, "value", value);
	return entry;
}

/*
 * Tasks are spread evenly. A share of the CPUs that leaves a remainder is rounded up and marked, for the planner to
 * refuse as LKP does and for the guest, where the machine has another size, to state; a number that the job gives
 * itself is simply wrong.
 */
static int spread(struct be_scope *scope, const struct parameter *p, bool share, int64_t *count, struct be_node *entry,
		  struct be_strv *notes, struct be_error *err)
{
	const struct be_node *of = be_get(p->declared, "multiple_of");
	int64_t parts;
	if (!of)
		return 0;
	if (be_scope_eval_int(scope, of, &parts, err))
		return -1;
	int64_t rest = parts > 0 ? *count % parts : 0;
	if (!rest)
		return 0;
	if (!share) {
		be_fail_usage(err, "%s: %s: %" PRId64 " tasks cannot be spread evenly over %" PRId64 " storages",
			      be_where(p->given), p->name, *count, parts);
		return be_hint(err, "give a multiple of %" PRId64 ", for example --set %s=%" PRId64, parts, p->name,
			       *count - rest + parts);
	}
	be_set_int(entry, "remainder", rest);
	be_strv_addf(notes, "%s: %s = %" PRId64 " is no multiple of the %" PRId64 " storages: %" PRId64 " used here",
		     p->name, p->given->text, *count, parts, *count - rest + parts);
	*count += parts - rest;
	be_set_int(entry, "value", *count);
	return 0;
}

static int count_parameter(struct be_scope *scope, const struct parameter *p, struct be_value *out,
			   struct be_node *values, struct be_strv *notes, struct be_error *err)
{
	bool share = strchr(p->given->text, '%') != NULL;
	int64_t base = scope->size.nr_cpu, count;
	if (share && base == 0) {
		wrong(p, "known without nr_cpu", err);
		return be_hint(err, "add nr_cpu: to the host file");
	}
	if (!be_parse_count(p->given->text, base, &count))
		return wrong(p, "a count such as 8, 8t or 50%", err);
	if (share && count == 0) {
		be_strv_addf(notes, "%s: %s of %" PRId64 " CPUs is 0: 1 used here", p->name, p->given->text, base);
		count = 1;
	}
	be_autonode struct be_node *entry = value_entry(p, share ? "nr_cpu" : NULL, base, count);
	if (spread(scope, p, share, &count, entry, notes, err))
		return -1;
	be_set(values, p->name, be_steal(&entry));
	*out = be_value_int(count);
	return 0;
}

static int memory_parameter(struct be_scope *scope, const struct parameter *p, struct be_value *out,
			    struct be_node *values, struct be_error *err)
{
	int64_t bytes, base = scope->size.memory;
	if (!strchr(p->given->text, '%')) {
		if (!be_parse_size(p->given->text, &bytes))
			return wrong(p, "a size such as 4M or a part of memory such as 50%", err);
	} else if (base == 0) {
		wrong(p, "known without memory", err);
		return be_hint(err, "add memory: to the host file");
	} else {
		/* In KiB, so that per cents of any real machine fit. */
		if (!be_parse_count(p->given->text, base / 1024, &bytes))
			return wrong(p, "a size such as 4M or a part of memory such as 50%", err);
		bytes *= 1024;
		be_set(values, p->name, value_entry(p, "memory", base, bytes));
	}
	*out = be_value_int(bytes);
	return 0;
}

static int typed(struct be_scope *scope, const struct parameter *p, struct be_value *out, struct be_node *values,
		 struct be_strv *notes, struct be_error *err)
{
	const char *unit = be_get_str(p->declared, "unit", "text"), *text = p->given->text;
	int64_t number = 0;
	if (strcmp(unit, "count") == 0)
		return count_parameter(scope, p, out, values, notes, err);
	if (strcmp(unit, "memory") == 0)
		return memory_parameter(scope, p, out, values, err);
	if (strcmp(unit, "bool") == 0) {
		*out = be_value_bool(truth(text));
	} else if (strcmp(unit, "bytes") == 0) {
		if (!be_parse_size(text, &number))
			return wrong(p, "a size such as 4M or 100G", err);
		*out = be_value_int(number);
	} else if (strcmp(unit, "seconds") == 0) {
		if (!be_parse_time(text, &number))
			return wrong(p, "a time such as 300s or 10m", err);
		*out = be_value_int(number);
	} else if (strcmp(unit, "text") == 0) {
		*out = be_value_text(text);
	} else {
		return be_fail_usage(err, "%s: there is no unit '%s'", be_where(be_get(p->declared, "unit")), unit);
	}
	return 0;
}

/* `texts:`, what a definition takes where its program reads texts as more than a word of its own. */
static int check_text(const struct be_scope *scope, const struct parameter *p, const char *unit, struct be_error *err)
{
	const struct be_node *texts = be_get(be_get(scope->workload, "definition"), "texts");
	regex_t regex;
	if (!texts || p->defaulted || strcmp(unit, "text") != 0)
		return 0;
	if (texts->kind != BE_SCALAR || regcomp(&regex, texts->text, REG_EXTENDED | REG_NOSUB) != 0)
		return be_fail_usage(err, "%s: texts: is no regular expression", be_where(texts));
	bool fits = regexec(&regex, p->given->text, 0, NULL, 0) == 0;
	regfree(&regex);
	if (fits)
		return 0;
	wrong(p, "what this workload takes", err);
	return be_hint(err, "its texts match %s", texts->text);
}

static int one_parameter(struct be_scope *scope, struct parameter *p, struct be_node *values, struct be_strv *notes,
			 struct be_error *err)
{
	const char *unit = be_get_str(p->declared, "unit", "text");
	p->given = be_get(be_get(scope->workload, "parameters"), p->name);
	p->defaulted = !p->given || p->given->kind == BE_NULL;
	if (p->defaulted)
		p->given = be_get(p->declared, "default");
	if (!p->given) {
		if (be_get_bool(p->declared, "required", false))
			return be_fail_usage(err, "the workload %s needs '%s:'",
					     be_get_str(scope->workload, "name", "?"), p->name);
		be_scope_set(scope, p->name, be_value_nil());
		return 0;
	}
	if (strcmp(unit, "list") == 0 || strcmp(unit, "map") == 0) { /* `each` and the planner read their items */
		be_scope_set(scope, p->name, be_value_bool(true));
		return 0;
	}
	if (p->given->kind != BE_SCALAR)
		return be_fail_usage(err, "%s: %s must be one value", be_where(p->given), p->name);
	struct be_value value = be_value_nil();
	if (be_check_line(p->given, p->name, err) || check_text(scope, p, unit, err))
		return -1;
	if (typed(scope, p, &value, values, notes, err))
		return -1;
	be_scope_set(scope, p->name, value);
	return 0;
}

int be_scope_parameters(struct be_scope *scope, struct be_node *values, struct be_strv *notes, struct be_error *err)
{
	const struct be_node *declared = be_get(be_get(scope->workload, "definition"), "parameters");
	for (size_t i = 0; declared && i < declared->n; i++) {
		struct parameter p = { .name = declared->keys[i], .declared = declared->items[i] };
		if (one_parameter(scope, &p, values, notes, err))
			return -1;
	}
	return 0;
}
