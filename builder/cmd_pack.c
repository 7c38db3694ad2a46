/* `pack`: everything that an image is made of, in one file. */
#include <getopt.h>

#include "builder/commands.h"
#include "builder/image/image_folder.h"
#include "builder/paths.h"
#include "builder/rebuild/bundle.h"
#include "builder/usage.h"

static const char usage[] = "Usage: mkbenchenv pack MANIFEST|IMAGE|RESULT -o BUNDLE [OPTION]...\n"
			    "\n"
			    "Writes a tar file with everything that the manifest's image is made of. `mkbenchenv\n"
			    "BUNDLE -o IMAGE` makes the same image from it, without a network.\n"
			    "\n"
			    "  -o, --output BUNDLE the file to write\n"
			    "  --packages DIR      packages are looked for in DIR too\n"
			    "  --mirror URL        and on this mirror or snapshot, not on the machine's\n"
			    "  --program NAME=PATH a program that was given to the build\n"
			    "  -q, --quiet         no progress\n";

struct pack_options {
	struct be_lock lock;
	struct be_strv programs;
	const char *output;
	bool quiet;
};

static int pack(struct pack_options *o, const char *source, struct be_error *err)
{
	be_autopaths struct be_paths paths = { 0 };
	be_autonode struct be_node *manifest = NULL;
	if (be_paths_find(&paths, err) != 0)
		return -1;
	manifest = be_manifest_load(source, err);
	if (!manifest)
		return -1;
	o->lock.manifest = manifest;
	o->lock.command = "pack";
	struct be_pack request = { .source = source,
				   .output = o->output,
				   .cache = paths.cache,
				   .programs = &o->programs,
				   .lock = &o->lock,
				   .quiet = o->quiet };
	return be_bundle_write(&request, err);
}

static int run(struct pack_options *o, int argc, char **argv)
{
	const struct be_option options[] = {
		BE_TEXT("output", 'o', &o->output),     BE_LIST("packages", 0, &o->lock.folders),
		BE_LIST("mirror", 0, &o->lock.mirrors), BE_LIST("program", 0, &o->programs),
		BE_FLAG("quiet", 'q', &o->quiet),       BE_OPTIONS_END,
	};
	struct be_error err = BE_ERROR_INIT;
	int status = be_usage_read(usage, options, argc, argv);
	if (status >= 0)
		return status;
	if (argc - optind != 1)
		return be_usage_error(argv[0], "needs one manifest, image or result");
	if (!o->output)
		return be_usage_error(argv[0], "needs -o BUNDLE, the file to write");
	return pack(o, argv[optind], &err) == 0 ? BE_OK : be_command_failed(argv[0], &err);
}

int be_cmd_pack(int argc, char **argv)
{
	struct pack_options o = { 0 };
	int status = run(&o, argc, argv);
	be_lock_free(&o.lock);
	be_strv_free(&o.programs);
	return status;
}
