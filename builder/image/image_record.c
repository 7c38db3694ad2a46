/*
 * When nothing changed there is nothing to do: what an image was asked to be, and the identities (inode, size, mtime,
 * ctime) of the files that came of it, are kept in the cache by the image's path. `verify` reads the bytes.
 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "builder/image/image_parts.h"
#include "builder/image/ucode.h"
#include "builder/kernel/modules.h"

#define RULES "image-1" /* changes when the same question may get another answer */
#define KIND "image"

/* Kernels, programs and microcode that a path names may change at any time; a lock is compared with what comes out. */
static bool is_plain(const struct be_build_request *request)
{
	return !request->lock && !request->modules && (!request->programs || !request->programs->n) &&
	       (!request->ucode || be_ucode_is_package(request->ucode)) &&
	       (!request->kernel || be_streq(request->kernel, "debian"));
}

/* Names and identities of all files below @path. */
static bool add_files(struct be_hash *hash, const char *path)
{
	struct be_root root = { .prefix = (char *)path };
	be_autostrv struct be_strv names = { 0 };
	if (be_root_list(&root, "/", &names) != 0)
		return false;
	for (size_t i = 0; i < names.n; i++) {
		be_autofree char *inner = be_strf("%s/%s", path, names.v[i]);
		struct stat st;
		if (stat(inner, &st) != 0)
			return false;
		be_autofree char *identity = be_file_identity(&st);
		be_hash_adds(hash, names.v[i]);
		if (S_ISDIR(st.st_mode) && !add_files(hash, inner))
			return false;
		if (!S_ISDIR(st.st_mode))
			be_hash_adds(hash, identity);
	}
	be_hash_adds(hash, NULL);
	return true;
}

static bool add_program(struct be_hash *hash)
{
	struct stat st;
	if (stat("/proc/self/exe", &st) != 0)
		return false;
	be_autofree char *identity = be_file_identity(&st);
	be_hash_adds(hash, identity);
	return true;
}

/* Everything that decides the image's bytes. False: that cannot be said by identities. */
static bool make_question(const struct be_build *build, char question[BE_HASH_TEXT])
{
	const struct be_build_request *request = build->request;
	be_autohash struct be_hash hash = { 0 };
	be_autobuf struct be_buf recipe = { 0 };
	be_autofree char *depmod = be_depmod_version(&build->cache);
	struct be_error ignored = BE_ERROR_INIT;
	if (!is_plain(request) || be_node_yaml(request->recipe, &recipe, &ignored) != 0)
		return false;
	be_hash_start(&hash);
	be_hash_adds(&hash, RULES);
	be_hash_adds(&hash, build->plan.data);
	be_hash_adds(&hash, recipe.data);
	be_hash_adds(&hash, build->suite.name);
	be_hash_adds(&hash, build->suite.lists);
	be_hash_adds(&hash, request->small ? "small" : "fast");
	be_hash_adds(&hash, request->ucode);
	be_hash_adds(&hash, request->uki ? "uki" : "no uki");
	be_hash_adds(&hash, depmod);
	if (!add_program(&hash) || !add_files(&hash, request->paths->guest))
		return false;
	be_hash_end(&hash, question);
	return true;
}

static bool make_key(const struct be_build *build, char key[BE_HASH_TEXT])
{
	be_autohash struct be_hash hash = { 0 };
	be_autofree char *real = realpath(build->request->output, NULL);
	if (!real)
		return false;
	be_hash_start(&hash);
	be_hash_adds(&hash, real);
	be_hash_end(&hash, key);
	return true;
}

static bool make_answer(const struct be_build *build, char answer[BE_HASH_TEXT])
{
	be_autohash struct be_hash hash = { 0 };
	be_hash_start(&hash);
	if (!add_files(&hash, build->request->output))
		return false;
	be_hash_end(&hash, answer);
	return true;
}

bool be_image_is_current(const struct be_build *build)
{
	char key[BE_HASH_TEXT], question[BE_HASH_TEXT], answer[BE_HASH_TEXT];
	be_autobuf struct be_buf kept = { 0 };
	if (!is_plain(build->request) || !make_key(build, key) || !be_cache_get_text(&build->cache, KIND, key, &kept) ||
	    !make_question(build, question) || !make_answer(build, answer))
		return false;
	be_autofree char *text = be_strf("%s %s\n", question, answer);
	return be_streq(kept.data, text);
}

void be_image_record(const struct be_build *build)
{
	char key[BE_HASH_TEXT], question[BE_HASH_TEXT], answer[BE_HASH_TEXT];
	struct be_error ignored = BE_ERROR_INIT;
	if (!make_key(build, key) || !make_question(build, question) || !make_answer(build, answer))
		return;
	be_autofree char *text = be_strf("%s %s\n", question, answer);
	int rc = be_cache_set_text(&build->cache, KIND, key, text, strlen(text), &ignored);
	(void)rc;
}
