#include "initrd/settings.h"
#include "tree.h"

struct tried {
	struct be_root root;
	struct be_node *plan, *made, *deviations;
	struct be_scopes scopes;
	struct be_error err;
	int rc;
};

/* Applies the settings of @plan to a small machine: two disks, one of which has no scheduler, and no cpufreq. */
static struct tried apply(const char *plan, const char *after)
{
	struct tried t = { .root = tree_new(),
			   .plan = tree_yaml(plan),
			   .made = be_node_seq(),
			   .deviations = be_node_seq(),
			   .err = BE_ERROR_INIT };
	tree_write(&t.root, "/proc/sys/vm/swappiness", "60\n");
	tree_write(&t.root, "/proc/sys/net/ipv4/conf/eth0.1/forwarding", "0\n");
	tree_write(&t.root, "/sys/block/a/queue/scheduler", "none [mq-deadline] bfq\n");
	tree_write(&t.root, "/sys/block/a/queue/iosched/one", "1\n");
	tree_write(&t.root, "/sys/block/a/queue/iosched/two", "2\n");
	tree_write(&t.root, "/dev/a", "");
	tree_write(&t.root, "/dev/b", "");
	tree_write(&t.root, "/sys/devices/system/cpu/cpu0/online", "1\n");
	be_scopes_load(&t.scopes, &t.root, t.plan, NULL, NULL);
	const struct be_settings s = {
		.root = &t.root, .plan = t.plan, .scopes = &t.scopes, .made = t.made, .deviations = t.deviations
	};
	t.rc = be_settings_apply(&s, after, &t.err);
	return t;
}

static void tried_free(struct tried *t)
{
	be_scopes_free(&t->scopes);
	be_node_free(t->plan);
	be_node_free(t->made);
	be_node_free(t->deviations);
	tree_free(&t->root);
}

static void expect_text(const struct tried *t, const char *path, const char *want)
{
	be_autofree char *got = be_root_text(&t->root, path);
	cr_expect(be_streq(got, want), "%s: %s", path, got ? got : "missing");
}

static void expect_deviation(const struct tried *t, const char *topic, const char *text)
{
	for (size_t i = 0; i < t->deviations->n; i++)
		if (be_streq(be_get_str(t->deviations->items[i], "topic", NULL), topic)) {
			cr_expect_str_eq(be_get_str(t->deviations->items[i], "text", ""), text);
			return;
		}
	cr_expect(false, "no deviation %s", topic);
}

#define DISKS "layout: {devices: [{name: disk0, path: /dev/a}, {name: disk1, path: /dev/b}]}\n"

Test(settings, sysctl_is_written_and_recorded)
{
	struct tried t = apply("settings:\n"
			       "- {kind: sysctl, name: vm.swappiness, value: '10'}\n"
			       "- {kind: sysctl, name: net/ipv4/conf/eth0.1/forwarding, value: '1'}\n"
			       "- {kind: sysctl, name: vm.swappiness, value: '99', after: disks}\n",
			       NULL);
	cr_expect_eq(t.rc, 0);
	expect_text(&t, "/proc/sys/vm/swappiness", "10");
	expect_text(&t, "/proc/sys/net/ipv4/conf/eth0.1/forwarding", "1");
	cr_expect_eq(t.deviations->n, 0u);
	cr_assert_eq(t.made->n, 2u);
	be_autofree char *made = tree_json(t.made->items[0]);
	cr_expect_str_eq(made, "{\"kind\": \"sysctl\", \"path\": \"/proc/sys/vm/swappiness\", \"value\": \"10\", "
			       "\"was\": \"60\", \"is\": \"10\"}");
	tried_free(&t);
}

Test(settings, each_disk_and_each_key_of_a_map)
{
	struct tried t =
		apply(DISKS "settings:\n"
			    "- {kind: sysfs, path: '/sys/block/{disk}/queue/iosched/{name}', value: {one: 7, two: 8},\n"
			    "   after: disks}\n"
			    "- {kind: sysfs, path: '/sys/block/{disk}/queue/iosc*/one', value: '9', after: disks}\n",
		      "disks");
	cr_expect_eq(t.rc, 0);
	expect_text(&t, "/sys/block/a/queue/iosched/one", "9");
	expect_text(&t, "/sys/block/a/queue/iosched/two", "8");
	cr_expect_eq(t.made->n, 3u);
	tried_free(&t);
}

