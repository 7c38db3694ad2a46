#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "workload.h"

#define RULES "2024-06-01"

/* The steps and values of the workload @text as YAML, notes as `! TEXT` before; or `error: TEXT`. The caller frees. */
static char *render(const char *text, const struct be_machine_size *size)
{
	struct be_error err = BE_ERROR_INIT;
	be_autonode struct be_node *workload = be_node_load(text, strlen(text), "w.yaml", &err);
	cr_assert_not_null(workload, "%s", err.text);
	be_autonode struct be_node *steps = NULL, *values = NULL;
	be_autostrv struct be_strv notes = { 0 };
	if (be_workload_render(workload, "/fs/x", size, RULES, &steps, &values, &notes, &err))
		return be_strf("error: %s", err.text);
	struct be_buf out = { 0 };
	for (size_t i = 0; i < notes.n; i++)
		be_buf_addf(&out, "! %s\n", notes.v[i]);
	cr_assert_eq(be_node_yaml(values, &out, &err), 0, "%s", err.text);
	cr_assert_eq(be_node_yaml(steps, &out, &err), 0, "%s", err.text);
	return be_buf_steal(&out);
}

static const struct be_machine_size four = { .nr_cpu = 4, .nr_node = 1, .memory = INT64_C(1) << 30 };

#define expect(text, want)                                   \
	do {                                                 \
		be_autofree char *got = render(text, &four); \
		cr_expect_str_eq(got, want, "%s", got);      \
	} while (0)

#define TWO "storages: [{mount: /fs/a, device: /dev/a}, {mount: /fs/b, device: /dev/b}]\n"
#define STEP(argv) "  steps: [{name: s, argv: " argv "}]\n"
#define RENDERED(argv) "- name: s\n  role: run\n  argv: " argv "\n  cwd: /\n  timeout: 3600\n"

Test(workload, lists)
{
	expect("definition:\n" STEP("[a, [b, [c]], '${1 + 2}', \"x${'}'}y\"]"),
	       "{}\n" RENDERED("[a, b, c, \"3\", 'x}y']"));
	expect("definition:\n" STEP("[a, {if: 1 > 2, items: [b], else: [c]}, {if: nr_cpu == 4, items: [d]}]"),
	       "{}\n" RENDERED("[a, c, d]"));
	expect("definition:\n" STEP("[a, {since: 2024-06-01, items: [b]}, {until: 2024-06-01, items: [c]}]"),
	       "{}\n" RENDERED("[a, b]"));
	expect("definition:\n" STEP("[a, {each: '3', items: ['${index}']}]"),
	       "{}\n" RENDERED("[a, \"0\", \"1\", \"2\"]"));
	expect(TWO "definition:\n" STEP(
		       "[a, {each: storages, items: ['${index}:${mount}:${device}']}, '${other_devices}']"),
	       "{}\n" RENDERED("[a, '0:/fs/a:/dev/a', '1:/fs/b:/dev/b', /dev/b]"));
	expect("parameters: {l: [x, 'of={testdir}/f', '${no}']}\n"
	       "definition:\n  parameters: {l: {unit: list}}\n" STEP("[a, {each: l, items: ['${item}']}]"),
	       "{}\n" RENDERED("[a, x, of=/fs/x/f, '${no}']"));
	expect("prefix: [numactl, -m, '0']\ndefinition:\n" STEP("[a]"), "{}\n" RENDERED("[numactl, -m, \"0\", a]"));
}

Test(workload, counts_follow_the_machine)
{
	expect("parameters: {k: 50%}\ndefinition:\n  parameters: {k: {unit: count}}\n" STEP("[a, '${k}']"),
	       "k:\n  asked: 50%\n  of: nr_cpu\n  base: 4\n  value: 2\n" RENDERED("[a, \"2\"]"));
	expect("parameters: {k: 10%}\ndefinition:\n  parameters: {k: {unit: count}}\n" STEP("[a, '${k}']"),
	       "! k: 10% of 4 CPUs is 0: 1 used here\n"
	       "k:\n  asked: 10%\n  of: nr_cpu\n  base: 4\n  value: 1\n" RENDERED("[a, \"1\"]"));
	expect("parameters: {k: 75%}\n" TWO
	       "definition:\n  parameters: {k: {unit: count, multiple_of: nr_storages}}\n" STEP("[a, '${k}']"),
	       "! k: 75% = 3 is no multiple of the 2 storages: 4 used here\n"
	       "k:\n  asked: 75%\n  of: nr_cpu\n  base: 4\n  value: 4\n  remainder: 1\n" RENDERED("[a, \"4\"]"));
	expect("parameters: {k: 3t}\n" TWO
	       "definition:\n  parameters: {k: {unit: count, multiple_of: nr_storages}}\n" STEP("[a, '${k}']"),
	       "error: w.yaml:1:17: k: 3 tasks cannot be spread evenly over 2 storages");
	expect("definition:\n  parameters: {m: {unit: memory, default: 50%}}\n" STEP("[a, '${m}']"),
	       "m:\n  asked: 50%\n  default: true\n  of: memory\n  base: 1073741824\n  value: 536870912\n" RENDERED(
		       "[a, \"536870912\"]"));
}

