/* `scrub`: a manifest for the public. */
#include <getopt.h>

#include "base/file.h"
#include "builder/commands.h"
#include "builder/image/image_folder.h"
#include "builder/report/scrub.h"
#include "builder/usage.h"

static const char usage[] = "Usage: mkbenchenv scrub MANIFEST|RESULT|IMAGE [-o FILE]\n"
			    "\n"
			    "Prints a copy of a manifest without serial numbers, world wide names, foreign UUIDs,\n"
			    "MAC and IP addresses, mail addresses and hosts of URLs. Each is replaced by the same\n"
			    "word wherever it stands. Results have such a manifest from the start; this is for the\n"
			    "manifest of an image, which holds the recipe as it was given.\n"
			    "\n"
			    "  -o, --output FILE  write it there instead of printing it\n";

static int scrub(const char *path, const char *output, struct be_error *err)
{
	be_autonode struct be_node *manifest = be_manifest_load(path, err);
	be_autobuf struct be_buf out = { 0 };
	if (!manifest)
		return -1;
	be_autonode struct be_node *clean = be_scrub(manifest);
	return be_node_yaml(clean, &out, err) == 0 ? be_write_output(output, out.data, out.len, err) : -1;
}

int be_cmd_scrub(int argc, char **argv)
{
	const char *output = NULL;
	const struct be_option options[] = { BE_TEXT("output", 'o', &output), BE_OPTIONS_END };
	int status = be_usage_read(usage, options, argc, argv);
	if (status >= 0)
		return status;
	if (argc - optind != 1)
		return be_usage_error(argv[0], "needs one manifest, result or image");
	struct be_error err = BE_ERROR_INIT;
	return scrub(argv[optind], output, &err) == 0 ? BE_OK : be_command_failed(argv[0], &err);
}
