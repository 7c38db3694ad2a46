/* Building an image folder from a plan, and what is recorded of it. */
#ifndef BE_IMAGE_H
#define BE_IMAGE_H

#include "base/node.h"
#include "builder/paths.h"
#include "builder/image/shared.h"
#include "builder/rebuild/lock.h"

struct be_build_request {
	const struct be_node *plan;
	const struct be_node *recipe; /* manifest's `recipe:` (job and host text, set, resolved) */
	const struct be_paths *paths;
	const char *output;             /* image folder; replaced only when the new one is complete */
	const char *suite;              /* --suite, or NULL: the plan's, else the newest stable on offer */
	const char *kernel;             /* --kernel: "debian", a file or a folder */
	const char *modules;            /* --modules DIR for a bare kernel file, or NULL */
	const struct be_strv *programs; /* --program NAME=PATH, or NULL */
	struct be_shared *shared;       /* with other builds of this process, or NULL */
	struct be_lock *lock;           /* of the manifest that is built again, or NULL */
	const char *ucode;              /* --ucode FILE, or NULL */
	bool small;                     /* --small: best compression */
	bool uki;                       /* --uki: a unified kernel image too */
	bool quiet;
};
/* Builds; on failure nothing is left behind. Returns 0, or -1 with err (status BE_USAGE for bad requests). */
int be_image_build(const struct be_build_request *request, struct be_error *err) BE_MUST_CHECK;

#endif
