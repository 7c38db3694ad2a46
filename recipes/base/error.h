/*
 * One way to fail. A function that can fail returns 0 or -1 (or a pointer or NULL), takes `struct be_error *err` as its
 * last argument and fills it before it returns. The text says what failed, where and why; the hint says what to do
 * next.
 */
#ifndef BE_BASE_ERROR_H
#define BE_BASE_ERROR_H

#include <stdarg.h>

#define BE_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define BE_MUST_CHECK __attribute__((warn_unused_result))

/* Exit statuses of every program of the project. */
enum be_status {
	BE_OK = 0,
	BE_FAILED = 1,
	BE_USAGE = 2,
	BE_DIFFERS = 3, /* the environment differs from the recipe */
};

struct be_error {
	enum be_status status;
	char text[3072]; /* one line without a final newline; "" while nothing failed */
	char hint[1024]; /* what to do next, or "" */
};

#define BE_ERROR_INIT                                   \
	{                                               \
		.status = BE_OK, .text = "", .hint = "" \
	}

/* Sets the error (replacing an earlier one) and returns -1. @err may not be NULL. */
int be_fail(struct be_error *err, const char *fmt, ...) BE_PRINTF(2, 3);
/* The same with status BE_USAGE: the command line or an input document is wrong. */
int be_fail_usage(struct be_error *err, const char *fmt, ...) BE_PRINTF(2, 3);
/* The same with ": " and the text of errno @errnum appended. */
int be_fail_errno(struct be_error *err, int errnum, const char *fmt, ...) BE_PRINTF(3, 4);
/* Puts "CONTEXT: " before the text that is there; returns -1. */
int be_wrap(struct be_error *err, const char *fmt, ...) BE_PRINTF(2, 3);
/* Sets the hint unless there is one; returns -1, so that `return be_hint(...)` ends a failing function. */
int be_hint(struct be_error *err, const char *fmt, ...) BE_PRINTF(2, 3);
/* Prints "PROGRAM: text" and, on a line of its own, the hint, to stderr. Control characters are printed escaped. */
void be_error_print(const struct be_error *err, const char *program);

#endif
