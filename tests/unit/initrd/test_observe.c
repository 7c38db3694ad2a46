#include "factor.h"
#include "initrd/observe/observe.h"
#include "initrd/observe/probes.h"
#include "tree.h"

/* The shipped catalogue on a recorded machine gives what init stated of that machine when it was recorded. */
Test(observe, replays_a_recorded_machine)
{
	struct be_error err = BE_ERROR_INIT;
	struct be_root root = tree_load("tests/data/sys/guest-raid5.tree");
	be_autonode struct be_node *expected = be_node_load_file("tests/data/sys/guest-raid5.yaml", &err);
	cr_assert_not_null(expected, "%s", err.text);
	struct be_node *plan = be_get(expected, "plan");
	struct be_node *factors = be_factors_load("recipes", &err);
	cr_assert_not_null(factors, "%s", err.text);
	be_set(plan, "factors", factors);
	be_autoscopes struct be_scopes scopes;
	be_scopes_load(&scopes, &root, plan, NULL, NULL);
	const struct be_observer observer = { .root = root, .plan = plan, .scopes = &scopes };
	be_autonode struct be_node *environment = be_observe(&observer, BE_BEFORE);
	const struct be_node *wanted = be_get(expected, "environment");
	cr_assert_gt(wanted->n, 130u);
	for (size_t i = 0; i < wanted->n; i++) {
		be_autofree char *want = tree_json(wanted->items[i]);
		be_autofree char *got = tree_json(be_get(environment, wanted->keys[i]));
		cr_expect_str_eq(got, want, "%s: %s, not %s", wanted->keys[i], got, want);
	}
	tree_free(&root);
}

/* What one factor with @observe gives, as JSON. */
static char *look(const struct be_root *root, const char *plan_text, const char *factor)
{
	be_autofree char *text = be_strf("%s\nfactors:\n- %s\n", plan_text, factor);
	be_autonode struct be_node *plan = tree_yaml(text);
	be_autoscopes struct be_scopes scopes;
	be_scopes_load(&scopes, root, plan, NULL, NULL);
	be_autonode struct be_node *facts =
		tree_yaml("{stated: {/a: one, /b: two}, none: 'not applicable: no reason to'}");
	const struct be_observer observer = { .root = *root, .plan = plan, .scopes = &scopes, .facts = facts };
	be_autonode struct be_node *environment = be_observe(&observer, BE_BEFORE);
	return tree_json(be_get(environment, "f"));
}

#define NO_LAYOUT "layout: {testdir: /}"
#define TWO_FS                                              \
	"testcase: t\n"                                     \
	"built: {made: {/a: mkfs a, /b: mkfs b}}\n"         \
	"layout:\n"                                         \
	"  testdir: /a\n"                                   \
	"  devices:\n"                                      \
	"  - {name: disk0, kind: ssd, path: /dev/x}\n"      \
	"  - {name: disk1, kind: nvme, path: /dev/y}\n"     \
	"  filesystems:\n"                                  \
	"  - {kind: btrfs, devices: [/dev/x], mount: /a}\n" \
	"  - {kind: ext4, devices: [/dev/y], mount: /b}\n"

