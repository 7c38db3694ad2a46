/* Archives into the cache, each once, by `apt-get download`: apt verifies them by its index, we by the hash in the
 * lock.
 */
#include <sys/stat.h>

#include "base/file.h"
#include "builder/packages/apt.h"

/* "libattr1_1%3a2.5.1-4_amd64.deb" */
static char *archive_path(const char *dir, const struct be_package *package)
{
	be_autobuf struct be_buf path = { 0 };
	be_buf_addf(&path, "%s/%s_", dir, package->name);
	for (const char *p = package->version; *p; p++) {
		if (*p == ':')
			be_buf_adds(&path, "%3a");
		else
			be_buf_addc(&path, *p);
	}
	be_buf_addf(&path, "_%s.deb", package->architecture);
	return be_buf_steal(&path);
}

static int download(const struct be_suite *suite, struct be_package *const *packages, size_t n, const char *dir,
		    struct be_error *err)
{
	be_autofree char *config = be_strf("%s/apt.conf", suite->dir);
	be_autorun struct be_run run = { .cwd = dir };
	be_autostrv struct be_strv args = { 0 };
	be_strv_add(&args, "-qq");
	be_strv_add(&args, "download");
	for (size_t i = 0; i < n; i++)
		be_strv_addf(&args, "%s=%s", packages[i]->name, packages[i]->version);
	if (be_apt_run(&run, config, "apt-get", &args, err) == 0)
		return 0;
	be_wrap(err, "downloading packages of %s", suite->name);
	return be_disk_is_full(err) ? be_cache_hint(suite->cache, err)
				    : be_hint(err, "check the network and the machine's apt sources");
}

static int fetch(const struct be_suite *suite, struct be_package *const *packages, size_t n, const char *dir,
		 struct be_error *err)
{
	be_autofd int lock = be_suite_lock_shared(suite, err);
	if (lock < 0 || download(suite, packages, n, dir, err) != 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		be_autofree char *path = archive_path(dir, packages[i]);
		be_autoobject struct be_object object = { .path = NULL };
		if (be_cache_adopt(suite->cache, path, packages[i]->sha256, &object, err) != 0)
			return -1;
	}
	return 0;
}

/* Does the suite's index name this very archive? */
static bool names(const struct be_packages *known, const struct be_package *package)
{
	for (size_t i = 0; i < known->n; i++)
		if (be_streq(known->v[i].sha256, package->sha256) && be_streq(known->v[i].name, package->name))
			return true;
	return false;
}

int be_apt_fetch_known(struct be_suite *suite, struct be_package *const *packages, size_t n, struct be_error *err)
{
	be_autopackages struct be_packages known = { 0 };
	be_autofree struct be_package **there = be_alloc((n + 1) * sizeof(struct be_package *));
	be_autostrv struct be_strv list = { 0 };
	size_t m = 0;
	for (size_t i = 0; i < n; i++)
		be_strv_add(&list, packages[i]->name);
	if (be_apt_versions(suite, &list, &known, err) != 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (names(&known, packages[i]))
			there[m++] = packages[i];
	return be_apt_fetch(suite, there, m, err);
}

int be_apt_fetch(struct be_suite *suite, struct be_package *const *packages, size_t n, struct be_error *err)
{
	be_autofree struct be_package **missing = be_alloc((n + 1) * sizeof(struct be_package *));
	size_t m = 0;
	int64_t bytes = 0;
	for (size_t i = 0; i < n; i++) {
		be_autoobject struct be_object object = { .path = NULL };
		if (be_cache_object(suite->cache, packages[i]->sha256, &object))
			continue;
		missing[m++] = packages[i];
		bytes += packages[i]->size;
	}
	if (!m)
		return 0;
	be_progress_note(suite->progress, "downloading %zu archives, %lld MB", m, (long long)(bytes / 1000000));
	be_autofree char *dir = be_cache_tempdir(suite->cache, err);
	if (!dir)
		return -1;
	int rc = fetch(suite, missing, m, dir, err);
	if (rc != 0)
		suite->gone = true;
	struct be_error ignored = BE_ERROR_INIT;
	be_remove_tree(dir, &ignored);
	return rc;
}

int be_apt_fetch_one(struct be_suite *suite, const char *name, struct be_packages *packages, struct be_error *err)
{
	if (!packages->n && be_apt_show(suite, name, packages, err) != 0)
		return -1;
	struct be_package *package = &packages->v[0];
	return be_apt_fetch(suite, &package, 1, err);
}
