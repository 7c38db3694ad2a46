/* `show`: a manifest for people. */
#include <getopt.h>

#include "base/file.h"
#include "builder/commands.h"
#include "builder/image/image_folder.h"
#include "builder/report/manifest.h"
#include "builder/paths.h"
#include "builder/usage.h"
#include "factor.h"

static const char usage[] = "Usage: mkbenchenv show [OPTION]... MANIFEST|RESULT|IMAGE\n"
			    "\n"
			    "Prints a manifest for people, in at most 76 columns and without serial numbers.\n"
			    "\n"
			    "  --full         all factors, not only those that decided results before or differ\n"
			    "  --factor NAME  one factor with all that is known of it\n"
			    "  --json         the whole document as JSON\n";

static int show(const char *path, const struct be_manifest_view *view, bool json, struct be_error *err)
{
	be_autonode struct be_node *manifest = be_manifest_load(path, err), *factors = NULL;
	if (!manifest)
		return -1;
	/* Evidence comes from the catalogue; without one the manifest can be shown all the same. */
	struct be_paths paths = { 0 };
	struct be_error ignored = BE_ERROR_INIT;
	if (!json && be_paths_find(&paths, &ignored) == 0)
		factors = be_factors_load(paths.data, &ignored);
	be_paths_free(&paths);
	be_autobuf struct be_buf out = { 0 };
	if ((json ? be_node_json(manifest, &out, err) : be_manifest_text(manifest, factors, view, &out, err)) != 0)
		return -1;
	return be_write_output(NULL, out.data, out.len, err);
}

int be_cmd_show(int argc, char **argv)
{
	struct be_manifest_view view = { 0 };
	bool json = false;
	const struct be_option options[] = {
		BE_FLAG("full", 0, &view.full),
		BE_TEXT("factor", 0, &view.factor),
		BE_FLAG("json", 0, &json),
		BE_OPTIONS_END,
	};
	int status = be_usage_read(usage, options, argc, argv);
	if (status >= 0)
		return status;
	if (argc - optind != 1)
		return be_usage_error(argv[0], "needs one manifest, result or image");
	struct be_error err = BE_ERROR_INIT;
	return show(argv[optind], &view, json, &err) == 0 ? BE_OK : be_command_failed(argv[0], &err);
}
