/* `verify`: an image against its manifest. */
#include <getopt.h>
#include <stdio.h>

#include "base/file.h"
#include "builder/commands.h"
#include "builder/image/cache.h"
#include "builder/image/image_folder.h"
#include "builder/paths.h"
#include "builder/rebuild/rebuild.h"
#include "builder/rebuild/verify.h"
#include "builder/usage.h"

static const char usage[] = "Usage: mkbenchenv verify IMAGE|MANIFEST|RESULT [--rebuild] [OPTION]...\n"
			    "\n"
			    "Recomputes the hashes of an image, reads its initrd as the kernel would and compares\n"
			    "both with the manifest. Status 3 when anything is not as the manifest says.\n"
			    "\n"
			    "  --rebuild           builds it again and says which file of which member differs\n"
			    "  --kernel KERNEL     for --rebuild, as for a build\n"
			    "  --modules DIR\n"
			    "  --program NAME=PATH\n"
			    "  --packages DIR\n"
			    "  --mirror URL\n"
			    "  --ucode FILE\n"
			    "  -q, --quiet         only what differs\n";

struct verify_options {
	struct be_rebuild rebuild;
	struct be_build_request how;
	bool again, quiet;
};

/* With every drift allowed: what differs is to be explained. */
static int build_again(struct verify_options *o, const char *source, const struct be_paths *paths,
		       struct be_verified *verified, struct be_error *err)
{
	struct be_cache cache = { 0 };
	struct be_error ignored = BE_ERROR_INIT;
	if (be_cache_open(&cache, paths->cache, err) != 0)
		return -1;
	be_autofree char *dir = be_cache_tempdir(&cache, err);
	if (!dir) {
		be_cache_close(&cache);
		return -1;
	}
	be_autofree char *output = be_strf("%s/image", dir);
	o->how.output = output;
	o->how.quiet = true;
	o->rebuild.lock.allow_drift = true;
	int rc = be_rebuild_run(&o->rebuild, &o->how, err);
	be_strv_add_all(&verified->problems, &o->rebuild.lock.drifts);
	if (rc == 0)
		rc = be_verify_rebuilt(be_verify_is_image(source) ? source : NULL, o->rebuild.manifest, output,
				       verified, err);
	be_remove_tree(dir, &ignored);
	be_cache_close(&cache);
	return rc;
}

static int verify(struct verify_options *o, const char *source, struct be_verified *verified, struct be_error *err)
{
	be_autopaths struct be_paths paths = { 0 };
	if (be_paths_find(&paths, err) != 0 || be_rebuild_open(&o->rebuild, source, paths.cache, err) != 0)
		return -1;
	o->rebuild.lock.command = "verify";
	if (!be_verify_is_image(source))
		be_verify_manifest(o->rebuild.manifest, verified);
	else if (be_verify_image(source, o->rebuild.manifest, verified, err) != 0)
		return -1;
	return o->again ? build_again(o, source, &paths, verified, err) : 0;
}

static int report(const struct verify_options *o, const char *source, const struct be_verified *verified)
{
	for (size_t i = 0; i < verified->problems.n; i++)
		printf("%s\n", verified->problems.v[i]);
	if (verified->problems.n)
		return BE_DIFFERS;
	if (o->quiet)
		return BE_OK;
	if (verified->entries)
		printf("%s: %zu members, %zu entries, %lld bytes unpacked, all as the manifest says", source,
		       verified->members, verified->entries, (long long)verified->unpacked);
	else
		printf("%s: a manifest of %zu members, its figures agree", source, verified->members);
	puts(o->again ? "; built again: the same bytes" : "");
	return BE_OK;
}

static int run(struct verify_options *o, int argc, char **argv)
{
	struct be_lock *lock = &o->rebuild.lock;
	const struct be_option options[] = {
		BE_FLAG("rebuild", 0, &o->again),
		BE_TEXT("kernel", 0, &o->how.kernel),
		BE_TEXT("modules", 0, &o->how.modules),
		BE_LIST("program", 0, &o->rebuild.programs),
		BE_LIST("packages", 0, &lock->folders),
		BE_LIST("mirror", 0, &lock->mirrors),
		BE_TEXT("ucode", 0, &o->how.ucode),
		BE_FLAG("quiet", 'q', &o->quiet),
		BE_OPTIONS_END,
	};
	struct be_error err = BE_ERROR_INIT;
	struct be_verified verified = { 0 };
	int status = be_usage_read(usage, options, argc, argv);
	if (status >= 0)
		return status;
	if (argc - optind != 1)
		return be_usage_error(argv[0], "needs one image, manifest or result");
	status = verify(o, argv[optind], &verified, &err) == 0 ? report(o, argv[optind], &verified)
							       : be_command_failed(argv[0], &err);
	be_verified_free(&verified);
	return status;
}

int be_cmd_verify(int argc, char **argv)
{
	struct verify_options o = { 0 };
	int status = run(&o, argc, argv);
	be_rebuild_close(&o.rebuild);
	return status;
}
