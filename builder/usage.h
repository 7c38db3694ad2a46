/* What every subcommand says about its own command line, in one form. */
#ifndef BE_USAGE_TEXT_H
#define BE_USAGE_TEXT_H

#include <stdint.h>

#include "base/error.h"

/* Prints "mkbenchenv COMMAND: TEXT" and where to find help, to stderr. Returns BE_USAGE. */
int be_usage_error(const char *command, const char *fmt, ...) BE_PRINTF(2, 3);
/*
 * The answer to '?' and ':' of getopt_long(3), which was called with opterr 0 and an option string that begins with
 * ":". Prints what is wrong with the option and returns BE_USAGE.
 */
int be_usage_option(char **argv, int answer);
/* The number of an option's @text, from 1 to @most; else prints which ones @option takes and returns BE_USAGE. */
int be_usage_number(const char *command, const char *option, const char *text, int64_t most, int64_t *value);
/* Prints the error in the same form and returns the exit status that it asks for, never 0. */
int be_command_failed(const char *command, const struct be_error *err);

#endif
