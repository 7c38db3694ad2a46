#include <criterion/criterion.h>
#include <string.h>

#include "builder/report/diff.h"

/* A small catalogue: one factor of each kind of evidence, and one whose values are only stated. */
static const char catalogue[] =
	"- {name: plain.thing}\n"
	"- {name: named.thing, evidence: [{report: R1, kind: named, quote: q}]}\n"
	"- {name: argued.thing, evidence: [{report: R1, kind: named, quote: q}, {report: R2, kind: argued, quote: "
	"said}]}\n"
	"- {name: small.effect, evidence: [{report: R1, kind: measured, figure: 'less than 20 %', quote: little}]}\n"
	"- {name: large.effect, evidence: [{report: R1, kind: measured, figure: '5 %', quote: less},\n"
	"                                  {report: R2, kind: measured, figure: '-64.5 % of files', quote: most}]}\n"
	"- {name: options, compare: word}\n"
	"- {name: testfile.filesystem}\n"
	"- {name: fs.effect, within: testfile.filesystem, evidence: [{report: R2, kind: measured, figure: '90 %', "
	"quote: "
	"much}]}\n"
	"- {name: noise, compare: none}\n";

static const char reports[] = "reports:\n"
			      "  R1: {title: first report, date: 2020-01-02}\n"
			      "  R2: {title: second report, date: 2021-03-04}\n";

static struct be_node *load(const char *text)
{
	struct be_error err = BE_ERROR_INIT;
	struct be_node *node = be_node_load(text, strlen(text), "test", &err);
	cr_assert_not_null(node, "%s", err.text);
	return node;
}

/* A side of runs, each the text of a manifest's environment and, behind "|", of its metrics. */
static struct be_node *side(const char *const *runs)
{
	struct be_node *seq = be_node_seq();
	for (size_t i = 0; runs[i]; i++) {
		const char *bar = strchr(runs[i], '|');
		be_autofree char *environment = be_strndup(runs[i], bar ? (size_t)(bar - runs[i]) : strlen(runs[i]));
		be_autofree char *text = be_strf("path: run%zu\n"
						 "manifest:\n"
						 "  testcase: fio\n"
						 "  environment: {%s}\n"
						 "  machine: {twin: {accelerator: kvm}}\n"
						 "  recipe: {parameters: {bs: 4k}}\n"
						 "  result: {state: done, metrics: {%s}}\n",
						 i, environment, bar ? bar + 1 : "");
		be_add(seq, load(text));
	}
	return seq;
}

#define SIDE(...) side((const char *const[]){ __VA_ARGS__, NULL })

static struct be_node *diff_of(const struct be_node *a, const struct be_node *b)
{
	be_autonode struct be_node *factors = load(catalogue), *titles = load(reports);
	struct be_diff_input input = { .a = a, .b = b, .factors = factors, .reports = titles };
	return be_diff_make(&input);
}

/* Names of the differences in their order, joined by blanks. */
static char *names_of(const struct be_node *diff)
{
	be_autobuf struct be_buf out = { 0 };
	const struct be_node *rows = be_get(diff, "differences");
	be_buf_adds(&out, "");
	for (size_t i = 0; i < rows->n; i++)
		be_buf_addf(&out, "%s%s", i ? " " : "", be_get_str(rows->items[i], "name", ""));
	return be_buf_steal(&out);
}

static char *text_of(const struct be_node *diff, bool full)
{
	struct be_error err = BE_ERROR_INIT;
	be_autobuf struct be_buf out = { 0 };
	cr_assert_eq(be_diff_text(diff, full, &out, &err), 0, "%s", err.text);
	return be_buf_steal(&out);
}

#define EXPECT_HAS(text, part) cr_expect(strstr((text), (part)), "no \"%s\" in:\n%s", (part), (text))

static void expect_names(struct be_node *a, struct be_node *b, const char *names)
{
	be_autonode struct be_node *x = a, *y = b, *diff = diff_of(x, y);
	be_autofree char *got = names_of(diff);
	cr_expect_str_eq(got, names);
	cr_expect_eq(be_get_bool(diff, "same", false), !*names);
}

