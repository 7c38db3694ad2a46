/*
 * A document as a tree: what YAML files are read into and what every document is written from. Scalars keep their text;
 * what it means (number, size, truth) is decided by who asks. Every node knows where it stood.
 */
#ifndef BE_BASE_NODE_H
#define BE_BASE_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

enum be_kind { BE_NULL, BE_SCALAR, BE_SEQ, BE_MAP };

struct be_node {
	enum be_kind kind;
	bool quoted;            /* scalar: stood in quotes or as a block, so it is text whatever it looks like */
	unsigned line, col;     /* from 1; 0: not read from a file */
	const char *file;       /* name for messages; lives as long as the program (interned) */
	char *text;             /* scalar */
	char **keys;            /* map: keys[i] belongs to items[i] */
	struct be_node **items; /* map and seq */
	size_t n, cap;
	unsigned *key_lines; /* map: the lines of the keys, or NULL */
};

/* Limits of be_node_load: a document beyond them is an error, never slow. */
#define BE_NODE_MAX_BYTES (4u << 20)
#define BE_NODE_MAX_NODES 200000u
#define BE_NODE_MAX_DEPTH 64u
#define BE_NODE_MAX_KEYS 4096u /* of one map: lookups are linear */

/* The one lasting copy of a name for `file` above. */
const char *be_node_intern(const char *name);

void be_node_free(struct be_node *node); /* NULL is fine */
void be_node_free_ptr(struct be_node **node);
#define be_autonode be_cleanup(be_node_free_ptr)

/*
 * Reads one document. @name is used in messages ("job.yaml:12:3: ..."). Duplicate keys, aliases that would expand
 * beyond the limits, NUL bytes and text that is not UTF-8 are errors with their position. Returns a tree that the
 * caller frees.
 */
struct be_node *be_node_load(const char *text, size_t len, const char *name, struct be_error *err);
struct be_node *be_node_load_file(const char *path, struct be_error *err);

/* Where a line of a text came from, when the text was put together from several files. */
struct be_origin {
	const char *file; /* interned */
	unsigned line;
	int shift; /* columns by which the line stands further right than in its file */
};
struct be_node_source {
	const char *text;
	size_t len;
	const char *name;
	const struct be_origin *lines; /* of each line, or NULL: the text is the file @name */
	size_t n_lines;
	/* Not NULL: of a key that stands twice the last value counts. Within one file that is worth a warning. */
	struct be_strv *duplicates;
};
/* All documents of a text with its origins; positions are those of the files that the lines came from. */
struct be_node *be_node_read(const struct be_node_source *source, struct be_error *err);

/* Length of the well-formed UTF-8 sequence at @text that a document may hold, or 0. */
size_t be_utf8_length(const char *text);

struct be_node *be_node_null(void);
struct be_node *be_node_map(void);
struct be_node *be_node_seq(void);
struct be_node *be_node_str(const char *text); /* text: quoted on output where it would read as something else */
struct be_node *be_node_strf(const char *fmt, ...) BE_PRINTF(1, 2);
struct be_node *be_node_int(int64_t value);
struct be_node *be_node_real(double value); /* up to 6 significant decimals, the same in every locale */
struct be_node *be_node_bool(bool value);
struct be_node *be_node_clone(const struct be_node *node);
struct be_node *be_node_strv(const struct be_strv *list);             /* a sequence of texts */
bool be_node_equal(const struct be_node *a, const struct be_node *b); /* kinds, keys in order, texts; not positions */

/* Lookups accept NULL for @map and kinds other than map, and then return NULL. */
struct be_node *be_get(const struct be_node *map, const char *key);
struct be_node *be_get_path(const struct be_node *map, const char *dotted); /* "a.b.c" */
/* The text of a scalar, or @fallback when the key is missing, null, or no scalar. */
const char *be_get_str(const struct be_node *map, const char *key, const char *fallback);
int64_t be_get_int(const struct be_node *map, const char *key, int64_t fallback); /* whole decimal numbers only */
double be_get_real(const struct be_node *map, const char *key, double fallback);
bool be_get_bool(const struct be_node *map, const char *key, bool fallback);       /* true/yes/on, false/no/off */
void be_get_strv(const struct be_node *map, const char *key, struct be_strv *out); /* adds; a scalar is a list of one */

/* Setters replace an existing key in its place or add at the end; they take ownership of @value. */
void be_set(struct be_node *map, const char *key, struct be_node *value);
void be_set_path(struct be_node *map, const char *dotted, struct be_node *value); /* makes the maps between */
void be_set_str(struct be_node *map, const char *key, const char *value);         /* NULL: nothing is set */
void be_set_int(struct be_node *map, const char *key, int64_t value);
bool be_unset(struct be_node *map, const char *key);
void be_add(struct be_node *seq, struct be_node *value);
void be_add_str(struct be_node *seq, const char *value);

/* "job.yaml:12:3" of a node, in a static ring of buffers; "" when the node was not read from a file. */
const char *be_where(const struct be_node *node);

/* What a plain scalar reads as in YAML 1.1; ODD is what readers disagree about (0x21, 012, 1e5, dates, y). */
enum be_scalar_type { BE_TYPE_TEXT, BE_TYPE_NULL, BE_TYPE_TRUE, BE_TYPE_FALSE, BE_TYPE_INT, BE_TYPE_REAL, BE_TYPE_ODD };
enum be_scalar_type be_scalar_type(const char *text);

/* Output: block style, short sequences of scalars in flow style, multi-line texts as literal blocks, LF. */
int be_node_yaml(const struct be_node *node, struct be_buf *out, struct be_error *err) BE_MUST_CHECK;
/* JSON: plain scalars that YAML 1.1 reads as null, truth, integer or decimal become those, all else text. */
int be_node_json(const struct be_node *node, struct be_buf *out, struct be_error *err) BE_MUST_CHECK;
/* JSON in which every scalar is text (true and false spelt so) and null is null. */
int be_node_json_text(const struct be_node *node, struct be_buf *out, struct be_error *err) BE_MUST_CHECK;

#endif