static const struct {
	const char *plan, *factor, *want;
} cases[] = {
	{ NO_LAYOUT, "{name: f, observe: {kind: file, path: /p/bracket, select: bracket}}", "{\"value\": \"b\"}" },
	{ NO_LAYOUT, "{name: f, observe: {kind: file, path: /p/plain, select: bracket}}", "{\"value\": \"none\"}" },
	{ NO_LAYOUT, "{name: f, observe: {kind: file, path: /p/lines, line: 2}}", "{\"value\": \"second 7\"}" },
	{ NO_LAYOUT, "{name: f, observe: {kind: file, path: /p/lines, match: 'second ([0-9])'}}",
	  "{\"value\": \"7\"}" },
	{ NO_LAYOUT, "{name: f, observe: {kind: file, path: /p/lines, match: 'third ([0-9])', absent: no third}}",
	  "{\"value\": \"no third\"}" },
	{ NO_LAYOUT, "{name: f, observe: {kind: file, path: /p/lines, match: 'third'}}",
	  "{\"not_observable\": \"/p/lines: nothing in it matches\"}" },
	{ NO_LAYOUT, "{name: f, observe: {kind: file, path: /p/sectors, unit: sectors}}", "{\"value\": \"4096\"}" },
	{ NO_LAYOUT, "{name: f, observe: {kind: file, path: /p/plain, unit: sectors}}",
	  "{\"not_observable\": \"\\\"none\\\" is no number of sectors\"}" },
	{ NO_LAYOUT, "{name: f, observe: {kind: file, path: /p/missing}}",
	  "{\"not_observable\": \"no such file /p/missing\"}" },
	{ NO_LAYOUT, "{name: f, observe: {kind: file, path: /p/missing, absent: no such thing}}",
	  "{\"value\": \"no such thing\"}" },
	{ NO_LAYOUT, "{name: f, observe: {kind: file, path: [/p/missing, /p/plain], absent: x}}",
	  "{\"value\": \"none\"}" },
	{ NO_LAYOUT, "{name: f, observe: {kind: file, path: [/p/missing, /p/gone]}}",
	  "{\"not_observable\": \"no such file /p/missing\"}" },
	{ NO_LAYOUT, "{name: f, observe: {kind: file, path: /p}}", "{\"not_observable\": \"/p: Is a directory\"}" },
	{ NO_LAYOUT, "{name: f, observe: {kind: file-field, path: /p/fields, field: Key, unit: kB}}",
	  "{\"value\": \"2048\"}" },
	{ NO_LAYOUT, "{name: f, observe: {kind: file-field, path: /p/fields, field: model}}", "{\"value\": \"8\"}" },
	{ NO_LAYOUT, "{name: f, observe: {kind: file-field, path: /p/fields, field: model name}}",
	  "{\"value\": \"A: b\"}" },
	{ NO_LAYOUT, "{name: f, observe: {kind: file-field, path: /p/fields, field: nr_dirty}}", "{\"value\": \"5\"}" },
	{ NO_LAYOUT, "{name: f, observe: {kind: file-field, path: /p/fields, field: nr}}",
	  "{\"not_observable\": \"/p/fields has no field nr\"}" },
	{ NO_LAYOUT, "{name: f, observe: {kind: directory, path: /d}}", "{\"value\": [\"one\", \"two\"]}" },
	{ NO_LAYOUT, "{name: f, observe: {kind: directory, path: /d, values: true}}",
	  "{\"value\": {\"one\": \"1\", \"two\": \"2\"}}" },
	{ NO_LAYOUT, "{name: f, observe: {kind: directory, path: /d, values: [two, three]}}",
	  "{\"value\": {\"two\": \"2\"}}" },
	{ NO_LAYOUT, "{name: f, observe: {kind: glob, path: /g/s*x/v}}", "{\"value\": {\"0\": \"a\", \"1\": \"b\"}}" },
	{ NO_LAYOUT, "{name: f, observe: {kind: glob, path: /g/s*x/v, names: true}}", "{\"value\": [\"0\", \"1\"]}" },
	{ NO_LAYOUT, "{name: f, observe: {kind: glob, path: /g/s*x/v, count: true}}", "{\"value\": \"2\"}" },
	{ NO_LAYOUT, "{name: f, observe: {kind: glob, path: /g/t*x/v, count: true, absent: \"1\"}}",
	  "{\"value\": \"1\"}" },
	{ NO_LAYOUT, "{name: f, observe: {kind: none, reason: private}}", "{\"not_observable\": \"private\"}" },
	{ NO_LAYOUT, "{name: f, observe: {kind: magic}}",
	  "{\"not_observable\": \"this init does not know the observation kind \\\"magic\\\"\"}" },
	{ NO_LAYOUT, "{name: f, scope: galaxy, observe: {kind: none}}",
	  "{\"not_observable\": \"this init does not know the scope \\\"galaxy\\\"\"}" },
	{ NO_LAYOUT, "{name: f, observe: {kind: probe, name: crystal}}",
	  "{\"not_observable\": \"this init has no probe crystal\"}" },
	{ NO_LAYOUT, "{name: f, scope: fs, observe: {kind: none}}",
	  "{\"not_applicable\": \"there is no test file system\"}" },
	{ NO_LAYOUT, "{name: f, observe: {kind: run, name: none}}", "{\"not_applicable\": \"no reason to\"}" },
	{ NO_LAYOUT, "{name: f, observe: {kind: tool, argv: [echo, version 3, x], match: 'version ([0-9])'}}",
	  "{\"value\": \"3\"}" },
	{ NO_LAYOUT, "{name: f, observe: {kind: tool, argv: [/nonexistent/tool]}}",
	  "{\"not_observable\": \"/nonexistent/tool: cannot be started: No such file or directory\"}" },
	{ TWO_FS, "{name: f, scope: fs, observe: {kind: plan, name: made}}",
	  "{\"value\": {\"/a\": \"mkfs a\", \"/b\": \"mkfs b\"}}" },
	{ TWO_FS, "{name: f, scope: fs, observe: {kind: run, name: stated}, only: {fs: btrfs}}",
	  "{\"value\": \"one\"}" },
	{ TWO_FS, "{name: f, scope: fs, observe: {kind: run, name: stated}, only: {fs: [xfs, f2fs]}}",
	  "{\"not_applicable\": \"only for test file system xfs\"}" },
	{ TWO_FS, "{name: f, observe: {kind: none, reason: r}, only: {disk: nvme}}", "{\"not_observable\": \"r\"}" },
	{ TWO_FS, "{name: f, observe: {kind: none, reason: r}, only: {testcase: other}}",
	  "{\"not_applicable\": \"only for testcase other\"}" },
	{ TWO_FS, "{name: f, scope: fs, observe: {kind: file, path: '/p{fs}/v', absent: none}}",
	  "{\"value\": {\"/a\": \"in a\", \"/b\": \"none\"}}" },
	{ TWO_FS, "{name: f, scope: disk, observe: {kind: file, path: '/sys/block/{disk}/size', absent: none}}",
	  "{\"value\": {\"disk0\": \"10\", \"disk1\": \"not observable: disk1 was not found: {disk} has no name\"}}" },
	{ TWO_FS, "{name: f, observe: {kind: file, path: '/p{testdir}/v'}}", "{\"value\": \"in a\"}" },
	{ TWO_FS, "{name: f, scope: fs, observe: {kind: mount, path: '{fs}', field: super_options}}",
	  "{\"value\": {\"/a\": \"rw,ssd\", \"/b\": \"rw,size=1k\"}}" },
	{ TWO_FS, "{name: f, observe: {kind: mount, path: /a/below/it, field: fstype}}", "{\"value\": \"btrfs\"}" },
	{ TWO_FS, "{name: f, observe: {kind: mount, path: /a, field: super_options, match: '(nossd)', absent: n}}",
	  "{\"value\": \"n\"}" },
};