Test(diff, the_strongest_published_effect_comes_first)
{
	expect_names(SIDE("plain.thing: {observed: 1}, named.thing: {observed: 1}, argued.thing: {observed: 1}, "
			  "small.effect: {observed: 1}, large.effect: {observed: 1}"),
		     SIDE("plain.thing: {observed: 2}, named.thing: {observed: 2}, argued.thing: {observed: 2}, "
			  "small.effect: {observed: 2}, large.effect: {observed: 2}"),
		     "large.effect small.effect argued.thing named.thing plain.thing");
}

Test(diff, an_effect_was_measured_between_values)
{
	/* Nothing was measured between a value and none: the other measured one goes first. */
	expect_names(SIDE("small.effect: {observed: 1}, large.effect: {observed: 1}"),
		     SIDE("small.effect: {observed: 2}, large.effect: {verdict: not applicable}"),
		     "small.effect large.effect");
}

Test(diff, an_effect_was_measured_within_one_file_system)
{
	expect_names(
		SIDE("fs.effect: {observed: 1}, small.effect: {observed: 1}, testfile.filesystem: {observed: xfs}"),
		SIDE("fs.effect: {observed: 2}, small.effect: {observed: 2}, testfile.filesystem: {observed: xfs}"),
		"fs.effect small.effect");
	be_autonode struct be_node *a = SIDE("fs.effect: {observed: 1}, small.effect: {observed: 1}, "
					     "testfile.filesystem: {observed: xfs}");
	be_autonode struct be_node *b = SIDE("fs.effect: {observed: 2}, small.effect: {observed: 2}, "
					     "testfile.filesystem: {observed: tmpfs}");
	be_autonode struct be_node *diff = diff_of(a, b);
	be_autofree char *names = names_of(diff);
	cr_expect(be_starts(names, "small.effect fs.effect"), "%s", names);
}

Test(diff, the_same_environment)
{
	expect_names(SIDE("plain.thing: {observed: 1}, options: {observed: 'rw ssd'}, noise: {observed: 1}"),
		     SIDE("plain.thing: {observed: 1}, options: {observed: 'ssd rw'}, noise: {observed: 2}"), "");
	expect_names(SIDE("plain.thing: {verdict: 'not observable: why'}"),
		     SIDE("plain.thing: {verdict: 'not observable: another why'}"), "");
}

Test(diff, what_every_run_has_its_own_of_is_stated)
{
	be_autonode struct be_node *a = SIDE("noise: {observed: 1}"), *b = SIDE("noise: {observed: 2}");
	be_autonode struct be_node *diff = diff_of(a, b);
	cr_expect_str_eq(be_get_str(be_get(diff, "stated")->items[0], "name", ""), "noise");
	be_autofree char *text = text_of(diff, false), *full = text_of(diff, true);
	EXPECT_HAS(text, "same environment: 1 factors compared");
	EXPECT_HAS(text, "1 values that every run has its own of: --full");
	EXPECT_HAS(full, "noise");
}

Test(diff, values_that_changed_during_a_run)
{
	be_autonode struct be_node *a = SIDE("plain.thing: {observed: idle, after: idle}");
	be_autonode struct be_node *b = SIDE("plain.thing: {observed: idle, after: resync}");
	be_autonode struct be_node *diff = diff_of(a, b);
	be_autofree char *text = text_of(diff, false);
	EXPECT_HAS(text, "idle, then resync");
}

Test(diff, values_that_vary_between_runs)
{
	be_autonode struct be_node *a = SIDE("plain.thing: {observed: 1}", "plain.thing: {observed: 2}");
	be_autonode struct be_node *b = SIDE("plain.thing: {observed: 1}", "plain.thing: {observed: 1}");
	be_autonode struct be_node *c = SIDE("plain.thing: {observed: 2}", "plain.thing: {observed: 1}");
	be_autonode struct be_node *diff = diff_of(a, b), *same = diff_of(a, c);
	be_autofree char *text = text_of(diff, false);
	EXPECT_HAS(text, "varies: 1, 2");
	cr_expect(be_get_bool(same, "same", false));
}

