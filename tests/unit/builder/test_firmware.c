/* Firmware out of packages; tests/fleet fetches some. */
#include <unistd.h>

#include "build_test.h"
#include "builder/packages/firmware.h"

static struct be_node *plan_with(const char *given)
{
	struct be_error err = BE_ERROR_INIT;
	struct be_node *plan = be_node_load(given, strlen(given), "plan", &err);
	cr_assert_not_null(plan, "%s", err.text);
	return plan;
}

Test(firmware, files_links_and_folders)
{
	struct bench b;
	struct be_error err = BE_ERROR_INIT;
	bench_open(&b);
	bench_sh(&b,
		 "mkdir -p x/lib/firmware/nic/empty x/usr/share/doc/x\n"
		 "echo one >x/lib/firmware/nic/a.fw\n"
		 "ln -s nic/a.fw x/lib/firmware/b.fw\n"
		 "ln x/lib/firmware/nic/a.fw x/lib/firmware/nic/c.fw\n"
		 ": >x/lib/firmware/nic/none.fw\n"
		 "echo text >x/usr/share/doc/x/README\n",
		 NULL);
	bench_package(&b, "x", "");
	struct be_deb deb = { .package = &b.packages.v[0], .tree = BE_TREE_INIT };
	cr_assert_eq(be_deb_unpack(&deb, &b.cache, &err), 0, "%s", err.text);
	be_autofree char *out = be_strf("%s/out", b.dir);
	cr_assert_eq(be_firmware_write(&deb.tree, out, &err), 0, "%s", err.text);
	be_autofree char *list =
		bench_output(&b, "cd out; find . -type f -o -type l -o -empty | sort; cat b.fw nic/c.fw", NULL);
	cr_expect_str_eq(list, "./b.fw\n./nic/a.fw\n./nic/c.fw\n./nic/empty\n./nic/none.fw\none\none\n");
	be_deb_free(&deb);
	bench_close(&b);
}

Test(firmware, a_package_without_any)
{
	struct bench b;
	struct be_error err = BE_ERROR_INIT;
	bench_open(&b);
	bench_sh(&b, "mkdir -p x/usr/share; echo text >x/usr/share/x\n", NULL);
	bench_package(&b, "x", "");
	struct be_deb deb = { .package = &b.packages.v[0], .tree = BE_TREE_INIT };
	cr_assert_eq(be_deb_unpack(&deb, &b.cache, &err), 0, "%s", err.text);
	cr_expect_eq(be_firmware_write(&deb.tree, b.dir, &err), -1);
	cr_expect_str_eq(err.text, "it holds no /usr/lib/firmware/");
	be_deb_free(&deb);
	bench_close(&b);
}

/* The network is not asked where the user has given the files, or nobody wants any. */
Test(firmware, what_is_given_is_not_fetched)
{
	static const char wants[] = "image: {given: [{name: firmware, packages: [firmware-x]}]}\n";
	static const struct {
		const char *plan, *given;
	} cases[] = { { wants, "firmware=/x" },
		      { "image: {given: [{name: aim7, path: /a}]}\n", "aim7=/y" },
		      { "image: {}\n", NULL } };
	struct bench b;
	bench_open(&b);
	for (size_t i = 0; i < BE_ARRAY_LEN(cases); i++) {
		struct be_error err = BE_ERROR_INIT;
		struct be_firmware firmware;
		be_autostrv struct be_strv programs = { 0 };
		be_autonode struct be_node *plan = plan_with(cases[i].plan);
		if (cases[i].given)
			be_strv_add(&programs, cases[i].given);
		cr_expect_eq(be_firmware_fetch(&firmware, plan, cases[i].given ? &programs : NULL, &b.cache,
					       &b.progress, "no-such-suite", &err),
			     0, "%s", err.text);
		cr_expect_null(firmware.dir);
		cr_expect_eq(firmware.programs.n, cases[i].given ? 1 : 0);
		be_firmware_free(&firmware);
	}
	bench_close(&b);
}

Test(firmware, microcode_that_is_a_file_is_not_fetched)
{
	struct bench b;
	bench_open(&b);
	be_autofree char *file = be_strf("%s/intel-microcode", b.dir);
	bench_sh(&b, ": >intel-microcode", NULL);
	cr_assert_eq(chdir(b.dir), 0);
	const char *const given[] = { NULL, "/no/such/file", file, "intel-microcode" };
	for (size_t i = 0; i < BE_ARRAY_LEN(given); i++) {
		struct be_error err = BE_ERROR_INIT;
		struct be_firmware firmware = { 0 };
		cr_expect_eq(be_firmware_ucode(&firmware, given[i], &b.cache, &b.progress, "no-such-suite", &err), 0,
			     "%s", err.text);
		cr_expect(be_streq(firmware.ucode, given[i]));
		cr_expect_null(firmware.dir);
		be_firmware_free(&firmware);
	}
	bench_close(&b);
}