static struct be_root small_system(void)
{
	static const char *const files[][2] = {
		{ "/p/bracket", "a [b] c\n" },
		{ "/p/plain", "none\n" },
		{ "/p/lines", "first\nsecond 7\n" },
		{ "/p/sectors", "8\n" },
		{ "/p/fields", "Key:   2 kB\nmodel\t\t: 8\nmodel name\t: A: b\nnr_dirty 5\nnr_dirty_threshold 9\n" },
		{ "/p/a/v", "in a\n" },
		{ "/d/one", "1\n" },
		{ "/d/two", "2\n" },
		{ "/g/s0x/v", "a\n" },
		{ "/g/s1x/v", "b\n" },
		{ "/g/other", "c\n" },
		{ "/dev/x", "" },
		{ "/sys/block/x/size", "10\n" },
		{ "/proc/self/mountinfo", "1 0 0:1 / / rw - rootfs rootfs rw,size=1k\n"
					  "2 1 0:2 / /a rw,relatime - btrfs /dev/old rw\n"
					  "3 1 0:3 / /a rw,relatime - btrfs /dev/x rw,ssd\n" },
	};
	struct be_root root = tree_new();
	for (size_t i = 0; i < BE_ARRAY_LEN(files); i++)
		tree_write(&root, files[i][0], files[i][1]);
	return root;
}

