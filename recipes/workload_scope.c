#include "workload_scope.h"

#include <inttypes.h>
#include <string.h>

#include "rules.h"

#define MAX_ITEMS 4096

void be_scope_free(struct be_scope *scope)
{
	for (size_t i = 0; i < scope->n; i++) {
		free(scope->vars[i].name);
		be_value_free(&scope->vars[i].value);
	}
	free(scope->vars);
	scope->vars = NULL;
	scope->n = scope->cap = 0;
}

void be_scope_set(struct be_scope *scope, const char *name, struct be_value value)
{
	if (scope->n == scope->cap) {
		scope->cap = scope->cap ? 2 * scope->cap : 32;
		scope->vars = be_realloc(scope->vars, scope->cap, sizeof(scope->vars[0]));
	}
	scope->vars[scope->n++] = (struct be_variable){ .name = be_strdup(name), .value = value };
}

/* Removes the variables that were set since there were @n. */
static void forget(struct be_scope *scope, size_t n)
{
	while (scope->n > n) {
		struct be_variable *last = &scope->vars[--scope->n];
		free(last->name);
		be_value_free(&last->value);
	}
}

static bool lookup(void *data, const char *name, struct be_value *out)
{
	const struct be_scope *scope = data;
	for (size_t i = scope->n; i-- > 0;) {
		const struct be_value *value = &scope->vars[i].value;
		if (strcmp(scope->vars[i].name, name) != 0)
			continue;
		*out = value->kind == BE_VALUE_TEXT ? be_value_text(value->text) : *value;
		return true;
	}
	return false;
}

static int eval_text(struct be_scope *scope, const char *text, const struct be_node *where, struct be_value *out,
		     struct be_error *err)
{
	struct be_expr_env env = { .lookup = lookup, .data = scope, .count_base = scope->size.nr_cpu };
	unsigned line, col;
	if (be_expr_eval(text, &env, out, &line, &col, err) == 0)
		return 0;
	return be_wrap(err, "%s: in '%.60s', column %u", be_where(where), text, col);
}

int be_scope_eval(struct be_scope *scope, const struct be_node *node, struct be_value *out, struct be_error *err)
{
	*out = be_value_nil();
	if (node->kind != BE_SCALAR)
		return be_fail_usage(err, "%s: an expression must be one text", be_where(node));
	return eval_text(scope, node->text, node, out, err);
}

int be_scope_eval_int(struct be_scope *scope, const struct be_node *node, int64_t *out, struct be_error *err)
{
	be_autovalue struct be_value value = be_value_nil();
	if (be_scope_eval(scope, node, &value, err))
		return -1;
	if (value.kind != BE_VALUE_INT)
		return be_fail_usage(err, "%s: '%.60s' gives no number", be_where(node), node->text);
	*out = value.number;
	return 0;
}

/* End of the expression that begins at @p, behind "${": the brace that is not in quotes. */
static const char *expression_end(const char *p)
{
	char quote = '\0';
	for (; *p && (quote || *p != '}'); p++) {
		if (quote)
			quote = *p == quote ? '\0' : quote;
		else if (*p == '\'' || *p == '"')
			quote = *p;
	}
	return *p ? p : NULL;
}

char *be_scope_text(struct be_scope *scope, const struct be_node *node, struct be_error *err)
{
	be_autobuf struct be_buf out = { 0 };
	const char *p = node->text;
	for (const char *open; (open = strstr(p, "${")); p++) {
		be_autovalue struct be_value value = be_value_nil();
		const char *end = expression_end(open + 2);
		if (!end) {
			be_fail_usage(err, "%s: ${ without }", be_where(node));
			return NULL;
		}
		be_autofree char *expr = be_strndup(open + 2, (size_t)(end - open) - 2);
		if (eval_text(scope, expr, node, &value, err))
			return NULL;
		if (value.kind == BE_VALUE_NIL) {
			be_fail_usage(err, "%s: ${%s} has no value", be_where(node), expr);
			return NULL;
		}
		be_autofree char *text = be_value_str(&value);
		be_buf_add(&out, p, (size_t)(open - p));
		be_buf_adds(&out, text);
		p = end;
	}
	be_buf_adds(&out, p);
	return be_buf_steal(&out);
}

int be_scope_holds(struct be_scope *scope, const struct be_node *node, struct be_error *err)
{
	const char *since = be_get_str(node, "since", NULL), *until = be_get_str(node, "until", NULL);
	if ((since && !be_rules_since(scope->rules, since)) || (until && be_rules_since(scope->rules, until)))
		return 0;
	const struct be_node *condition = be_get(node, "if");
	if (!condition)
		return 1;
	be_autovalue struct be_value value = be_value_nil();
	if (be_scope_eval(scope, condition, &value, err))
		return -1;
	return be_value_true(&value);
}

