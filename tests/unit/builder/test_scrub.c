/* What a manifest for the public leaves out, and that it stays whole. */
#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "builder/image/image_folder.h"
#include "builder/report/manifest_file.h"
#include "builder/report/scrub.h"

static char *scrubbed(const char *yaml)
{
	struct be_error err = BE_ERROR_INIT;
	be_autobuf struct be_buf out = { 0 };
	be_autonode struct be_node *doc = be_node_load(yaml, strlen(yaml), "m.yaml", &err);
	cr_assert_not_null(doc, "%s", err.text);
	be_autonode struct be_node *clean = be_scrub(doc), *again = be_scrub(clean);
	cr_expect(be_node_equal(clean, again), "what is clean stays as it is");
	cr_assert_eq(be_node_yaml(clean, &out, &err), 0, "%s", err.text);
	return be_buf_steal(&out);
}

static void expect_clean(const char *yaml, const char *wanted)
{
	be_autofree char *text = scrubbed(yaml), *whole = be_strf("---\n%s...\n", wanted);
	cr_expect_str_eq(strstr(text, "environment") ? strstr(text, "environment") : text,
			 be_starts(text, "---") ? whole : wanted, "%s", text);
}

Test(scrub, a_serial_is_one_word_wherever_it_stands)
{
	be_autofree char *text = scrubbed(
		"recipe: {host: 'hdd_partitions: /dev/disk/by-id/ata-ST4000_WX11D2-part*'}\n"
		"environment:\n"
		"  disk.identity: {observed: {disk0: {model: ST4000, serial: WX11D2, by_id: ata-ST4000_WX11D2}}}\n"
		"  fs.fullness: {observed: {/fs/ata-ST4000_WX11D2-part1: 3}}\n"
		"machine: {twin: {argv: ['ide-hd,serial=WX11D2', 'virtio-blk,serial=SHORT_A']}}\n"
		"layout: {uuid: 0b7c1a52-2d3e-4f50-8a6b-1c2d3e4f5a6b, own: {uuid: "
		"62656e63-6865-6e76-0000-000000000001}}\n");
	cr_expect_null(strstr(text, "WX11D2"), "%s", text);
	cr_expect_null(strstr(text, "0b7c1a52"), "%s", text);
	cr_expect(strstr(text, "by-id/ata-ST4000_EXAMPLE01-part*"), "%s", text);
	cr_expect(strstr(text, "/fs/ata-ST4000_EXAMPLE01-part1: 3"), "%s", text);
	cr_expect(strstr(text, "serial=EXAMPLE01"), "%s", text);
	cr_expect(strstr(text, "62656e63-6865-6e76-0000-000000000001"), "%s", text);
	cr_expect(strstr(text, "scrubbed: true"), "%s", text);
}

Test(scrub, short_serials_are_replaced_in_names_only)
{
	be_autofree char *text = scrubbed("environment: {a: ata-BENCH-SSD_A, b: A word, c: {serial: A}}\n");
	cr_expect(strstr(text, "a: ata-BENCH-SSD_EXAMPLE01\n"), "%s", text);
	cr_expect(strstr(text, "b: A word\n"), "%s", text);
	cr_expect(strstr(text, "serial: EXAMPLE01\n"), "%s", text);
}

Test(scrub, made_up_serials_are_not_given_away)
{
	be_autofree char *text = scrubbed("environment: {a: ata-DISK_WX11D299, b: ata-DISK_EXAMPLE01}\n");
	cr_expect(strstr(text, "a: ata-DISK_EXAMPLE02\n") && strstr(text, "b: ata-DISK_EXAMPLE01\n"), "%s", text);
}

Test(scrub, made_up_serials_stay)
{
	be_autofree char *text = scrubbed("recipe: {host: 'hdd_partitions: /dev/disk/by-id/ata-WDC_WX11D299',\n"
					  "  host_shipped: true, job: ata-WDC_WD-EXAMPLE0001}\n"
					  "environment: {disk.identity: {serial: WX11D299}}\n");
	cr_expect(strstr(text, "by-id/ata-WDC_WX11D299") && strstr(text, "serial: WX11D299"), "%s", text);
	cr_expect(strstr(text, "ata-WDC_WD-EXAMPLE0001"), "%s", text);
	cr_expect_null(strstr(text, "scrubbed"), "%s", text);
}

