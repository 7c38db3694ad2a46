/*
 * Expressions of templates: `${...}` in workload definitions and LKP's `{{ ... }}` in job files. It knows the small
 * part of Ruby that job files use and refuses the rest with its position; nothing is ever run.
 *
 *   integers (64 bits, overflow is an error), 'text', "text", nil, true, false, names with dots (fs, aim7.test)
 *   + - * / % (division rounds down, as in Ruby), == != < <= > >=, =~ /regex/i, !~, ! && ||, not and or, ?:, ( )
 *   if C [then] A elsif D .. else B end; case X when 'a', /b/ [then] A else B end; no branch holds: nil
 *   min(..) max(..) clamp(x, low, high) size("4M") time("5m") count("50%"), .to_i .to_s .nil?
 *
 * As in Ruby only nil and false are untrue, text never equals a number, and && || return one of their sides.
 */
#ifndef BE_EXPR_H
#define BE_EXPR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

#define BE_EXPR_MAX_BYTES 8192u
#define BE_EXPR_MAX_DEPTH 64u
#define BE_EXPR_MAX_TEXT (1u << 20) /* of a value that an expression builds */

enum be_value_kind { BE_VALUE_NIL, BE_VALUE_BOOL, BE_VALUE_INT, BE_VALUE_TEXT };

struct be_value {
	enum be_value_kind kind;
	int64_t number; /* INT; BOOL: 0 or 1 */
	char *text;     /* TEXT; owned */
};

void be_value_free(struct be_value *value);
#define be_autovalue be_cleanup(be_value_free)
struct be_value be_value_nil(void);
struct be_value be_value_int(int64_t number);
struct be_value be_value_bool(bool truth);
struct be_value be_value_text(const char *text); /* copies; NULL gives nil */
/* The value as text, "" for nil; the caller frees. */
char *be_value_str(const struct be_value *value);
bool be_value_true(const struct be_value *value); /* neither nil nor false */

struct be_expr_env {
	/* Sets @out (nil is a value) and returns true; false: there is no such name, which is an error. */
	bool (*lookup)(void *data, const char *name, struct be_value *out);
	void *data;
	int64_t count_base; /* what a percentage in count() is of; 0: percentages are an error */
};

/*
 * Evaluates the whole of @text. On failure returns -1 with a usage error whose text does not hold the position: that
 * is in @line and @col (from 1, within @text), so that the caller can add its own. A branch that is not taken is
 * checked for form, not evaluated: names that it uses need not exist.
 */
int be_expr_eval(const char *text, const struct be_expr_env *env, struct be_value *out, unsigned *line, unsigned *col,
		 struct be_error *err) BE_MUST_CHECK;

#endif
