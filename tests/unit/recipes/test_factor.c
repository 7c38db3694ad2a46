#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "factor.h"

static struct be_node *load(const char *text)
{
	struct be_error err = BE_ERROR_INIT;
	struct be_node *doc = be_node_load(text, strlen(text), "t.yaml", &err);
	cr_assert_not_null(doc, "%s", err.text);
	return doc;
}

Test(factor, values)
{
	static const struct {
		const char *compare, *wanted, *observed;
		bool match;
	} cases[] = {
		{ NULL, "write back", "write back", true },
		{ NULL, "write back", "write through", false },
		{ "exact", "10", "10.0", false },
		{ "number", "10", "10.0", true },
		{ "number", "0x43", "0x00000043", true },
		{ "number", "0x43", "67", true },
		{ "number", "0x43", "0x44", false },
		{ "number", "none", "none", true },
		{ "number", "1", "none", false },
		{ "bytes", "256K", "262144", true },
		{ "bytes", "256K", "262145", false },
		{ "capacity", "2G", "2072403968", true },
		{ "capacity", "256G", "2072403968", false },
		{ "set", "b a", "[a, b]", true },
		{ "set", "a, b", "a b a", true },
		{ "set", "a", "[a, b]", false },
		{ "word", "ssd", "rw,ssd,space_cache", true },
		{ "word", "ss", "rw,ssd", false },
		{ "prefix", "6.12", "6.12.118+deb13", true },
		{ "prefix", "6.1.", "6.12.118", false },
		{ NULL, "a", "{disk0: a, md0: a}", true },
		{ NULL, "a", "{disk0: a, md0: b}", false },
		{ NULL, "a", "{}", false },
		{ NULL, "a", "null", false },
	};
	for (size_t i = 0; i < BE_ARRAY_LEN(cases); i++) {
		be_autonode struct be_node *observed = load(cases[i].observed);
		cr_expect_eq(be_value_matches(cases[i].compare, cases[i].wanted, observed), cases[i].match, "%s %s %s",
			     cases[i].compare, cases[i].wanted, cases[i].observed);
	}
	cr_expect_not(be_value_matches(NULL, "a", NULL));
}

static const char plan[] = "factors:\n"
			   "- {name: asked.met, observe: {kind: file, path: /a}}\n"
			   "- {name: asked.missed, observe: {kind: file, path: /a}}\n"
			   "- {name: asked.lost, observe: {kind: file, path: /a}, when: both}\n"
			   "- {name: asked.any, observe: {kind: file, path: /a}}\n"
			   "- {name: asked.each, observe: {kind: file, path: /a}}\n"
			   "- {name: asked.uncompared, observe: {kind: file, path: /a}, compare: none}\n"
			   "- {name: free, observe: {kind: file, path: /a}}\n"
			   "- {name: late, observe: {kind: run, name: late}, when: after}\n"
			   "- {name: absent, observe: {kind: file, path: /a}}\n"
			   "- {name: hidden, observe: {kind: file, path: /a}}\n"
			   "- {name: never, observe: {kind: none, reason: private to the kernel}}\n"
			   "- {name: planned, observe: {kind: plan, name: planned}}\n"
			   "- {name: unplanned, observe: {kind: plan, name: unplanned}}\n"
			   "- {name: known, observe: {kind: builder, name: known}}\n"
			   "- {name: silent, observe: {kind: file, path: /a}}\n"
			   "wanted:\n"
			   "  asked.met: {value: x, by: job}\n"
			   "  asked.missed: {value: x, by: host}\n"
			   "  asked.lost: {value: x, by: job}\n"
			   "  asked.any: {value: [w, x], by: expect}\n"
			   "  asked.each: {value: {disk0: x, disk1: z}, by: host}\n"
			   "  asked.uncompared: {value: x, by: job}\n"
			   "  planned: {value: \"1\", by: job}\n"
			   "built: {planned: \"1\"}\n";

static void expect_environment(const char *before, const char *after, const char *wanted)
{
	be_autonode struct be_node *p = load(plan), *built = load("{known: abc}");
	be_autonode struct be_node *b = before ? load(before) : NULL, *a = after ? load(after) : NULL;
	be_autonode struct be_node *environment = be_environment_make(p, built, b, a);
	be_autobuf struct be_buf text = { 0 };
	struct be_error err = BE_ERROR_INIT;
	for (size_t i = 0; i < environment->n; i++) {
		static const char *const keys[] = { "observed", "after" };
		be_buf_addf(&text, "%s:", environment->keys[i]);
		for (size_t k = 0; k < BE_ARRAY_LEN(keys); k++)
			if (be_get_str(environment->items[i], keys[k], NULL))
				be_buf_addf(&text, " %s", be_get_str(environment->items[i], keys[k], ""));
		be_buf_addf(&text, " (%s)\n", be_get_str(environment->items[i], "verdict", ""));
	}
	cr_expect_str_eq(text.data, wanted, "%s", err.text);
}

