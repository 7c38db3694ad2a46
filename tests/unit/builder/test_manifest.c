#include <criterion/criterion.h>
#include <string.h>

#include "builder/report/manifest.h"
#include "builder/report/manifest_text.h"

static struct be_node *load(const char *text)
{
	struct be_error err = BE_ERROR_INIT;
	struct be_node *doc = be_node_load(text, strlen(text), "t.yaml", &err);
	cr_assert_not_null(doc, "%s", err.text);
	return doc;
}

static void expect_yaml(const struct be_node *node, const char *wanted)
{
	be_autobuf struct be_buf text = { 0 };
	struct be_error err = BE_ERROR_INIT;
	cr_assert_eq(be_node_yaml(node, &text, &err), 0, "%s", err.text);
	cr_expect_str_eq(text.data, wanted);
}

Test(manifest, serials_stay_private)
{
	static const struct {
		const char *text, *wanted;
	} cases[] = {
		{ "mkfs /dev/disk/by-id/ata-WDC_WD20-00D8_SNE65-part2 x",
		  "mkfs /dev/disk/by-id/ata-WDC_WD20-00D8_...-part2 x" },
		{ "nvme-INTEL_SSD_CVF8-1", "nvme-INTEL_SSD_..." },
		{ "wwn-0x5000c50015ea71ac-part1", "wwn-0x...-part1" },
		{ "scsi-35000c50015ea71ac", "scsi-3..." },
		{ "pmem-62656e63-6865", "pmem-..." },
		{ "ata-none", "ata-none" },
		{ "virtio-pmem, nvme-apst", "virtio-pmem, nvme-apst" },
		{ "two\nlines\tand\033[1m", "two lines and [1m" },
		{ "", "" },
	};
	for (size_t i = 0; i < BE_ARRAY_LEN(cases); i++) {
		be_autofree char *text = be_text_public(cases[i].text);
		cr_expect_str_eq(text, cases[i].wanted);
	}
}

Test(manifest, values_in_one_line)
{
	static const struct {
		const char *value, *wanted;
	} cases[] = {
		{ "x", "x" },
		{ "null", "" },
		{ "[a, [b, c]]", "a, b, c" },
		{ "{disk0: {model: M, serial: S, wwn: W, by_id: B, uuid: U, size: 5}}", "disk0 model M, size 5" },
	};
	for (size_t i = 0; i < BE_ARRAY_LEN(cases); i++) {
		be_autonode struct be_node *value = load(cases[i].value);
		be_autofree char *line = be_value_line(value);
		cr_expect_str_eq(line, cases[i].wanted);
	}
}

