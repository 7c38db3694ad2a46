#include "expr_value.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <regex.h>
#include <string.h>

#include "units.h"

void be_value_free(struct be_value *value)
{
	free(value->text);
	*value = be_value_nil();
}

struct be_value be_value_nil(void)
{
	return (struct be_value){ .kind = BE_VALUE_NIL };
}

struct be_value be_value_int(int64_t number)
{
	return (struct be_value){ .kind = BE_VALUE_INT, .number = number };
}

struct be_value be_value_bool(bool truth)
{
	return (struct be_value){ .kind = BE_VALUE_BOOL, .number = truth };
}

struct be_value be_value_text(const char *text)
{
	if (!text)
		return be_value_nil();
	return (struct be_value){ .kind = BE_VALUE_TEXT, .text = be_strdup(text) };
}

char *be_value_str(const struct be_value *value)
{
	switch (value->kind) {
	case BE_VALUE_BOOL:
		return be_strdup(value->number ? "true" : "false");
	case BE_VALUE_INT:
		return be_strf("%" PRId64, value->number);
	case BE_VALUE_TEXT:
		return be_strdup(value->text);
	case BE_VALUE_NIL:
		break;
	}
	return be_strdup("");
}

bool be_value_true(const struct be_value *value)
{
	return value->kind != BE_VALUE_NIL && (value->kind != BE_VALUE_BOOL || value->number);
}

static const char *kind_name(const struct be_value *value)
{
	static const char *const names[] = { "nil", "a truth value", "a number", "text" };
	return names[value->kind];
}

bool be_value_equal(const struct be_value *a, const struct be_value *b)
{
	if (a->kind != b->kind)
		return false;
	return a->kind == BE_VALUE_TEXT ? strcmp(a->text, b->text) == 0 : a->number == b->number;
}

static int concatenate(const struct be_value *a, const struct be_value *b, struct be_value *out, struct be_error *err)
{
	if (strlen(a->text) + strlen(b->text) > BE_EXPR_MAX_TEXT)
		return be_fail_usage(err, "the text that the expression builds is longer than %u bytes",
				     BE_EXPR_MAX_TEXT);
	*out = (struct be_value){ .kind = BE_VALUE_TEXT, .text = be_strf("%s%s", a->text, b->text) };
	return 0;
}

/* Division rounds towards minus infinity, and the remainder has the divisor's sign. */
static int divide(char op, int64_t a, int64_t b, int64_t *out, struct be_error *err)
{
	if (b == 0)
		return be_fail_usage(err, "division by zero");
	if (a == INT64_MIN && b == -1)
		return be_fail_usage(err, "the result does not fit into 64 bits");
	int64_t quotient = a / b, rest = a % b;
	if (rest && (rest < 0) != (b < 0)) {
		quotient--;
		rest += b;
	}
	*out = op == '/' ? quotient : rest;
	return 0;
}

static int integers(char op, int64_t a, int64_t b, int64_t *out, struct be_error *err)
{
	bool overflow = false;
	switch (op) {
	case '+':
		overflow = __builtin_add_overflow(a, b, out);
		break;
	case '-':
		overflow = __builtin_sub_overflow(a, b, out);
		break;
	case '*':
		overflow = __builtin_mul_overflow(a, b, out);
		break;
	default:
		return divide(op, a, b, out, err);
	}
	return overflow ? be_fail_usage(err, "the result does not fit into 64 bits") : 0;
}

int be_value_arithmetic(char op, struct be_value *a, struct be_value *b, struct be_value *out, struct be_error *err)
{
	be_autovalue struct be_value left = *a, right = *b;
	*a = *b = be_value_nil();
	if (op == '+' && left.kind == BE_VALUE_TEXT && right.kind == BE_VALUE_TEXT)
		return concatenate(&left, &right, out, err);
	if (left.kind != BE_VALUE_INT || right.kind != BE_VALUE_INT)
		return be_fail_usage(err, "'%c' cannot combine %s and %s", op, kind_name(&left), kind_name(&right));
	*out = be_value_int(0);
	return integers(op, left.number, right.number, &out->number, err);
}

