/* Pieces of the manifest's mail form; only its own files include this. */
#ifndef BE_MANIFEST_TEXT_H
#define BE_MANIFEST_TEXT_H

#include "base/node.h"

/*
 * A text for the public: control characters become blanks, and the serial in a disk's name ("ata-MODEL_SERIAL-part1")
 * becomes "...". The caller frees.
 */
char *be_text_public(const char *text);
/* The length of what a disk's by-id name begins with at @s, up to its serial; 0 when none begins there. */
size_t be_disk_model_length(const char *s, size_t len);
/* A value in one line: lists joined by commas, maps as "key value"; identities of a device are left out. */
char *be_value_line(const struct be_node *value);
/* Cuts @text in place to @width bytes, at least 3, and says so by "...". */
void be_text_shorten(char *text, size_t width);
/* Adds @text broken at blanks to lines of BE_MANIFEST_COLUMNS, the first led by @first, the others by @rest. */
void be_wrap_text(struct be_buf *out, const char *first, const char *rest, const char *text);

/* The same for words with @glue between those on a line. */
void be_wrap_words(struct be_buf *out, const char *first, const char *rest, const struct be_strv *words,
		   const char *glue);

/*
 * manifest_table.c: the factors, those that differ and those that decided results before at the top; at most @rows of
 * them, 0: all that the manifest has.
 */
int be_factor_table(const struct be_node *manifest, const struct be_node *factors, size_t rows, struct be_buf *out,
		    struct be_error *err) BE_MUST_CHECK;
int be_factor_entry(const struct be_node *manifest, const struct be_node *factors, const char *name, struct be_buf *out,
		    struct be_error *err) BE_MUST_CHECK;

#endif
