/* What was asked, built and observed of each factor, and whether they agree. */
#include "factor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "units.h"

/* Decimal or 0x numbers and decimal fractions; numbers in documents do not depend on a locale, this program sets none.
 */
static bool parse_number(const char *text, double *value)
{
	if (!*text)
		return false;
	char *end;
	bool hex = be_starts(text, "0x") || be_starts(text, "0X");
	errno = 0;
	*value = hex ? (double)strtoull(text, &end, 16) : strtod(text, &end);
	return !errno && !*end;
}

static bool same_number(const char *a, const char *b)
{
	double x, y;
	return parse_number(a, &x) && parse_number(b, &y) ? x == y : strcmp(a, b) == 0;
}

static bool same_bytes(const char *a, const char *b)
{
	int64_t x, y;
	return be_parse_size(a, &x) && be_parse_size(b, &y) ? x == y : strcmp(a, b) == 0;
}

/* Installed memory against MemTotal: firmware and kernel keep some, up to a tenth on small machines. */
static bool same_capacity(const char *nominal, const char *there)
{
	int64_t x, y;
	if (!be_parse_size(nominal, &x) || !be_parse_size(there, &y))
		return strcmp(nominal, there) == 0;
	return y <= x && y >= x - x / 10;
}

static void words(struct be_strv *out, const char *text)
{
	be_strv_split(out, text, " ,\t\n");
}

static bool same_set(const char *a, const char *b)
{
	be_autostrv struct be_strv x = { 0 }, y = { 0 };
	words(&x, a);
	words(&y, b);
	be_strv_sort_unique(&x);
	be_strv_sort_unique(&y);
	if (x.n != y.n)
		return false;
	for (size_t i = 0; i < x.n; i++)
		if (strcmp(x.v[i], y.v[i]) != 0)
			return false;
	return true;
}

static bool has_word(const char *text, const char *word)
{
	be_autostrv struct be_strv all = { 0 };
	words(&all, text);
	return be_strv_has(&all, word);
}

static bool text_matches(const char *compare, const char *wanted, const char *observed)
{
	if (be_streq(compare, "number"))
		return same_number(wanted, observed);
	if (be_streq(compare, "bytes"))
		return same_bytes(wanted, observed);
	if (be_streq(compare, "capacity"))
		return same_capacity(wanted, observed);
	if (be_streq(compare, "set"))
		return same_set(wanted, observed);
	if (be_streq(compare, "word"))
		return has_word(observed, wanted);
	if (be_streq(compare, "prefix"))
		return be_starts(observed, wanted);
	return strcmp(wanted, observed) == 0;
}

/* A list reads as a set of words. */
static bool list_matches(const char *compare, const char *wanted, const struct be_node *list)
{
	be_autobuf struct be_buf text = { 0 };
	be_buf_adds(&text, "");
	for (size_t i = 0; i < list->n; i++)
		be_buf_addf(&text, "%s%s", i ? " " : "", list->items[i]->text ? list->items[i]->text : "");
	return text_matches(compare, wanted, text.data);
}

bool be_value_matches(const char *compare, const char *wanted, const struct be_node *observed)
{
	if (!observed || observed->kind == BE_NULL)
		return false;
	if (observed->kind == BE_SCALAR)
		return text_matches(compare, wanted, observed->text);
	if (observed->kind == BE_SEQ)
		return list_matches(compare, wanted, observed);
	for (size_t i = 0; i < observed->n; i++)
		if (!be_value_matches(compare, wanted, observed->items[i]))
			return false;
	return observed->n > 0;
}

/* What the instance @name of a factor was found to be; one value for all stands for each. */
static const struct be_node *instance(const struct be_node *observed, const char *name)
{
	return observed && observed->kind == BE_MAP ? be_get(observed, name) : observed;
}

bool be_wanted_matches(const char *compare, const struct be_node *wanted, const struct be_node *observed)
{
	if (wanted->kind == BE_SCALAR)
		return be_value_matches(compare, wanted->text, observed);
	for (size_t i = 0; i < wanted->n; i++) {
		bool map = wanted->kind == BE_MAP;
		bool match = be_wanted_matches(compare, wanted->items[i],
					       map ? instance(observed, wanted->keys[i]) : observed);
		if (match != map)
			return match;
	}
	return wanted->kind == BE_MAP && wanted->n > 0;
}