static int order(const struct be_value *a, const struct be_value *b)
{
	if (a->kind == BE_VALUE_TEXT)
		return strcmp(a->text, b->text);
	return a->number < b->number ? -1 : a->number > b->number;
}

int be_value_compare(const char *op, struct be_value *a, struct be_value *b, struct be_value *out, struct be_error *err)
{
	be_autovalue struct be_value left = *a, right = *b;
	*a = *b = be_value_nil();
	if (strcmp(op, "==") == 0 || strcmp(op, "!=") == 0) {
		*out = be_value_bool(be_value_equal(&left, &right) == (*op == '='));
		return 0;
	}
	if (left.kind != right.kind || (left.kind != BE_VALUE_INT && left.kind != BE_VALUE_TEXT))
		return be_fail_usage(err, "'%s' cannot compare %s and %s", op, kind_name(&left), kind_name(&right));
	int cmp = order(&left, &right);
	bool or_equal = op[1] == '=' && cmp == 0;
	*out = be_value_bool(or_equal || (*op == '<' ? cmp < 0 : cmp > 0));
	return 0;
}

/*
 * Counted repeats and references back can make a short pattern take for ever, and escapes of letters mean other things
 * to Ruby than to POSIX: all are refused.
 */
static int check_pattern(const char *pattern, struct be_error *err)
{
	if (strlen(pattern) > 512)
		return be_fail_usage(err, "a regular expression may have 512 characters at most");
	if (strchr(pattern, '{'))
		return be_fail_usage(err, "{...} in a regular expression is not supported");
	for (const char *p = strchr(pattern, '\\'); p; p = strchr(p + 1 + (p[1] != '\0'), '\\'))
		if (isalnum((unsigned char)p[1]))
			return be_fail_usage(err, "\\%c in a regular expression is not supported", p[1]);
	return 0;
}

int be_value_match(const struct be_value *value, const char *pattern, bool ignore_case, struct be_error *err)
{
	if (check_pattern(pattern, err))
		return -1;
	if (value->kind == BE_VALUE_NIL)
		return 0;
	if (value->kind != BE_VALUE_TEXT)
		return be_fail_usage(err, "a regular expression cannot match %s", kind_name(value));
	if (strlen(value->text) > 65536)
		return be_fail_usage(err, "a text of more than 65536 bytes is not matched");
	regex_t regex;
	int rc = regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB | (ignore_case ? REG_ICASE : 0));
	if (rc) {
		char why[128];
		regerror(rc, &regex, why, sizeof(why));
		return be_fail_usage(err, "regular expression /%s/: %s", pattern, why);
	}
	rc = regexec(&regex, value->text, 0, NULL, 0);
	regfree(&regex);
	return rc == 0;
}

bool be_value_is_method(const char *name)
{
	return strcmp(name, "to_i") == 0 || strcmp(name, "to_s") == 0 || strcmp(name, "nil?") == 0;
}

/* Ruby's to_i: the number at the start of the text, 0 when there is none. */
static int to_integer(struct be_value *value, struct be_error *err)
{
	if (value->kind == BE_VALUE_BOOL)
		return be_fail_usage(err, ".to_i of a truth value");
	if (value->kind == BE_VALUE_TEXT) {
		errno = 0;
		int64_t number = strtoimax(value->text, NULL, 10);
		if (errno == ERANGE)
			return be_fail_usage(err, "the number does not fit into 64 bits");
		be_value_free(value);
		value->number = number;
	}
	value->kind = BE_VALUE_INT;
	return 0;
}

int be_value_method(const char *name, struct be_value *value, struct be_error *err)
{
	if (strcmp(name, "to_i") == 0)
		return to_integer(value, err);
	struct be_value result;
	if (strcmp(name, "nil?") == 0)
		result = be_value_bool(value->kind == BE_VALUE_NIL);
	else
		result = (struct be_value){ .kind = BE_VALUE_TEXT, .text = be_value_str(value) };
	be_value_free(value);
	*value = result;
	return 0;
}