Test(settings, what_cannot_be_made_is_a_deviation)
{
	struct tried t = apply(DISKS "settings:\n"
				     "- {kind: cpufreq, value: performance}\n"
				     "- {kind: sysctl, name: kernel.nonsense, value: '1', required: true}\n"
				     "- {kind: sysfs, path: [/sys/old, /sys/new], factor: x.y, value: on}\n",
			       NULL);
	cr_expect_eq(t.rc, 0, "without expect: refuse a required one only deviates");
	expect_deviation(&t, "cpufreq_governor", "performance asked, this machine has no cpufreq");
	expect_deviation(&t, "kernel.nonsense", "1 asked, this kernel has no /proc/sys/kernel/nonsense");
	expect_deviation(&t, "x.y", "on asked, this kernel has no /sys/old");
	tried_free(&t);
}

/* Twelve disks without a scheduler are one deviation, not twelve. */
Test(settings, many_failures_are_one_deviation)
{
	struct be_root root = tree_new();
	be_autonode struct be_node *plan =
		tree_yaml("layout: {devices: [{name: a, path: /dev/a}, {name: b, path: /dev/b}]}\n"
			  "settings: [{kind: sysfs, path: '/sys/{disk}', value: cfq, why: iosched}]");
	be_autonode struct be_node *made = be_node_seq(), *deviations = be_node_seq();
	be_autoscopes struct be_scopes scopes;
	struct be_error err = BE_ERROR_INIT;
	tree_write(&root, "/dev/a", "");
	tree_write(&root, "/dev/b", "");
	tree_write(&root, "/sys/a/x", "");
	tree_write(&root, "/sys/b/x", "");
	be_scopes_load(&scopes, &root, plan, NULL, NULL);
	const struct be_settings s = {
		.root = &root, .plan = plan, .scopes = &scopes, .made = made, .deviations = deviations
	};
	cr_expect_eq(be_settings_apply(&s, NULL, &err), 0);
	cr_assert_eq(deviations->n, 1u);
	cr_expect_str_eq(be_get_str(deviations->items[0], "topic", ""), "iosched");
	cr_expect_str_eq(be_get_str(deviations->items[0], "text", ""),
			 "cfq asked, /sys/a does not take it: Is a directory; and 1 more like it");
	cr_expect_eq(made->n, 2u);
	tree_free(&root);
}

Test(settings, refuses_when_the_plan_says_so)
{
	struct tried t = apply("expect: refuse\n"
			       "settings: [{kind: sysctl, name: kernel.nonsense, value: '1', required: true}]\n",
			       NULL);
	cr_expect_eq(t.rc, -1);
	cr_expect_eq(t.err.status, BE_DIFFERS);
	cr_expect_str_eq(t.err.text, "kernel.nonsense: 1 asked, this kernel has no /proc/sys/kernel/nonsense");
	tried_free(&t);
}

Test(settings, value_that_does_not_stick_is_a_deviation)
{
	struct be_root root = tree_new();
	tree_link(&root, "/proc/sys/kernel/sticky", "/dev/null");
	be_autonode struct be_node *plan = tree_yaml("settings: [{kind: sysctl, name: kernel.sticky, value: '1'}]");
	be_autonode struct be_node *made = be_node_seq(), *deviations = be_node_seq();
	be_autoscopes struct be_scopes scopes;
	struct be_error err = BE_ERROR_INIT;
	be_scopes_load(&scopes, &root, plan, NULL, NULL);
	const struct be_settings s = {
		.root = &root, .plan = plan, .scopes = &scopes, .made = made, .deviations = deviations
	};
	cr_expect_eq(be_settings_apply(&s, NULL, &err), 0);
	cr_assert_eq(deviations->n, 1u);
	cr_expect_str_eq(be_get_str(deviations->items[0], "text", ""),
			 "1 asked, /proc/sys/kernel/sticky reads back as nothing");
	tree_free(&root);
}

Test(settings, kernels_write_values_in_their_own_way)
{
	cr_expect(be_setting_is("none [mq-deadline] bfq", "mq-deadline"));
	cr_expect_not(be_setting_is("none [mq-deadline] bfq", "bfq"));
	cr_expect(be_setting_is("0x10", "16"));
	cr_expect_not(be_setting_is("16 kB", "16"));
	cr_expect_not(be_setting_is("", "0"));
	cr_expect_not(be_setting_is(NULL, "0"));
}