Test(factor, before_the_first_boot)
{
	expect_environment(NULL, NULL,
			   "asked.met: (not observable: not booted yet)\n"
			   "asked.missed: (not observable: not booted yet)\n"
			   "asked.lost: (not observable: not booted yet)\n"
			   "asked.any: (not observable: not booted yet)\n"
			   "asked.each: (not observable: not booted yet)\n"
			   "asked.uncompared: (not observable: not booted yet)\n"
			   "free: (not observable: not booted yet)\n"
			   "late: (not observable: not booted yet)\n"
			   "absent: (not observable: not booted yet)\n"
			   "hidden: (not observable: not booted yet)\n"
			   "never: (not observable: private to the kernel)\n"
			   "planned: 1 (as requested)\n"
			   "unplanned: (not applicable)\n"
			   "known: abc (not requested)\n"
			   "silent: (not observable: not booted yet)\n");
}

#define BEFORE                                              \
	"environment:\n"                                    \
	"  asked.met: {value: x}\n"                         \
	"  asked.missed: {value: y}\n"                      \
	"  asked.lost: {value: x}\n"                        \
	"  asked.any: {value: x}\n"                         \
	"  asked.each: {value: {disk0: x, disk1: z}}\n"     \
	"  asked.uncompared: {value: x}\n"                  \
	"  free: {value: y}\n"                              \
	"  absent: {not_applicable: no cpufreq}\n"          \
	"  hidden: {not_observable: \"no such file /a\"}\n" \
	"  late: {not_observable: not measured yet}\n"

Test(factor, after_a_run)
{
	expect_environment(BEFORE, "environment:\n  asked.lost: {value: y}\n  late: {value: 7}\n",
			   "asked.met: x (as requested)\n"
			   "asked.missed: y (differs)\n"
			   "asked.lost: x y (differs)\n"
			   "asked.any: x (as requested)\n"
			   "asked.each: (as requested)\n"
			   "asked.uncompared: x (not observable: its values are stated, not compared)\n"
			   "free: y (not requested)\n"
			   "late: 7 (not requested)\n"
			   "absent: (not applicable)\n"
			   "hidden: (not observable: no such file /a)\n"
			   "never: (not observable: private to the kernel)\n"
			   "planned: 1 (as requested)\n"
			   "unplanned: (not applicable)\n"
			   "known: abc (not requested)\n"
			   "silent: (not observable: the guest did not state it)\n");
}

Test(factor, died_in_between)
{
	be_autonode struct be_node *p = load(plan), *b = load("environment: {}");
	be_autonode struct be_node *environment = be_environment_make(p, NULL, b, NULL);
	cr_expect_str_eq(be_get_str(be_get(environment, "late"), "verdict", ""),
			 "not observable: the run did not come to its end");
	cr_expect_str_eq(be_get_str(be_get(environment, "free"), "verdict", ""),
			 "not observable: the guest did not state it");
	/* the draft, which is delivered in place of a last statement */
	be_autonode struct be_node *draft = load("outcome: {state: running}");
	be_autonode struct be_node *drafted = be_environment_make(p, NULL, b, draft);
	cr_expect(be_node_equal(drafted, environment));
}

/* The data directory of the tests below. */
static char data[64];

static void set_up(void)
{
	struct be_error err = BE_ERROR_INIT;
	snprintf(data, sizeof(data), "/tmp/be-factor.XXXXXX");
	cr_assert_not_null(mkdtemp(data));
	be_autofree char *dir = be_strf("%s/factors", data);
	cr_assert_eq(be_mkdirs(dir, 0700, &err), 0);
}

static void tear_down(void)
{
	struct be_error err = BE_ERROR_INIT;
	cr_expect_eq(be_remove_tree(data, &err), 0);
}

TestSuite(catalogue, .init = set_up, .fini = tear_down);

static void write_group(const char *file, const char *text)
{
	struct be_error err = BE_ERROR_INIT;
	be_autofree char *path = be_strf("%s/factors/%s", data, file);
	cr_assert_eq(be_write_file(path, text, strlen(text), 0600, &err), 0);
}

