/* `import`: what a report mail states, as a job and a host file. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "builder/commands.h"
#include "builder/report/import.h"
#include "builder/paths.h"
#include "builder/usage.h"

#define TABLES_MAX 10000

static const char usage[] = "Usage: mkbenchenv import MAIL [OPTION]...\n"
			    "\n"
			    "Reads a report of the kernel test robot, or a reply that holds one, and writes the job\n"
			    "and the host file that it states. Nothing is guessed: what the mail does not say is\n"
			    "listed.\n"
			    "\n"
			    "  -o, --output FILE   the job file (default: standard output)\n"
			    "  --host-out FILE     the machine's host file\n"
			    "  --table N           which test of a mail that reports several\n";

struct import_options {
	const char *mail, *job, *host;
	int64_t table; /* 0: the only one */
};

static int write_host(const struct be_import *import, const char *path, struct be_error *err)
{
	/* Also a file that says nothing says so. */
	const char *text = import->host ? import->host : "# The mail states nothing of the machine.\n";
	return be_write_output(path, text, strlen(text), err);
}

static int import(const struct import_options *o, struct be_error *err)
{
	be_cleanup(be_paths_free) struct be_paths paths = { 0 };
	be_autoimport struct be_import import = { 0 };
	if (be_paths_find(&paths, err) != 0 ||
	    be_import(o->mail, NULL, paths.data, (size_t)o->table, "--table", &import, err) != 0)
		return -1;
	be_autostrv struct be_strv notes = { 0 };
	be_import_notes(&import, &notes);
	for (size_t i = 0; i < notes.n; i++)
		fprintf(stderr, "mkbenchenv import: %s\n", notes.v[i]);
	if (o->host && write_host(&import, o->host, err) != 0)
		return -1;
	return be_write_output(o->job, import.job, strlen(import.job), err);
}

int be_cmd_import(int argc, char **argv)
{
	struct import_options o = { 0 };
	const struct be_option options[] = {
		BE_TEXT("output", 'o', &o.job),
		BE_TEXT("host-out", 0, &o.host),
		BE_COUNT("table", &o.table, TABLES_MAX),
		BE_OPTIONS_END,
	};
	int status = be_usage_read(usage, options, argc, argv);
	if (status >= 0)
		return status;
	if (argc - optind != 1)
		return be_usage_error(argv[0], argc == optind ? "needs a mail" : "takes one mail");
	if (be_same_file(o.job, o.host))
		return be_usage_error(argv[0], "-o and --host-out are the same file");
	struct be_error err = BE_ERROR_INIT;
	o.mail = argv[optind];
	return import(&o, &err) == 0 ? BE_OK : be_command_failed(argv[0], &err);
}