Test(observe, kinds_scopes_and_folding)
{
	struct be_root root = small_system();
	for (size_t i = 0; i < BE_ARRAY_LEN(cases); i++) {
		be_autofree char *got = look(&root, cases[i].plan, cases[i].factor);
		cr_expect_str_eq(got, cases[i].want, "%s gives %s", cases[i].factor, got);
	}
	tree_free(&root);
}

Test(observe, each_factor_belongs_to_its_phase)
{
	struct be_root root = tree_new();
	be_autonode struct be_node *plan =
		tree_yaml("layout: {testdir: /}\n"
			  "factors:\n"
			  "- {name: first, observe: {kind: none, reason: r}}\n"
			  "- {name: both, when: both, observe: {kind: none, reason: r}}\n"
			  "- {name: after, when: after, observe: {kind: none, reason: r}}\n"
			  "- {name: during, when: during, observe: {kind: none, reason: r}}\n"
			  "- {name: builder, observe: {kind: builder, name: x}}\n");
	be_autoscopes struct be_scopes scopes;
	be_scopes_load(&scopes, &root, plan, NULL, NULL);
	const struct be_observer observer = { .root = root, .plan = plan, .scopes = &scopes };
	be_autonode struct be_node *before = be_observe(&observer, BE_BEFORE), *after = be_observe(&observer, BE_AFTER);
	cr_assert_eq(before->n, 2u);
	cr_expect_str_eq(before->keys[0], "first");
	cr_expect_str_eq(before->keys[1], "both");
	cr_assert_eq(after->n, 3u);
	cr_expect_str_eq(after->keys[0], "both");
	cr_expect_str_eq(after->keys[2], "during");
	tree_free(&root);
}

Test(observe, every_probe_of_the_catalogue_exists)
{
	struct be_error err = BE_ERROR_INIT;
	be_autonode struct be_node *factors = be_factors_load("recipes", &err);
	cr_assert_not_null(factors, "%s", err.text);
	for (size_t i = 0; i < factors->n; i++) {
		const struct be_node *how = be_get(factors->items[i], "observe");
		const char *kind = be_get_str(how, "kind", "");
		if (strcmp(kind, "builder") != 0)
			cr_expect_not_null(be_observe_kind(kind), "%s", kind);
		if (strcmp(kind, "probe") == 0)
			cr_expect_not_null(be_probe(be_get_str(how, "name", "")), "%s", be_get_str(how, "name", ""));
	}
}

Test(observe, partitions_count_as_their_disk_once)
{
	struct be_root root = tree_new();
	tree_write(&root, "/dev/sdb1", "");
	tree_write(&root, "/dev/sdb2", "");
	tree_write(&root, "/sys/devices/pci/block/sdb/sdb1/partition", "1\n");
	tree_write(&root, "/sys/devices/pci/block/sdb/sdb2/partition", "2\n");
	tree_link(&root, "/sys/class/block/sdb1", "../../devices/pci/block/sdb/sdb1");
	tree_link(&root, "/sys/class/block/sdb2", "../../devices/pci/block/sdb/sdb2");
	tree_link(&root, "/dev/disk/by-id/ata-X-part1", "../../sdb1");
	tree_link(&root, "/dev/disk/by-id/ata-X-part2", "../../sdb2");
	be_autonode struct be_node *plan =
		tree_yaml("layout:\n"
			  "  devices:\n"
			  "  - {name: disk0, kind: hdd, path: /dev/disk/by-id/ata-X-part1}\n"
			  "  - {name: disk1, kind: hdd, path: /dev/disk/by-id/ata-X-part2}\n");
	be_autoscopes struct be_scopes scopes;
	be_scopes_load(&scopes, &root, plan, NULL, NULL);
	const struct be_instances *disks = &scopes.of[BE_SCOPE_DISK];
	cr_assert_eq(disks->n, 1u);
	cr_expect_str_eq(disks->v[0].key, "disk0");
	cr_expect_str_eq(disks->v[0].kernel, "sdb");
	tree_free(&root);
}

