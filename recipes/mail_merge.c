/* Blocks and heads of the same test are one table, and what is said twice, as in mails that quote each other, is one.
 */
#include "mail_parts.h"

#include <ctype.h>
#include <string.h>

/* Keys of a head that a block does not have among its parameters. */
static const char *const frame[] = { "compiler", "kconfig", "rootfs", "tbox_group", "testcase", "commit" };
/* Axes of a head that the robot adds when it tests again. */
static const char *const retest[] = { "debug-setup", "monitor", "ucode" };

static bool among(const char *const *names, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}
#define AMONG(names, name) among(names, BE_ARRAY_LEN(names), name)

/* LKP puts '_' for what may not stand in a path. */
static bool same_value(const char *a, const char *b)
{
	for (; *a && *b; a++, b++) {
		char x = isalnum((unsigned char)*a) || strchr("-+=:.%", *a) ? *a : '_';
		char y = isalnum((unsigned char)*b) || strchr("-+=:.%", *b) ? *b : '_';
		if (x != y)
			return false;
	}
	return *a == *b;
}

/* Does @map (a head) say nothing else than @block? Every parameter of either is in the other; a block that was cut
 * short agrees with any. */
static bool agrees(const struct be_node *map, const struct be_node *block)
{
	if (!same_value(be_get_str(map, "testcase", ""), be_get_str(block, "testcase", "")))
		return false;
	static const char *const both[] = { "kconfig", "compiler" };
	for (size_t i = 0; i < BE_ARRAY_LEN(both); i++)
		if (be_get(block, both[i]) && !same_value(be_get_str(map, both[i], ""), be_get_str(block, both[i], "")))
			return false;
	const struct be_node *parameters = be_get(block, "parameters");
	for (size_t i = 0; parameters && i < parameters->n; i++) {
		const char *value = be_get_str(map, parameters->keys[i], NULL);
		if (value ? !same_value(value, parameters->items[i]->text) : !AMONG(retest, parameters->keys[i]))
			return false;
	}
	for (size_t i = 0; parameters && i < map->n; i++)
		if (!AMONG(frame, map->keys[i]) && !AMONG(retest, map->keys[i]) && !be_get(parameters, map->keys[i]))
			return false;
	return true;
}

static struct be_node *known_of(const struct be_node *block)
{
	struct be_node *known = be_node_map();
	const struct be_node *parameters = be_get(block, "parameters");
	for (size_t i = 0; parameters && i < parameters->n; i++)
		be_set(known, parameters->keys[i], be_node_clone(parameters->items[i]));
	be_set_str(known, "testcase", be_get_str(block, "testcase", NULL));
	be_set_str(known, "kconfig", be_get_str(block, "kconfig", NULL));
	be_set_str(known, "compiler", be_get_str(block, "compiler", NULL));
	return known;
}

/* Gives the head its `map`, by itself or, where that leaves a choice, by the block that fits. */
static void resolve_header(struct be_node *header, const struct be_node *blocks)
{
	const struct be_node *keys = be_get(header, "keys");
	const char *values = be_get_str(header, "values", "");
	struct be_node *map = be_mail_align(keys, values, NULL);
	for (size_t i = 0; !map && i < blocks->n; i++) {
		be_autonode struct be_node *known = known_of(blocks->items[i]);
		map = be_mail_align(keys, values, known);
		if (map && !agrees(map, blocks->items[i])) {
			be_node_free(map);
			map = NULL;
		}
	}
	if (map)
		be_set(header, "map", map);
}

/* The head as a table: frame and parameters apart. */
static struct be_node *header_table(const struct be_node *header)
{
	static const char *const copied[] = { "form", "line", "sorted", "date", "date_from", "commits" };
	struct be_node *table = be_node_map(), *parameters = be_node_map();
	for (size_t i = 0; i < BE_ARRAY_LEN(copied); i++)
		if (be_get(header, copied[i]))
			be_set(table, copied[i], be_node_clone(be_get(header, copied[i])));
	const struct be_node *map = be_get(header, "map");
	for (size_t i = 0; i < map->n; i++) {
		bool to_frame = AMONG(frame, map->keys[i]);
		be_set(to_frame ? table : parameters, map->keys[i], be_node_clone(map->items[i]));
	}
	be_set(table, "parameters", parameters);
	return table;
}

/* Adds to @table, a block's, what only the head says. */
static void add_header(struct be_node *table, const struct be_node *header)
{
	const struct be_node *map = be_get(header, "map");
	struct be_node *parameters = be_get(table, "parameters");
	if (!parameters) {
		parameters = be_node_map();
		be_set(table, "parameters", parameters);
	}
	for (size_t i = 0; i < map->n; i++) {
		struct be_node *to = AMONG(frame, map->keys[i]) ? table : parameters;
		if (!be_get(to, map->keys[i]))
			be_set(to, map->keys[i], be_node_clone(map->items[i]));
	}
	if (be_get(header, "commits"))
		be_set(table, "commits", be_node_clone(be_get(header, "commits")));
}

