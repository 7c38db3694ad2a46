#include "builder/rebuild/rebuild.h"

#include <string.h>

#include "base/file.h"
#include "builder/image/image_folder.h"
#include "builder/rebuild/bundle.h"
#include "builder/recipe.h"

bool be_rebuild_is_source(const char *path)
{
	return be_is_manifest(path) || be_is_bundle(path);
}

int be_rebuild_open(struct be_rebuild *rebuild, const char *path, const char *cache, struct be_error *err)
{
	if (!be_is_bundle(path))
		rebuild->manifest = be_manifest_load(path, err);
	else if (be_cache_open(&rebuild->cache, cache, err) == 0)
		rebuild->manifest = be_bundle_read(path, &rebuild->cache, &rebuild->programs, &rebuild->folder, err);
	rebuild->lock.manifest = rebuild->manifest;
	return rebuild->manifest ? 0 : -1;
}

void be_rebuild_close(struct be_rebuild *rebuild)
{
	struct be_error ignored = BE_ERROR_INIT;
	if (rebuild->folder)
		be_remove_tree(rebuild->folder, &ignored);
	free(rebuild->folder);
	be_cache_close(&rebuild->cache);
	be_strv_free(&rebuild->programs);
	be_lock_free(&rebuild->lock);
	be_node_free(rebuild->manifest);
	*rebuild = (struct be_rebuild){ 0 };
}

static int build(struct be_rebuild *rebuild, const struct be_recipe_request *request,
		 const struct be_build_request *how, struct be_error *err)
{
	be_autorecipe struct be_recipe recipe = { 0 };
	be_autonode struct be_node *source = NULL;
	if (be_recipe_load(request, false, &recipe, err) != 0)
		return -1;
	be_autonode struct be_node *plan = be_recipe_plan(&recipe, request, recipe.first, &source, err);
	if (!plan)
		return -1;
	struct be_build_request image = *how;
	image.lock = &rebuild->lock;
	image.plan = plan;
	image.uki = how->uki || be_get_path(rebuild->manifest, "image.uki");
	image.programs = &rebuild->programs;
	image.recipe = source;
	image.paths = &recipe.paths;
	return be_image_build(&image, err);
}

int be_rebuild_run(struct be_rebuild *rebuild, const struct be_build_request *how, struct be_error *err)
{
	struct be_recipe_request request = { .job = "manifest" };
	int rc = be_recipe_of_manifest(&request, rebuild->manifest, err);
	if (rc == 0)
		rc = build(rebuild, &request, how, err);
	be_strv_free(&request.set);
	return rc;
}
