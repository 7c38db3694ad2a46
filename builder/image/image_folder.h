/* An image folder as it was built, read back and checked. */
#ifndef BE_IMAGE_FOLDER_H
#define BE_IMAGE_FOLDER_H

#include <stdbool.h>

#include "base/node.h"
#include "builder/image/hash.h"

struct be_image_folder {
	char *kernel, *initrd; /* paths */
	char *cmdline;         /* one line */
	struct be_node *plan, *manifest;
	char plan_sha256[BE_HASH_TEXT]; /* of plan.yaml: a guest's statements name it */
};
void be_image_folder_free(struct be_image_folder *image);

/* Reads the folder @dir. Kernel and initrd must have the hashes that the manifest states. */
int be_image_folder_load(const char *dir, struct be_image_folder *out, struct be_error *err) BE_MUST_CHECK;

/* Is @path a manifest, or a folder with one? */
bool be_is_manifest(const char *path);
/* A manifest document, from a manifest file, an image folder or a result folder. */
struct be_node *be_manifest_load(const char *path, struct be_error *err);

#endif
