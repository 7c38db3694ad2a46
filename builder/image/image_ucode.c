/* Microcode of an image: from a package, as the suite or a lock has it, from a file, or the member that a lock states.
 */
#include <stdio.h>

#include "builder/image/image_parts.h"
#include "builder/image/ucode.h"
#include "builder/rebuild/lock_inputs.h"

/* A package as --ucode names it, else the one of the lock; NULL: there is none. */
static int find_package(const struct be_build *build, const char **name, struct be_error *err)
{
	const struct be_build_request *request = build->request;
	const char *locked = request->lock ? be_lock_text(request->lock, "ucode.name") : NULL;
	*name = request->ucode ? request->ucode : locked;
	if (!request->lock || be_streq(*name, locked))
		return 0;
	be_fail_usage(err, "--ucode %s: the microcode of the manifest's image is not from this package", *name);
	return be_hint(err, "leave the option out, or give a file");
}

static int of_package(struct be_build *build, struct be_segment *segment, const char *name, struct be_error *err)
{
	struct be_packages *packages = &build->ucode.packages;
	be_autoobject struct be_object object = { .path = NULL };
	if (be_apt_fetch_one(&build->suite, name, packages, err) != 0)
		return be_hint(err, "Debian 12 and later have it in non-free-firmware; or give a file by --ucode FILE");
	if (!be_cache_object(&build->cache, packages->v[0].sha256, &object))
		return be_fail(err, "package %s: is not in the cache any more", name);
	if (be_segment_ucode(segment, &build->cache, object.path, err) != 0)
		return be_wrap(err, "package %s %s", name, packages->v[0].version);
	return 0;
}

static int of_file(struct be_build *build, struct be_segment *segment, struct be_error *err)
{
	const char *file = build->request->ucode;
	if (be_segment_ucode(segment, &build->cache, file, err) != 0)
		return -1;
	return be_hash_file(file, build->ucode.sha256, NULL, err);
}

/* The file of a lock is known by its hash alone; its member may be in the cache. */
static void of_lock(struct be_build *build, struct be_segment *segment)
{
	struct be_lock *lock = build->request->lock;
	const char *file = be_lock_text(lock, "ucode"), *member = be_lock_segment(lock, BE_UCODE_MEMBER);
	if (!file && !member)
		return;
	if (!be_hash_is_text(file) || !member || !be_segment_recall(segment, &build->cache, BE_UCODE_MEMBER, member))
		be_lock_differs(lock, "--ucode FILE gives it", "member " BE_UCODE_MEMBER " is not in the cache");
	else
		snprintf(build->ucode.sha256, sizeof(build->ucode.sha256), "%s", file);
}

int be_image_early(struct be_build *build, struct be_segment *segment, struct be_error *err)
{
	const struct be_build_request *request = build->request;
	const char *package = NULL;
	if (request->ucode && !be_ucode_is_package(request->ucode)) {
		if (of_file(build, segment, err) != 0)
			return -1;
	} else if (find_package(build, &package, err) != 0) {
		return -1;
	} else if (package) {
		if (of_package(build, segment, package, err) != 0)
			return -1;
	} else if (request->lock) {
		of_lock(build, segment);
	}
	if (segment->name && be_kernel_config(&build->kernel, "MICROCODE") == BE_CONFIG_NO)
		be_strv_addf(&build->limits, "kernel %s loads no microcode: CONFIG_MICROCODE is not set",
			     build->kernel.release);
	return 0;
}
