/* `{{ ... }}` in a value: evaluated by expr.h with the values that outer lists have fixed so far. */
#include "job_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expr.h"
#include "host.h"

bool be_is_template(const char *text)
{
	const char *open = strstr(text, "{{");
	return open && strstr(open, "}}");
}

struct scope {
	const struct be_node *job;
	struct be_machine *machine;
	const char *compound; /* a name that was asked for and holds a list or a map */
	char compound_name[128];
};

static struct be_value value_of(const struct be_node *node)
{
	if (node->kind == BE_NULL)
		return be_value_nil();
	int64_t number;
	if (node->quoted)
		return be_value_text(node->text);
	switch (be_scalar_type(node->text)) {
	case BE_TYPE_TRUE:
		return be_value_bool(true);
	case BE_TYPE_FALSE:
		return be_value_bool(false);
	case BE_TYPE_INT:
		return be_parse_int(node->text, &number) ? be_value_int(number) : be_value_text(node->text);
	default:
		return be_value_text(node->text);
	}
}

/* A machine that is not there is no error here: the template then asks for a name that does not exist. */
static const struct be_node *machine_of(const struct scope *scope)
{
	struct be_machine *machine = scope->machine;
	if (machine->host || machine->looked)
		return machine->host ? machine->host : machine->own;
	struct be_error err = BE_ERROR_INIT;
	be_autostrv struct be_strv warnings = { 0 };
	machine->own = be_host_of_job(scope->job, machine->data_dir, &warnings, NULL, NULL, &err);
	machine->looked = true;
	return machine->own;
}

static bool lookup(void *data, const char *name, struct be_value *out)
{
	struct scope *scope = data;
	const struct be_node *node = be_get_path(scope->job, name);
	if (!node)
		node = be_get(machine_of(scope), name);
	if (!node)
		return false;
	if (node->kind == BE_SEQ || node->kind == BE_MAP) {
		snprintf(scope->compound_name, sizeof(scope->compound_name), "%s", name);
		scope->compound = node->kind == BE_SEQ ? "a list here" : "a map";
		return false;
	}
	*out = value_of(node);
	return true;
}

/* Where the byte at @offset of a quoted text stood. */
static void position(const struct be_node *node, size_t offset, unsigned *line, unsigned *col)
{
	*line = node->line;
	*col = node->col + 1;
	for (size_t i = 0; i < offset; i++) {
		if (node->text[i] == '\n') {
			++*line;
			*col = 1;
		} else {
			++*col;
		}
	}
}

/* The expression begins at @start of the text; @line and @col, from 1, are within it. */
static int fail_in(const struct be_node *node, size_t start, unsigned line, unsigned col, const struct scope *scope,
		   struct be_error *err)
{
	unsigned first_line, first_col;
	position(node, start, &first_line, &first_col);
	be_autofree char *where = node->file ? be_strf("%s:%u:%u", node->file, first_line + line - 1,
						       line > 1 ? col : first_col + col - 1)
					     : be_strf("--set \"%s\"", node->text);
	if (scope->compound)
		return be_fail_usage(err, "%s: \"%s\" is %s: a template can ask only for a single value", where,
				     scope->compound_name, scope->compound);
	return be_wrap(err, "%s", where);
}

/* A template that is the whole value keeps its kind: 300 is a number. */
static struct be_node *result(const struct be_node *node, const struct be_value *only, struct be_buf *text)
{
	struct be_node *out = be_node_str(text->data ? text->data : "");
	out->quoted = !only || only->kind == BE_VALUE_TEXT;
	out->file = node->file;
	position(node, 0, &out->line, &out->col);
	return out;
}

int be_template_eval(const struct be_node *node, const struct be_node *job, struct be_machine *machine,
		     struct be_node **out, struct be_error *err)
{
	struct scope scope = { .job = job, .machine = machine };
	const struct be_expr_env env = { .lookup = lookup, .data = &scope };
	be_autobuf struct be_buf text = { 0 };
	be_autovalue struct be_value value = be_value_nil();
	const char *at = node->text, *open, *close;
	bool whole = be_starts(at, "{{") && strstr(at, "}}")[2] == '\0';
	*out = NULL;
	while ((open = strstr(at, "{{")) && (close = strstr(open, "}}"))) {
		be_buf_add(&text, at, (size_t)(open - at));
		be_autofree char *inner = be_strndup(open + 2, (size_t)(close - open - 2));
		unsigned line = 1, col = 1;
		be_value_free(&value);
		value = be_value_nil();
		if (be_expr_eval(inner, &env, &value, &line, &col, err) != 0)
			return fail_in(node, (size_t)(open + 2 - node->text), line, col, &scope, err);
		if (value.kind == BE_VALUE_NIL)
			return 0;
		be_autofree char *part = be_value_str(&value);
		be_buf_adds(&text, part);
		at = close + 2;
		if (text.len > BE_EXPR_MAX_TEXT)
			return be_fail_usage(err, "%s: the template's value is too long", be_where(node));
	}
	be_buf_adds(&text, at);
	*out = result(node, whole ? &value : NULL, &text);
	return 0;
}
