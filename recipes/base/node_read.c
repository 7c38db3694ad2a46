/* Reading: libyaml's events into a tree, within limits. */
#include <string.h>
#include <yaml.h>

#include "base/file.h"
#include "base/node.h"

#define MAX_ANCHORS 1000u
#define YAML_PREFIX "tag:yaml.org,2002:"

struct anchor {
	char *name;
	struct be_node *node; /* a copy: merges and duplicate keys may free the one in the tree */
};

struct reader {
	yaml_parser_t parser;
	const struct be_node_source *source;
	const char *name;
	struct anchor *anchors;
	size_t n_anchors;
	unsigned nodes;
	struct be_error *err;
};

struct place {
	const char *file;
	unsigned line, col;
};

static struct place place_of(const struct reader *r, yaml_mark_t mark)
{
	const struct be_node_source *s = r->source;
	if (!s->lines || !s->n_lines)
		return (struct place){ r->name, (unsigned)mark.line + 1, (unsigned)mark.column + 1 };
	bool behind = mark.line >= s->n_lines; /* the end of the text: the line behind the last one */
	const struct be_origin *o = &s->lines[behind ? s->n_lines - 1 : mark.line];
	int col = (int)mark.column + 1 - o->shift;
	return (struct place){ o->file, o->line + behind, col > 0 ? (unsigned)col : 1 };
}

static int fail_at(struct reader *r, yaml_mark_t mark, const char *what)
{
	struct place at = place_of(r, mark);
	return be_fail_usage(r->err, "%s:%u:%u: %s", at.file, at.line, at.col, what);
}

static int next_event(struct reader *r, yaml_event_t *event)
{
	if (yaml_parser_parse(&r->parser, event))
		return 0;
	const char *problem = r->parser.problem ? r->parser.problem : "cannot be read as YAML";
	if (r->parser.error == YAML_READER_ERROR)
		return be_fail_usage(r->err, "%s: byte %zu: %s", r->name, r->parser.problem_offset, problem);
	if (r->parser.error == YAML_MEMORY_ERROR)
		return be_fail(r->err, "%s: out of memory", r->name);
	be_autofree char *what = r->parser.context ? be_strf("%s, %s", problem, r->parser.context) : be_strdup(problem);
	return fail_at(r, r->parser.problem_mark, what);
}

static void place(struct reader *r, struct be_node *node, yaml_mark_t mark)
{
	struct place at = place_of(r, mark);
	node->file = at.file;
	node->line = at.line;
	node->col = at.col;
}

static unsigned count(const struct be_node *node)
{
	unsigned n = 1;
	for (size_t i = 0; i < node->n; i++)
		n += count(node->items[i]);
	return n;
}

/* Copies count as much as what was written: that is what limits alias bombs. */
static struct be_node *copy_counted(struct reader *r, const struct be_node *node, yaml_mark_t mark)
{
	r->nodes += count(node);
	if (r->nodes > BE_NODE_MAX_NODES) {
		fail_at(r, mark, "aliases make the document too large");
		return NULL;
	}
	return be_node_clone(node);
}

static int keep_anchor(struct reader *r, const yaml_char_t *name, const struct be_node *node, yaml_mark_t mark)
{
	if (!name)
		return 0;
	if (r->n_anchors >= MAX_ANCHORS)
		return fail_at(r, mark, "the document has too many anchors");
	struct be_node *copy = copy_counted(r, node, mark);
	if (!copy)
		return -1;
	if (r->n_anchors % 64 == 0)
		r->anchors = be_realloc(r->anchors, r->n_anchors + 64, sizeof(*r->anchors));
	r->anchors[r->n_anchors++] = (struct anchor){ be_strdup((const char *)name), copy };
	return 0;
}

static void drop_anchors(struct reader *r)
{
	for (size_t i = 0; i < r->n_anchors; i++) {
		free(r->anchors[i].name);
		be_node_free(r->anchors[i].node);
	}
	free(r->anchors);
	r->anchors = NULL;
	r->n_anchors = 0;
}

static unsigned depth_of(const struct be_node *node)
{
	unsigned deepest = 0;
	for (size_t i = 0; i < node->n; i++) {
		unsigned depth = depth_of(node->items[i]) + 1;
		if (depth > deepest)
			deepest = depth;
	}
	return deepest;
}