Test(diff, only_the_words_that_differ_are_shown)
{
	be_autonode struct be_node *a = SIDE("options: {observed: 'rw ssd space_cache=v2 subvol=/'}");
	be_autonode struct be_node *b = SIDE("options: {observed: 'rw nossd space_cache=v2 subvol=/'}");
	be_autonode struct be_node *diff = diff_of(a, b);
	be_autofree char *text = text_of(diff, false);
	EXPECT_HAS(text, "... ssd ");
	EXPECT_HAS(text, "... nossd");
}

Test(diff, evidence_stands_below_with_its_report)
{
	be_autonode struct be_node *a = SIDE("large.effect: {observed: 1}"), *b = SIDE("large.effect: {observed: 2}");
	be_autonode struct be_node *diff = diff_of(a, b);
	be_autofree char *text = text_of(diff, false);
	EXPECT_HAS(text, "large.effect  R2 -64.5 % of files ");
	EXPECT_HAS(text, "R2 2021-03-04 second report");
	EXPECT_HAS(text, "large.effect, measured -64.5 % of files: \"most\"");
	cr_expect_null(strstr(text, "first report"), "a weaker one is not told:\n%s", text);
}

Test(diff, parameters_and_packages_differ_too)
{
	be_autonode struct be_node *a = SIDE(""), *b = SIDE("");
	be_set_path(b->items[0], "manifest.recipe.parameters.bs", be_node_str("2M"));
	be_set_path(a->items[0], "manifest.lock.packages",
		    load("[{name: fio, version: '3.33'}, {name: gone, version: '1'}]"));
	be_set_path(b->items[0], "manifest.lock.packages", load("[{name: fio, version: '3.39'}]"));
	be_autonode struct be_node *diff = diff_of(a, b);
	be_autofree char *names = names_of(diff), *text = text_of(diff, false);
	cr_expect_str_eq(names, "job bs package fio package gone");
	EXPECT_HAS(text, "not there");
}

static void expect_reason(struct be_node *a, struct be_node *b, const char *reason)
{
	be_autonode struct be_node *x = a, *y = b, *diff = diff_of(x, y);
	be_autofree char *text = text_of(diff, false);
	cr_expect_eq(be_get_bool(diff, "comparable", true), reason == NULL);
	if (reason)
		cr_expect(be_starts(text, reason), "not \"%s\" first in:\n%s", reason, text);
	else
		cr_expect_null(strstr(text, "NOT COMPARABLE"), "%s", text);
}

static struct be_node *on(struct be_node *runs, const char *accelerator)
{
	struct be_node *machine = be_get_path(runs->items[0], "manifest.machine");
	be_unset(machine, "twin");
	if (accelerator)
		be_set_path(machine, "twin.accelerator", be_node_str(accelerator));
	return runs;
}

Test(diff, what_cannot_be_compared)
{
	expect_reason(SIDE("testfile.filesystem: {observed: ramfs}"), SIDE("testfile.filesystem: {observed: btrfs}"),
		      "NOT COMPARABLE: another test file system: ramfs against btrfs\n");
	expect_reason(on(SIDE(""), "tcg"), on(SIDE(""), NULL), "NOT COMPARABLE: A ran on TCG, B on hardware\n");
	expect_reason(on(SIDE(""), "kvm"), on(SIDE(""), NULL), NULL);
	expect_reason(on(SIDE(""), "tcg"), on(SIDE(""), "tcg"), NULL);
	struct be_node *other = SIDE("");
	be_set_path(other->items[0], "manifest.testcase", be_node_str("fsmark"));
	expect_reason(SIDE(""), other, "NOT COMPARABLE: another benchmark: fio against fsmark\n");
}