/* Everything of @less, apart from where it stands, is in @more too. */
static bool covers(const struct be_node *more, const struct be_node *less)
{
	static const char *const place[] = { "form", "line", "date", "date_from", "sorted", "commits" };
	for (size_t i = 0; i < less->n; i++) {
		const char *key = less->keys[i];
		const struct be_node *a = less->items[i], *b = be_get(more, key);
		if (AMONG(place, key))
			continue;
		if (!b || a->kind != b->kind)
			return false;
		if (a->kind == BE_MAP ? !covers(b, a) : !be_node_equal(a, b))
			return false;
	}
	return true;
}

/* Adds @table unless what it says was said; drops what says less. */
static void add_unique(struct be_node *tables, struct be_node *table)
{
	for (size_t i = 0; i < tables->n; i++) {
		if (covers(tables->items[i], table)) {
			be_node_free(table);
			return;
		}
		if (covers(table, tables->items[i])) {
			be_node_free(tables->items[i]);
			tables->items[i] = table;
			return;
		}
	}
	be_add(tables, table);
}

static struct be_node *unique(const struct be_node *found)
{
	struct be_node *left = be_node_seq();
	for (size_t i = 0; i < found->n; i++)
		add_unique(left, be_node_clone(found->items[i]));
	return left;
}

/* A path names machine and values of a test whose block, where it is quoted, was cut short. */
static void add_path(struct be_node *tables, const struct be_node *path)
{
	for (size_t i = 0; i < tables->n; i++) {
		struct be_node *table = tables->items[i];
		if (be_get(table, "tbox_group") ||
		    strcmp(be_get_str(table, "testcase", ""), be_get_str(path, "testcase", "")) != 0)
			continue;
		be_set(table, "tbox_group", be_node_clone(be_get(path, "tbox_group")));
		be_set(table, "path_params", be_node_clone(be_get(path, "path_params")));
		if (be_get(path, "commits"))
			be_set(table, "commits", be_node_clone(be_get(path, "commits")));
		return;
	}
	add_unique(tables, be_node_clone(path));
}

static size_t count_agreeing(const struct be_node *headers, const struct be_node *block)
{
	size_t n = 0;
	for (size_t i = 0; i < headers->n; i++)
		n += agrees(be_get(headers->items[i], "map"), block);
	return n;
}

static struct be_node *readable_headers(const struct be_node *found, const struct be_node *blocks)
{
	be_autonode struct be_node *headers = be_node_seq();
	for (size_t i = 0; i < found->n; i++) {
		struct be_node *header = be_node_clone(found->items[i]);
		resolve_header(header, blocks);
		bool again = false;
		for (size_t k = 0; k < headers->n && !again; k++)
			again = be_node_equal(be_get(headers->items[k], "map"), be_get(header, "map"));
		if (be_get(header, "map") && !again)
			be_add(headers, header);
		else
			be_node_free(header);
	}
	return be_steal(&headers);
}

/*
 * A block and its head are one table. A block that several heads fit (the same test on several machines) lends them
 * its order of parameters; whose machine it names cannot be told.
 */
static struct be_node *merge_headers(const struct be_node *blocks, const struct be_node *headers)
{
	struct be_node *tables = be_node_seq();
	for (size_t i = 0; i < blocks->n; i++) {
		const struct be_node *block = blocks->items[i];
		size_t n = count_agreeing(headers, block);
		for (size_t k = 0; k < headers->n; k++) {
			if (!agrees(be_get(headers->items[k], "map"), block))
				continue;
			struct be_node *table = be_node_clone(block);
			if (n > 1)
				be_unset(table, "machine");
			add_header(table, headers->items[k]);
			add_unique(tables, table);
		}
		if (!n)
			add_unique(tables, be_node_clone(block));
	}
	for (size_t k = 0; k < headers->n; k++)
		add_unique(tables, header_table(headers->items[k]));
	return tables;
}

struct be_node *be_mail_merge(const struct be_node *blocks, const struct be_node *headers, const struct be_node *paths)
{
	be_autonode struct be_node *own = unique(blocks);
	be_autonode struct be_node *heads = readable_headers(headers, own);
	struct be_node *tables = merge_headers(own, heads);
	for (size_t i = 0; i < paths->n; i++)
		add_path(tables, paths->items[i]);
	return tables;
}

void be_mail_add_boxes(struct be_node *tables, const struct be_node *boxes)
{
	be_autonode struct be_node *further = unique(boxes);
	for (size_t i = 0; i < further->n; i++)
		be_add(tables, be_node_clone(further->items[i]));
}
