/* Building again what a manifest describes: from the manifest, a folder with one, or a bundle. */
#ifndef BE_REBUILD_H
#define BE_REBUILD_H

#include "builder/image/image.h"
#include "builder/rebuild/lock.h"

struct be_rebuild {
	struct be_node *manifest;
	struct be_lock lock;
	struct be_strv programs; /* NAME=PATH: --program, and what a bundle brought */
	char *folder;            /* of a bundle's programs; removed by be_rebuild_close */
	struct be_cache cache;   /* open as long as that folder is there */
};
/* Is @path something that be_rebuild_open takes? */
bool be_rebuild_is_source(const char *path);
/* Reads the manifest; of a bundle everything else goes into the cache at @cache. */
int be_rebuild_open(struct be_rebuild *rebuild, const char *path, const char *cache,
		    struct be_error *err) BE_MUST_CHECK;
void be_rebuild_close(struct be_rebuild *rebuild);
#define be_autorebuild be_cleanup(be_rebuild_close)

/* Builds the image; of @how output, kernel, modules and quiet count. */
int be_rebuild_run(struct be_rebuild *rebuild, const struct be_build_request *how, struct be_error *err) BE_MUST_CHECK;

#endif
