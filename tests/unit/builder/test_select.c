#include "build_test.h"

#include "builder/packages/deb_select.h"

/* Three libraries and two programs in packages of their own, as a release has them:
 *   tool (bin/tool, needs liba; bin/t -> tool)  ->  liba (needs libb by RUNPATH)  ->  libb
 *   other (bin/other, sbin/adm, etc/other/a.conf b.conf), meta depends on other; unused depends on nothing. */
static void make_packages(struct bench *b)
{
	bench_sh(b,
		 "L=usr/lib/x86_64-linux-gnu; CC=${CC:-cc}\n"
		 "mkdir -p libb/$L/private liba/$L tool/usr/bin tool/usr/share/tool/deep other/bin other/sbin "
		 "other/etc/other meta/usr "
		 "unused/usr/bin libc/lib64 libc/$L\n"
		 "echo 'int b(void) { return 1; }' > b.c; echo 'int b(void); int a(void) { return b(); }' > a.c\n"
		 "echo 'int a(void); int main(void) { return a(); }' > t.c; echo 'int main(void) { return 0; }' > o.c\n"
		 "$CC -shared -fPIC -nostdlib -o libb/$L/private/libb.so.1 -Wl,-soname,libb.so.1 b.c\n"
		 "$CC -shared -fPIC -nostdlib -o liba/$L/liba.so.1.2 -Wl,-soname,liba.so.1 "
		 "-Wl,-rpath,'$ORIGIN/private' a.c "
		 "libb/$L/private/libb.so.1\n"
		 "ln -s liba.so.1.2 liba/$L/liba.so.1\n"
		 "$CC -o tool/usr/bin/tool t.c liba/$L/liba.so.1.2 -Wl,-rpath-link,libb/$L/private\n"
		 "ln -s tool tool/usr/bin/t; ln -s /nowhere tool/usr/bin/dangling; echo x > "
		 "tool/usr/share/tool/deep/file\n"
		 "$CC -o other/bin/other o.c; cp other/bin/other other/sbin/adm; cp other/bin/other "
		 "unused/usr/bin/unused\n"
		 "echo a > other/etc/other/a.conf; echo b > other/etc/other/b.conf\n"
		 "cp $(readlink -f /lib64/ld-linux-x86-64.so.2) libc/$L/ld-linux-x86-64.so.2\n"
		 "cp $(readlink -f /lib/x86_64-linux-gnu/libc.so.6) libc/$L/libc.so.6\n"
		 "ln -s /lib/x86_64-linux-gnu/ld-linux-x86-64.so.2 libc/lib64/ld-linux-x86-64.so.2\n",
		 NULL);
	bench_package(b, "tool", "liba, libc");
	bench_package(b, "meta", "other");
	bench_package(b, "liba", "libb");
	bench_package(b, "libb", "libc");
	bench_package(b, "libc", "");
	bench_package(b, "other", "libc");
	bench_package(b, "unused", "libc");
}

struct question {
	struct bench b;
	struct be_deb debs[8];
	struct be_select_request request;
};

static void ask(struct question *q, size_t named, const char *programs, const char *files)
{
	bench_open(&q->b);
	make_packages(&q->b);
	for (size_t i = 0; i < q->b.packages.n; i++)
		q->debs[i] = (struct be_deb){ .package = &q->b.packages.v[i], .tree = BE_TREE_INIT };
	q->request = (struct be_select_request){
		.suite = &q->b.suite, .packages = &q->b.packages, .named = named, .debs = q->debs
	};
	be_strv_split(&q->request.programs, programs, " ");
	be_strv_split(&q->request.files, files, " ");
}

static void done(struct question *q)
{
	for (size_t i = 0; i < q->b.packages.n; i++)
		be_deb_free(&q->debs[i]);
	be_strv_free(&q->request.programs);
	be_strv_free(&q->request.files);
	bench_close(&q->b);
}

/* "PACKAGE: PATH PATH; PACKAGE: ..." */
static char *answer(const struct question *q, const struct be_selection *selection)
{
	be_autobuf struct be_buf text = { 0 };
	for (size_t i = 0; i < selection->n; i++) {
		const struct be_pick *pick = &selection->picks[i];
		be_buf_addf(&text, "%s%s:", i ? "; " : "", q->b.packages.v[pick->package].name);
		for (size_t k = 0; k < pick->paths.n; k++)
			be_buf_addf(&text, " %s", pick->paths.v[k]);
	}
	return be_buf_steal(&text);
}

