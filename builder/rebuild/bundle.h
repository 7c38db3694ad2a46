/*
 * A bundle: everything that an image is made of in one tar file, for a place without a network. manifest.yaml comes
 * first; packages/ holds the archives, objects/ by their hashes what else the cache needs (the image's members, of
 * which the guest's cannot be made of packages, and of a kernel that is in no package the image and its configuration),
 * given/ the programs of --program.
 */
#ifndef BE_BUNDLE_H
#define BE_BUNDLE_H

#include "builder/rebuild/lock.h"

bool be_is_bundle(const char *path);
/*
 * Puts what the bundle holds into the cache, each under the hash that it has, and returns its manifest. What
 * was given lies in the folder *@folder (NULL: nothing was), which the caller removes, and is added to @programs.
 */
struct be_node *be_bundle_read(const char *path, const struct be_cache *cache, struct be_strv *programs, char **folder,
			       struct be_error *err);

struct be_pack {
	const char *source;             /* manifest, image or result */
	const char *output;             /* the bundle */
	const char *cache;              /* folder of the cache */
	const struct be_strv *programs; /* --program */
	struct be_lock *lock;
	bool quiet;
};
/* Writes a bundle; what cannot be had is named as by a build. */
int be_bundle_write(const struct be_pack *pack, struct be_error *err) BE_MUST_CHECK;

#endif
