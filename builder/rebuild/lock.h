/*
 * The lock of a manifest as the input of a build: which packages, kernel and programs an image was made of, by their
 * hashes, and where they are looked for now. What cannot be had is named, all of it at once; with allow_drift the
 * nearest is taken and each difference is a deviation of the new image.
 */
#ifndef BE_LOCK_H
#define BE_LOCK_H

#include "base/node.h"
#include "builder/packages/apt.h"

struct be_lock {
	const struct be_node *manifest;
	struct be_strv folders; /* of packages: --packages, and those of a bundle */
	struct be_strv mirrors; /* URLs in the place of the machine's own mirror */
	const char *command;    /* for messages */
	bool allow_drift;
	struct be_strv drifts; /* out: texts of deviations */
	struct be_strv absent; /* out: lines "WHAT: where it is not; what would help" */
};
void be_lock_free(struct be_lock *lock);

/* Reads `lock.packages`; those that are named in @names are the first, their number is *@named. */
int be_lock_packages(const struct be_lock *lock, const struct be_strv *names, struct be_packages *packages,
		     size_t *named, struct be_error *err) BE_MUST_CHECK;
/* Debian's kernel: its package and the parts; none for a kernel of another source. */
int be_lock_kernel(const struct be_lock *lock, struct be_packages *packages, struct be_error *err) BE_MUST_CHECK;
/* The one package that `lock.KEY` states: "stub" of a unified image, "ucode" of microcode. None is there where the
 * image has no such part, or has it from a file. */
int be_lock_package(const struct be_lock *lock, const char *key, struct be_packages *packages,
		    struct be_error *err) BE_MUST_CHECK;
const char *be_lock_suite(const struct be_lock *lock);
/* `lock.KEY` as a text, or NULL: be_lock_text(lock, "kernel.source"). */
const char *be_lock_text(const struct be_lock *lock, const char *key);

/*
 * Puts into the cache what is there of these packages: in the cache, in the folders, on the mirrors (else on the
 * machine's own). Returns 0 also where some are missing; each of those has a line in `absent` with what would help.
 */
int be_lock_fetch(struct be_lock *lock, const struct be_suite *suite, struct be_package *const *packages, size_t n,
		  struct be_error *err) BE_MUST_CHECK;
/* The kernel package of that hash, from the cache or the folders. */
bool be_lock_archive(const struct be_lock *lock, const struct be_cache *cache, const char *sha256,
		     struct be_object *object);

/* Adds the deviations of @topic that the manifest's image has. */
void be_lock_notes(const struct be_lock *lock, const char *topic, struct be_strv *notes);
/* The guest programs @list ({path, size, sha256}) are not the lock's: names those that differ. */
void be_lock_guest(struct be_lock *lock, const struct be_node *list);
/* Another input than the manifest states: a drift where that is allowed, else a line of `absent`. */
void be_lock_differs(struct be_lock *lock, const char *help, const char *fmt, ...) BE_PRINTF(3, 4);
/* -1 where anything is absent and no drift is allowed: prints all lines but the last, which is the error. */
int be_lock_check(struct be_lock *lock, struct be_error *err) BE_MUST_CHECK;

#endif
