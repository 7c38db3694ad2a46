/*
 * A recursive descent that evaluates while it reads. A branch that is not taken is read with `skip` above zero: it is
 * checked for form, but no name is looked up and no operator applied.
 */
#include "expr.h"

#include <string.h>

#include "expr_lex.h"
#include "expr_value.h"

struct parser {
	const char *text;
	const struct be_expr_env *env;
	struct be_token token; /* the word that comes next */
	size_t offset;         /* behind it */
	size_t fail_offset;    /* where the error is */
	unsigned depth, skip;
	struct be_error *err;
};

static int expression(struct parser *p, struct be_value *out);

static int fail_here(struct parser *p)
{
	p->fail_offset = p->token.offset;
	return -1;
}

static const char *shown(const struct be_token *token)
{
	switch (token->kind) {
	case BE_TOKEN_END:
		return "the end";
	case BE_TOKEN_NEWLINE:
		return "the end of the line";
	case BE_TOKEN_INT:
		return "a number";
	case BE_TOKEN_OPERATOR:
		return token->operator;
	case BE_TOKEN_TEXT:
	case BE_TOKEN_REGEX:
	case BE_TOKEN_NAME:
	case BE_TOKEN_METHOD:
		break;
	}
	return token->text;
}

static int unexpected(struct parser *p, const char *wanted)
{
	be_fail_usage(p->err, "%s expected, found '%.40s'", wanted, shown(&p->token));
	return fail_here(p);
}

static bool ends_value(const struct be_token *token)
{
	static const char *const words[] = { "if", "elsif", "else", "then", "case", "when", "and", "or", "not" };
	switch (token->kind) {
	case BE_TOKEN_INT:
	case BE_TOKEN_TEXT:
	case BE_TOKEN_REGEX:
	case BE_TOKEN_METHOD:
		return true;
	case BE_TOKEN_OPERATOR:
		return token->operator[0] == ')';
	case BE_TOKEN_NAME:
		for (size_t i = 0; i < BE_ARRAY_LEN(words); i++)
			if (strcmp(token->text, words[i]) == 0)
				return false;
		return true;
	case BE_TOKEN_END:
	case BE_TOKEN_NEWLINE:
		break;
	}
	return false;
}

static int advance(struct parser *p)
{
	bool value_before = ends_value(&p->token);
	be_token_free(&p->token);
	long next = be_token_read(p->text, p->offset, value_before, &p->token, p->err);
	if (next < 0)
		return fail_here(p);
	p->offset = (size_t)next;
	return 0;
}

static bool at_operator(const struct parser *p, const char *op)
{
	return p->token.kind == BE_TOKEN_OPERATOR && strcmp(p->token.operator, op) == 0;
}

static bool at_word(const struct parser *p, const char *word)
{
	return p->token.kind == BE_TOKEN_NAME && strcmp(p->token.text, word) == 0;
}

static int skip_lines(struct parser *p)
{
	while (p->token.kind == BE_TOKEN_NEWLINE)
		if (advance(p))
			return -1;
	return 0;
}

/* Steps over a binary operator; its right side may stand on the next line. */
static int over_operator(struct parser *p)
{
	return advance(p) || skip_lines(p) ? -1 : 0;
}

static int expect_word(struct parser *p, const char *word)
{
	if (skip_lines(p))
		return -1;
	return at_word(p, word) ? advance(p) : unexpected(p, word);
}

static int expect_operator(struct parser *p, const char *op)
{
	return at_operator(p, op) ? advance(p) : unexpected(p, op);
}

/* An operator or function failed: the error is where it stands. */
static int fail_at(struct parser *p, size_t offset)
{
	p->fail_offset = offset;
	return -1;
}

static int function_call(struct parser *p, const char *name, size_t offset, struct be_value *out)
{
	struct be_value args[8] = { 0 };
	unsigned n = 0;
	int rc = over_operator(p);
	while (rc == 0 && !at_operator(p, ")")) {
		if (n == BE_ARRAY_LEN(args)) {
			rc = unexpected(p, "')' after eight arguments");
			break;
		}
		rc = expression(p, &args[n++]) || skip_lines(p) ? -1 : 0;
		if (rc == 0 && !at_operator(p, ")"))
			rc = at_operator(p, ",") ? over_operator(p) : unexpected(p, "',' or ')'");
	}
	if (rc == 0)
		rc = advance(p);
	if (rc == 0 && !p->skip && be_value_call(name, args, n, p->env->count_base, out, p->err))
		rc = fail_at(p, offset);
	for (unsigned i = 0; i < n; i++)
		be_value_free(&args[i]);
	return rc;
}

