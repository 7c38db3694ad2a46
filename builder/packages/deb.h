/* A Debian package's files: read once by libarchive, the index kept in the cache. */
#ifndef BE_DEB_H
#define BE_DEB_H

#include "builder/packages/apt.h"
#include "builder/packages/tree.h"

struct be_deb {
	struct be_package *package;
	struct be_tree tree;
	bool indexed;  /* the tree's entries are there */
	bool unpacked; /* and their content */
};
void be_deb_free(struct be_deb *deb);

/* The files of the package at @path, with content; @keep as in be_tree_add_archive. */
int be_deb_read(struct be_tree *tree, const char *path, const struct be_cache *cache, bool (*keep)(const char *path),
		struct be_error *err) BE_MUST_CHECK;

/* Both want the archive in the cache (be_apt_fetch) unless the index is there already. */
int be_deb_index(struct be_deb *deb, const struct be_cache *cache, struct be_error *err) BE_MUST_CHECK;
int be_deb_unpack(struct be_deb *deb, const struct be_cache *cache, struct be_error *err) BE_MUST_CHECK;
/* Adds what the archive itself, which the cache must hold, says that the package depends on and provides. */
int be_deb_depends(struct be_package *package, const struct be_cache *cache, struct be_error *err) BE_MUST_CHECK;
/* Is the index in the cache, so that the archive is not needed for it? Loads it if so. */
bool be_deb_index_cached(struct be_deb *deb, const struct be_cache *cache);

#endif
