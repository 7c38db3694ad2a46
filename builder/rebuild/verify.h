/* An image against its manifest: the bytes as they are, and as the kernel would unpack them. */
#ifndef BE_VERIFY_H
#define BE_VERIFY_H

#include "base/node.h"

struct be_verified {
	struct be_strv problems; /* one line each */
	size_t members, entries;
	int64_t unpacked;
};
void be_verified_free(struct be_verified *verified);

/* Is there an image, not only a manifest, in this folder? */
bool be_verify_is_image(const char *path);
/* The manifest alone: do its figures agree with each other? */
void be_verify_manifest(const struct be_node *manifest, struct be_verified *verified);
/* The files of the folder @dir. -1 only for what cannot be read; what is wrong is in the problems. */
int be_verify_image(const char *dir, const struct be_node *manifest, struct be_verified *verified,
		    struct be_error *err) BE_MUST_CHECK;
/* How the image @built differs from the manifest, down to the file where @dir (may be NULL) is the image itself. */
int be_verify_rebuilt(const char *dir, const struct be_node *manifest, const char *built, struct be_verified *verified,
		      struct be_error *err) BE_MUST_CHECK;

#endif