Test(manifest, wrapped)
{
	be_autobuf struct be_buf out = { 0 };
	char word[2 * BE_MANIFEST_COLUMNS];
	memset(word, 'w', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	be_wrap_text(&out, "- ", "  ",
		     "short words that go on until the line is full and then some more of all of them");
	be_wrap_text(&out, "- ", "  ", word);
	be_autostrv struct be_strv lines = { 0 };
	be_strv_split(&lines, out.data, "\n");
	cr_assert_eq(lines.n, 5);
	cr_expect_str_eq(lines.v[0], "- short words that go on until the line is full and then some more of all of");
	cr_expect_str_eq(lines.v[1], "  them");
	for (size_t i = 0; i < lines.n; i++)
		cr_expect_leq(strlen(lines.v[i]), BE_MANIFEST_COLUMNS);
}

static const char plan[] =
	"machine: {host: lkp-icl-2sp7}\n"
	"factors:\n"
	"- {name: disk.write_cache, observe: {kind: file, path: /a},\n"
	"   evidence: [{report: R1, kind: argued}, {report: R6, kind: measured, figure: -64.5 %}]}\n"
	"- {name: cpu.count, observe: {kind: file, path: /a}, evidence: [{report: R3, kind: argued}]}\n"
	"- {name: cpu.governor, observe: {kind: file, path: /a}, evidence: [{report: R1, kind: named}]}\n"
	"- {name: disk.identity, observe: {kind: file, path: /a}}\n"
	"- {name: workload.ended_by, observe: {kind: run, name: a}, when: after}\n"
	"- {name: rootfs.memory, observe: {kind: builder, name: rootfs.memory}}\n"
	"wanted:\n"
	"  disk.write_cache: {value: write through, by: host}\n"
	"  cpu.count: {value: 64, by: host}\n"
	"  cpu.governor: {value: performance, by: job}\n";

static const char image[] =
	"mkbenchenv: manifest\n"
	"schema: 1\n"
	"name: fio-basic-4k\n"
	"testcase: fio-basic\n"
	"recipe: {job: \"x: 1\", parameters: {rw: randread, bs: 4k, tbox_group: lkp-icl-2sp7}}\n"
	"rules: {date: 2023-07-06, from: lkp_rules}\n"
	"lock: {suite: trixie, kernel: {release: 6.12.1, package: linux-image-6.12.1, version: 6.12.1-1}}\n"
	"image: {id: e24267060dd5, initrd: {size: 25564236}}\n"
	"environment:\n"
	"  rootfs.memory: {built: 87500000, observed: 87500000, verdict: not requested}\n"
	"  cpu.count: {requested: 64, verdict: \"not observable: not booted yet\"}\n"
	"deviations:\n"
	"- {topic: kernel, text: \"commit 8c5035dfbb asked, Debian 6.12.1-1 built\"}\n";

static const char before[] = "machine: {kernel: 6.12.1, nr_cpu: 2}\n"
			     "environment:\n"
			     "  disk.write_cache: {value: {disk0: write back}}\n"
			     "  cpu.count: {value: \"2\"}\n"
			     "  cpu.governor: {not_applicable: no cpufreq}\n"
			     "  disk.identity: {value: {disk0: {model: M, serial: SECRET}}}\n"
			     "deviations: [{topic: nr_task, text: 8 asked}]\n"
			     "actions: [{what: mkfs}]\n";
static const char after[] = "machine: {kernel: 6.12.1, nr_cpu: 2}\n"
			    "environment: {workload.ended_by: {value: runtime}}\n"
			    "deviations: [{topic: nr_task, text: 8 asked}]\n";

static struct be_node *merge(void)
{
	be_autonode struct be_node *i = load(image), *p = load(plan), *b = load(before), *a = load(after);
	be_autonode struct be_node *twin = load("{accelerator: tcg}");
	be_autonode struct be_node *deviations = load("[{topic: cpu, text: TCG}]");
	be_autonode struct be_node *result =
		load("{state: done, complete: true, metrics: {fio.read_iops: 51234.5, fio.write_iops: 0.0}}");
	struct be_run_facts facts = {
		.plan = p, .before = b, .after = a, .twin = twin, .deviations = deviations, .result = result
	};
	return be_manifest_merge(i, &facts);
}

Test(manifest, merged)
{
	be_autonode struct be_node *manifest = merge();
	expect_yaml(be_get(manifest, "environment"), "disk.write_cache:\n"
						     "  requested: write through\n"
						     "  observed:\n"
						     "    disk0: write back\n"
						     "  verdict: differs\n"
						     "cpu.count:\n"
						     "  requested: 64\n"
						     "  observed: \"2\"\n"
						     "  verdict: differs\n"
						     "cpu.governor:\n"
						     "  requested: performance\n"
						     "  verdict: not applicable\n"
						     "  reason: no cpufreq\n"
						     "disk.identity:\n"
						     "  observed:\n"
						     "    disk0:\n"
						     "      model: M\n"
						     "      serial: SECRET\n"
						     "  verdict: not requested\n"
						     "workload.ended_by:\n"
						     "  observed: runtime\n"
						     "  verdict: not requested\n"
						     "rootfs.memory:\n"
						     "  built: 87500000\n"
						     "  observed: 87500000\n"
						     "  verdict: not requested\n");
	expect_yaml(be_get(manifest, "deviations"), "- topic: kernel\n"
						    "  text: commit 8c5035dfbb asked, Debian 6.12.1-1 built\n"
						    "- topic: cpu\n"
						    "  text: TCG\n"
						    "- topic: nr_task\n"
						    "  text: 8 asked\n");
	expect_yaml(be_get(manifest, "machine"), "host: lkp-icl-2sp7\n"
						 "kernel: 6.12.1\n"
						 "nr_cpu: 2\n"
						 "twin:\n"
						 "  accelerator: tcg\n");
	expect_yaml(be_get(manifest, "actions"), "- what: mkfs\n");
}

static char *print(const struct be_manifest_view *view)
{
	be_autonode struct be_node *manifest = merge(), *p = load(plan);
	struct be_buf out = { 0 };
	struct be_error err = BE_ERROR_INIT;
	cr_assert_eq(be_manifest_text(manifest, be_get(p, "factors"), view, &out, &err), 0, "%s", err.text);
	return be_buf_steal(&out);
}

Test(manifest, mail_form)
{
	struct be_manifest_view view = { 0 };
	be_autofree char *text = print(&view);
	cr_expect_str_eq(text, "mkbenchenv manifest 1 fio-basic-4k on lkp-icl-2sp7, QEMU twin\n"
			       "NOT COMPARABLE with hardware: TCG\n"
			       "\n"
			       "  bs/rw/tbox_group:\n"
			       "  4k/randread/lkp-icl-2sp7\n"
			       "\n"
			       "image     e24267060dd5 (initrd 24.4 MiB)\n"
			       "kernel    6.12.1 (linux-image-6.12.1 6.12.1-1)\n"
			       "rules     of the harness on 2023-07-06 (lkp_rules)\n"
			       "packages  Debian trixie\n"
			       "machine   2 threads\n"
			       "\n"
			       "deviations\n"
			       "  commit 8c5035dfbb asked, Debian 6.12.1-1 built\n"
			       "  TCG\n"
			       "  8 asked\n"
			       "\n"
			       "what decided results before: evidence, asked, observed (! differs)\n"
			       "! disk.write_cache R6 -64.5 % write through disk0 write back\n"
			       "! cpu.count        R3 argued  64            2\n"
			       "  cpu.governor     R1 named   performance   not applicable\n"
			       "6 factors: 2 differ, 3 not requested, 1 not applicable\n"
			       "\n"
			       "result\n"
			       "  state      done\n"
			       "  ended by   runtime\n"
			       "  fio.read_iops                            51234.5\n");
}

Test(manifest, full_form_without_serials)
{
	struct be_manifest_view view = { .full = true };
	be_autofree char *text = print(&view);
	cr_expect(strstr(text, "\n  disk.identity "), "%s", text);
	cr_expect_null(strstr(text, "SECRET"));
}

Test(manifest, one_factor)
{
	struct be_manifest_view view = { .factor = "cpu.governor" };
	be_autofree char *text = print(&view);
	cr_expect_str_eq(text, "cpu.governor\n"
			       "  requested  performance\n"
			       "  verdict    not applicable\n"
			       "  reason     no cpufreq\n");
	be_autonode struct be_node *manifest = merge();
	be_autobuf struct be_buf out = { 0 };
	struct be_error err = BE_ERROR_INIT;
	view.factor = "cpu.color";
	cr_expect_eq(be_manifest_text(manifest, NULL, &view, &out, &err), -1);
	cr_expect_str_eq(err.text, "the manifest has no factor \"cpu.color\"");
	cr_expect_eq(err.status, BE_USAGE);
}

/* Whatever stands in a manifest, its mail form keeps to the columns. */
Test(manifest, never_too_wide)
{
	be_autonode struct be_node *manifest = merge(), *p = load(plan);
	be_autobuf struct be_buf wide = { 0 }, out = { 0 };
	struct be_error err = BE_ERROR_INIT;
	for (int i = 0; i < 100; i++)
		be_buf_adds(&wide, "wide\xc3\xa4");
	be_set_str(manifest, "name", wide.data);
	be_set_path(manifest, "result.reason", be_node_str(wide.data));
	be_set_path(manifest, "result.console", be_node_str(wide.data));
	be_set_path(manifest, "recipe.parameters.rw", be_node_str(wide.data));
	be_set(be_get(be_get(manifest, "environment"), "cpu.count"), "observed", be_node_str(wide.data));
	be_set(be_get(be_get(manifest, "environment"), "cpu.count"), "requested", be_node_str(wide.data));
	struct be_manifest_view view = { .full = true };
	cr_assert_eq(be_manifest_text(manifest, be_get(p, "factors"), &view, &out, &err), 0);
	be_autostrv struct be_strv lines = { 0 };
	be_strv_split(&lines, out.data, "\n");
	for (size_t i = 0; i < lines.n; i++)
		cr_expect_leq(strlen(lines.v[i]), BE_MANIFEST_COLUMNS, "%s", lines.v[i]);
	be_autonode struct be_node *again = be_node_str(out.data);
	cr_expect_str_eq(again->text, out.data, "a character was cut in two");
}

/* Found as a crash: a list has no keys. */
Test(manifest, an_environment_that_is_no_map_shows_nothing)
{
	be_autonode struct be_node *manifest =
		load("mkbenchenv: manifest\nschema: 1\nname: x\nenvironment: [a, {b: c}]\n");
	struct be_manifest_view view = { .full = true };
	be_autobuf struct be_buf text = { 0 };
	struct be_error err = BE_ERROR_INIT;
	cr_expect_eq(be_manifest_text(manifest, NULL, &view, &text, &err), 0, "%s", err.text);
}

/* A manifest that was mailed alone. */
Test(manifest, a_layout_that_stayed_behind)
{
	struct be_error err = BE_ERROR_INIT;
	be_autonode struct be_node *manifest =
		load("{name: n, layout: {file: manifest-layout.yaml, sha256: 00, bytes: 9}}");
	be_autonode struct be_node *factors = be_node_seq();
	be_autobuf struct be_buf out = { 0 };
	cr_assert_eq(be_manifest_text(manifest, factors, &(struct be_manifest_view){ 0 }, &out, &err), 0, "%s",
		     err.text);
	cr_expect(strstr(out.data, "layout    in manifest-layout.yaml, which is not beside this manifest\n"), "%s",
		  out.data);
}
