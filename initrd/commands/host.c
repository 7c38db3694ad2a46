/* mkbenchenv host: the host file of the machine that it runs on, or of a recorded one. */
#include <getopt.h>
#include <string.h>

#include "base/file.h"
#include "base/options.h"
#include "initrd/inventory/inventory.h"

static const char usage[] = "Usage: mkbenchenv host [OPTION]...\n"
			    "\n"
			    "Writes an LKP host file of this machine: processors, memory, firmware, disks. What it\n"
			    "does not know is a comment. A disk or partition is listed for tests only when it carries\n"
			    "nothing and nothing uses it; all others are comments that say why. Nothing is written to\n"
			    "any device. Root sees more: what disks carry, and the memory that is installed.\n"
			    "\n"
			    "  -o, --output FILE   the host file (default: standard output)\n"
			    "  --root DIR          a recorded machine: a folder with its /proc, /sys, /dev and /run\n"
			    "  --private           also host name and MAC addresses, as comments\n";

struct options {
	const char *output, *root;
	bool private;
};

/* Returns -1 to go on, else the exit status. */
static int parse(int argc, char **argv, struct options *o)
{
	const struct be_option options[] = {
		BE_TEXT("output", 'o', &o->output),
		BE_TEXT("root", 0, &o->root),
		BE_FLAG("private", 0, &o->private),
		BE_OPTIONS_END,
	};
	int status = be_options_read(argv[0], usage, options, argc, argv);
	if (status < 0 && optind < argc)
		status = be_options_wrong(argv[0], "takes no argument such as \"%s\"; -o FILE names the output",
					  argv[optind]);
	return status;
}

static int run(const struct options *o, struct be_error *err)
{
	be_autofree char *prefix = be_root_prefix(o->root);
	struct be_root root = { .prefix = prefix, .recorded = o->root };
	be_autofree char *text = be_inventory(&root, o->private, err);
	return text ? be_write_output(o->output, text, strlen(text), err) : -1;
}

int main(int argc, char **argv)
{
	struct options options = { 0 };
	struct be_error err = BE_ERROR_INIT;
	int status = parse(argc, argv, &options);
	if (status >= 0)
		return status;
	if (run(&options, &err) == 0)
		return BE_OK;
	be_error_print(&err, argv[0]);
	return err.status;
}
