/*
 * `<<: FILE` and `<<: {file: FILE, key: value, ignore: [key]}` on a line: the file's text takes the place of the line.
 * It has to be text, because a recipe may write several of them below each other.
 */
#include "job_source.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"

#define MAX_INCLUDE_DEPTH 16u
#define MAX_INCLUDES 1000u /* of one job file, counting those of its includes */
#define MAX_VARIANTS 64u
#define MAX_SEARCHED 20000u /* files looked at below jobs/ */

struct chain {            /* the files that are being included */
	const char *path; /* as it was reached: what messages show */
	const char *real;
	const struct chain *up;
	unsigned depth;
	unsigned *total; /* includes so far */
};

struct include {
	const struct be_line *line;
	size_t prefix;           /* length of what stands before <<: */
	char *file;              /* as written */
	struct be_node *variant; /* the map, or NULL */
};

static void include_free(struct include *include)
{
	free(include->file);
	be_node_free(include->variant);
}

static int include_lines(const struct be_lines *in, const struct chain *chain, struct be_lines *out,
			 struct be_error *err);

/* What stands before `<<:` may be blanks, dashes, or a key. */
static bool prefix_is_plain(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strchr("#'\"{[", text[i]))
			return false;
	return n == 0 || text[n - 1] == ' ';
}

static char *bare_value(const char *text)
{
	const char *comment = strstr(text, " #");
	be_autofree char *copy = be_strndup(text, comment ? (size_t)(comment - text) : strlen(text));
	char *start = be_trim(copy);
	size_t n = strlen(start);
	if (n > 1 && (*start == '"' || *start == '\'') && start[n - 1] == *start) {
		start[n - 1] = '\0';
		start++;
		n -= 2;
	}
	return be_strndup(start, n);
}

/* Returns 1 and fills @out when the line includes a file, 0 when not, -1 on error. */
static int parse_include(const struct be_line *line, struct include *out, struct be_error *err)
{
	const char *sign = strstr(line->text, "<<:");
	if (!sign || !prefix_is_plain(line->text, (size_t)(sign - line->text)))
		return 0;
	const char *value = sign + 3;
	size_t blanks = strspn(value, " \t");
	value += blanks;
	if (!blanks || !*value || strchr("*[#&", *value))
		return 0;
	*out = (struct include){ .line = line, .prefix = (size_t)(sign - line->text) };
	if (*value != '{') {
		out->file = bare_value(value);
		return 1;
	}
	struct be_origin at = line->at;
	at.shift -= (int)(value - line->text);
	struct be_node_source source = {
		.text = value, .len = strlen(value), .name = line->at.file, .lines = &at, .n_lines = 1
	};
	be_autonode struct be_node *docs = be_node_read(&source, err);
	if (!docs)
		return -1;
	const char *file = docs->n ? be_get_str(docs->items[0], "file", NULL) : NULL;
	if (!file)
		return 0; /* an ordinary merge */
	if (docs->items[0]->n > MAX_VARIANTS) {
		be_line_fail(line, (size_t)(value - line->text), err, "more than %u keys in an include", MAX_VARIANTS);
		return -1;
	}
	out->file = be_strndup(file, strlen(file));
	out->variant = be_steal(&docs->items[0]);
	return 1;
}

static bool is_file(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? be_strndup(path, slash == path ? 1 : (size_t)(slash - path)) : be_strdup(".");
}

/* The nearest folder jobs/ or hosts/ at or above @folder, or NULL. */
static char *nearest_root(const char *folder)
{
	be_autofree char *real = realpath(folder, NULL);
	while (real && strrchr(real, '/')) {
		if (be_ends(real, "/jobs") || be_ends(real, "/hosts"))
			return be_steal(&real);
		*strrchr(real, '/') = '\0';
	}
	return NULL;
}

/* The first file, in the order of names, whose path ends in /@file. */
static char *search_below(const char *folder, const char *file, unsigned depth, unsigned *searched)
{
	be_autofree char *here = be_strf("%s/%s", folder, file);
	if (is_file(here))
		return be_steal(&here);
	struct be_root root = { .prefix = NULL };
	be_autostrv struct be_strv names = { 0 };
	root.prefix = (char *)folder;
	if (depth == 0 || be_root_list(&root, "/", &names) != 0)
		return NULL;
	for (size_t i = 0; i < names.n; i++) {
		if (++*searched > MAX_SEARCHED)
			return NULL;
		be_autofree char *below = be_strf("%s/%s", folder, names.v[i]);
		struct stat st;
		if (lstat(below, &st) != 0 || !S_ISDIR(st.st_mode))
			continue;
		char *found = search_below(below, file, depth - 1, searched);
		if (found)
			return found;
	}
	return NULL;
}