static struct be_node *read_alias(struct reader *r, const yaml_event_t *event, unsigned depth)
{
	const char *name = (const char *)event->data.alias.anchor;
	for (size_t i = r->n_anchors; i-- > 0;) {
		if (strcmp(r->anchors[i].name, name) != 0)
			continue;
		if (depth + depth_of(r->anchors[i].node) > BE_NODE_MAX_DEPTH) {
			fail_at(r, event->start_mark, "nested too deeply");
			return NULL;
		}
		struct be_node *copy = copy_counted(r, r->anchors[i].node, event->start_mark);
		if (copy)
			place(r, copy, event->start_mark);
		return copy;
	}
	fail_at(r, event->start_mark, "alias of an anchor that is not complete or not there");
	return NULL;
}

static struct be_node *read_scalar(struct reader *r, const yaml_event_t *event)
{
	const char *text = (const char *)event->data.scalar.value;
	if (strlen(text) != event->data.scalar.length) {
		fail_at(r, event->start_mark, "a NUL byte in a value");
		return NULL;
	}
	bool plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	if (plain && !event->data.scalar.tag && be_scalar_type(text) == BE_TYPE_NULL)
		return be_node_null();
	struct be_node *node = be_node_str(text);
	node->quoted = !plain;
	return node;
}

static struct be_node *read_node(struct reader *r, yaml_event_t *event, unsigned depth);

static int read_seq(struct reader *r, struct be_node *seq, unsigned depth)
{
	for (;;) {
		yaml_event_t event;
		if (next_event(r, &event) != 0)
			return -1;
		if (event.type == YAML_SEQUENCE_END_EVENT) {
			yaml_event_delete(&event);
			return 0;
		}
		struct be_node *item = read_node(r, &event, depth);
		yaml_event_delete(&event);
		if (!item)
			return -1;
		be_add(seq, item);
	}
}

static int compare_keys(const void *a, const void *b)
{
	const char *const *x = *(const char *const *const *)a, *const *y = *(const char *const *const *)b;
	int c = strcmp(*x, *y);
	return c ? c : (x > y) - (x < y);
}

/* A key below an included text is meant to replace the included one: no word about that. */
static int report_duplicate(struct reader *r, const char *key, yaml_mark_t mark, yaml_mark_t first)
{
	struct place at = place_of(r, mark), before = place_of(r, first);
	if (before.file != at.file)
		return 0;
	be_autofree char *what = be_strf("the key \"%.80s\" stands twice, first in line %u", key, before.line);
	if (!r->source->duplicates)
		return fail_at(r, mark, what);
	be_strv_addf(r->source->duplicates, "%s:%u:%u: %s: the last one counts", at.file, at.line, at.col, what);
	return 0;
}

/* The last value takes the place of the first, as in LKP's reader. */
static void drop_duplicate(struct be_node *map, size_t first, size_t later)
{
	be_node_free(map->items[first]);
	map->items[first] = map->items[later];
	map->items[later] = NULL;
}

static void close_gaps(struct be_node *map)
{
	size_t kept = 0;
	for (size_t i = 0; i < map->n; i++) {
		if (!map->items[i]) {
			free(map->keys[i]);
			continue;
		}
		map->keys[kept] = map->keys[i];
		map->key_lines[kept] = map->key_lines[i];
		map->items[kept++] = map->items[i];
	}
	map->n = kept;
}

static int check_duplicates(struct reader *r, struct be_node *map, const yaml_mark_t *marks)
{
	if (map->n < 2)
		return 0;
	char ***sorted = be_realloc(NULL, map->n, sizeof(*sorted));
	for (size_t i = 0; i < map->n; i++)
		sorted[i] = &map->keys[i];
	qsort(sorted, map->n, sizeof(*sorted), compare_keys);
	int rc = 0;
	size_t first = 0;
	bool gaps = false;
	for (size_t i = 1; i < map->n && rc == 0; i++) {
		if (strcmp(*sorted[first], *sorted[i]) != 0) {
			first = i;
			continue;
		}
		size_t a = (size_t)(sorted[first] - map->keys), b = (size_t)(sorted[i] - map->keys);
		rc = report_duplicate(r, map->keys[b], marks[b], marks[a]);
		if (rc == 0)
			drop_duplicate(map, a, b);
		gaps = gaps || rc == 0;
	}
	free(sorted);
	if (gaps)
		close_gaps(map);
	return rc;
}

