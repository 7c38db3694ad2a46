#include "initrd/observe/facts.h"
#include "initrd/machine.h"
#include "tree.h"

Test(machine, size_of_what_is_online)
{
	struct be_root root = tree_load("tests/data/sys/guest-raid5.tree");
	struct be_machine_size size;
	be_machine_size(&root, &size);
	cr_expect_eq(size.nr_cpu, 2);
	cr_expect_eq(size.nr_node, 2);
	cr_expect_gt(size.memory, 900 << 20);
	tree_free(&root);
	cr_expect_eq(be_list_count("0-3,8,10-11"), 7);
	cr_expect_eq(be_list_count("0"), 1);
	cr_expect_eq(be_list_count(""), 0);
	cr_expect_eq(be_list_count("none"), 0);
}

Test(machine, differences_with_both_numbers)
{
	be_autonode struct be_node *asked = tree_yaml("nr_threads: {asked: 100%, of: nr_cpu, base: 64, value: 64}\n"
						      "same: {asked: '8', value: 8}\n"
						      "ram: {asked: 50%, of: memory, base: 274877906944, value: 5}\n"
						      "plain: {asked: 4, value: 4}\n");
	be_autonode struct be_node *here = tree_yaml("nr_threads: {asked: 100%, of: nr_cpu, base: 1, value: 1}\n"
						     "same: {asked: '8', value: 8}\n"
						     "ram: {asked: 50%, of: memory, base: 1073741824, value: 2}\n"
						     "plain: {asked: 4, value: 1}\n");
	be_autonode struct be_node *deviations = be_node_seq();
	be_machine_deviations(asked, here, deviations);
	static const char *const want[][2] = {
		{ "nr_threads", "100% of 64 threads asked = 64, here 1 thread = 1" },
		{ "ram", "50% of 256 GiB of memory asked = 5, here 1 GiB of memory = 2" },
		{ "plain", "4 asked, here 1" },
	};
	cr_assert_eq(deviations->n, BE_ARRAY_LEN(want));
	for (size_t i = 0; i < BE_ARRAY_LEN(want); i++) {
		cr_expect_str_eq(be_get_str(deviations->items[i], "topic", ""), want[i][0]);
		cr_expect_str_eq(be_get_str(deviations->items[i], "text", ""), want[i][1]);
	}
}

#define WANTED                                 \
	"wanted:\n"                            \
	"  a: {value: write back, by: host}\n" \
	"  b: {value: '4', by: host}\n"        \
	"  c: {value: x, by: expect}\n"        \
	"  later: {value: x, by: expect}\n"    \
	"factors: [{name: a}, {name: b, compare: number}, {name: c}, {name: later}]\n"
#define OBSERVED                                                \
	"a: {value: {disk0: write back, md0: write through}}\n" \
	"b: {value: 4.0}\n"                                     \
	"c: {not_applicable: no such thing}\n"

Test(machine, refuses_only_when_asked_to)
{
	struct be_error err = BE_ERROR_INIT;
	be_autonode struct be_node *warn = tree_yaml("expect: warn\n" WANTED);
	be_autonode struct be_node *refuse = tree_yaml("expect: refuse\n" WANTED);
	be_autonode struct be_node *observed = tree_yaml(OBSERVED);
	cr_expect_eq(be_machine_expect(warn, observed, &err), 0);
	cr_expect_eq(be_machine_expect(refuse, observed, &err), -1);
	cr_expect_eq(err.status, BE_DIFFERS);
	cr_expect(strstr(err.text, "a: write back wanted, disk0 ") != NULL, "%s", err.text);
	cr_expect(strstr(err.text, "c: x wanted, not applicable: no such thing here") != NULL, "%s", err.text);
	cr_expect_null(strstr(err.text, "b: "), "4.0 is the number 4");
	cr_expect_null(strstr(err.text, "later"), "what is observed after the run cannot be refused before it");
}

Test(facts, what_ended_the_run)
{
	cr_expect_str_eq(be_ended_by("done", 300, 300), "runtime");
	cr_expect_str_eq(be_ended_by("done", 295, 300), "runtime");
	cr_expect_str_eq(be_ended_by("done", 105, 300), "size");
	cr_expect_str_eq(be_ended_by("done", 12, 0), "itself");
	cr_expect_str_eq(be_ended_by("failed", 12, 300), "failure");
	cr_expect_str_eq(be_ended_by("timeout", 400, 300), "timeout");
}

Test(machine, any_form_of_a_wanted_value_can_refuse)
{
	struct be_error err = BE_ERROR_INIT;
	be_autonode struct be_node *plan = tree_yaml("expect: refuse\nfactors: [{name: a}, {name: b}, {name: c}]\n"
						     "wanted:\n"
						     "  a: {value: [x, y], by: expect}\n"
						     "  b: {value: {disk0: on, disk1: on}, by: expect}\n"
						     "  c: {value: {low: 1}, by: environment}\n");
	be_autonode struct be_node *observed = tree_yaml("a: {value: y}\nb: {value: {disk0: on, disk1: off}}\n"
							 "c: {value: {low: 1, high: 2}}\n");
	cr_expect_eq(be_machine_expect(plan, observed, &err), -1);
	cr_expect_str_eq(err.text, "the machine is not what the recipe expects: "
				   "b: disk0 on, disk1 on wanted, disk0 on, disk1 off here");
}