static char *find_file(const struct include *include, const char *from, struct be_error *err)
{
	if (*include->file == '/' || !*include->file) {
		be_line_fail(include->line, include->prefix, err,
			     "an include names a file beside this one or below jobs/, not \"%s\"", include->file);
		return NULL;
	}
	be_autofree char *folder = folder_of(from);
	bool here = strcmp(folder, ".") == 0;
	be_autofree char *beside = be_strf("%s%s%s", here ? "" : folder, here ? "" : "/", include->file);
	if (is_file(beside))
		return be_steal(&beside);
	be_autofree char *jobs = nearest_root(folder);
	be_autofree char *root = jobs ? folder_of(jobs) : NULL;
	be_autofree char *at_root = root ? be_strf("%s/%s", root, include->file) : NULL;
	if (at_root && is_file(at_root))
		return be_steal(&at_root);
	unsigned searched = 0;
	char *found = jobs ? search_below(jobs, include->file, MAX_INCLUDE_DEPTH, &searched) : NULL;
	if (!found) {
		be_line_fail(include->line, include->prefix, err, "the included file \"%s\" is not there",
			     include->file);
		be_hint(err, "an include lies beside the file that names it, or below the nearest folder jobs/");
	}
	return found;
}

static void add_flow(struct be_buf *out, const struct be_node *node)
{
	switch (node->kind) {
	case BE_NULL:
		break;
	case BE_SCALAR:
		if (!node->quoted) {
			be_buf_adds(out, node->text);
			break;
		}
		be_buf_addc(out, '\'');
		for (const char *p = node->text; *p; p++)
			be_buf_adds(out, *p == '\'' ? "''" : (char[]){ *p, '\0' });
		be_buf_addc(out, '\'');
		break;
	case BE_SEQ:
	case BE_MAP:
		be_buf_addc(out, node->kind == BE_SEQ ? '[' : '{');
		for (size_t i = 0; i < node->n; i++) {
			be_buf_adds(out, i ? ", " : "");
			if (node->kind == BE_MAP)
				be_buf_addf(out, "%s: ", node->keys[i]);
			add_flow(out, node->items[i]);
		}
		be_buf_addc(out, node->kind == BE_SEQ ? ']' : '}');
	}
}

static bool is_key_line(const char *text, const char *key)
{
	size_t n = strlen(key);
	return strncmp(text, key, n) == 0 && text[n] == ':' && (text[n + 1] == ' ' || !text[n + 1]);
}

static bool is_document_start(const char *text)
{
	return be_starts(text, "---") && (!text[3] || text[3] == ' ');
}

/* The line behind the last one that belongs to the key at line @i. */
static size_t block_end(const struct be_lines *in, size_t i)
{
	size_t end = i + 1;
	for (size_t k = i + 1; k < in->n; k++) {
		const char *text = in->v[k].text;
		if (*text && *text != ' ' && *text != '\t' && !(text[0] == '-' && text[1] == ' '))
			break;
		if (text[strspn(text, " \t")])
			end = k + 1;
	}
	return end;
}

static bool ignores(const struct be_node *variant, const char *text)
{
	be_autostrv struct be_strv ignored = { 0 };
	be_get_strv(variant, "ignore", &ignored);
	for (size_t i = 0; i < ignored.n; i++)
		if (is_key_line(text, ignored.v[i]))
			return true;
	return false;
}

static void add_variant_line(const struct be_node *variant, size_t i, struct be_origin at, struct be_lines *out)
{
	be_autobuf struct be_buf line = { 0 };
	be_buf_addf(&line, "%s: ", variant->keys[i]);
	add_flow(&line, variant->items[i]);
	be_lines_take(out, be_buf_steal(&line), at);
}

static bool is_directive(const char *key)
{
	return strcmp(key, "file") == 0 || strcmp(key, "ignore") == 0;
}

/* Adds the keys that the document did not have, and forgets which it had. */
static void end_document(const struct be_node *variant, bool *done, struct be_origin at, struct be_lines *out)
{
	for (size_t i = 0; i < variant->n; i++) {
		if (!done[i] && !is_directive(variant->keys[i]))
			add_variant_line(variant, i, at, out);
		done[i] = false;
	}
}