static int add_items(struct be_scope *scope, const struct be_node *items, struct be_strv *out, struct be_error *err)
{
	return items ? be_scope_list(scope, items, out, err) : 0;
}

/* A list that the job gives (unit: list): its items are the job's own text, in which only {testdir} stands for more. */
static char *own_text(struct be_scope *scope, const char *text)
{
	static const char mark[] = "{testdir}";
	be_autobuf struct be_buf out = { 0 };
	be_autovalue struct be_value testdir = be_value_nil();
	if (!lookup(scope, "testdir", &testdir) || testdir.kind != BE_VALUE_TEXT)
		return be_strdup(text);
	for (const char *at; (at = strstr(text, mark)); text = at + strlen(mark)) {
		be_buf_add(&out, text, (size_t)(at - text));
		be_buf_adds(&out, testdir.text);
	}
	be_buf_adds(&out, text);
	return be_buf_steal(&out);
}

/* One round of `each`: @member is the storage or the item of a list, NULL for plain numbers. */
static int one_round(struct be_scope *scope, const struct be_node *node, const struct be_node *member, int64_t index,
		     struct be_strv *out, struct be_error *err)
{
	size_t before = scope->n;
	be_scope_set(scope, "index", be_value_int(index));
	if (member && member->kind == BE_MAP) {
		be_scope_set(scope, "mount", be_value_text(be_get_str(member, "mount", NULL)));
		be_scope_set(scope, "device", be_value_text(be_get_str(member, "device", NULL)));
	} else if (member) {
		be_autofree char *text = own_text(scope, member->text);
		be_scope_set(scope, "item", be_value_text(text));
	}
	int rc = add_items(scope, be_get(node, "items"), out, err);
	forget(scope, before);
	return rc;
}

static const struct be_node *list_named(const struct be_scope *scope, const char *name)
{
	const struct be_node *list = be_get(be_get(scope->workload, "parameters"), name);
	if (strcmp(name, "storages") == 0)
		list = be_get(scope->workload, "storages");
	return list && list->kind == BE_SEQ ? list : NULL;
}

static bool is_list_parameter(const struct be_scope *scope, const char *name)
{
	const struct be_node *parameters = be_get(be_get(scope->workload, "definition"), "parameters");
	return strcmp(name, "storages") == 0 || strcmp(be_get_str(be_get(parameters, name), "unit", ""), "list") == 0;
}

static int each(struct be_scope *scope, const struct be_node *node, struct be_strv *out, struct be_error *err)
{
	const struct be_node *over = be_get(node, "each");
	int64_t n = 0;
	const struct be_node *list = NULL;
	if (over->kind == BE_SCALAR && is_list_parameter(scope, over->text)) {
		list = list_named(scope, over->text);
		n = list ? (int64_t)list->n : 0;
	} else if (be_scope_eval_int(scope, over, &n, err)) {
		return -1;
	}
	if (n > MAX_ITEMS)
		return be_fail_usage(err, "%s: %" PRId64 " items are more than %d", be_where(over), n, MAX_ITEMS);
	for (int64_t i = 0; i < n; i++)
		if (one_round(scope, node, list ? list->items[i] : NULL, i, out, err))
			return -1;
	return 0;
}

static int map_item(struct be_scope *scope, const struct be_node *item, struct be_strv *out, struct be_error *err)
{
	static const char *const known[] = { "if", "since", "until", "each", "items", "else" };
	for (size_t i = 0; i < item->n; i++) {
		size_t k = 0;
		while (k < BE_ARRAY_LEN(known) && strcmp(item->keys[i], known[k]) != 0)
			k++;
		if (k == BE_ARRAY_LEN(known)) /* mostly a text with a colon that needs quotes */
			return be_fail_usage(err, "%s: an item cannot have the key '%.40s'", be_where(item),
					     item->keys[i]);
	}
	int holds = be_scope_holds(scope, item, err);
	if (holds < 0)
		return -1;
	if (holds && be_get(item, "each"))
		return each(scope, item, out, err);
	return add_items(scope, be_get(item, holds ? "items" : "else"), out, err);
}

static int list_item(struct be_scope *scope, const struct be_node *item, struct be_strv *out, struct be_error *err)
{
	if (item->kind == BE_NULL) {
		be_strv_add(out, "");
		return 0;
	}
	if (item->kind == BE_SEQ)
		return be_scope_list(scope, item, out, err);
	if (item->kind == BE_MAP)
		return map_item(scope, item, out, err);
	char *text = be_scope_text(scope, item, err);
	if (text)
		be_strv_take(out, text);
	return text ? 0 : -1;
}

int be_scope_list(struct be_scope *scope, const struct be_node *node, struct be_strv *out, struct be_error *err)
{
	if (node->kind != BE_SEQ)
		return list_item(scope, node, out, err);
	for (size_t i = 0; i < node->n; i++)
		if (list_item(scope, node->items[i], out, err))
			return -1;
	return 0;
}
