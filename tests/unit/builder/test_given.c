#include "build_test.h"

#include "builder/packages/given.h"
#include "builder/packages/given_parts.h"
#include "builder/image/segment.h"

static const struct be_compressor none = { .name = "none" };

static const char plan_text[] =
	"testcase: t\n"
	"image:\n"
	"  programs: [fio, sh]\n"
	"  given:\n"
	"  - {name: suite, path: /lkp/benchmarks/suite, what: a directory with the suite as built}\n"
	"workload:\n"
	"  steps: [{name: t, cwd: /lkp/benchmarks/suite, argv: [./run]}]\n";
static const char servers_text[] = "testcase: net\n"
				   "image:\n"
				   "  programs: [sh]\n"
				   "  given:\n"
				   "  - {name: netserver, path: /usr/bin/netserver, what: the server}\n"
				   "  - {name: netperf, path: /usr/bin/netperf, what: the client}\n";
/* Nothing is needed but what a package has. */
static const char own_text[] = "testcase: own\n"
			       "image: {programs: [fio, sh]}\n";

struct trial {
	struct bench b;
	struct be_error err;
	struct be_node *plan;
	struct be_strv programs;
	struct be_givens givens;
	struct be_deb debs[4];
	struct be_select_request request;
	struct be_selection selection;
};

static void start(struct trial *t, const char *plan, const char *script)
{
	*t = (struct trial){ .err = BE_ERROR_INIT };
	bench_open(&t->b);
	if (script)
		bench_sh(&t->b, script, NULL);
	t->plan = be_node_load(plan, strlen(plan), "plan", &t->err);
	cr_assert(t->plan, "%s", t->err.text);
}

/* NAME=PATH with a path in the folder of the test. */
static void give(struct trial *t, const char *name, const char *path)
{
	be_strv_addf(&t->programs, "%s=%s/%s", name, t->b.dir, path);
}

static int open_given(struct trial *t)
{
	return be_givens_open(&t->givens, t->plan, &t->programs, &t->err);
}

static int choose(struct trial *t)
{
	for (size_t i = 0; i < t->b.packages.n; i++)
		t->debs[i] = (struct be_deb){ .package = &t->b.packages.v[i], .tree = BE_TREE_INIT };
	t->request = (struct be_select_request){
		.suite = &t->b.suite, .packages = &t->b.packages, .named = t->b.packages.n, .debs = t->debs
	};
	if (be_givens_select(&t->givens, &t->request, &t->selection, &t->err) != 0)
		return -1;
	return be_givens_settle(&t->givens, &t->request, &t->selection, &t->err);
}

static void stop(struct trial *t)
{
	for (size_t i = 0; i < BE_ARRAY_LEN(t->debs) && i < t->b.packages.n; i++)
		be_deb_free(&t->debs[i]);
	be_strv_free(&t->request.libraries);
	be_selection_free(&t->selection);
	be_givens_free(&t->givens);
	be_strv_free(&t->programs);
	be_node_free(t->plan);
	bench_close(&t->b);
}

static char *member(struct trial *t, size_t i)
{
	struct be_segment segment = { 0 };
	cr_assert_eq(be_segment_given(&segment, &t->b.cache, &none, &t->givens.v[i], &t->err), 0, "%s", t->err.text);
	char *text = bench_output(&t->b,
				  "cpio -itvn --quiet < \"$1\" | awk '{ print $1, $3, $9, $10, $11 }' | sed 's/ *$//'",
				  segment.object.path);
	be_segment_free(&segment);
	return text;
}