/* In each document of @in a key of @variant takes the place of the key that is there, or goes to the end. */
static void apply_variant(struct be_lines *in, const struct be_node *variant, struct be_origin at, struct be_lines *out)
{
	be_autofree bool *done = be_alloc(variant->n * sizeof(*done));
	for (size_t i = 0; i < in->n;) {
		const char *text = in->v[i].text;
		size_t hit = SIZE_MAX;
		if (is_document_start(text) && i)
			end_document(variant, done, at, out);
		for (size_t k = 0; k < variant->n && hit == SIZE_MAX; k++)
			if (!is_directive(variant->keys[k]) && is_key_line(text, variant->keys[k]))
				hit = k;
		if (hit != SIZE_MAX) {
			add_variant_line(variant, hit, at, out);
			done[hit] = true;
		}
		if (hit != SIZE_MAX || ignores(variant, text)) {
			i = block_end(in, i);
			continue;
		}
		be_lines_take(out, be_steal(&in->v[i].text), in->v[i].at);
		i++;
	}
	end_document(variant, done, at, out);
}

/* A list item or key before `<<:` keeps its line; the included text stands below it, further right. */
static int indent_into(struct be_lines *in, const struct include *include, struct be_lines *out, struct be_error *err)
{
	const char *before = include->line->text;
	size_t n = include->prefix;
	if (strspn(before, " ") < n)
		be_lines_take(out, be_strndup(before, n), include->line->at);
	for (size_t i = 0; i < in->n; i++) {
		struct be_line *line = &in->v[i];
		bool starts = is_document_start(line->text);
		if (n && starts && i)
			return be_line_fail(include->line, n, err,
					    "\"%s\" has several documents: it can only be included at the left margin",
					    include->file);
		line->at.shift += (int)n;
		if (!n)
			be_lines_take(out, be_steal(&line->text), line->at);
		else
			be_lines_take(out, be_strf("%*s%s", (int)n, "", starts ? "" : line->text), line->at);
	}
	return 0;
}

static int check_chain(const struct include *include, const char *real, const struct chain *chain, struct be_error *err)
{
	for (const struct chain *c = chain; c; c = c->up)
		if (strcmp(c->real, real) == 0)
			return be_line_fail(include->line, include->prefix, err, "\"%s\" includes itself",
					    include->file);
	if (chain->depth >= MAX_INCLUDE_DEPTH)
		return be_line_fail(include->line, include->prefix, err, "includes are nested too deeply");
	if (++*chain->total > MAX_INCLUDES)
		return be_line_fail(include->line, include->prefix, err, "more than %u includes", MAX_INCLUDES);
	return 0;
}

static int include_file(const struct include *include, const struct chain *chain, struct be_lines *out,
			struct be_error *err)
{
	be_autofree char *path = find_file(include, chain->path, err);
	be_autofree char *real = path ? realpath(path, NULL) : NULL;
	if (!path || check_chain(include, real ? real : path, chain, err) != 0)
		return -1;
	struct chain next = {
		.path = path, .real = real ? real : path, .up = chain, .depth = chain->depth + 1, .total = chain->total
	};
	be_autolines struct be_lines raw = { 0 }, whole = { 0 }, varied = { 0 };
	if (be_lines_read(path, NULL, NULL, &raw, err) != 0 || include_lines(&raw, &next, &whole, err) != 0)
		return -1;
	if (!include->variant)
		return indent_into(&whole, include, out, err);
	apply_variant(&whole, include->variant, include->line->at, &varied);
	return indent_into(&varied, include, out, err);
}

static int include_lines(const struct be_lines *in, const struct chain *chain, struct be_lines *out,
			 struct be_error *err)
{
	for (size_t i = 0; i < in->n; i++) {
		const struct be_line *line = &in->v[i];
		struct include include = { 0 };
		int rc = parse_include(line, &include, err);
		if (rc > 0)
			rc = include_file(&include, chain, out, err);
		else if (rc == 0)
			be_lines_take(out, be_strdup(line->text), line->at);
		include_free(&include);
		if (rc < 0)
			return -1;
		if (out->bytes > BE_NODE_MAX_BYTES)
			return be_line_fail(line, 0, err, "with its includes the file is larger than %u bytes",
					    BE_NODE_MAX_BYTES);
	}
	return 0;
}

int be_lines_include(const struct be_lines *in, const char *path, struct be_lines *out, struct be_error *err)
{
	be_autofree char *real = realpath(path, NULL);
	unsigned total = 0;
	struct chain chain = { .path = path, .real = real ? real : path, .total = &total };
	return include_lines(in, &chain, out, err);
}