static const struct {
	const char *text, *clean;
} texts[] = {
	{ "ip=10.1.2.33::10.1.2.1 eth0", "ip=192.0.2.1::192.0.2.2 eth0" },
	{ "10.0.2.2 and 127.0.0.1", "10.0.2.2 and 127.0.0.1" },
	{ "6.12.118-1, 1.2.3, 300.1.2.3, 12:34:56", "6.12.118-1, 1.2.3, 300.1.2.3, 12:34:56" },
	{ "mac=3c:ec:ef:12:34:56", "mac=52:54:00:00:00:01" },
	{ "fe80::3eec:efff:fe12:3456 here", "2001:db8::1 here" },
	{ "PUT http://lab7.example.org:8080/r/1", "PUT http://host:8080/r/1" },
	{ "(anna@buildbox) 6.1", "(user@host) 6.1" },
	{ "(debian-kernel@lists.debian.org)", "(debian-kernel@lists.debian.org)" },
	{ "md-uuid-62656e63:68656e76:89cf155d:4ce8b99b", "md-uuid-62656e63:68656e76:89cf155d:4ce8b99b" },
};

Test(scrub, addresses)
{
	for (size_t i = 0; i < BE_ARRAY_LEN(texts); i++) {
		be_autonode struct be_node *doc = be_node_map();
		be_set_str(doc, "reason", texts[i].text);
		be_autonode struct be_node *clean = be_scrub(doc);
		cr_expect_str_eq(be_get_str(clean, "reason", ""), texts[i].clean);
	}
	expect_clean("recipe: {job: 'mail_to: a@b.org, see https://lore.kernel.org/x'}\n",
		     "recipe:\n  job: 'mail_to: a@b.org, see https://lore.kernel.org/x'\n");
}

/* A manifest with @n actions of some size. */
static struct be_node *long_manifest(size_t n)
{
	struct be_node *doc = be_node_map(), *actions = be_node_seq();
	be_set_str(doc, "mkbenchenv", "manifest");
	be_set_int(doc, "schema", 1);
	for (size_t i = 0; i < n; i++)
		be_add(actions, be_node_strf("mkfs -t ext4 -q -F /dev/disk/by-id/ata-ST3500630NS_EXAMPLE%04zu", i));
	be_set(doc, "actions", actions);
	return doc;
}

static char *new_folder(void)
{
	char *dir = be_strdup("/tmp/be-manifest-XXXXXX");
	cr_assert_not_null(mkdtemp(dir));
	return dir;
}

static void expect_round_trip(size_t n, bool beside)
{
	struct be_error err = BE_ERROR_INIT;
	be_autofree char *dir = new_folder(), *part = be_strf("%s/manifest-actions.yaml", dir);
	be_autofree char *file = be_strf("%s/manifest.yaml", dir);
	be_autobuf struct be_buf text = { 0 };
	be_autonode struct be_node *doc = long_manifest(n);
	cr_assert_eq(be_manifest_write(doc, dir, &err), 0, "%s", err.text);
	cr_assert_eq(be_read_file(file, 1 << 20, &text, &err), 0, "%s", err.text);
	cr_expect_lt(text.len, BE_MANIFEST_BYTES);
	cr_expect_eq(be_exists(part), beside);
	be_autonode struct be_node *by_file = be_manifest_load(file, &err), *by_folder = be_manifest_load(dir, &err);
	cr_assert(by_file && by_folder, "%s", err.text);
	cr_expect(be_node_equal(doc, by_file) && be_node_equal(doc, by_folder));
	cr_expect_eq(be_remove_tree(dir, &err), 0);
}

Test(manifest_file, what_makes_it_too_long_lies_beside_it)
{
	expect_round_trip(10, false);
	expect_round_trip(2000, true);
}

Test(manifest_file, a_part_may_be_missing_but_not_another)
{
	struct be_error err = BE_ERROR_INIT;
	be_autofree char *dir = new_folder(), *part = be_strf("%s/manifest-actions.yaml", dir);
	be_autonode struct be_node *doc = long_manifest(2000);
	cr_assert_eq(be_manifest_write(doc, dir, &err), 0, "%s", err.text);
	cr_assert_eq(be_write_file(part, "- x\n", 4, 0644, &err), 0);
	be_autonode struct be_node *other = be_manifest_load(dir, &err);
	cr_expect_null(other);
	cr_expect(strstr(err.text, "is not the file that the manifest names"), "%s", err.text);
	cr_assert_eq(unlink(part), 0);
	be_autonode struct be_node *alone = be_manifest_load(dir, &err);
	cr_assert_not_null(alone, "%s", err.text);
	cr_expect_str_eq(be_get_str(be_get(alone, "actions"), "file", ""), "manifest-actions.yaml");
	cr_expect_eq(be_remove_tree(dir, &err), 0);
}