Test(workload, unknown_size_is_said)
{
	static const struct be_machine_size none = { 0 };
	be_autofree char *got =
		render("parameters: {k: 50%}\ndefinition:\n  parameters: {k: {unit: count}}\n" STEP("[a]"), &none);
	cr_expect_str_eq(got, "error: w.yaml:1:17: k: '50%' is not known without nr_cpu");
}

Test(workload, truth_is_read_as_lkp_reads_it)
{
	static const char *const yes[] = { "tb", "direct", "1", "off", "y" }, *const no[] = { "0", "n", "no", "false" };
	for (size_t i = 0; i < BE_ARRAY_LEN(yes) + BE_ARRAY_LEN(no); i++) {
		bool truth = i < BE_ARRAY_LEN(yes);
		be_autofree char *text = be_strf(
			"parameters: {b: \"%s\"}\ndefinition:\n  parameters: {b: {unit: bool}}\n" STEP("[a, '${b}']"),
			truth ? yes[i] : no[i - BE_ARRAY_LEN(yes)]);
		expect(text, truth ? "{}\n" RENDERED("[a, \"true\"]") : "{}\n" RENDERED("[a, \"false\"]"));
	}
}

Test(workload, definitions_with_mistakes)
{
	expect("definition:\n" STEP("[a, {direct: 0}]"), "error: w.yaml:2:31: an item cannot have the key 'direct'");
	expect("definition:\n" STEP("[a, '${x']"), "error: w.yaml:2:31: ${ without }");
	expect("definition:\n" STEP("[a, '${nil}']"), "error: w.yaml:2:31: ${nil} has no value");
	expect("definition:\n" STEP("[a, '${1 +}']"),
	       "error: w.yaml:2:31: in '1 +', column 4: a value expected, found 'the end'");
	expect("definition:\n" STEP("[{if: 'false', items: [a]}]"),
	       "error: w.yaml:2:27: the step's argument vector is empty");
	expect("definition:\n" STEP("[a, {each: '100000', items: [b]}]"),
	       "error: w.yaml:2:38: 100000 items are more than 4096");
	expect("definition:\n" STEP("[a, {each: fs, items: [b]}]"),
	       "error: w.yaml:2:38: in 'fs', column 1: there is no 'fs' here");
	expect("definition:\n  steps: [{name: s}]\n", "error: w.yaml:2:11: a step without argv");
	expect("definition:\n  parameters: {p: {unit: furlong, default: 1}}\n",
	       "error: w.yaml:2:26: there is no unit 'furlong'");
	expect("parameters: {p: [1]}\ndefinition:\n  parameters: {p: {}}\n", "error: w.yaml:1:17: p must be one value");
}

Test(workload, steps)
{
	expect("timeout: 60\ndefinition:\n"
	       "  steps:\n"
	       "  - {name: d, role: daemon, argv: [srv], if: nr_node == 1}\n"
	       "  - {name: x, argv: [no], if: nr_node > 1}\n"
	       "  - name: r\n"
	       "    argv: [run]\n"
	       "    cwd: /w\n"
	       "    stdin: [one, '', two]\n"
	       "    files: {conf: [a, b], /etc/c: []}\n"
	       "    env: {V: '${nr_cpu}'}\n"
	       "    copies: nr_cpu\n"
	       "    repeat: '1'\n"
	       "    timeout: '7'\n"
	       "    may_fail: true\n",
	       "{}\n"
	       "- name: d\n  role: daemon\n  argv: [srv]\n  cwd: /\n  timeout: 60\n"
	       "- name: r\n  role: run\n  argv: [run]\n  stdin: |\n    one\n\n    two\n  cwd: /w\n"
	       "  env:\n    V: \"4\"\n  files:\n    /w/conf: |\n      a\n      b\n    /etc/c: \"\"\n"
	       "  copies: 4\n  timeout: 60\n  may_fail: true\n");
}
