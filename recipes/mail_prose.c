/* Reports in prose, as people wrote them before LKP: what the patterns of mail.yaml find, and nothing else. */
#include "mail_parts.h"

#include <ctype.h>
#include <regex.h>
#include <string.h>

#include "expr.h"

#define MAX_TEXT (64u << 10) /* prose tells its machine early */
#define GROUPS 8

struct prose {
	const char *text;
	regmatch_t groups[GROUPS];
	struct be_node *lets; /* values that other rules use */
};

/* $1 is g1 in an expression; numbers are numbers. */
static bool lookup(void *data, const char *name, struct be_value *out)
{
	const struct prose *p = data;
	const char *let = be_get_str(p->lets, name, NULL);
	be_autofree char *group = NULL;
	if (name[0] == 'g' && isdigit((unsigned char)name[1]) && !name[2] && name[1] - '0' < GROUPS) {
		const regmatch_t *g = &p->groups[name[1] - '0'];
		if (g->rm_so < 0)
			return false;
		group = be_strndup(p->text + g->rm_so, (size_t)(g->rm_eo - g->rm_so));
	}
	const char *value = group ? group : let;
	if (!value)
		return false;
	*out = strspn(value, "0123456789") == strlen(value) && strlen(value) < 10 ? be_value_int(atol(value))
										  : be_value_text(value);
	return true;
}

/* "${g1*g3}HDD" with the groups of the match; NULL with an error. The caller frees. */
static char *fill(struct prose *p, const struct be_node *template, struct be_error *err)
{
	be_autobuf struct be_buf out = { 0 };
	struct be_expr_env env = { .lookup = lookup, .data = p };
	for (const char *t = template->text; *t;) {
		const char *end = be_starts(t, "${") ? strchr(t, '}') : NULL;
		if (!end) {
			be_buf_addc(&out, *t++);
			continue;
		}
		be_autofree char *expr = be_strndup(t + 2, (size_t)(end - t - 2));
		be_autovalue struct be_value value = be_value_nil();
		unsigned line, col;
		if (be_expr_eval(expr, &env, &value, &line, &col, err) != 0) {
			be_wrap(err, "%s", be_where(template));
			return NULL;
		}
		be_autofree char *text = be_value_str(&value);
		be_buf_adds(&out, text);
		t = end + 1;
	}
	return be_buf_steal(&out);
}

/* Sets in @to what @set, a map of templates, says; what was found first stays. */
static int apply(struct prose *p, const struct be_node *set, struct be_node *to, struct be_error *err)
{
	for (size_t i = 0; set && i < set->n; i++) {
		be_autofree char *value = fill(p, set->items[i], err);
		if (!value)
			return -1;
		if (!be_get(to, set->keys[i]))
			be_set(to, set->keys[i], be_mail_value(value));
	}
	return 0;
}

static int apply_rule(struct prose *p, const struct be_node *rule, struct be_node *table, struct be_error *err)
{
	static const char *const parts[] = { "parameters", "host" };
	const char *pattern = be_get_str(rule, "match", "");
	regex_t re;
	if (regcomp(&re, pattern, REG_EXTENDED | REG_ICASE | REG_NEWLINE) != 0)
		return be_fail(err, "%s: `match:` is no regular expression", be_where(rule));
	bool found = regexec(&re, p->text, GROUPS, p->groups, 0) == 0;
	regfree(&re);
	if (!found)
		return 0;
	if (apply(p, be_get(rule, "let"), p->lets, err) != 0 || apply(p, be_get(rule, "table"), table, err) != 0)
		return -1;
	for (size_t i = 0; i < BE_ARRAY_LEN(parts); i++) {
		if (!be_get(rule, parts[i]))
			continue;
		if (!be_get(table, parts[i]))
			be_set(table, parts[i], be_node_map());
		if (apply(p, be_get(rule, parts[i]), be_get(table, parts[i]), err) != 0)
			return -1;
	}
	return 0;
}

int be_mail_find_prose(const struct be_mail_lines *lines, const struct be_node *rules, struct be_node *tables,
		       struct be_error *err)
{
	be_autobuf struct be_buf text = { 0 };
	for (size_t i = 0; i < lines->n && text.len < MAX_TEXT; i++)
		be_buf_addf(&text, "%s ", lines->v[i].text);
	if (!text.len)
		return 0;
	be_autonode struct be_node *table = be_node_map(), *lets = be_node_map();
	be_set_str(table, "form", "prose");
	be_set_int(table, "line", 1);
	be_set(table, "sorted", be_node_bool(true)); /* the order of sentences is not the job's */
	struct prose p = { .text = text.data, .lets = lets };
	for (size_t i = 0; rules && i < rules->n; i++)
		if (apply_rule(&p, rules->items[i], table, err) != 0)
			return -1;
	if (!be_get(table, "testcase"))
		return 0;
	size_t at = 0; /* the first mail with a date, and all of it */
	for (size_t i = 0; i < lines->n && !at; i++)
		at = be_mail_after(lines->v[i].text, "Date:") ? i : 0;
	be_mail_set_date(table, lines, at);
	be_add(tables, be_steal(&table));
	return 0;
}