/* The C library and its loader in a package, as the release has them; @version is that of the package. */
static void make_libc(struct trial *t, const char *version)
{
	bench_sh(&t->b,
		 "L=usr/lib/x86_64-linux-gnu; mkdir -p libc6/$L libc6/lib64\n"
		 "cp $(readlink -f /lib64/ld-linux-x86-64.so.2) libc6/$L/ld-linux-x86-64.so.2\n"
		 "cp $(readlink -f /lib/x86_64-linux-gnu/libc.so.6) libc6/$L/libc.so.6\n"
		 "ln -s /lib/x86_64-linux-gnu/ld-linux-x86-64.so.2 libc6/lib64/ld-linux-x86-64.so.2\n",
		 NULL);
	bench_package(&t->b, "libc6", "");
	free(t->b.packages.v[0].version);
	t->b.packages.v[0].version = be_strdup(version);
}

static void expect_refused(const char *plan, const char *script, const char *name, const char *path, const char *text)
{
	struct trial t;
	start(&t, plan, script);
	give(&t, name, path);
	cr_expect_eq(open_given(&t), -1, "%s", text);
	cr_expect_eq(t.err.status, BE_USAGE, "%s", t.err.text);
	cr_expect(strstr(t.err.text, text), "\"%s\" lacks \"%s\"", t.err.text, text);
	stop(&t);
}

Test(given, a_folder_with_all_it_holds)
{
	static const char script[] =
		"umask 077; mkdir -p s/data/deep s/bin; printf '#!/bin/sh\\n' > s/run; chmod 700 s/run\n"
		"echo x > s/data/deep/x; echo y > s/data.txt; ln -s ../run s/bin/run; ln -s data/deep s/d; ln -s gone "
		"s/l\n";
	static const char listing[] = "drwxr-xr-x 0 lkp\n"
				      "drwxr-xr-x 0 lkp/benchmarks\n"
				      "drwxr-xr-x 0 lkp/benchmarks/suite\n"
				      "drwxr-xr-x 0 lkp/benchmarks/suite/bin\n"
				      "lrwxrwxrwx 0 lkp/benchmarks/suite/bin/run -> ../run\n"
				      "lrwxrwxrwx 0 lkp/benchmarks/suite/d -> data/deep\n"
				      "drwxr-xr-x 0 lkp/benchmarks/suite/data\n"
				      "-rw-r--r-- 0 lkp/benchmarks/suite/data.txt\n"
				      "drwxr-xr-x 0 lkp/benchmarks/suite/data/deep\n"
				      "-rw-r--r-- 0 lkp/benchmarks/suite/data/deep/x\n"
				      "lrwxrwxrwx 0 lkp/benchmarks/suite/l -> gone\n"
				      "-rwxr-xr-x 0 lkp/benchmarks/suite/run\n";
	struct trial t;
	start(&t, plan_text, script);
	give(&t, "suite", "s/../s/");
	cr_assert_eq(open_given(&t), 0, "%s", t.err.text);
	be_autofree char *text = member(&t, 0);
	cr_expect_str_eq(text, listing);
	be_autonode struct be_node *lock = be_givens_lock(&t.givens);
	cr_assert_eq(lock->n, 1);
	cr_expect_str_eq(be_get_str(lock->items[0], "name", ""), "suite");
	cr_expect_str_eq(be_get_str(lock->items[0], "path", ""), "/lkp/benchmarks/suite");
	cr_expect_eq(be_get_int(lock->items[0], "size", 0), 14);
	/* Anybody can have the hash of a folder from sha256sum. */
	be_autofree char *sum = bench_output(&t.b,
					     "cd \"$1\"; find -type f -printf '%P\\n' | LC_ALL=C sort | xargs "
					     "sha256sum | sha256sum | cut -c-64 | tr -d '\\n'",
					     "s");
	cr_expect_str_eq(be_get_str(lock->items[0], "sha256", ""), sum);
	stop(&t);
}

