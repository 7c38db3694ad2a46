#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/options.h"

static const char usage[] = "Usage: prog [OPTION]... FILE\n";

static struct values {
	bool quiet;
	const char *output, *color;
	struct be_strv set;
	int64_t runs;
} got;

static bool take_color(void *to, const char *value)
{
	*(const char **)to = value;
	return strcmp(value, "red") == 0;
}

/* Reads @line, words with single blanks between them, of a program "prog". */
static int read_line(const char *line)
{
	const struct be_option options[] = {
		BE_FLAG("quiet", 'q', &got.quiet),
		BE_TEXT("output", 'o', &got.output),
		BE_LIST("set", 's', &got.set),
		BE_COUNT("runs", &got.runs, 9),
		BE_TAKE("color", take_color, &got.color, "is not red"),
		BE_FLAG("column", 0, &got.quiet),
		BE_OPTIONS_END,
	};
	static struct be_strv words;
	be_strv_free(&words);
	be_strv_free(&got.set);
	got = (struct values){ 0 };
	be_strv_add(&words, "prog");
	be_strv_split(&words, line, " ");
	fflush(stderr);
	int status = be_options_read("mk prog", usage, options, (int)words.n, words.v);
	fflush(stderr);
	fflush(stdout);
	return status;
}

Test(options, values_reach_their_places)
{
	cr_assert_eq(read_line("-qo out --set a=1 one -sb=2 --runs=9 --color red two"), -1);
	cr_expect(got.quiet);
	cr_expect_str_eq(got.output, "out");
	cr_expect_eq(got.set.n, 2);
	cr_expect_str_eq(got.set.v[1], "b=2");
	cr_expect_eq(got.runs, 9);
	cr_expect_str_eq(got.color, "red");
	cr_expect_eq(optind, 9, "%d", optind);
}

Test(options, a_second_command_line_begins_anew)
{
	cr_assert_eq(read_line("-o first one"), -1);
	cr_assert_eq(read_line("-q two"), -1);
	cr_expect(got.quiet && !got.output);
	cr_expect_eq(optind, 2);
}

Test(options, help_is_printed, .init = cr_redirect_stdout)
{
	cr_assert_eq(read_line("--output x -h --nonsense"), BE_OK);
	cr_assert_stdout_eq_str(usage);
}

#define HINT "\n`mk prog --help` shows what it takes.\n"

#define REFUSED(name, line, text)                               \
	Test(options, name, .init = cr_redirect_stderr)         \
	{                                                       \
		cr_assert_eq(read_line(line), BE_USAGE);        \
		cr_assert_stderr_eq_str("mk prog: " text HINT); \
	}

REFUSED(unknown_long, "--nonsense", "unknown option --nonsense")
REFUSED(ambiguous, "--col=red", "option --col=red is ambiguous: --color, --column")
REFUSED(unknown_short, "-qx", "unknown option -x")
REFUSED(unknown_in_a_group, "--quiet -xq", "unknown option -x")
REFUSED(no_value_long, "--output", "option --output needs a value")
REFUSED(no_value_short, "-q -o", "option -o needs a value")
REFUSED(value_of_a_flag, "--quiet=yes", "option --quiet=yes takes no value")
REFUSED(no_count, "--runs 0", "--runs 0: is no number from 1 to 9")
REFUSED(too_many, "--runs 10", "--runs 10: is no number from 1 to 9")
REFUSED(no_number, "--runs 2x", "--runs 2x: is no number from 1 to 9")
REFUSED(none_of_its_kind, "--color blue", "--color blue: is not red")
