/* Where the packages of a lock are looked for: nearest first, each place only for what the ones before did not have. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "builder/packages/deb.h"
#include "builder/rebuild/lock.h"

#define BLOCK (128u << 10)

/* Packages that are still looked for. */
struct search {
	struct be_package **v;
	size_t n;
};

static void drop_found(struct search *search, const struct be_cache *cache)
{
	size_t n = 0;
	for (size_t i = 0; i < search->n; i++) {
		be_autoobject struct be_object object = { .path = NULL };
		if (!be_cache_object(cache, search->v[i]->sha256, &object))
			search->v[n++] = search->v[i];
	}
	search->n = n;
}

/* Copies the file into the cache: it is not ours to move. */
static int take_file(const struct be_cache *cache, const char *path, struct be_error *err)
{
	be_autofree char *block = be_alloc(BLOCK);
	be_autocachefile struct be_cache_file file = BE_CACHE_FILE_INIT;
	be_autoobject struct be_object object = { .path = NULL };
	be_autofd int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return be_fail_errno(err, errno, "%s: cannot be opened", path);
	if (be_cache_file_open(&file, cache, err) != 0)
		return -1;
	for (ssize_t n; (n = read(fd, block, BLOCK)) != 0;) {
		if (n < 0 && errno != EINTR)
			return be_fail_errno(err, errno, "%s: cannot be read", path);
		if (n > 0 && (be_interrupted(err) != 0 || be_cache_file_write(&file, block, (size_t)n, err) != 0))
			return -1;
	}
	return be_cache_file_keep(&file, &object, err);
}

static bool has_size(const struct search *search, int64_t size)
{
	for (size_t i = 0; i < search->n; i++)
		if (!search->v[i]->size || search->v[i]->size == size)
			return true;
	return false;
}

static bool has_hash(const struct search *search, const char *sha256)
{
	for (size_t i = 0; i < search->n; i++)
		if (be_streq(search->v[i]->sha256, sha256))
			return true;
	return false;
}

/* Names do not matter; of files of another size nothing is read. */
static int search_folder(const struct search *search, const char *folder, const struct be_cache *cache,
			 struct be_error *err)
{
	struct be_root root = { .prefix = (char *)folder };
	be_autostrv struct be_strv names = { 0 };
	char sha256[BE_HASH_TEXT];
	if (be_root_list(&root, "/", &names) != 0) {
		be_fail_errno(err, errno, "%s", folder);
		err->status = BE_USAGE;
		return be_hint(err, "--packages takes a folder with .deb files");
	}
	for (size_t i = 0; i < names.n; i++) {
		be_autofree char *path = be_strf("%s/%s", folder, names.v[i]);
		struct stat st;
		if (!be_ends(names.v[i], ".deb") || stat(path, &st) != 0 || !S_ISREG(st.st_mode) ||
		    !has_size(search, st.st_size))
			continue;
		if (be_interrupted(err) != 0 || be_hash_file(path, sha256, NULL, err) != 0)
			return -1;
		if (has_hash(search, sha256) && take_file(cache, path, err) != 0)
			return -1;
	}
	return 0;
}

bool be_lock_archive(const struct be_lock *lock, const struct be_cache *cache, const char *sha256,
		     struct be_object *object)
{
	struct be_package package = { .sha256 = (char *)sha256 }, *one = &package;
	struct search search = { .v = &one, .n = 1 };
	struct be_error ignored = BE_ERROR_INIT;
	for (size_t i = 0; i < lock->folders.n && !be_cache_object(cache, sha256, object); i++)
		if (search_folder(&search, lock->folders.v[i], cache, &ignored) != 0)
			break;
	return be_cache_object(cache, sha256, object);
}

/* What a place that could not be asked says is part of the help, and no reason to stop. */
static int search_suite(struct be_suite *suite, int opened, struct search *search, struct be_strv *said,
			struct be_error *err)
{
	struct be_error failed = *err;
	*err = (struct be_error)BE_ERROR_INIT;
	if (be_interrupted(err) != 0)
		return -1;
	if (opened == 0 && be_apt_fetch_known(suite, search->v, search->n, &failed) == 0) {
		drop_found(search, suite->cache);
		return 0;
	}
	if (failed.status == BE_USAGE || be_disk_is_full(&failed)) {
		*err = failed;
		return -1;
	}
	be_strv_add(said, failed.text);
	return be_interrupted(err);
}

static int search_mirrors(struct be_lock *lock, const struct be_suite *locked, struct search *search,
			  struct be_strv *said, struct be_error *err)
{
	be_autofree char *security = be_strf("%s-security", locked->name);
	const char *const suites[] = { locked->name, security };
	size_t places = lock->mirrors.n ? lock->mirrors.n * BE_ARRAY_LEN(suites) : 1;
	for (size_t i = 0; i < places && search->n; i++) {
		struct be_suite suite = { 0 };
		int opened = lock->mirrors.n
				     ? be_suite_mirror(&suite, locked->cache, locked->progress,
						       lock->mirrors.v[i / BE_ARRAY_LEN(suites)],
						       suites[i % BE_ARRAY_LEN(suites)], err)
				     : be_suite_open(&suite, locked->cache, locked->progress, locked->name, err);
		int rc = search_suite(&suite, opened, search, said, err);
		be_suite_close(&suite);
		if (rc != 0)
			return -1;
	}
	return 0;
}

static char *places_text(const struct be_lock *lock)
{
	be_autobuf struct be_buf text = { 0 };
	be_buf_adds(&text, "not in the cache");
	for (size_t i = 0; i < lock->folders.n; i++)
		be_buf_addf(&text, ", not in %s", lock->folders.v[i]);
	if (lock->mirrors.n)
		for (size_t i = 0; i < lock->mirrors.n; i++)
			be_buf_addf(&text, ", not on %s", lock->mirrors.v[i]);
	else
		be_buf_adds(&text, ", not on the machine's mirror (any more)");
	return be_buf_steal(&text);
}

static void name_absent(struct be_lock *lock, const struct search *search)
{
	be_autofree char *places = places_text(lock);
	for (size_t i = 0; i < search->n; i++)
		be_strv_addf(&lock->absent,
			     "package %s %s (SHA-256 %.12s) %s: give the folder with it by --packages DIR, or a "
			     "snapshot mirror by --mirror URL",
			     search->v[i]->name, search->v[i]->version, search->v[i]->sha256, places);
}

int be_lock_fetch(struct be_lock *lock, const struct be_suite *suite, struct be_package *const *packages, size_t n,
		  struct be_error *err)
{
	be_autofree struct be_package **wanted = be_alloc((n + 1) * sizeof(struct be_package *));
	be_autostrv struct be_strv said = { 0 };
	struct search search = { .v = wanted, .n = n };
	for (size_t i = 0; i < n; i++)
		wanted[i] = packages[i];
	drop_found(&search, suite->cache);
	for (size_t i = 0; i < lock->folders.n && search.n; i++) {
		if (search_folder(&search, lock->folders.v[i], suite->cache, err) != 0)
			return -1;
		drop_found(&search, suite->cache);
	}
	if (search.n && search_mirrors(lock, suite, &search, &said, err) != 0)
		return -1;
	name_absent(lock, &search);
	if (search.n)
		be_strv_add_all(&lock->absent, &said);
	return 0;
}