static int look_up(struct parser *p, const char *name, size_t offset, struct be_value *out)
{
	if (p->skip || p->env->lookup(p->env->data, name, out))
		return 0;
	be_fail_usage(p->err, "there is no '%.80s' here", name);
	return fail_at(p, offset);
}

static bool reserved(const char *name)
{
	static const char *const words[] = { "if",   "elsif", "else", "then", "end",    "case",
					     "when", "and",   "or",   "not",  "unless", "while" };
	for (size_t i = 0; i < BE_ARRAY_LEN(words); i++)
		if (strcmp(name, words[i]) == 0)
			return true;
	return false;
}

static int name_or_call(struct parser *p, struct be_value *out)
{
	size_t offset = p->token.offset;
	be_autofree char *name = be_strdup(p->token.text);
	if (reserved(name))
		return unexpected(p, "a value");
	if (advance(p))
		return -1;
	if (at_operator(p, "(")) {
		if (be_value_is_function(name))
			return function_call(p, name, offset, out);
		be_fail_usage(p->err, "there is no function %.80s()", name);
		return fail_at(p, offset);
	}
	if (strcmp(name, "nil") == 0)
		return 0;
	if (strcmp(name, "true") == 0 || strcmp(name, "false") == 0) {
		*out = be_value_bool(*name == 't');
		return 0;
	}
	return look_up(p, name, offset, out);
}

/* The expressions of one branch: taken or only read. */
static int branch(struct parser *p, bool taken, struct be_value *out)
{
	be_autovalue struct be_value value = be_value_nil();
	if (at_word(p, "then") && advance(p))
		return -1;
	if (skip_lines(p))
		return -1;
	if (at_word(p, "end") || at_word(p, "else") || at_word(p, "elsif") || at_word(p, "when"))
		return 0;
	p->skip += !taken;
	int rc = expression(p, &value);
	p->skip -= !taken;
	if (rc == 0 && taken) {
		*out = value;
		value = be_value_nil();
	}
	return rc || skip_lines(p) ? -1 : 0;
}

static int if_statement(struct parser *p, struct be_value *out)
{
	bool done = false;
	do {
		be_autovalue struct be_value condition = be_value_nil();
		p->skip += done;
		int rc = advance(p) || skip_lines(p) || expression(p, &condition);
		p->skip -= done;
		if (rc)
			return -1;
		if (p->token.kind != BE_TOKEN_NEWLINE && !at_word(p, "then"))
			return unexpected(p, "then");
		if (skip_lines(p))
			return -1;
		bool taken = !done && !p->skip && be_value_true(&condition);
		done |= taken;
		if (branch(p, taken, out))
			return -1;
	} while (at_word(p, "elsif"));
	if (at_word(p, "else") && (advance(p) || branch(p, !done && !p->skip, out)))
		return -1;
	return expect_word(p, "end");
}

static int pattern_of(struct parser *p, const struct be_value *value, bool *matches)
{
	int rc = p->skip ? 0 : be_value_match(value, p->token.text, p->token.ignore_case, p->err);
	if (rc < 0)
		return fail_here(p);
	*matches = rc > 0;
	return advance(p);
}

/* The alternatives of one `when`, separated by commas. */
static int when_list(struct parser *p, const struct be_value *subject, bool *matches)
{
	do {
		bool one = false;
		if (over_operator(p))
			return -1;
		if (p->token.kind == BE_TOKEN_REGEX) {
			/* Ruby's === gives no match, not an error, for what is no text. */
			static const struct be_value none = { .kind = BE_VALUE_NIL };
			if (pattern_of(p, subject->kind == BE_VALUE_TEXT ? subject : &none, &one))
				return -1;
		} else {
			be_autovalue struct be_value value = be_value_nil();
			if (expression(p, &value))
				return -1;
			one = !p->skip && be_value_equal(subject, &value);
		}
		*matches |= one;
	} while (at_operator(p, ","));
	return 0;
}