/* Owner, times, umask and the place on the machine make no difference; a byte does, and the right to execute. */
Test(given, the_same_bytes_from_other_places)
{
	static const char *const changes[] = { "", "chmod 600 b/f; touch -d 2001-01-01 b/f", "echo 2 > b/f",
					       "chmod +x b/f", "ln -s f b/g" };
	be_autofree char *first = NULL;
	for (size_t i = 0; i < BE_ARRAY_LEN(changes); i++) {
		struct trial t;
		struct be_segment segment = { 0 };
		start(&t, plan_text, "mkdir b; echo 1 > b/f");
		bench_sh(&t.b, changes[i], NULL);
		give(&t, "suite", "b");
		cr_assert_eq(open_given(&t), 0, "%s", t.err.text);
		cr_assert_eq(be_segment_given(&segment, &t.b.cache, &none, &t.givens.v[0], &t.err), 0);
		if (!first)
			first = be_strdup(segment.object.sha256);
		cr_expect_eq(be_streq(segment.object.sha256, first), i < 2, "%s", changes[i]);
		be_segment_free(&segment);
		stop(&t);
	}
}

Test(given, what_no_image_can_hold)
{
	expect_refused(plan_text, "mkdir s; ln -s /etc/passwd s/l", "suite", "s", "the link to /etc/passwd leads out");
	expect_refused(plan_text, "mkdir -p s/a; ln -s ../../x s/a/l", "suite", "s", "the link to ../../x leads out");
	/* By its text it stays inside; through the other link it does not. */
	expect_refused(plan_text, "mkdir -p s/a/b x; ln -s a/b s/z; ln -s ../.. s/a/b/t; ln -s z/t/../x s/l", "suite",
		       "s", "s/l: the link to z/t/../x leads out");
	expect_refused(plan_text, "mkdir s; mkfifo s/p", "suite", "s", "s/p: is a device, pipe or socket");
	expect_refused(plan_text, "mkdir s", "suite", "s", "is an empty folder");
	expect_refused(plan_text, NULL, "suite", "s", "s: is not there");
	expect_refused(own_text, "echo x > f", "fio", "f", "f: is not executable");
}

Test(given, names)
{
	struct trial t;
	start(&t, plan_text, "mkdir s; echo x > s/x");
	give(&t, "siute", "s");
	cr_expect_eq(open_given(&t), -1);
	cr_expect_eq(t.err.status, BE_USAGE);
	cr_expect_str_eq(t.err.text, "--program siute: t needs no program of that name");
	cr_expect_str_eq(t.err.hint, "the nearest that it needs is suite");
	stop(&t);
	start(&t, plan_text, "mkdir s; echo x > s/x");
	give(&t, "suite", "s");
	give(&t, "suite", "s");
	cr_expect_eq(open_given(&t), -1);
	cr_expect_str_eq(t.err.text, "--program suite: is given twice");
	stop(&t);
	start(&t, plan_text, NULL);
	be_strv_add(&t.programs, "suite");
	cr_expect_eq(open_given(&t), -1);
	cr_expect_str_eq(t.err.text, "--program suite: is not NAME=PATH");
	stop(&t);
}

/* The last error is returned, the others are printed; each says what to give. */
Test(given, missing)
{
	struct trial t;
	start(&t, servers_text, NULL);
	be_autofree char *log = be_strf("%s/log", t.b.dir);
	cr_assert(freopen(log, "w", stderr));
	cr_expect_eq(open_given(&t), -1);
	fflush(stderr);
	cr_expect_eq(t.err.status, BE_USAGE);
	cr_expect_str_eq(t.err.text, "netperf is not in Debian and must be given: the client");
	cr_expect_str_eq(t.err.hint, "--program netperf=PATH");
	be_autofree char *text = bench_output(&t.b, "cat log", NULL);
	cr_expect(strstr(text, "netserver is not in Debian and must be given: the server\n"), "%s", text);
	cr_expect(strstr(text, "--program netserver=PATH"), "%s", text);
	stop(&t);
}