struct call {
	const struct be_value *args;
	unsigned n;
	int64_t count_base;
};

static int fold_numbers(const struct call *call, bool smallest, struct be_value *out, struct be_error *err)
{
	for (unsigned i = 0; i < call->n; i++) {
		const struct be_value *arg = &call->args[i];
		if (arg->kind != BE_VALUE_INT)
			return be_fail_usage(err, "argument %u is %s, not a number", i + 1, kind_name(arg));
		if (i == 0 || (smallest ? arg->number < out->number : arg->number > out->number))
			*out = be_value_int(arg->number);
	}
	return 0;
}

static int call_min(const struct call *call, struct be_value *out, struct be_error *err)
{
	return fold_numbers(call, true, out, err);
}

static int call_max(const struct call *call, struct be_value *out, struct be_error *err)
{
	return fold_numbers(call, false, out, err);
}

static int call_clamp(const struct call *call, struct be_value *out, struct be_error *err)
{
	const struct be_value *a = call->args;
	if (a[0].kind != BE_VALUE_INT || a[1].kind != BE_VALUE_INT || a[2].kind != BE_VALUE_INT)
		return be_fail_usage(err, "clamp() takes three numbers");
	if (a[1].number > a[2].number)
		return be_fail_usage(err, "clamp(): the lower limit is above the upper one");
	int64_t v = a[0].number;
	*out = be_value_int(v < a[1].number ? a[1].number : v > a[2].number ? a[2].number : v);
	return 0;
}

static int call_size(const struct call *call, struct be_value *out, struct be_error *err)
{
	be_autofree char *text = be_value_str(call->args);
	*out = be_value_int(0);
	if (!be_parse_size(text, &out->number))
		return be_fail_usage(err, "'%s' is not a size such as 4M or 100G", text);
	return 0;
}

static int call_time(const struct call *call, struct be_value *out, struct be_error *err)
{
	be_autofree char *text = be_value_str(call->args);
	*out = be_value_int(0);
	if (!be_parse_time(text, &out->number))
		return be_fail_usage(err, "'%s' is not a time such as 300s or 10m", text);
	return 0;
}

static int call_count(const struct call *call, struct be_value *out, struct be_error *err)
{
	be_autofree char *text = be_value_str(call->args);
	*out = be_value_int(0);
	if (call->count_base == 0 && strchr(text, '%'))
		return be_fail_usage(err, "'%s': what it is a part of is not known here", text);
	if (!be_parse_count(text, call->count_base, &out->number))
		return be_fail_usage(err, "'%s' is not a count such as 8, 8t or 50%%", text);
	return 0;
}

static const struct function {
	const char *name;
	unsigned least, most;
	int (*run)(const struct call *call, struct be_value *out, struct be_error *err);
} functions[] = {
	{ "min", 1, 8, call_min },   { "max", 1, 8, call_max },   { "clamp", 3, 3, call_clamp },
	{ "size", 1, 1, call_size }, { "time", 1, 1, call_time }, { "count", 1, 1, call_count },
};

static const struct function *find_function(const char *name)
{
	for (size_t i = 0; i < BE_ARRAY_LEN(functions); i++)
		if (strcmp(functions[i].name, name) == 0)
			return &functions[i];
	return NULL;
}

bool be_value_is_function(const char *name)
{
	return find_function(name) != NULL;
}

int be_value_call(const char *name, const struct be_value *args, unsigned n, int64_t count_base, struct be_value *out,
		  struct be_error *err)
{
	const struct function *f = find_function(name);
	if (!f)
		return be_fail_usage(err, "there is no function %s()", name);
	if (n < f->least || n > f->most)
		return be_fail_usage(err, "%s() takes %u%s argument%s, not %u", name, f->least,
				     f->most > f->least ? " or more" : "", f->most == 1 ? "" : "s", n);
	struct call call = { .args = args, .n = n, .count_base = count_base };
	return f->run(&call, out, err);
}