#define L "usr/lib/x86_64-linux-gnu/"

Test(select, libraries_links_and_interpreter)
{
	struct question q;
	struct be_error err = BE_ERROR_INIT;
	be_autoselection struct be_selection selection = { 0 };
	ask(&q, 1, "t", "");
	cr_assert_eq(be_select(&q.request, &selection, &err), 0, "%s", err.text);
	be_autofree char *text = answer(&q, &selection);
	cr_expect_str_eq(text, "tool: usr/bin/t usr/bin/tool; liba: " L "liba.so.1 " L "liba.so.1.2; libb: " L
			       "private/libb.so.1; libc: " L "ld-linux-x86-64.so.2 " L
			       "libc.so.6 usr/lib64/ld-linux-x86-64.so.2");
	cr_expect_str_eq(selection.oldest_kernel, "3.2.0");
	/* What nothing leads to is not even looked into. */
	cr_expect(q.debs[0].indexed);
	cr_expect_not(q.debs[5].indexed);
	cr_expect_not(q.debs[6].indexed);
	done(&q);
}

Test(select, the_answer_is_kept)
{
	struct question q;
	struct be_error err = BE_ERROR_INIT;
	be_autoselection struct be_selection first = { 0 }, second = { 0 }, third = { 0 };
	ask(&q, 1, "tool", "/usr/share/none/*");
	cr_expect_not(be_select_recall(&q.request, &second));
	cr_assert_eq(be_select(&q.request, &first, &err), 0, "%s", err.text);
	cr_assert(be_select_recall(&q.request, &second));
	be_autofree char *a = answer(&q, &first), *b = answer(&q, &second);
	cr_expect_str_eq(a, b);
	cr_expect_str_eq(second.oldest_kernel, "3.2.0");
	cr_expect_eq(second.notes.n, 1);
	be_strv_add(&q.request.programs, "t");
	cr_expect_not(be_select_recall(&q.request, &third));
	done(&q);
}

Test(select, a_metapackage_leads_to_its_program)
{
	struct question q;
	struct be_error err = BE_ERROR_INIT;
	be_autoselection struct be_selection selection = { 0 };
	ask(&q, 2, "other adm", "/etc/other/*.conf /usr/share/tool");
	cr_assert_eq(be_select(&q.request, &selection, &err), 0, "%s", err.text);
	be_autofree char *text = answer(&q, &selection);
	/* The pattern too is found behind the metapackage. */
	cr_expect(strstr(text, "other: etc/other/a.conf etc/other/b.conf usr/bin/other usr/sbin/adm"), "%s", text);
	cr_expect(strstr(text, "tool: usr/share/tool usr/share/tool/deep usr/share/tool/deep/file"), "%s", text);
	cr_expect_eq(selection.notes.n, 0);
	done(&q);
}

Test(select, what_is_missing_is_named)
{
	static const struct {
		const char *programs, *files, *message;
	} cases[] = {
		{ "absent", "",
		  "program absent: not in /usr/bin or /usr/sbin of the packages tool (test), nor of the 6 "
		  "packages that they depend on" },
		{ "dangling", "",
		  "program dangling: not in /usr/bin or /usr/sbin of the packages tool (test), nor of the 6 "
		  "packages that they depend on" },
		{ "tool", "/usr/lib/absent", "file /usr/lib/absent: in none of the 7 packages of test" },
		{ "tool", "relative/path", "plan: image.files: \"relative/path\" is no absolute path" },
		{ "tool", "/../etc", "plan: image.files: \"/../etc\" is no absolute path" },
	};
	for (size_t i = 0; i < BE_ARRAY_LEN(cases); i++) {
		struct question q;
		struct be_error err = BE_ERROR_INIT;
		be_autoselection struct be_selection selection = { 0 };
		ask(&q, 1, cases[i].programs, cases[i].files);
		cr_expect_eq(be_select(&q.request, &selection, &err), -1);
		cr_expect_str_eq(err.text, cases[i].message);
		done(&q);
	}
}

