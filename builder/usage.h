/* What every subcommand says about its own command line, in one form. */
#ifndef BE_USAGE_TEXT_H
#define BE_USAGE_TEXT_H

#include "base/options.h"

/* be_options_read() for the command argv[0] of mkbenchenv. */
int be_usage_read(const char *usage, const struct be_option *options, int argc, char **argv) BE_MUST_CHECK;
/* For BE_TAKE: a size of at least one byte, as 2G is, to an int64_t. */
bool be_take_size(void *bytes, const char *value);
/* Prints "mkbenchenv COMMAND: TEXT" and where to find help, to stderr. Returns BE_USAGE. */
int be_usage_error(const char *command, const char *fmt, ...) BE_PRINTF(2, 3);
/* Prints the error in the same form and returns the exit status that it asks for, never 0. */
int be_command_failed(const char *command, const struct be_error *err);

#endif
