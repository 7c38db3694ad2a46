/* Two observed values of one factor: the same environment, or not? */
#include "factor.h"

/* What a recipe may ask for in parts is one value when two machines are compared. */
static const char *whole(const char *compare)
{
	if (be_streq(compare, "word"))
		return "set";
	return be_streq(compare, "prefix") || be_streq(compare, "none") ? "exact" : compare;
}

static bool same_maps(const char *compare, const struct be_node *a, const struct be_node *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++) {
		const struct be_node *other = be_get(b, a->keys[i]);
		if (!other || !be_values_same(compare, a->items[i], other))
			return false;
	}
	return true;
}

/* One value for all instances against a value for each. */
static bool same_as_all(const char *compare, const struct be_node *one, const struct be_node *map)
{
	for (size_t i = 0; i < map->n; i++)
		if (!be_values_same(compare, one, map->items[i]))
			return false;
	return map->n > 0;
}

static bool same_lists(const char *compare, const struct be_node *a, const struct be_node *b)
{
	if (!be_streq(compare, "set"))
		return be_node_equal(a, b);
	be_autobuf struct be_buf words = { 0 };
	for (size_t i = 0; i < a->n; i++)
		be_buf_addf(&words, "%s ", a->items[i]->text ? a->items[i]->text : "");
	return be_value_matches("set", words.data ? words.data : "", b);
}

bool be_values_same(const char *compare, const struct be_node *a, const struct be_node *b)
{
	compare = whole(compare);
	if (a->kind == BE_MAP && b->kind == BE_MAP)
		return same_maps(compare, a, b);
	if (a->kind == BE_MAP)
		return same_as_all(compare, b, a);
	if (b->kind == BE_MAP)
		return same_as_all(compare, a, b);
	if (a->kind == BE_SEQ && b->kind == BE_SEQ)
		return same_lists(compare, a, b);
	if (a->kind == BE_SCALAR && b->kind == BE_SCALAR)
		return be_value_matches(compare, a->text, b) || be_value_matches(compare, b->text, a);
	return a->kind == BE_NULL && b->kind == BE_NULL;
}