#define GROUP(name, factors) "mkbenchenv: factors\nschema: 1\ngroup: " name "\nfactors:\n" factors
#define GOOD "  a.b: {why: w, scope: run, observe: {kind: file, path: /a}}\n"

Test(catalogue, in_order_of_files)
{
	struct be_error err = BE_ERROR_INIT;
	write_group("two.yaml", GROUP("two", "  c.d: {why: w, scope: disk, observe: {kind: none, reason: r}}\n" GOOD));
	write_group("one.yaml", GROUP("one", "  z.z: {why: w, scope: run, observe: {kind: probe, name: p}}\n"));
	write_group("notes.txt", "no factors");
	be_autonode struct be_node *all = be_factors_load(data, &err);
	cr_assert_not_null(all, "%s", err.text);
	cr_assert_eq(all->n, 3);
	cr_expect_str_eq(be_get_str(all->items[0], "name", ""), "z.z");
	cr_expect_str_eq(be_get_str(all->items[1], "name", ""), "c.d");
	cr_expect_str_eq(be_get_str(all->items[2], "group", ""), "two");
}

Test(catalogue, refused)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{ "mkbenchenv: plan\nschema: 1\n", "x.yaml: is no factors document of schema 1" },
		{ "mkbenchenv: factors\nschema: 1\ngroup: x\n", "x.yaml: needs `group:` and a map `factors:`" },
		{ GROUP("x", "  a: {scope: run, observe: {kind: none, reason: r}}\n"),
		  "x.yaml:5:6: factor a: `why:` is missing" },
		{ GROUP("x", "  a: {why: w, observe: {kind: none, reason: r}}\n"),
		  "x.yaml:5:6: factor a: `scope:` is missing" },
		{ GROUP("x", "  a: {why: w, scope: room, observe: {kind: none, reason: r}}\n"),
		  "x.yaml:5:22: factor a: `scope:` must be one of run, disk, fs, md, cpu, node" },
		{ GROUP("x", "  a: {why: w, scope: run, compare: roughly, observe: {kind: none, reason: r}}\n"),
		  "x.yaml:5:36: factor a: `compare:` must be one of exact, number, bytes, capacity, set, word, prefix, "
		  "none" },
		{ GROUP("x", "  a: {why: w, scope: run, when: never, observe: {kind: none, reason: r}}\n"),
		  "x.yaml:5:33: factor a: `when:` must be one of before, both, after, during" },
		{ GROUP("x", "  a: {why: w, scope: run}\n"),
		  "x.yaml:5:6: factor a: `observe:` needs a map with `kind:`" },
		{ GROUP("x", "  a: {why: w, scope: run, observe: {kind: guess}}\n"),
		  "x.yaml:5:36: factor a: unknown kind of observation \"guess\"" },
		{ GROUP("x", "  a: {why: w, scope: run, observe: {kind: file-field, path: /a}}\n"),
		  "x.yaml:5:36: factor a: an observation of kind file-field needs `field:`" },
		{ GROUP("x", "  a: {why: w, scope: run, evidence: [{report: R1}], observe: {kind: none, reason: r}}\n"),
		  "x.yaml:5:38: factor a: evidence needs `kind:`" },
		{ GROUP("x", "  a: {why: w, scope: run, evidence: [{kind: felt}], observe: {kind: none, reason: r}}\n"),
		  "x.yaml:5:45: factor a: `kind:` must be one of measured, argued, named, none" },
	};
	for (size_t i = 0; i < BE_ARRAY_LEN(cases); i++) {
		struct be_error err = BE_ERROR_INIT;
		write_group("x.yaml", cases[i].text);
		cr_expect_null(be_factors_load(data, &err));
		be_autofree char *wanted = be_strf("%s/factors/%s", data, cases[i].message);
		cr_expect_str_eq(err.text, wanted);
		cr_expect_eq(err.status, BE_USAGE);
	}
}

Test(catalogue, a_name_stands_once)
{
	struct be_error err = BE_ERROR_INIT;
	write_group("one.yaml", GROUP("one", GOOD));
	write_group("two.yaml", GROUP("two", GOOD));
	cr_expect_null(be_factors_load(data, &err));
	cr_expect(strstr(err.text, "two.yaml:5:8: factor a.b stands in another group too"), "%s", err.text);
}

Test(catalogue, none_there)
{
	struct be_error err = BE_ERROR_INIT;
	cr_expect_null(be_factors_load(data, &err));
	cr_expect(strstr(err.text, "holds no factor"), "%s", err.text);
	cr_expect_null(be_factors_load("/nonexistent", &err));
	cr_expect(strstr(err.text, "the factor catalogue cannot be read"), "%s", err.text);
}
