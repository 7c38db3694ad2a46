/* What the readers of mails share; no use outside recipes/mail*.c. */
#ifndef BE_MAIL_PARTS_H
#define BE_MAIL_PARTS_H

#include "mail.h"

/* A mail that seems to hold more tables of a kind is no report; each costs a look at all its lines. */
#define BE_MAIL_MAX_TABLES 100

struct be_mail_line {
	char *text;      /* without quote marks, blanks at both ends and line end; ASCII */
	unsigned depth;  /* quote marks in front */
	unsigned number; /* of the line in the mail, from 1 */
	bool flat;       /* was cut out of a longer line: where it ends is not known, only its first word is sure */
};

struct be_mail_lines {
	struct be_mail_line *v;
	size_t n, cap;
};

/* Cuts @text into lines; a mail that was flattened to one line is unfolded at its quote marks and keys. */
void be_mail_lines_cut(const char *text, size_t len, struct be_mail_lines *out);
void be_mail_lines_free(struct be_mail_lines *lines);
#define be_automaillines be_cleanup(be_mail_lines_free)

/* Sets `date` and `date_from` of @table, which stands at line index @at. */
void be_mail_set_date(struct be_node *table, const struct be_mail_lines *lines, size_t at);

/* Length of the key at the start of @text when it is `key:`, followed by a blank or the end; else 0. */
size_t be_mail_key(const char *text);
/* The text behind @prefix and blanks, or NULL; upper and lower case count the same. */
const char *be_mail_after(const char *text, const char *prefix);
/* A value as it goes to a job: whole numbers stay numbers, quote marks around a text are no part of it. */
struct be_node *be_mail_value(const char *text);
/* True when @text could be the address of a person: such a value is no parameter. */
bool be_mail_personal(const char *text);
/* Copies a commit from the start of @text: a hash of 7 to 40 digits or a tag of a kernel; NULL: there is none. */
char *be_mail_commit(const char *text);

/* Sets `commits` of @table, whose head ends before line index @at: the commits that it compares, base first. */
void be_mail_read_commits(const struct be_mail_lines *lines, size_t at, struct be_node *table);

/* Each adds what it finds to @tables. */
void be_mail_find_blocks(const struct be_mail_lines *lines, struct be_node *tables);
void be_mail_find_headers(const struct be_mail_lines *lines, struct be_node *tables);
void be_mail_find_boxes(const struct be_mail_lines *lines, struct be_node *tables);
void be_mail_find_paths(const struct be_mail_lines *lines, struct be_node *tables);
/* By the patterns of @rules, a list of mail.yaml; adds at most one. */
int be_mail_find_prose(const struct be_mail_lines *lines, const struct be_node *rules, struct be_node *tables,
		       struct be_error *err) BE_MUST_CHECK;

/*
 * Gives each of @keys (a sequence) its value of @values, a text joined by slashes, of which a value may hold some
 * itself: then @known (a map, may be NULL) decides. Returns a map, or NULL when there is no way or more than one.
 */
struct be_node *be_mail_align(const struct be_node *keys, const char *values, const struct be_node *known);

/* One table for each test of what was found: blocks with their heads and paths. Returns a sequence. */
struct be_node *be_mail_merge(const struct be_node *blocks, const struct be_node *headers, const struct be_node *paths);
/* Adds the boxes, each once; they stay apart from tests that the mail reports in full. */
void be_mail_add_boxes(struct be_node *tables, const struct be_node *boxes);

/*
 * Gives the values of @path_params to those of @keys that they belong to, by @patterns (key -> expression). *@map is
 * NULL when there is no way or more than one.
 */
int be_mail_decode(const char *path_params, const struct be_node *patterns, const struct be_strv *keys,
		   struct be_node **map, struct be_error *err) BE_MUST_CHECK;

#endif