Test(select, a_missing_library_is_named)
{
	struct question q;
	struct be_error err = BE_ERROR_INIT;
	be_autoselection struct be_selection selection = { 0 };
	ask(&q, 1, "tool", "");
	be_strv_free(&q.b.packages.v[2].depends);
	q.b.packages.v[2].depends = (struct be_strv){ 0 };
	cr_expect_eq(be_select(&q.request, &selection, &err), -1);
	cr_expect_str_eq(err.text, "library libb.so.1, needed by /" L
				   "liba.so.1.2 of package liba: in none of the packages that it depends on");
	done(&q);
}

struct firmware {
	struct bench b;
	struct be_deb debs[3];
	struct be_select_request request;
	struct be_selection selection;
	struct be_error err;
};

/* nic and gpu have firmware, doc has none; @named of them are those that the plan names. */
static int select_firmware(struct firmware *f, size_t named, const char *wanted)
{
	*f = (struct firmware){ .err = BE_ERROR_INIT };
	bench_open(&f->b);
	bench_sh(&f->b,
		 "mkdir -p nic/lib/firmware/nic/empty nic/usr/share/doc/nic gpu/usr/lib/firmware doc/usr/share/doc\n"
		 "echo one >nic/lib/firmware/nic/a.fw; echo text | tee nic/usr/share/doc/nic/README "
		 ">doc/usr/share/doc/x\n"
		 "ln -s nic/a.fw nic/lib/firmware/b.fw; ln -s absent nic/lib/firmware/c.fw\n"
		 "ln nic/lib/firmware/nic/a.fw nic/lib/firmware/nic/d.fw; : >gpu/usr/lib/firmware/none.fw\n",
		 NULL);
	bench_package(&f->b, "doc", "");
	bench_package(&f->b, "gpu", "");
	bench_package(&f->b, "nic", "");
	for (size_t i = 0; i < f->b.packages.n; i++)
		f->debs[i] = (struct be_deb){ .package = &f->b.packages.v[i], .tree = BE_TREE_INIT };
	f->request = (struct be_select_request){
		.suite = &f->b.suite, .packages = &f->b.packages, .named = named, .debs = f->debs
	};
	be_strv_split(&f->request.firmware, wanted, " ");
	return be_select(&f->request, &f->selection, &f->err);
}

static void firmware_done(struct firmware *f)
{
	for (size_t i = 0; i < f->b.packages.n; i++)
		be_deb_free(&f->debs[i]);
	be_strv_free(&f->request.firmware);
	be_selection_free(&f->selection);
	bench_close(&f->b);
}

#define F "usr/lib/firmware/"

/* Of a package that only `firmware:` names everything below /usr/lib/firmware and nothing else; of another nothing. */
Test(select, firmware_whole)
{
	static const char *const paths[] = { F "b.fw", F "c.fw", F "nic", F "nic/a.fw", F "nic/d.fw", F "nic/empty" };
	struct firmware f;
	cr_assert_eq(select_firmware(&f, 1, "nic"), 0, "%s", f.err.text);
	cr_assert_eq(f.selection.n, 1);
	cr_expect_eq(f.selection.picks[0].package, 2);
	cr_assert_eq(f.selection.picks[0].paths.n, BE_ARRAY_LEN(paths));
	for (size_t i = 0; i < BE_ARRAY_LEN(paths); i++)
		cr_expect_str_eq(f.selection.picks[0].paths.v[i], paths[i]);
	cr_expect_not(f.debs[1].indexed);
	be_autoselection struct be_selection second = { 0 };
	cr_expect(be_select_recall(&f.request, &second));
	be_strv_add(&f.request.firmware, "gpu");
	be_autoselection struct be_selection third = { 0 };
	cr_expect_not(be_select_recall(&f.request, &third));
	firmware_done(&f);
}

Test(select, firmware_that_is_not_there)
{
	static const char *const packages[] = { "doc", "no-such" };
	for (size_t i = 0; i < BE_ARRAY_LEN(packages); i++) {
		struct firmware f;
		be_autofree char *wanted = be_strf("nic %s", packages[i]);
		be_autofree char *text =
			be_strf("firmware: package %s of test holds no /usr/lib/firmware", packages[i]);
		cr_expect_eq(select_firmware(&f, 1, wanted), -1);
		cr_expect_str_eq(f.err.text, text);
		cr_expect_str_eq(f.err.hint,
				 "name the package that has the files, or give them by --program firmware=DIR");
		firmware_done(&f);
	}
}