/* Owns @key and @value. */
static void add_pair(struct be_node *map, char *key, unsigned line, struct be_node *value)
{
	if (map->n == map->cap) {
		map->cap = map->cap ? map->cap * 2 : 4;
		map->keys = be_realloc(map->keys, map->cap, sizeof(*map->keys));
		map->items = be_realloc(map->items, map->cap, sizeof(*map->items));
		map->key_lines = be_realloc(map->key_lines, map->cap, sizeof(*map->key_lines));
	}
	map->keys[map->n] = key;
	map->key_lines[map->n] = line;
	map->items[map->n++] = value;
}

/* The keys of @from are different ones: only those that @map had before need a look. */
static void merge_missing(struct be_node *map, const struct be_node *from)
{
	struct be_node own = *map;
	for (size_t i = 0; from->kind == BE_MAP && i < from->n; i++) {
		own.keys = map->keys;
		own.items = map->items;
		if (!be_get(&own, from->keys[i]))
			add_pair(map, be_strdup(from->keys[i]), from->key_lines ? from->key_lines[i] : 0,
				 be_node_clone(from->items[i]));
	}
}

/* `<<: *a` and `<<: [*a, *b]`; a text behind `<<:` is LKP's include and stays for the job reader. */
static int apply_merge(struct reader *r, struct be_node *map, yaml_mark_t mark)
{
	struct be_node *merge = be_get(map, "<<");
	if (!merge || merge->kind == BE_SCALAR || merge->kind == BE_NULL)
		return 0;
	be_autonode struct be_node *from = be_node_clone(merge);
	be_unset(map, "<<");
	merge_missing(map, from);
	for (size_t i = 0; from->kind == BE_SEQ && i < from->n && map->n <= BE_NODE_MAX_KEYS; i++)
		merge_missing(map, from->items[i]);
	return map->n <= BE_NODE_MAX_KEYS ? 0 : fail_at(r, mark, "the map has too many keys");
}

static int read_pair(struct reader *r, yaml_event_t *event, struct be_node *map, unsigned depth)
{
	yaml_mark_t mark = event->start_mark;
	be_autonode struct be_node *key = read_node(r, event, depth);
	yaml_event_delete(event);
	if (!key)
		return -1;
	if (key->kind != BE_SCALAR && key->kind != BE_NULL)
		return fail_at(r, mark, "a key must be a single value");
	if (map->n >= BE_NODE_MAX_KEYS)
		return fail_at(r, mark, "the map has too many keys");
	if (next_event(r, event) != 0)
		return -1;
	struct be_node *value = read_node(r, event, depth);
	yaml_event_delete(event);
	if (!value)
		return -1;
	add_pair(map, key->text ? be_steal(&key->text) : be_strdup(""), place_of(r, mark).line, value);
	return 0;
}

static int read_map(struct reader *r, struct be_node *map, unsigned depth)
{
	size_t cap = 4;
	be_autofree yaml_mark_t *marks = be_realloc(NULL, cap, sizeof(*marks)); /* of the keys */
	for (;;) {
		yaml_event_t event;
		if (next_event(r, &event) != 0)
			return -1;
		if (event.type == YAML_MAPPING_END_EVENT) {
			yaml_mark_t mark = event.start_mark;
			yaml_event_delete(&event);
			return check_duplicates(r, map, marks) == 0 ? apply_merge(r, map, mark) : -1;
		}
		if (map->n == cap) {
			cap *= 2;
			marks = be_realloc(marks, cap, sizeof(*marks));
		}
		marks[map->n] = event.start_mark;
		if (read_pair(r, &event, map, depth) != 0)
			return -1;
	}
}

/* `!ruby/object:X` and the like ask the reader to make something other than text, lists and maps. */
static int check_tag(struct reader *r, const yaml_char_t *tag, yaml_mark_t mark)
{
	if (!tag || be_starts((const char *)tag, YAML_PREFIX) || strcmp((const char *)tag, "!") == 0)
		return 0;
	be_autofree char *what = be_strf("the tag \"%.80s\" is not read", (const char *)tag);
	return fail_at(r, mark, what);
}