/* What finds network and server is another at each run, and is no difference between runs. */
Test(observe, command_line_without_the_delivery)
{
	struct be_root root = tree_new();
	tree_write(&root, "/proc/cmdline",
		   "root=/dev/ram0 quiet initrd=initrd.img BOOTIF=01-52-54-00-12-34-56 ip=dhcp "
		   "benchenv.deliver=http://10.0.0.1/put/0123 ipv6.disable=1\n");
	struct be_observer o = { .root = root };
	struct be_look look = { .o = &o };
	struct be_reading reading = be_probe_command_line(&look);
	be_autofree char *text = tree_json(reading.value);
	cr_expect_str_eq(text, "\"root=/dev/ram0 quiet ipv6.disable=1\"");
	be_node_free(reading.value);
	tree_free(&root);
}

/* What costs much and does not change is not read again when the statement is made anew. */
Test(observe, once_is_once)
{
	struct be_root root = tree_new();
	tree_write(&root, "/proc/cpuinfo", "cpu family\t: 6\nmodel\t\t: 85\nmodel name\t: X\nstepping\t: 7\n");
	be_autonode struct be_node *plan = tree_yaml(
		NO_LAYOUT "\nfactors:\n"
			  "- {name: a, observe: {kind: file-field, path: /proc/cpuinfo, field: model, once: true}}\n"
			  "- {name: b, observe: {kind: file-field, path: /proc/cpuinfo, field: model}}\n");
	be_autonode struct be_node *earlier = tree_yaml("{a: {value: '1'}, b: {value: '1'}}");
	be_autoscopes struct be_scopes scopes;
	be_scopes_load(&scopes, &root, plan, NULL, NULL);
	struct be_observer observer = { .root = root, .plan = plan, .scopes = &scopes, .earlier = earlier };
	be_autonode struct be_node *again = be_observe(&observer, BE_BEFORE);
	observer.earlier = NULL;
	be_autonode struct be_node *first = be_observe(&observer, BE_BEFORE);
	be_autofree char *second_text = tree_json(again), *first_text = tree_json(first);
	cr_expect_str_eq(second_text, "{\"a\": {\"value\": \"1\"}, \"b\": {\"value\": \"85\"}}");
	cr_expect_str_eq(first_text, "{\"a\": {\"value\": \"85\"}, \"b\": {\"value\": \"85\"}}");
	tree_free(&root);
}

Test(observe, generations_of_processors)
{
	static const struct {
		const char *model, *stepping, *name;
	} cpus[] = { { "85", "7", "Cascade Lake" },
		     { "85", "4", "Skylake" },
		     { "6", "3", "family 6 model 6 stepping 3" } };
	for (size_t i = 0; i < BE_ARRAY_LEN(cpus); i++) {
		struct be_root root = tree_new();
		be_autofree char *text = be_strf("cpu family : 6\nmodel : %s\nmodel name : X\nstepping : %s\n",
						 cpus[i].model, cpus[i].stepping);
		tree_write(&root, "/proc/cpuinfo", text);
		be_autofree char *got = look(&root, NO_LAYOUT,
					     "{name: f, observe: {kind: probe, name: cpu_generation, "
					     "names: {6/85: Skylake, 6/85/7: Cascade Lake}}}");
		be_autofree char *want = be_strf("{\"value\": \"%s\"}", cpus[i].name);
		cr_expect_str_eq(got, want);
		tree_free(&root);
	}
}
