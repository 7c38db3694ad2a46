/* Values of factors in manifests, and what is known of a factor's effect. */
#include "builder/report/diff_parts.h"

#include <ctype.h>
#include <string.h>

#include "factor.h"

/* What one manifest says of a factor. */
static struct be_node *value_of(const struct be_node *manifest, const char *name, bool booted)
{
	const struct be_node *entry = be_get(be_get(manifest, "environment"), name);
	if (!entry)
		return be_node_str(BE_NOT_STATED);
	const struct be_node *observed = be_get(entry, "observed"), *after = be_get(entry, "after");
	const struct be_node *built = be_get(entry, "built");
	const char *verdict = be_get_str(entry, "verdict", "");
	if (booted && observed && after && !be_node_equal(observed, after)) {
		struct be_node *both = be_node_map();
		be_set(both, "before", be_node_clone(observed));
		be_set(both, "after", be_node_clone(after));
		return both;
	}
	if (booted && observed)
		return be_node_clone(observed);
	if (be_starts(verdict, BE_NOT_APPLICABLE))
		return be_node_str(BE_NOT_APPLICABLE);
	return built ? be_node_clone(built) : be_node_str(BE_NOT_OBSERVABLE);
}

static bool has(const struct be_node *list, const struct be_node *value, const char *compare)
{
	for (size_t i = 0; i < list->n; i++)
		if (be_values_same(compare, list->items[i], value))
			return true;
	return false;
}

struct be_node *be_diff_value(const struct be_node *side, const char *name, const char *compare, bool booted)
{
	be_autonode struct be_node *values = be_node_seq();
	for (size_t i = 0; i < side->n; i++) {
		struct be_node *value = value_of(be_get(side->items[i], "manifest"), name, booted);
		if (has(values, value, compare))
			be_node_free(value);
		else
			be_add(values, value);
	}
	if (values->n == 1)
		return be_node_clone(values->items[0]);
	struct be_node *varies = be_node_map();
	be_set(varies, "varies", be_steal(&values));
	return varies;
}

bool be_diff_is_none(const struct be_node *value)
{
	static const char *const texts[] = { BE_NOT_APPLICABLE, BE_NOT_OBSERVABLE, BE_NOT_STATED };
	for (size_t i = 0; value->kind == BE_SCALAR && i < BE_ARRAY_LEN(texts); i++)
		if (strcmp(value->text, texts[i]) == 0)
			return true;
	return false;
}

bool be_diff_same(const char *compare, const struct be_node *a, const struct be_node *b)
{
	if (be_diff_is_none(a) && be_diff_is_none(b))
		return true;
	const struct be_node *many = be_get(a, "varies"), *others = be_get(b, "varies");
	if (!many && !others)
		return be_values_same(compare, a, b);
	if (!many || !others || many->n != others->n)
		return false;
	for (size_t i = 0; i < many->n; i++)
		if (!has(others, many->items[i], compare))
			return false;
	return true;
}

/* "-33.1 % against -1.3 %": 33.1; "less than 20 %": 20; "105 s of 300 s": 0. */
static double percentage(const char *figure)
{
	for (const char *p = figure; *p; p++) {
		if (!isdigit((unsigned char)*p))
			continue;
		char *end;
		double value = strtod(p, &end);
		if (end[strspn(end, " ")] == '%')
			return value;
		p = end - 1;
	}
	return 0;
}

const struct be_node *be_diff_evidence(const struct be_node *factor, unsigned *rank, double *effect)
{
	static const char *const kinds[] = { "measured", "argued", "named" };
	const struct be_node *list = be_get(factor, "evidence"), *best = NULL;
	*rank = BE_DIFF_NO_RANK;
	*effect = 0;
	for (size_t i = 0; list && i < list->n; i++) {
		const struct be_node *one = list->items[i];
		double size = percentage(be_get_str(one, "figure", ""));
		for (unsigned r = 0; r <= *rank && r < BE_ARRAY_LEN(kinds); r++) {
			bool better = r < *rank || size > *effect;
			if (strcmp(be_get_str(one, "kind", ""), kinds[r]) != 0 || !better)
				continue;
			*rank = r;
			*effect = size;
			best = one;
		}
	}
	return best;
}
