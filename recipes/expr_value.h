/* Operators and functions of expressions: what the parser (expr.c) applies to values. */
#ifndef BE_EXPR_VALUE_H
#define BE_EXPR_VALUE_H

#include "expr.h"

/* Each takes over @a and @b, whatever the outcome, and sets @out; -1 with an error that holds no position. */
int be_value_arithmetic(char op, struct be_value *a, struct be_value *b, struct be_value *out, struct be_error *err);
int be_value_compare(const char *op, struct be_value *a, struct be_value *b, struct be_value *out,
		     struct be_error *err);
bool be_value_equal(const struct be_value *a, const struct be_value *b);
/* Does @value, which is text or nil, match the POSIX extended regular expression @pattern? 1, 0, or -1. */
int be_value_match(const struct be_value *value, const char *pattern, bool ignore_case, struct be_error *err);
/* A method with its dot: to_i, to_s, nil?. Replaces @value. */
int be_value_method(const char *name, struct be_value *value, struct be_error *err);
bool be_value_is_method(const char *name);

bool be_value_is_function(const char *name);
int be_value_call(const char *name, const struct be_value *args, unsigned n, int64_t count_base, struct be_value *out,
		  struct be_error *err);

#endif