/* What packages stand for need not be given; what is given they do not stand for. */
Test(given, packages_that_stand_for_it)
{
	static const char text[] =
		"image:\n"
		"  given: [{name: firmware, path: /usr/lib/firmware, packages: [firmware-x, firmware-y]}]\n";
	for (int given = 0; given < 2; given++) {
		struct trial t;
		be_autostrv struct be_strv packages = { 0 };
		start(&t, text, "mkdir fw; echo x >fw/x.bin");
		if (given)
			give(&t, "firmware", "fw");
		cr_expect_eq(open_given(&t), 0, "%s", t.err.text);
		be_givens_packages(&t.givens, t.plan, &packages);
		cr_expect_eq(packages.n, given ? 0 : 2);
		cr_expect(given || be_streq(packages.v[1], "firmware-y"));
		stop(&t);
	}
}

Test(given, a_file_where_a_folder_belongs)
{
	expect_refused(plan_text, "cp /bin/true x", "suite", "x",
		       "is a file; needed is a directory with the suite as built");
	expect_refused(own_text, "mkdir x; echo > x/x", "fio", "x", "is a folder; needed is a program");
}

/* Byte 18 of an ELF file is its machine: 183 is AArch64. */
Test(given, another_architecture)
{
	static const char script[] = "cp /bin/true x; printf '\\267' | dd of=x bs=1 seek=18 conv=notrunc status=none\n"
				     "mkdir s; cp x s/x; mkdir both; cp x both/x; cp /bin/true both/y\n";
	struct trial t;
	expect_refused(own_text, script, "fio", "x", "is a program for AArch64, the image's kernel is 64-bit x86");
	expect_refused(plan_text, script, "suite", "s", "s/x: is a program for AArch64");
	start(&t, plan_text, script);
	give(&t, "suite", "both");
	cr_expect_eq(open_given(&t), 0, "%s", t.err.text);
	stop(&t);
}

/* A program with three libraries: one by RUNPATH, one that merely lies beside it and needs another there, one of a
 * package; all as a folder. */
static const char build_program[] =
	"CC=${CC:-cc}; mkdir -p s/lib s/bin\n"
	"echo 'int r(void) { return 1; }' > r.c; echo 'int n(void) { return 1; }' > n.c\n"
	"echo 'int n(void); int b(void) { return n(); }' > b.c\n"
	"echo 'int r(void); int b(void); int main(void) { return r() + b(); }' > m.c\n"
	"$CC -shared -fPIC -nostdlib -Wl,-soname,libr.so.1 -o s/lib/libr.so.1.0 r.c; ln -s libr.so.1.0 "
	"s/lib/libr.so.1\n"
	"$CC -shared -fPIC -nostdlib -Wl,-soname,libn.so.1 -o s/bin/libn.so.1 n.c\n"
	"$CC -shared -fPIC -nostdlib -Wl,-soname,libb.so.1 -o s/bin/libb.so.1 b.c s/bin/libn.so.1\n"
	"$CC -o s/bin/run m.c s/lib/libr.so.1.0 s/bin/libb.so.1 -Wl,-rpath,'$ORIGIN/../lib' -Wl,-rpath-link,s/bin\n";

Test(given, libraries_of_a_folder)
{
	struct trial t;
	start(&t, plan_text, build_program);
	make_libc(&t, "9.0-1");
	give(&t, "suite", "s");
	cr_assert_eq(open_given(&t), 0, "%s", t.err.text);
	cr_assert_eq(choose(&t), 0, "%s", t.err.text);
	/* What RUNPATH finds needs nothing; what only lies there gets a name where the loader looks. */
	const struct be_given_files *libraries = &t.givens.v[0].libraries;
	cr_assert_eq(libraries->n, 2);
	cr_expect_str_eq(libraries->v[0].path, "usr/lib/x86_64-linux-gnu/libn.so.1");
	cr_expect_str_eq(libraries->v[0].target, "/lkp/benchmarks/suite/bin/libn.so.1");
	cr_expect_str_eq(libraries->v[1].path, "usr/lib/x86_64-linux-gnu/libb.so.1");
	cr_expect_eq(t.selection.n, 1);
	cr_expect(be_strv_has(&t.selection.picks[0].paths, "usr/lib/x86_64-linux-gnu/libc.so.6"));
	cr_expect(be_strv_has(&t.selection.picks[0].paths, "usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"));
	cr_expect_eq(t.selection.absent.n, 0);
	cr_expect_eq(t.givens.notes.n, 0);
	stop(&t);
}

