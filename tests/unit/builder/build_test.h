/* For tests of the builder: a folder with a cache that goes away, small packages made by dpkg-deb, a suite whose
 * archives are all in the cache, so that apt is never asked. */
#ifndef BE_BUILD_TEST_H
#define BE_BUILD_TEST_H

#include <criterion/criterion.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/process.h"
#include "builder/packages/deb.h"

struct bench {
	char dir[32];
	struct be_cache cache;
	struct be_progress progress;
	struct be_suite suite;
	struct be_packages packages;
};

static inline void bench_open(struct bench *b)
{
	struct be_error err = BE_ERROR_INIT;
	*b = (struct bench){ .dir = "/tmp/be-build-XXXXXX" };
	cr_assert_not_null(mkdtemp(b->dir));
	be_autofree char *cache = be_strf("%s/cache", b->dir);
	cr_assert_eq(be_cache_open(&b->cache, cache, &err), 0, "%s", err.text);
	be_progress_start(&b->progress, true);
	b->suite = (struct be_suite){ .name = be_strdup("test"),
				      .dir = be_strf("%s/suites/test", cache),
				      .cache = &b->cache,
				      .progress = &b->progress };
}

static inline void bench_close(struct bench *b)
{
	struct be_error err = BE_ERROR_INIT;
	be_packages_free(&b->packages);
	be_suite_close(&b->suite);
	be_cache_close(&b->cache);
	cr_expect_eq(be_remove_tree(b->dir, &err), 0, "%s", err.text);
}

/* Runs a shell script in the folder of the test; @args become $1, $2 ... */
static inline void bench_sh(const struct bench *b, const char *script, const char *const *args)
{
	struct be_error err = BE_ERROR_INIT;
	be_autostrv struct be_strv argv = { 0 };
	be_strv_add(&argv, "sh");
	be_strv_add(&argv, "-euc");
	be_strv_add(&argv, script);
	be_strv_add(&argv, "sh");
	for (size_t i = 0; args && args[i]; i++)
		be_strv_add(&argv, args[i]);
	be_autorun struct be_run run = { .argv = argv.v, .cwd = b->dir };
	cr_assert_eq(be_run_ok(&run, &err), 0, "%s", err.text);
}

/* A package of the folder DIR/NAME (made by the test), its archive in the cache. */
static inline void bench_package(struct bench *b, const char *name, const char *depends)
{
	struct be_error err = BE_ERROR_INIT;
	struct be_object object = { .path = NULL };
	const char *const args[] = { name, depends, NULL };
	bench_sh(b,
		 "mkdir -p $1/DEBIAN\n"
		 "printf 'Package: %s\\nVersion: 1\\nArchitecture: amd64\\nMaintainer: T <t@example.org>\\n' $1 > "
		 "$1/DEBIAN/control\n"
		 "[ -z \"$2\" ] || printf 'Depends: %s\\n' \"$2\" >> $1/DEBIAN/control\n"
		 "printf 'Description: test\\n' >> $1/DEBIAN/control\n"
		 "dpkg-deb --root-owner-group -Zxz --build $1 $1.deb >/dev/null\n",
		 args);
	be_autofree char *path = be_strf("%s/%s.deb", b->dir, name);
	struct be_package package = { .name = be_strdup(name),
				      .version = be_strdup("1"),
				      .architecture = be_strdup("amd64") };
	char sha256[BE_HASH_TEXT];
	cr_assert_eq(be_hash_file(path, sha256, &package.size, &err), 0, "%s", err.text);
	package.sha256 = be_strdup(sha256);
	be_strv_split(&package.depends, depends, ", ");
	cr_assert_eq(be_cache_adopt(&b->cache, path, sha256, &object, &err), 0, "%s", err.text);
	be_object_free(&object);
	b->packages.v = be_realloc(b->packages.v, b->packages.n + 1, sizeof(package));
	b->packages.v[b->packages.n++] = package;
}

/* What an archive of one of the formats lists, by the machine's own cpio. */
static inline char *bench_output(const struct bench *b, const char *script, const char *arg)
{
	struct be_error err = BE_ERROR_INIT;
	const char *argv[] = { "sh", "-euc", script, "sh", arg, NULL };
	be_autorun struct be_run run = { .argv = (char *const *)argv, .cwd = b->dir };
	cr_assert_eq(be_run_ok(&run, &err), 0, "%s", err.text);
	return be_strdup(run.out.data);
}

#endif
