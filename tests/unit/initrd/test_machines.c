/* Machines that `mkbenchenv observe` recorded in QEMU (tests/data/machines): the replay states what was observed there.
 */
#include "factor.h"
#include "initrd/observe/statement.h"
#include "initrd/observe/tree.h"
#include "tree.h"

#define MACHINES "tests/data/machines/"

struct machine {
	struct be_root root;
	struct be_node *recorded, *manifest;
};

static void load(struct machine *m, const char *name)
{
	struct be_error err = BE_ERROR_INIT;
	be_autobuf struct be_buf text = { 0 };
	be_autofree char *file = be_strf(MACHINES "%s.tree", name);
	m->root = tree_new();
	cr_assert_eq(be_read_file(file, 1u << 20, &text, &err), 0, "%s", err.text);
	cr_assert_eq(be_tree_unpack(text.data, file, m->root.prefix, &err), 0, "%s", err.text);
	be_autofree char *observed = be_root_path(&m->root, BE_TREE_OBSERVED);
	m->recorded = be_node_load_file(observed, &err);
	cr_assert_not_null(m->recorded, "%s", err.text);
	static struct be_node *factors; /* read once by each process of tests */
	if (!factors)
		factors = be_factors_load("recipes", &err);
	cr_assert_not_null(factors, "%s", err.text);
	be_autonode struct be_node *plan = be_statement_plan(&m->root, "/", factors);
	be_set(plan, "layout", be_node_clone(be_get(m->recorded, "layout")));
	be_set(plan, "testcase", be_node_clone(be_get(m->recorded, "testcase")));
	m->manifest = be_statement_make(&m->root, plan, be_get(m->recorded, "environment"), NULL);
}

static void drop(struct machine *m)
{
	be_node_free(m->recorded);
	be_node_free(m->manifest);
	tree_free(&m->root);
}

/* Counters went on between the observation and the recording of the files. */
static bool moves(const char *factor)
{
	static const char *const moving[] = {
		"memory.", "vm.dirty_at_start", "vm.writeback_at_start", "run.first_boot_seconds",
		"rootfs.", "disk.io_",          "cpu.frequency"
	};
	for (size_t i = 0; i < BE_ARRAY_LEN(moving); i++)
		if (be_starts(factor, moving[i]))
			return true;
	return false;
}

static const char *const names[] = { "one-socket", "four-sockets", "hdd-raid5", "pmem", "nvme", "bookworm-ssd" };

Test(machines, replay_states_what_was_observed)
{
	for (size_t k = 0; k < BE_ARRAY_LEN(names); k++) {
		struct machine m;
		load(&m, names[k]);
		const struct be_node *environment = be_get(m.manifest, "environment");
		const struct be_node *then = be_get(m.recorded, "environment");
		size_t same = 0;
		cr_expect_gt(environment->n, 230u);
		for (size_t i = 0; i < then->n; i++) {
			const struct be_node *value = be_get(then->items[i], "value");
			const struct be_node *now = be_get(be_get(environment, then->keys[i]), "observed");
			if (!value || moves(then->keys[i]))
				continue;
			be_autofree char *want = tree_json(value), *got = now ? tree_json(now) : be_strdup("nothing");
			cr_expect_str_eq(got, want, "%s: %s: %s, not %s", names[k], then->keys[i], got, want);
			same++;
		}
		cr_expect_gt(same, 10u, "%s: %zu", names[k], same);
		drop(&m);
	}
}

Test(machines, every_factor_has_a_verdict_and_none_is_unknown)
{
	for (size_t k = 0; k < BE_ARRAY_LEN(names); k++) {
		struct machine m;
		load(&m, names[k]);
		const struct be_node *environment = be_get(m.manifest, "environment");
		for (size_t i = 0; i < environment->n; i++) {
			const char *verdict = be_get_str(environment->items[i], "verdict", "");
			cr_expect(*verdict && !strstr(verdict, "unknown") &&
					  !be_ends(verdict, "the guest did not state it"),
				  "%s: %s: %s", names[k], environment->keys[i], verdict);
		}
		drop(&m);
	}
}

static const struct {
	const char *machine, *factor, *observed;
} facts[] = {
	{ "one-socket", "cpu.sockets", "1" },
	{ "one-socket", "testfile.filesystem", "ramfs" },
	{ "four-sockets", "cpu.sockets", "4" },
	{ "four-sockets", "memory.numa_nodes", "4" },
	{ "hdd-raid5", "md.level", "raid5" },
	{ "hdd-raid5", "disk.rotational", "1" },
	{ "pmem", "fs.kind", "xfs" },
	{ "nvme", "disk.kind", "nvme" },
	{ "nvme", "fs.kind", "ext4" },
	{ "bookworm-ssd", "disk.rotational", "0" },
	{ "one-socket", "machine.product", "Standard PC (Q35 + ICH9, 2009)" },
};

Test(machines, differ_in_what_they_were_recorded_for)
{
	for (size_t i = 0; i < BE_ARRAY_LEN(facts); i++) {
		struct machine m;
		load(&m, facts[i].machine);
		const struct be_node *entry = be_get(be_get(m.manifest, "environment"), facts[i].factor);
		const char *got = be_get_str(entry, "observed", be_get_str(entry, "verdict", "nothing"));
		cr_expect_str_eq(got, facts[i].observed, "%s: %s: %s", facts[i].machine, facts[i].factor, got);
		drop(&m);
	}
}

Test(machines, a_tree_that_leads_out_is_refused)
{
	static const char *const bad[] = { "relative = x\n", "/../etc/x = y\n", "/a/.. = y\n", "no sign here\n" };
	for (size_t i = 0; i < BE_ARRAY_LEN(bad); i++) {
		struct be_error err = BE_ERROR_INIT;
		struct be_root root = tree_new();
		cr_expect_eq(be_tree_unpack(bad[i], "bad.tree", root.prefix, &err), -1, "%s", bad[i]);
		cr_expect_eq(err.status, BE_USAGE);
		tree_free(&root);
	}
}

Test(machines, a_recording_of_a_recording_is_the_same)
{
	struct be_error err = BE_ERROR_INIT;
	struct be_root root = tree_new();
	static const char text[] = "/proc/one = a\n/proc/one = \n/proc/one =  b\n/sys/block/sda -> ../devices/sda\n"
				   "/sys/devices/sda/ =\n/sys/devices/sda/binary * 00ff10\n/sys/devices/sda/empty =\n";
	be_autostrv struct be_strv seen = { 0 };
	be_autobuf struct be_buf out = { 0 };
	be_autonode struct be_node *none = be_node_map();
	cr_assert_eq(be_tree_unpack(text, "t", root.prefix, &err), 0, "%s", err.text);
	be_strv_split(&seen, "/proc/one,/sys/block/sda/binary,/sys/block/sda/empty,/sys/block/sda,/etc/x", ",");
	cr_assert_eq(be_tree_record(&root, &seen, none, &out, &err), 0, "%s", err.text);
	char *tail = strstr(out.data, BE_TREE_OBSERVED);
	cr_assert_not_null(tail);
	*tail = '\0';
	cr_expect_str_eq(out.data, text);
	tree_free(&root);
}
