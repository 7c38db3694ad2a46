/* `inventory`: `build` of the shipped job that describes the machine it runs on. */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "builder/commands.h"
#include "builder/paths.h"
#include "builder/usage.h"

static const char usage[] =
	"Usage: mkbenchenv inventory -o IMAGE [OPTION]...\n"
	"\n"
	"Makes an image for a machine that nothing is known of: it has the drivers of all disks,\n"
	"persistent memory and wired networks, touches no disk, and delivers the host file that\n"
	"`mkbenchenv host` would write there, as workload/host.out of its result.\n"
	"\n"
	"  -o, --output IMAGE  folder to make\n"
	"\n"
	"The other options are those of `mkbenchenv build`; --host NAME makes the twin of `boot` look\n"
	"like that host.\n";

static bool asks_for(int argc, char **argv, const char *word)
{
	for (int i = 1; i < argc; i++)
		if (be_starts(argv[i], word))
			return true;
	return false;
}

int be_cmd_inventory(int argc, char **argv)
{
	struct be_error err = BE_ERROR_INIT;
	struct be_paths paths = { 0 };
	be_autostrv struct be_strv args = { 0 };
	if (asks_for(argc, argv, "--help") || (argc == 2 && strcmp(argv[1], "-h") == 0)) {
		fputs(usage, stdout);
		return BE_OK;
	}
	if (be_paths_find(&paths, &err) != 0)
		return be_command_failed(argv[0], &err);
	for (int i = 0; i < argc; i++)
		be_strv_add(&args, argv[i]);
	if (!asks_for(argc, argv, "--host"))
		be_strv_add(&args, "--host=any");
	be_strv_addf(&args, "%s/inventory.yaml", paths.data);
	be_paths_free(&paths);
	return be_cmd_build((int)args.n, args.v);
}