struct finding {
	const struct be_node *wanted, *built, *observed, *after; /* values, or NULL */
	const char *not_applicable, *not_observable;             /* reasons, or NULL */
};

static bool is_observed_by(const struct be_node *factor, const char *kind)
{
	return strcmp(be_get_str(be_get(factor, "observe"), "kind", ""), kind) == 0;
}

/* Why no value is there although nobody said so. */
static const char *silence(const struct be_node *factor, const struct be_node *before, const struct be_node *after)
{
	if (is_observed_by(factor, "none"))
		return be_get_str(be_get(factor, "observe"), "reason", "");
	if (!before && !after)
		return "not booted yet";
	const char *when = be_get_str(factor, "when", "before");
	/* The draft of after.yaml, which is delivered when the runner died, has no environment. */
	if (!be_get(after, "environment") && (strcmp(when, "after") == 0 || strcmp(when, "during") == 0))
		return "the run did not come to its end";
	return "the guest did not state it";
}

static void find(struct finding *f, const struct be_node *factor, const struct be_node *before,
		 const struct be_node *after)
{
	const char *name = be_get_str(factor, "name", "");
	const struct be_node *first = be_get(be_get(before, "environment"), name);
	const struct be_node *last = be_get(be_get(after, "environment"), name);
	f->observed = be_get(first, "value");
	f->after = be_get(last, "value");
	if (!f->observed && f->after) {
		f->observed = f->after;
		f->after = NULL;
		first = last;
	}
	if (!f->observed && (is_observed_by(factor, "plan") || is_observed_by(factor, "builder")))
		f->observed = f->built;
	if (f->observed)
		return;
	/* The later word wins: what could not be read before the run may have got a better reason after it. */
	const struct be_node *said = last ? last : first;
	f->not_applicable = be_get_str(said, "not_applicable", NULL);
	f->not_observable = be_get_str(said, "not_observable", NULL);
	if (!said && is_observed_by(factor, "plan"))
		f->not_applicable = "this recipe has none";
	if (!f->not_applicable && !f->not_observable)
		f->not_observable = silence(factor, before, after);
}

static struct be_node *verdict(const struct finding *f, const char *compare)
{
	if (f->not_applicable)
		return be_node_str("not applicable");
	if (f->not_observable)
		return be_node_strf("not observable: %s", f->not_observable);
	if (!f->wanted)
		return be_node_str("not requested");
	if (be_streq(compare, "none"))
		return be_node_str("not observable: its values are stated, not compared");
	bool match = be_wanted_matches(compare, f->wanted, f->observed) &&
		     (!f->after || be_wanted_matches(compare, f->wanted, f->after));
	return be_node_str(match ? "as requested" : "differs");
}

static void set_clone(struct be_node *map, const char *key, const struct be_node *value)
{
	if (value)
		be_set(map, key, be_node_clone(value));
}

struct be_node *be_environment_make(const struct be_node *plan, const struct be_node *built,
				    const struct be_node *before, const struct be_node *after)
{
	const struct be_node *factors = be_get(plan, "factors");
	struct be_node *environment = be_node_map();
	for (size_t i = 0; factors && i < factors->n; i++) {
		const struct be_node *factor = factors->items[i];
		const char *name = be_get_str(factor, "name", NULL);
		if (!name)
			continue;
		struct finding f = { .wanted = be_get(be_get(be_get(plan, "wanted"), name), "value") };
		f.built = be_get(built, name);
		if (!f.built)
			f.built = be_get(be_get(plan, "built"), name);
		find(&f, factor, before, after);
		struct be_node *entry = be_node_map();
		set_clone(entry, "requested", f.wanted);
		set_clone(entry, "built", f.built);
		set_clone(entry, "observed", f.observed);
		set_clone(entry, "after", f.after);
		be_set(entry, "verdict", verdict(&f, be_get_str(factor, "compare", NULL)));
		be_set_str(entry, "reason", f.not_applicable);
		be_set(environment, name, entry);
	}
	return environment;
}
