#include "builder/usage.h"

#include <getopt.h>
#include <stdio.h>

#include "base/str.h"

int be_usage_error(const char *command, const char *fmt, ...)
{
	va_list args;
	fprintf(stderr, "mkbenchenv %s: ", command);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fprintf(stderr, "\n`mkbenchenv %s --help` shows what it takes.\n", command);
	return BE_USAGE;
}

int be_usage_option(char **argv, int answer)
{
	/* getopt has stepped over a long option and over the last letter of a group of short ones. */
	const char *word = argv[optind - 1];
	if (be_starts(word, "--")) {
		if (answer == ':')
			return be_usage_error(argv[0], "option %s needs a value", word);
		if (optopt)
			return be_usage_error(argv[0], "option %s takes no value", word);
		return be_usage_error(argv[0], "unknown option %s", word);
	}
	if (answer == ':')
		return be_usage_error(argv[0], "option -%c needs a value", optopt);
	return be_usage_error(argv[0], "unknown option -%c", optopt);
}

bool be_usage_take(const struct be_command_line *line, int argc, char **argv, int *status)
{
	opterr = 0;
	*status = BE_OK;
	for (int c; (c = getopt_long(argc, argv, line->letters, line->options, NULL)) != -1;) {
		if (c == 'h') {
			fputs(line->usage, stdout);
			return false;
		}
		*status = line->take(line->data, c, argv);
		if (*status != BE_OK)
			return false;
	}
	return true;
}

int be_usage_number(const char *command, const char *option, const char *text, int64_t most, int64_t *value)
{
	if (be_parse_int(text, value) && *value > 0 && *value <= most)
		return BE_OK;
	return be_usage_error(command, "%s %s: is no number from 1 to %lld", option, text, (long long)most);
}

int be_command_failed(const char *command, const struct be_error *err)
{
	be_autofree char *program = be_strf("mkbenchenv %s", command);
	be_error_print(err, program);
	return err->status == BE_OK ? BE_FAILED : (int)err->status;
}
