/* The layout as a tree: the golden texts of all shipped recipes, and that of a run. */
#include "build_test.h"

#include "builder/report/manifest.h"
#include "builder/report/picture.h"

/* Where they are, so that a change is looked at before it is taken over. */
#define GOLDEN "tests/golden/picture"

static size_t widest(const char *text)
{
	size_t most = 0;
	for (const char *p = text; *p;) {
		size_t n = strcspn(p, "\n");
		most = n > most ? n : most;
		p += n + (p[n] == '\n');
	}
	return most;
}

static struct be_node *load(const char *path)
{
	struct be_error err = BE_ERROR_INIT;
	struct be_node *node = be_node_load_file(path, &err);
	cr_assert_not_null(node, "%s", err.text);
	return node;
}

/* tests/golden/plan holds the plan of each shipped recipe; test_plan.c keeps it true. */
Test(picture, of_the_shipped_recipes)
{
	struct be_root root = { .prefix = (char *)"tests/golden/plan" };
	struct be_error err = BE_ERROR_INIT;
	be_autostrv struct be_strv names = { 0 };
	size_t seen = 0;
	cr_assert_eq(be_root_list(&root, "/", &names), 0);
	for (size_t i = 0; i < names.n; i++) {
		be_autofree char *recipe = be_strf("recipes/jobs/%s", names.v[i]);
		if (!be_ends(names.v[i], ".yaml") || !be_exists(recipe))
			continue;
		be_autofree char *path = be_strf("tests/golden/plan/%s", names.v[i]);
		be_autofree char *golden =
			be_strf(GOLDEN "/%.*s.txt", (int)(strlen(names.v[i]) - strlen(".yaml")), names.v[i]);
		be_autonode struct be_node *plan = load(path);
		be_autobuf struct be_buf got = { 0 }, wanted = { 0 };
		cr_assert_eq(be_picture_plan(plan, &got, &err), 0, "%s", err.text);
		cr_assert_eq(be_read_file(golden, 1u << 20, &wanted, &err), 0, "%s", err.text);
		cr_expect_str_eq(got.data, wanted.data, "%s is:\n%s", golden, got.data);
		cr_expect_leq(widest(got.data), 96, "%s", golden);
		seen++;
	}
	cr_expect_geq(seen, 7);
}

static struct be_node *parse(const char *text)
{
	struct be_error err = BE_ERROR_INIT;
	struct be_node *node = be_node_load(text, strlen(text), "manifest.yaml", &err);
	cr_assert_not_null(node, "%s", err.text);
	return node;
}

static const char run[] =
	"layout:\n"
	"  devices:\n"
	"    disk0: {path: /dev/disk/by-id/ata-X_SECRET1-part1, kind: hdd, kernel: sdb1, disk: sdb, size: 536870912,\n"
	"            disk_size: 1073741824, model: LKP-HDD, serial: SECRET1}\n"
	"    disk1: {path: /dev/disk/by-id/ata-X_SECRET2-part1, kind: hdd, kernel: sda1, disk: sda, size: 536870912,\n"
	"            disk_size: 1073741824, model: LKP-HDD, serial: SECRET2}\n"
	"  arrays:\n"
	"  - {name: md0, kernel: md0, level: raid0, chunk_size: 262144, size: 1072693248,\n"
	"     members: [{device: sdb1, slot: 0}, {device: sda1, slot: 1}]}\n"
	"  filesystems:\n"
	"  - {mount: /fs/md0, kind: btrfs, source: /dev/md0, size: 1072693248}\n"
	"  - {mount: /fs/t, kind: tmpfs, source: tmpfs}\n"
	"  testdir: /fs/md0\n";

Test(picture, of_a_run)
{
	struct be_error err = BE_ERROR_INIT;
	be_autonode struct be_node *manifest = parse(run);
	be_autobuf struct be_buf text = { 0 }, shorter = { 0 };
	cr_assert_eq(be_picture_manifest(manifest, 0, &text, &err), 0, "%s", err.text);
	cr_expect_str_eq(text.data, "disk                   what                          mounted on\n"
				    "sdb                    1 GiB hdd LKP-HDD\n"
				    "`-sdb1                 512 MiB disk0\n"
				    "  `-md0                1023 MiB raid0, chunk 256 KiB\n"
				    "    `-btrfs            1023 MiB                      /fs/md0\n"
				    "      `-test directory\n"
				    "sda                    1 GiB hdd LKP-HDD\n"
				    "`-sda1                 512 MiB disk1\n"
				    "  `-md0\n"
				    "tmpfs                                                /fs/t\n");
	cr_expect_leq(widest(text.data), BE_MANIFEST_COLUMNS);
	cr_expect_null(strstr(text.data, "SECRET"));
	cr_assert_eq(be_picture_manifest(manifest, 8, &shorter, &err), 0, "%s", err.text);
	cr_expect_str_eq(shorter.data, "layout    a tree of 9 lines: mkbenchenv show --full\n");
}

Test(picture, long_names_are_cut_and_stay_apart)
{
	struct be_error err = BE_ERROR_INIT;
	be_autonode struct be_node *manifest =
		parse("layout:\n  devices:\n"
		      "    a: {kind: nvme, kernel: nvme0n1, disk: nvme0n1, disk_size: 1024, model: " /* 80 letters */
		      "MMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMM}\n"
		      "  filesystems:\n"
		      "  - {mount: /fs/nvme-INTEL_SSDPECME016T4_CVF87091000G1P6IGN-1-part1, kind: xfs, source: "
		      "/dev/nvme0n1}\n");
	be_autobuf struct be_buf text = { 0 };
	cr_assert_eq(be_picture_manifest(manifest, 0, &text, &err), 0, "%s", err.text);
	cr_expect_leq(widest(text.data), BE_MANIFEST_COLUMNS, "%s", text.data);
	cr_expect_not_null(strstr(text.data, "`-xfs"));
}

Test(picture, nothing_observed)
{
	struct be_error err = BE_ERROR_INIT;
	be_autonode struct be_node *manifest = parse("layout: {}\n"), *none = parse("name: x\n");
	be_autobuf struct be_buf text = { 0 };
	cr_expect_eq(be_picture_manifest(manifest, 0, &text, &err), 0);
	cr_expect_eq(be_picture_manifest(none, 0, &text, &err), 0);
	cr_expect_eq(text.len, 0);
}
