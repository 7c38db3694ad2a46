/*
 * Debian packages by way of the machine's own mirror, resolved and fetched by apt on private state: no privilege, no
 * installation, nothing of the machine's package state is read but where its mirror is.
 *
 * A suite is used with its security archive, where it has one: what a machine of that release would run with; of both
 * the component main, and non-free-firmware where there is such. The -updates and backports archives are left out, so
 * that a suite's name says which packages there can be.
 *
 * Package lists are fetched when the cache has none, when the machine's own lists are newer (somebody ran apt-get
 * update), and when the mirror no longer has an archive that they name.
 */
#ifndef BE_APT_H
#define BE_APT_H

#include "builder/image/cache.h"
#include "builder/progress.h"

struct be_suite {
	char *name;               /* code name: trixie */
	char *dir;                /* its folder in the cache: lists, apt's configuration */
	char lists[BE_HASH_TEXT]; /* hash of the signed Release files: what the lists said */
	bool fresh;               /* the lists were fetched by this process */
	_Atomic bool gone; /* a download failed: the lists may name what the mirror no longer has; set by any thread */
	const struct be_cache *cache;
	struct be_progress *progress;
};
/* @wish NULL: the newest stable release that the mirror offers and the keyring knows. */
int be_suite_open(struct be_suite *suite, const struct be_cache *cache, struct be_progress *progress, const char *wish,
		  struct be_error *err) BE_MUST_CHECK;
/* Can @name be one of a release? It becomes part of a path. */
bool be_suite_name_is_sane(const char *name);
/* A release by its name alone, without lists: for packages that are known already. */
void be_suite_locked(struct be_suite *suite, const struct be_cache *cache, struct be_progress *progress,
		     const char *name);
/*
 * The suite @name of the archive at @url: a mirror or a snapshot of one. Its signature is not asked for, so that its
 * packages are good only for those whose hash is known from elsewhere.
 */
int be_suite_mirror(struct be_suite *suite, const struct be_cache *cache, struct be_progress *progress, const char *url,
		    const char *name, struct be_error *err) BE_MUST_CHECK;
/* Fetches the lists again. */
int be_suite_refresh(struct be_suite *suite, struct be_error *err) BE_MUST_CHECK;
void be_suite_close(struct be_suite *suite);

struct be_package {
	char *name, *version, *architecture;
	char *sha256;
	int64_t size;            /* of the .deb */
	struct be_strv depends;  /* names in Pre-Depends and Depends, alternatives one after the other */
	struct be_strv provides; /* names */
};
struct be_packages {
	struct be_package *v;
	size_t n;
};
void be_packages_free(struct be_packages *packages);
#define be_autopackages be_cleanup(be_packages_free)

/*
 * What apt would install for @names on an empty system, without recommended packages: @names first, in their order,
 * then what they depend on, by name. Kept in the cache: a second call with the same lists runs nothing.
 */
int be_apt_resolve(const struct be_suite *suite, const struct be_strv *names, struct be_packages *packages,
		   struct be_error *err) BE_MUST_CHECK;
/* Adds the package @name alone, without what it depends on. */
int be_apt_show(const struct be_suite *suite, const char *name, struct be_packages *packages,
		struct be_error *err) BE_MUST_CHECK;
/* Makes sure that the cache holds the archives of these packages, verified by their hash. */
int be_apt_fetch(struct be_suite *suite, struct be_package *const *packages, size_t n,
		 struct be_error *err) BE_MUST_CHECK;

/* The same of the package @name alone, the one in @packages; where none is in there the suite's is added. */
int be_apt_fetch_one(struct be_suite *suite, const char *name, struct be_packages *packages,
		     struct be_error *err) BE_MUST_CHECK;

/* Of these packages fetches those that the suite has with that very hash; which these were the cache tells. */
int be_apt_fetch_known(struct be_suite *suite, struct be_package *const *packages, size_t n,
		       struct be_error *err) BE_MUST_CHECK;

/* For apt*.c: runs an apt program in the C locale with the configuration file @config (NULL: the machine's own). */
int be_apt_run(struct be_run *run, const char *config, const char *program, const struct be_strv *args,
	       struct be_error *err) BE_MUST_CHECK;
/* For apt*.c: the suite's lock, held until the descriptor is closed; -1 on failure. The shared one is for reading the
 * lists: several apt programs may do that at once, but not while the lists are replaced. */
int be_suite_lock(const struct be_suite *suite, struct be_error *err) BE_MUST_CHECK;
int be_suite_lock_shared(const struct be_suite *suite, struct be_error *err) BE_MUST_CHECK;

/* For apt*.c: all versions of these packages that the suite has, not kept; unknown names are left out. */
int be_apt_versions(const struct be_suite *suite, const struct be_strv *names, struct be_packages *packages,
		    struct be_error *err) BE_MUST_CHECK;
/* For apt*.c: adds what a stanza without version and hash, such as an archive's own, says of dependencies. */
void be_package_parse_depends(const char *text, struct be_package *package);
/* For apt*.c and tests: the stanzas that `apt-cache show` prints, added to @packages. */
int be_packages_parse(const char *text, struct be_packages *packages, struct be_error *err) BE_MUST_CHECK;

#endif
