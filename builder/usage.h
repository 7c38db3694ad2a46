/* What every subcommand says about its own command line, in one form. */
#ifndef BE_USAGE_TEXT_H
#define BE_USAGE_TEXT_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* Prints "mkbenchenv COMMAND: TEXT" and where to find help, to stderr. Returns BE_USAGE. */
int be_usage_error(const char *command, const char *fmt, ...) BE_PRINTF(2, 3);
/*
 * The answer to '?' and ':' of getopt_long(3), which was called with opterr 0 and an option string that begins with
 * ":". Prints what is wrong with the option and returns BE_USAGE.
 */
int be_usage_option(char **argv, int answer);
/* The options of a command, as getopt_long(3) takes them. */
struct be_command_line {
	const char *usage;            /* what --help prints */
	const char *letters;          /* begins with ":" and holds "h" */
	const struct option *options; /* "help" is 'h' */
	/* Takes one, optarg is its value; others go to be_usage_option. Returns BE_OK, else the status to end with. */
	int (*take)(void *data, int option, char **argv);
	void *data;
};
/* Takes all options; the arguments are behind optind then. False: the command ends here, with *@status. */
bool be_usage_take(const struct be_command_line *line, int argc, char **argv, int *status);
/* The number of an option's @text, from 1 to @most; else prints which ones @option takes and returns BE_USAGE. */
int be_usage_number(const char *command, const char *option, const char *text, int64_t most, int64_t *value);
/* Prints the error in the same form and returns the exit status that it asks for, never 0. */
int be_command_failed(const char *command, const struct be_error *err);

#endif
