/* Command lines of all programs: a table says where each option's value goes, getopt_long(3) reads them. */
#ifndef BE_BASE_OPTIONS_H
#define BE_BASE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* What an option is, and so what @to of its row points to. */
enum be_option_kind {
	BE_OPTION_FLAG,  /* bool: set by the option, which takes no value */
	BE_OPTION_TEXT,  /* const char *: the word of the command line itself; the last one counts */
	BE_OPTION_LIST,  /* struct be_strv: every value is added; freed by its owner, after an error too */
	BE_OPTION_COUNT, /* int64_t, from 1 to @most */
	BE_OPTION_TAKE,  /* whatever @take makes of the value; false: it is none */
};

struct be_option {
	const char *name; /* without "--"; NULL ends a table */
	char letter;      /* of the short form; 0: none */
	enum be_option_kind kind;
	void *to;
	int64_t most;
	bool (*take)(void *to, const char *value);
	const char *wrong; /* of TAKE, what is said of a value that is none: "is no size, as 2G is" */
};

/* Rows of a table; a @to of another type does not compile, but for what TAKE takes. */
#define BE_FLAG(name, letter, to)                                                          \
	{                                                                                  \
		name, letter, BE_OPTION_FLAG, _Generic((to), bool * : (to)), 0, NULL, NULL \
	}
#define BE_TEXT(name, letter, to)                                                                 \
	{                                                                                         \
		name, letter, BE_OPTION_TEXT, _Generic((to), const char ** : (to)), 0, NULL, NULL \
	}
#define BE_LIST(name, letter, to)                                                                    \
	{                                                                                            \
		name, letter, BE_OPTION_LIST, _Generic((to), struct be_strv * : (to)), 0, NULL, NULL \
	}
#define BE_COUNT(name, to, most)                                                             \
	{                                                                                    \
		name, 0, BE_OPTION_COUNT, _Generic((to), int64_t * : (to)), most, NULL, NULL \
	}
#define BE_TAKE(name, take, to, wrong)                      \
	{                                                   \
		name, 0, BE_OPTION_TAKE, to, 0, take, wrong \
	}
#define BE_OPTIONS_END                                       \
	{                                                    \
		NULL, 0, BE_OPTION_FLAG, NULL, 0, NULL, NULL \
	}

/*
 * Reads the options of @argv, "--help" and "-h" among them, which print @usage. @program begins every message. Returns
 * -1 to go on with the arguments from argv[optind] on, else the exit status: BE_OK after help, BE_USAGE after a
 * message.
 */
int be_options_read(const char *program, const char *usage, const struct be_option *options, int argc,
		    char **argv) BE_MUST_CHECK;
/* Prints "PROGRAM: TEXT" and where to find help, to stderr. Returns BE_USAGE. */
int be_options_wrong(const char *program, const char *fmt, ...) BE_PRINTF(2, 3);

#endif
