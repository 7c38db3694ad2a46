/*
 * The text of a job or host file as the YAML reader gets it: mail quoting undone, includes put in, templates made into
 * texts, section markers taken out; every line knows where it came from. Used by the readers of jobs and hosts only.
 */
#ifndef BE_JOB_SOURCE_H
#define BE_JOB_SOURCE_H

#include "base/node.h"

struct be_line {
	char *text; /* without its end */
	struct be_origin at;
};

struct be_lines {
	struct be_line *v;
	size_t n, cap;
	size_t bytes;
};

struct be_section { /* `#! jobs/x.yaml`, `:#! hosts/y:` ... in the file itself, not in what it includes */
	unsigned line;
	char *title; /* "jobs/x.yaml" */
};

struct be_source {
	char *path;
	char *verbatim;
	struct be_lines lines;
	struct be_section *sections; /* in the order of the file */
	size_t n_sections;
};

/* Reads @path (its bytes are @content, where not NULL) and all that it includes. The caller frees @out, also after a
 * failure. */
int be_source_read(const char *path, const struct be_buf *content, struct be_source *out,
		   struct be_error *err) BE_MUST_CHECK;
void be_source_free(struct be_source *source);
#define be_autosource be_cleanup(be_source_free)
/* The documents. Keys that stand twice are warnings: the last one counts, as in LKP. */
struct be_node *be_source_documents(const struct be_source *source, struct be_strv *warnings, struct be_error *err);
/* "job.yaml:12:3" of key @i of @map, which came from @source. The caller frees. */
char *be_source_key_where(const struct be_source *source, const struct be_node *map, size_t i);

/* Shared by the files of this module. */
void be_lines_free(struct be_lines *lines);
#define be_autolines be_cleanup(be_lines_free)
void be_lines_take(struct be_lines *lines, char *text, struct be_origin at); /* takes ownership of @text */
/* One file (or @content, where not NULL) as lines, without markers (added to @source where it is not NULL), templates
 * folded. */
int be_lines_read(const char *path, const struct be_buf *content, struct be_source *source, struct be_lines *out,
		  struct be_error *err) BE_MUST_CHECK;
/* Puts the includes of @in, which came from @path, in their places. */
int be_lines_include(const struct be_lines *in, const char *path, struct be_lines *out,
		     struct be_error *err) BE_MUST_CHECK;
/* Makes each `{{ ... }}` that stands unquoted as a value into one double-quoted line. */
int be_lines_fold(struct be_lines *in, struct be_lines *out, struct be_error *err) BE_MUST_CHECK;
int be_line_fail(const struct be_line *line, size_t offset, struct be_error *err, const char *fmt, ...) BE_PRINTF(4, 5);
size_t be_line_indent(const char *text);
/* Does the line end with the sign of a block text (`|`, `>-` ...)? */
bool be_line_opens_block(const char *text);

#endif