/* The program alone: its libraries come from where they are, to where the loader looks from the program's new place. */
Test(given, libraries_of_a_program)
{
	struct trial t;
	start(&t, own_text, build_program);
	make_libc(&t, "9.0-1");
	give(&t, "fio", "s/bin/run");
	cr_assert_eq(open_given(&t), 0, "%s", t.err.text);
	cr_assert_eq(choose(&t), 0, "%s", t.err.text);
	be_autofree char *text = member(&t, 0);
	cr_expect_str_eq(text, "drwxr-xr-x 0 usr\ndrwxr-xr-x 0 usr/bin\n-rwxr-xr-x 0 usr/bin/fio\n"
			       "drwxr-xr-x 0 usr/lib\n-rwxr-xr-x 0 usr/lib/libr.so.1\n"
			       "drwxr-xr-x 0 usr/lib/x86_64-linux-gnu\n"
			       "-rwxr-xr-x 0 usr/lib/x86_64-linux-gnu/libb.so.1\n"
			       "-rwxr-xr-x 0 usr/lib/x86_64-linux-gnu/libn.so.1\n");
	be_autonode struct be_node *lock = be_givens_lock(&t.givens);
	cr_assert_eq(lock->n, 4);
	cr_expect_str_eq(be_get_str(lock->items[1], "path", ""), "/usr/lib/libr.so.1");
	be_autostrv struct be_strv programs = { 0 };
	be_strv_split(&programs, "fio sh", " ");
	be_givens_leave_out(&t.givens, &programs);
	cr_expect_eq(programs.n, 1);
	cr_expect_str_eq(programs.v[0], "sh");
	stop(&t);
}

/* A library that a package has at the same place is not replaced under the feet of the package's programs. */
Test(given, a_packages_library_stays)
{
	struct trial t;
	start(&t, own_text, build_program);
	make_libc(&t, "9.0-1");
	bench_sh(&t.b,
		 "L=usr/lib/x86_64-linux-gnu; mkdir -p p/$L p/usr/bin; cp s/bin/libb.so.1 s/bin/libn.so.1 p/$L\n"
		 "cp s/bin/run p/usr/bin/other; mkdir -p p/usr/lib; cp s/lib/libr.so.1.0 p/usr/lib/libr.so.1\n",
		 NULL);
	bench_package(&t.b, "p", "libc6");
	give(&t, "fio", "s/bin/run");
	cr_assert_eq(open_given(&t), 0, "%s", t.err.text);
	t.request = (struct be_select_request){ 0 };
	for (size_t i = 0; i < t.b.packages.n; i++)
		t.debs[i] = (struct be_deb){ .package = &t.b.packages.v[i], .tree = BE_TREE_INIT };
	t.request = (struct be_select_request){
		.suite = &t.b.suite, .packages = &t.b.packages, .named = 2, .debs = t.debs
	};
	be_strv_add(&t.request.programs, "other");
	cr_assert_eq(be_givens_select(&t.givens, &t.request, &t.selection, &t.err), 0, "%s", t.err.text);
	cr_assert_eq(be_givens_settle(&t.givens, &t.request, &t.selection, &t.err), 0, "%s", t.err.text);
	cr_expect_eq(t.givens.v[0].libraries.n, 0);
	cr_expect(strstr(t.givens.notes.v[2], "libb.so.1 of fio: the package's was taken"), "%s", t.givens.notes.v[2]);
	/* The next build recalls the same. */
	struct be_selection again = { 0 };
	cr_expect(be_givens_recall(&t.givens, &t.request, &again));
	cr_expect_eq(again.n, t.selection.n);
	be_selection_free(&again);
	be_strv_free(&t.request.programs);
	stop(&t);
}