static struct be_node *read_node(struct reader *r, yaml_event_t *event, unsigned depth)
{
	if (++r->nodes > BE_NODE_MAX_NODES) {
		fail_at(r, event->start_mark, "the document has too many values");
		return NULL;
	}
	if (depth > BE_NODE_MAX_DEPTH) {
		fail_at(r, event->start_mark, "nested too deeply");
		return NULL;
	}
	if (event->type == YAML_ALIAS_EVENT)
		return read_alias(r, event, depth);
	struct be_node *node = NULL;
	int rc = 0;
	const yaml_char_t *anchor = NULL, *tag = NULL;
	if (event->type == YAML_SCALAR_EVENT) {
		node = read_scalar(r, event);
		anchor = event->data.scalar.anchor;
		tag = event->data.scalar.tag;
	} else if (event->type == YAML_SEQUENCE_START_EVENT) {
		node = be_node_seq();
		anchor = event->data.sequence_start.anchor;
		tag = event->data.sequence_start.tag;
		rc = read_seq(r, node, depth + 1);
	} else if (event->type == YAML_MAPPING_START_EVENT) {
		node = be_node_map();
		anchor = event->data.mapping_start.anchor;
		tag = event->data.mapping_start.tag;
		rc = read_map(r, node, depth + 1);
	} else {
		fail_at(r, event->start_mark, "a value is missing");
	}
	if (rc == 0 && node) {
		place(r, node, event->start_mark);
		rc = check_tag(r, tag, event->start_mark);
	}
	if (rc == 0 && node)
		rc = keep_anchor(r, anchor, node, event->start_mark);
	if (rc != 0) {
		be_node_free(node);
		return NULL;
	}
	return node;
}

static int read_documents(struct reader *r, struct be_node *docs)
{
	for (;;) {
		yaml_event_t event;
		if (next_event(r, &event) != 0)
			return -1;
		yaml_event_type_t type = event.type;
		yaml_event_delete(&event);
		if (type == YAML_STREAM_END_EVENT)
			return 0;
		if (type != YAML_DOCUMENT_START_EVENT)
			continue;
		if (next_event(r, &event) != 0)
			return -1;
		struct be_node *doc = read_node(r, &event, 0);
		yaml_event_delete(&event);
		if (!doc)
			return -1;
		be_add(docs, doc);
		drop_anchors(r);
	}
}

static int check_bytes(const struct be_node_source *source, struct be_error *err)
{
	const char *text = source->text;
	if (source->len > BE_NODE_MAX_BYTES)
		return be_fail_usage(err, "%s: %zu bytes; at most %u are read as a document", source->name, source->len,
				     BE_NODE_MAX_BYTES);
	const char *nul = source->len ? memchr(text, '\0', source->len) : NULL;
	if (nul && !(source->len >= 2 && ((unsigned char)text[0] == 0xff || (unsigned char)text[0] == 0xfe)))
		return be_fail_usage(err, "%s: byte %td is NUL: not a text", source->name, nul - text);
	return 0;
}

struct be_node *be_node_read(const struct be_node_source *source, struct be_error *err)
{
	if (check_bytes(source, err) != 0)
		return NULL;
	struct reader r = { .source = source, .name = be_node_intern(source->name), .err = err };
	if (!yaml_parser_initialize(&r.parser)) {
		be_fail(err, "%s: out of memory", source->name);
		return NULL;
	}
	yaml_parser_set_input_string(&r.parser, (const unsigned char *)source->text, source->len);
	struct be_node *docs = be_node_seq();
	docs->file = r.name;
	docs->line = docs->col = 1;
	int rc = read_documents(&r, docs);
	yaml_parser_delete(&r.parser);
	drop_anchors(&r);
	if (rc != 0) {
		be_node_free(docs);
		return NULL;
	}
	return docs;
}

struct be_node *be_node_load(const char *text, size_t len, const char *name, struct be_error *err)
{
	const struct be_node_source source = { .text = text, .len = len, .name = name };
	be_autonode struct be_node *docs = be_node_read(&source, err);
	if (!docs)
		return NULL;
	if (docs->n != 1) {
		be_fail_usage(err, "%s: %zu documents, one is expected", name, docs->n);
		return NULL;
	}
	return be_steal(&docs->items[0]);
}

struct be_node *be_node_load_file(const char *path, struct be_error *err)
{
	be_autobuf struct be_buf text = { 0 };
	if (be_read_file(path, BE_NODE_MAX_BYTES, &text, err) != 0)
		return NULL;
	return be_node_load(text.data, text.len, path, err);
}
