#include "build_test.h"

static const char stanzas[] = "Package: libattr1\n"
			      "Version: 1:2.5.2-3\n"
			      "Architecture: amd64\n"
			      "Pre-Depends: dpkg (>= 1.17)\n"
			      "Depends: libc6 (>= 2.36), default-x | x-agent:any, y [amd64]\n"
			      "Provides: v1, v2 (= 3)\n"
			      "Description: text\n"
			      " Version: not a field\n"
			      "Size: 22876\n"
			      "SHA256: 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n"
			      "\n"
			      "\n"
			      "Package: other\nVersion: 2\nArchitecture: all\nSize: 1\n"
			      "SHA256: ff112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n";

Test(apt, stanzas_of_an_index)
{
	struct be_error err = BE_ERROR_INIT;
	be_autopackages struct be_packages packages = { 0 };
	cr_assert_eq(be_packages_parse(stanzas, &packages, &err), 0, "%s", err.text);
	cr_assert_eq(packages.n, 2);
	const struct be_package *p = &packages.v[0];
	cr_expect_str_eq(p->name, "libattr1");
	cr_expect_str_eq(p->version, "1:2.5.2-3");
	cr_expect_str_eq(p->architecture, "amd64");
	cr_expect_eq(p->size, 22876);
	be_autofree char *depends = be_argv_text(p->depends.v), *provides = be_argv_text(p->provides.v);
	cr_expect_str_eq(depends, "dpkg libc6 default-x x-agent y");
	cr_expect_str_eq(provides, "v1 v2");
	cr_expect_str_eq(packages.v[1].name, "other");
}

Test(apt, stanzas_that_lack_something)
{
	static const char *const texts[] = {
		"Package: a\nVersion: 1\nArchitecture: all\nSize: 1\n",
		"Package: a\nVersion: 1\nArchitecture: all\nSize: 1\nSHA256: 12\n",
		("Package: a\nVersion: 1\nArchitecture: all\nSize: x\n"
		 "SHA256: ff112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n"),
		"Package: a\nSize: 1\nSHA256: ff112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n\n",
	};
	for (size_t i = 0; i < BE_ARRAY_LEN(texts); i++) {
		struct be_error err = BE_ERROR_INIT;
		be_autopackages struct be_packages packages = { 0 };
		cr_expect_eq(be_packages_parse(texts[i], &packages, &err), -1);
		cr_expect_str_eq(err.text, "apt's index of package a lacks version, architecture, size or SHA-256");
	}
}

Test(apt, names_of_suites)
{
	static const char *const names[] = { "", "../x", "a b", "deb http:", "Trixie", "x\ny" };
	struct bench b;
	bench_open(&b);
	for (size_t i = 0; i < BE_ARRAY_LEN(names); i++) {
		struct be_error err = BE_ERROR_INIT;
		struct be_suite suite;
		cr_expect_eq(be_suite_open(&suite, &b.cache, &b.progress, names[i], &err), -1, "%s", names[i]);
		cr_expect_eq(err.status, BE_USAGE);
		cr_expect(strstr(err.text, "is no name of a Debian release"), "%s", err.text);
		be_suite_close(&suite);
	}
	bench_close(&b);
}

/* A machine whose apt has never fetched lists: said at once, with what to do. */
Test(apt, no_lists)
{
	struct bench b;
	struct be_error err = BE_ERROR_INIT;
	struct be_suite suite;
	bench_open(&b);
	be_autofree char *config = be_strf("%s/apt.conf", b.dir), *lists = be_strf("%s/lists/partial", b.dir);
	be_autofree char *text = be_strf("Dir::State::lists \"%s/lists\";\n", b.dir);
	cr_assert_eq(be_mkdirs(lists, 0755, &err), 0);
	cr_assert_eq(be_write_file(config, text, strlen(text), 0644, &err), 0);
	setenv("APT_CONFIG", config, 1);
	cr_expect_eq(be_suite_open(&suite, &b.cache, &b.progress, NULL, &err), -1);
	cr_expect_str_eq(err.text, "apt has no package lists of a Debian archive on this machine");
	cr_expect(strstr(err.hint, "apt-get update"), "%s", err.hint);
	be_suite_close(&suite);
	bench_close(&b);
}
