#include "base/options.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

#define FIRST 256 /* what getopt returns for the first option of a table: above all letters */

int be_options_wrong(const char *program, const char *fmt, ...)
{
	va_list args;
	fprintf(stderr, "%s: ", program);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fprintf(stderr, "\n`%s --help` shows what it takes.\n", program);
	return BE_USAGE;
}

/* @word, "--NAME" or "--NAME=VALUE", of no option or the beginning of several. */
static int no_option(const char *program, const struct option *longs, const char *word)
{
	be_autobuf struct be_buf meant = { 0 };
	size_t len = strcspn(word + 2, "="), n = 0;
	for (; longs->name; longs++)
		if (strncmp(longs->name, word + 2, len) == 0)
			be_buf_addf(&meant, "%s--%s", n++ ? ", " : "", longs->name);
	if (n > 1)
		return be_options_wrong(program, "option %s is ambiguous: %s", word, meant.data);
	return be_options_wrong(program, "unknown option %s", word);
}

/* The answer to '?' and ':' of getopt. */
static int unknown(const char *program, const struct option *longs, char **argv, int answer)
{
	/* getopt has stepped over a long option and over the last letter of a group of short ones. */
	const char *word = argv[optind - 1];
	bool letter = optopt && optopt < FIRST; /* within a group, before which the last word may be a long option */
	if (be_starts(word, "--") && !letter) {
		if (answer == ':')
			return be_options_wrong(program, "option %s needs a value", word);
		if (optopt)
			return be_options_wrong(program, "option %s takes no value", word);
		return no_option(program, longs, word);
	}
	if (answer == ':')
		return be_options_wrong(program, "option -%c needs a value", optopt);
	return be_options_wrong(program, "unknown option -%c", optopt);
}

static int take(const struct be_option *option, const char *program)
{
	int64_t *count = option->to;
	switch (option->kind) {
	case BE_OPTION_FLAG:
		*(bool *)option->to = true;
		return -1;
	case BE_OPTION_TEXT:
		*(const char **)option->to = optarg;
		return -1;
	case BE_OPTION_LIST:
		be_strv_add(option->to, optarg);
		return -1;
	case BE_OPTION_COUNT:
		if (be_parse_int(optarg, count) && *count > 0 && *count <= option->most)
			return -1;
		return be_options_wrong(program, "--%s %s: is no number from 1 to %lld", option->name, optarg,
					(long long)option->most);
	case BE_OPTION_TAKE:
		break;
	}
	if (option->take(option->to, optarg))
		return -1;
	return be_options_wrong(program, "--%s %s: %s", option->name, optarg, option->wrong);
}

/* @longs and @letters in getopt's form; "help" is their last. */
static void prepare(const struct be_option *options, size_t n, struct option *longs, struct be_buf *letters)
{
	be_buf_adds(letters, ":h");
	for (size_t i = 0; i < n; i++) {
		bool value = options[i].kind != BE_OPTION_FLAG;
		longs[i] = (struct option){ options[i].name, value ? required_argument : no_argument, NULL,
					    FIRST + (int)i };
		if (options[i].letter)
			be_buf_addf(letters, "%c%s", options[i].letter, value ? ":" : "");
	}
	longs[n] = (struct option){ "help", no_argument, NULL, 'h' };
}

static const struct be_option *find(const struct be_option *options, size_t n, int answer)
{
	if (answer >= FIRST)
		return &options[answer - FIRST];
	for (size_t i = 0; i < n; i++)
		if (options[i].letter == answer)
			return &options[i];
	return NULL;
}

int be_options_read(const char *program, const char *usage, const struct be_option *options, int argc, char **argv)
{
	be_autobuf struct be_buf letters = { 0 };
	size_t n = 0;
	while (options[n].name)
		n++;
	be_autofree struct option *longs = be_alloc((n + 2) * sizeof(*longs));
	prepare(options, n, longs, &letters);
	opterr = 0;
	optind = 0; /* begins anew, whoever read a command line before */
	for (int c; (c = getopt_long(argc, argv, letters.data, longs, NULL)) != -1;) {
		if (c == 'h') {
			fputs(usage, stdout);
			return BE_OK;
		}
		const struct be_option *option = find(options, n, c);
		int status = option ? take(option, program) : unknown(program, longs, argv, c);
		if (status >= 0)
			return status;
	}
	return -1;
}