static int case_statement(struct parser *p, struct be_value *out)
{
	be_autovalue struct be_value subject = be_value_nil();
	bool done = false;
	if (advance(p) || expression(p, &subject) || skip_lines(p))
		return -1;
	if (!at_word(p, "when"))
		return unexpected(p, "when");
	while (at_word(p, "when")) {
		bool matches = false;
		p->skip += done;
		int rc = when_list(p, &subject, &matches);
		p->skip -= done;
		if (rc)
			return -1;
		if (p->token.kind != BE_TOKEN_NEWLINE && !at_word(p, "then"))
			return unexpected(p, "then");
		bool taken = matches && !done && !p->skip;
		done |= taken;
		if (skip_lines(p) || branch(p, taken, out))
			return -1;
	}
	if (at_word(p, "else") && (advance(p) || branch(p, !done && !p->skip, out)))
		return -1;
	return expect_word(p, "end");
}

static int parenthesis(struct parser *p, struct be_value *out)
{
	if (over_operator(p) || expression(p, out) || skip_lines(p))
		return -1;
	return expect_operator(p, ")");
}

static int primary(struct parser *p, struct be_value *out)
{
	if (p->token.kind == BE_TOKEN_INT) {
		*out = be_value_int(p->token.number);
		return advance(p);
	}
	if (p->token.kind == BE_TOKEN_TEXT) {
		*out = be_value_text(p->token.text);
		return advance(p);
	}
	if (at_operator(p, "("))
		return parenthesis(p, out);
	if (at_word(p, "if"))
		return if_statement(p, out);
	if (at_word(p, "case"))
		return case_statement(p, out);
	if (p->token.kind == BE_TOKEN_NAME)
		return name_or_call(p, out);
	return unexpected(p, "a value");
}

static int postfix(struct parser *p, struct be_value *out)
{
	if (primary(p, out))
		return -1;
	while (p->token.kind == BE_TOKEN_METHOD) {
		if (!be_value_is_method(p->token.text)) {
			be_fail_usage(p->err, "the method .%.40s is not supported", p->token.text);
			return fail_here(p);
		}
		if (!p->skip && be_value_method(p->token.text, out, p->err))
			return fail_here(p);
		if (advance(p))
			return -1;
	}
	return 0;
}

static int unary(struct parser *p, struct be_value *out)
{
	size_t offset = p->token.offset;
	bool not = at_operator(p, "!"), minus = at_operator(p, "-");
	if (!not &&!minus)
		return postfix(p, out);
	if (++p->depth > BE_EXPR_MAX_DEPTH) {
		be_fail_usage(p->err, "the expression is nested more than %u levels deep", BE_EXPR_MAX_DEPTH);
		return fail_here(p);
	}
	if (advance(p) || unary(p, out))
		return -1;
	p->depth--;
	if (p->skip)
		return 0;
	if (not ) {
		bool truth = be_value_true(out);
		be_value_free(out);
		*out = be_value_bool(!truth);
		return 0;
	}
	struct be_value zero = be_value_int(0), value = *out;
	*out = be_value_nil();
	return be_value_arithmetic('-', &zero, &value, out, p->err) ? fail_at(p, offset) : 0;
}

static int match(struct parser *p, bool negated, struct be_value *out)
{
	bool matches = false;
	if (p->token.kind != BE_TOKEN_REGEX)
		return unexpected(p, "a regular expression between slashes");
	if (pattern_of(p, out, &matches))
		return -1;
	if (!p->skip) {
		be_value_free(out);
		*out = be_value_bool(matches != negated);
	}
	return 0;
}

/* Levels of binary operators that compute with both sides, the loosest first. */
static const char *const levels[][5] = {
	{ "==", "!=", "=~", "!~" },
	{ "<", "<=", ">", ">=" },
	{ "+", "-" },
	{ "*", "/", "%" },
};

static const char *operator_of(const struct parser *p, size_t level)
{
	for (size_t i = 0; i < BE_ARRAY_LEN(levels[level]) && levels[level][i]; i++)
		if (at_operator(p, levels[level][i]))
			return levels[level][i];
	return NULL;
}

static int combine(struct parser *p, const char *op, size_t offset, struct be_value *out, struct be_value *right)
{
	if (p->skip)
		return 0;
	struct be_value left = *out;
	*out = be_value_nil();
	int rc = strchr("+-*/%", *op) ? be_value_arithmetic(*op, &left, right, out, p->err)
				      : be_value_compare(op, &left, right, out, p->err);
	return rc ? fail_at(p, offset) : 0;
}