Test(diff, figures_in_the_robots_form)
{
	be_autonode struct be_node *a = SIDE("|iops: 838.50", "|iops: 600", "|iops: 900, only_a: 3");
	be_autonode struct be_node *b = SIDE("|iops: 438.5, latency_20ms%: 0.22, big: 2.226e+10", "|iops: 420");
	be_autonode struct be_node *diff = diff_of(a, b);
	be_autofree char *text = text_of(diff, false);
	EXPECT_HAS(text, "         %stddev     %change         %stddev\n");
	EXPECT_HAS(text, "    779.50 \xc2\xb1 17%    -44.9%     429.25 \xc2\xb1  2%  iops\n");
	EXPECT_HAS(text, "      3.00                                   only_a\n");
	EXPECT_HAS(text, "                            2.226e+10        big\n");
}

Test(diff, a_percentage_changes_by_a_difference)
{
	be_autonode struct be_node *a = SIDE("|latency_20ms%: 0.03"), *b = SIDE("|latency_20ms%: 0.22");
	be_autonode struct be_node *diff = diff_of(a, b);
	be_autofree char *text = text_of(diff, false);
	EXPECT_HAS(text, "      0.03           +0.2        0.22        latency_20ms%\n");
}

Test(diff, a_run_that_failed_is_not_in_the_figures)
{
	be_autonode struct be_node *a = SIDE("|iops: 100", "|iops: 1"), *b = SIDE("|iops: 100");
	be_set_path(a->items[1], "manifest.result.state", be_node_str("failed"));
	be_autonode struct be_node *diff = diff_of(a, b);
	be_autofree char *text = text_of(diff, false);
	EXPECT_HAS(text, "note: run 2 of A is not in the figures: failed");
	EXPECT_HAS(text, "+0.0%");
}

Test(diff, images_compare_by_what_was_built)
{
	be_autonode struct be_node *a = SIDE("plain.thing: {built: 1, verdict: 'not observable: not booted yet'}, "
					     "argued.thing: {verdict: 'not observable: not booted yet'}");
	be_autonode struct be_node *b = SIDE("plain.thing: {built: 2, observed: 2}, argued.thing: {observed: 5}");
	be_unset(be_get(a->items[0], "manifest"), "result");
	be_autonode struct be_node *diff = diff_of(a, b);
	be_autofree char *names = names_of(diff), *text = text_of(diff, false);
	cr_expect_str_eq(names, "plain.thing");
	EXPECT_HAS(text, "one side was not booted: what was built is compared");
}

Test(diff, a_damaged_manifest_is_no_reason_to_crash)
{
	static const char *const manifests[] = { "{}", "{environment: [1, 2]}",
						 "{environment: {plain.thing: 5}, result: []}",
						 "{recipe: 7, lock: {packages: {a: b}}, result: {metrics: [1]}}" };
	for (size_t i = 0; i < BE_ARRAY_LEN(manifests); i++) {
		be_autofree char *run = be_strf("[{path: x, manifest: %s}]", manifests[i]);
		be_autonode struct be_node *a = load(run), *b = SIDE("plain.thing: {observed: 1}|iops: 1");
		be_autonode struct be_node *diff = diff_of(a, b), *back = diff_of(b, a);
		be_autofree char *text = text_of(diff, true), *other = text_of(back, true);
		cr_expect(*text && *other);
	}
}

Test(diff, no_line_is_wider_than_promised)
{
	be_autofree char *long_text = be_alloc(5000);
	memset(long_text, 'x', 4999);
	be_autofree char *run =
		be_strf("plain.thing: {observed: %s}, named.thing: {observed: '\xc2\xb5\xc2\xb5'}", long_text);
	be_autonode struct be_node *a = SIDE(run), *b = SIDE("plain.thing: {observed: 1}, named.thing: {observed: 2}");
	be_autonode struct be_node *diff = diff_of(a, b);
	be_autofree char *text = text_of(diff, true);
	be_autostrv struct be_strv lines = { 0 };
	be_strv_split(&lines, text, "\n");
	for (size_t i = 0; i < lines.n; i++)
		cr_expect_leq(strlen(lines.v[i]), BE_DIFF_COLUMNS + 4, "%s", lines.v[i]);
}