/* No package has the C library here: this machine's own is taken, and that is noted. */
Test(given, this_machines_library)
{
	struct trial t;
	start(&t, own_text, "mkdir -p p/etc; echo > p/etc/p; cp /bin/true x");
	bench_package(&t.b, "p", "");
	give(&t, "fio", "x");
	cr_assert_eq(open_given(&t), 0, "%s", t.err.text);
	cr_assert_eq(choose(&t), 0, "%s", t.err.text);
	cr_expect(be_given_find(&t.givens.v[0].libraries, "usr/lib/x86_64-linux-gnu/libc.so.6"));
	cr_expect(be_given_find(&t.givens.v[0].libraries, "usr/lib64/ld-linux-x86-64.so.2"));
	cr_expect_eq(t.givens.notes.n, 4);
	cr_expect(strstr(t.givens.notes.v[2], "the building machine's own was taken"), "%s", t.givens.notes.v[2]);
	stop(&t);
}

Test(given, a_library_that_is_nowhere)
{
	struct trial t;
	start(&t, own_text, build_program);
	make_libc(&t, "9.0-1");
	bench_sh(&t.b, "rm s/bin/libn.so.1", NULL);
	give(&t, "fio", "s/bin/run");
	cr_assert_eq(open_given(&t), 0, "%s", t.err.text);
	cr_expect_eq(choose(&t), -1);
	cr_expect(strstr(t.err.text, "library libn.so.1, needed by /usr/lib/x86_64-linux-gnu/libb.so.1 of fio"), "%s",
		  t.err.text);
	stop(&t);
}

/* A program of a newer release would only fail when it starts. */
Test(given, a_newer_c_library)
{
	struct trial t;
	start(&t, own_text, "cp /bin/true x");
	make_libc(&t, "2.2-1");
	give(&t, "fio", "x");
	cr_assert_eq(open_given(&t), 0, "%s", t.err.text);
	cr_expect_eq(choose(&t), -1);
	cr_expect_eq(t.err.status, BE_USAGE);
	cr_expect(strstr(t.err.text, "/usr/bin/fio of fio needs the C library 2."), "%s", t.err.text);
	cr_expect(strstr(t.err.text, "the image has 2.2-1"), "%s", t.err.text);
	stop(&t);
}

Test(given, different_libraries_for_one_place)
{
	static const char script[] =
		"CC=${CC:-cc}; for d in a b; do mkdir $d; echo \"int x(void) { return sizeof(\\\"$d$d$d\\\"); }\" > "
		"x.c\n"
		"[ $d = a ] || echo 'int y;' >> x.c\n"
		"$CC -shared -fPIC -nostdlib -Wl,-soname,libx.so -o $d/libx.so x.c\n"
		"echo 'int x(void); int main(void) { return x(); }' > m.c; $CC -o $d/m m.c $d/libx.so; done\n";
	struct trial t;
	start(&t, servers_text, script);
	make_libc(&t, "9.0-1");
	give(&t, "netserver", "b/m");
	give(&t, "netperf", "a/m");
	cr_assert_eq(open_given(&t), 0, "%s", t.err.text);
	cr_expect_str_eq(t.givens.v[0].name, "netperf");
	cr_expect_eq(choose(&t), -1);
	cr_expect(strstr(t.err.text, "netperf and netserver bring different ones"), "%s", t.err.text);
	stop(&t);
	start(&t, servers_text, script);
	make_libc(&t, "9.0-1");
	give(&t, "netserver", "a/m");
	give(&t, "netperf", "a/m");
	cr_assert_eq(open_given(&t), 0, "%s", t.err.text);
	cr_assert_eq(choose(&t), 0, "%s", t.err.text);
	cr_expect_eq(t.givens.v[0].libraries.n, 1);
	cr_expect_eq(t.givens.v[1].libraries.n, 0);
	stop(&t);
}