static int binary(struct parser *p, size_t level, struct be_value *out)
{
	if (level == BE_ARRAY_LEN(levels))
		return unary(p, out);
	if (binary(p, level + 1, out))
		return -1;
	for (const char *op; (op = operator_of(p, level));) {
		be_autovalue struct be_value right = be_value_nil();
		size_t offset = p->token.offset;
		if (over_operator(p))
			return -1;
		if (op[1] == '~') {
			if (match(p, *op == '!', out))
				return -1;
		} else if (binary(p, level + 1, &right) || combine(p, op, offset, out, &right)) {
			return -1;
		}
	}
	return 0;
}

/* @next level, then any number of && (or ||): the right side is evaluated only when the left does not decide. */
static int shortcut(struct parser *p, const char *op, int (*next)(struct parser *, struct be_value *),
		    bool (*at)(const struct parser *, const char *), struct be_value *out)
{
	if (next(p, out))
		return -1;
	while (at(p, op)) {
		be_autovalue struct be_value right = be_value_nil();
		bool stop = be_value_true(out) == (*op == '|' || *op == 'o');
		p->skip += stop;
		int rc = over_operator(p) || next(p, &right);
		p->skip -= stop;
		if (rc)
			return -1;
		if (!stop) {
			be_value_free(out);
			*out = right;
			right = be_value_nil();
		}
	}
	return 0;
}

static int comparison(struct parser *p, struct be_value *out)
{
	return binary(p, 0, out);
}

static int both(struct parser *p, struct be_value *out)
{
	return shortcut(p, "&&", comparison, at_operator, out);
}

static int either(struct parser *p, struct be_value *out)
{
	return shortcut(p, "||", both, at_operator, out);
}

static int ternary(struct parser *p, struct be_value *out)
{
	if (either(p, out))
		return -1;
	if (!at_operator(p, "?"))
		return 0;
	be_autovalue struct be_value yes = be_value_nil(), no = be_value_nil();
	bool truth = be_value_true(out);
	p->skip += !truth;
	int rc = over_operator(p) || expression(p, &yes) || skip_lines(p);
	p->skip -= !truth;
	if (rc || !at_operator(p, ":"))
		return rc ? -1 : unexpected(p, "':'");
	p->skip += truth;
	rc = over_operator(p) || expression(p, &no);
	p->skip -= truth;
	if (rc)
		return -1;
	be_value_free(out);
	*out = truth ? yes : no;
	*(truth ? &yes : &no) = be_value_nil();
	return 0;
}

static int negation(struct parser *p, struct be_value *out)
{
	bool negated = false, any = false;
	for (; at_word(p, "not"); any = true, negated = !negated)
		if (over_operator(p))
			return -1;
	if (ternary(p, out))
		return -1;
	if (any && !p->skip) {
		bool truth = be_value_true(out);
		be_value_free(out);
		*out = be_value_bool(truth != negated);
	}
	return 0;
}

static int words_and(struct parser *p, struct be_value *out)
{
	return shortcut(p, "and", negation, at_word, out);
}

static int expression(struct parser *p, struct be_value *out)
{
	if (++p->depth > BE_EXPR_MAX_DEPTH) {
		be_fail_usage(p->err, "the expression is nested more than %u levels deep", BE_EXPR_MAX_DEPTH);
		return fail_here(p);
	}
	int rc = shortcut(p, "or", words_and, at_word, out);
	p->depth--;
	return rc;
}

static int whole(struct parser *p, struct be_value *out)
{
	if (strlen(p->text) > BE_EXPR_MAX_BYTES)
		return be_fail_usage(p->err, "an expression may have %u bytes at most", BE_EXPR_MAX_BYTES);
	if (advance(p) || skip_lines(p))
		return -1;
	if (p->token.kind == BE_TOKEN_END) {
		be_fail_usage(p->err, "the expression is empty");
		return fail_here(p);
	}
	if (expression(p, out) || skip_lines(p))
		return -1;
	return p->token.kind == BE_TOKEN_END ? 0 : unexpected(p, "an operator or the end");
}

static void position(const char *text, size_t offset, unsigned *line, unsigned *col)
{
	*line = *col = 1;
	for (size_t i = 0; i < offset; i++) {
		*col = text[i] == '\n' ? 1 : *col + 1;
		*line += text[i] == '\n';
	}
}

int be_expr_eval(const char *text, const struct be_expr_env *env, struct be_value *out, unsigned *line, unsigned *col,
		 struct be_error *err)
{
	struct parser p = { .text = text, .env = env, .err = err };
	*out = be_value_nil();
	int rc = whole(&p, out);
	be_token_free(&p.token);
	if (rc)
		be_value_free(out);
	position(text, rc ? p.fail_offset : 0, line, col);
	return rc;
}
