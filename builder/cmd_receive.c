/* `receive`: the result that a guest left on its console, out of the console's log. */
#include <getopt.h>
#include <stdio.h>

#include "builder/commands.h"
#include "builder/receive/receive.h"
#include "builder/usage.h"

static const char usage[] = "Usage: mkbenchenv receive CONSOLE-LOG -o RESULT [OPTION]...\n"
			    "       mkbenchenv receive CONSOLE-LOG --list\n"
			    "\n"
			    "Takes the result that a machine left on its console out of the console's log and\n"
			    "makes the folder RESULT, as `mkbenchenv boot` does. Kernel messages between the lines\n"
			    "or in the middle of them, stamps and prefixes before them and CR LF do no harm.\n"
			    "CONSOLE-LOG may also be the file benchenv-RUN.tar from a stick labelled BENCHRESULT.\n"
			    "\n"
			    "  -o, --output RESULT  folder to make; an older result there is replaced\n"
			    "  --image IMAGE        the image that was booted: gives the result its manifest\n"
			    "  --delivery ID|last   which one, where the log holds several\n"
			    "  --list               only show what the log holds\n"
			    "  -q, --quiet          only what is damaged\n"
			    "\n"
			    "Exit status: 0 the workload was done and all of its result is there, 1 it failed or\n"
			    "part of it is lost, 3 it was refused because the environment differs. A result is\n"
			    "there in all three cases; what is damaged is left out and named.\n";

enum { IMAGE = 256, DELIVERY, LIST };

struct receive_options {
	struct be_receive_request request;
	bool list;
};

static int take_option(void *data, int c, char **argv)
{
	struct receive_options *o = data;
	struct be_receive_request *r = &o->request;
	switch (c) {
	case 'o':
		r->output = optarg;
		return BE_OK;
	case 'q':
		r->quiet = true;
		return BE_OK;
	case IMAGE:
		r->image = optarg;
		return BE_OK;
	case DELIVERY:
		r->delivery = optarg;
		return BE_OK;
	case LIST:
		o->list = true;
		return BE_OK;
	default:
		return be_usage_option(argv, c);
	}
}

int be_cmd_receive(int argc, char **argv)
{
	static const struct option options[] = { { "output", required_argument, NULL, 'o' },
						 { "image", required_argument, NULL, IMAGE },
						 { "delivery", required_argument, NULL, DELIVERY },
						 { "list", no_argument, NULL, LIST },
						 { "quiet", no_argument, NULL, 'q' },
						 { "help", no_argument, NULL, 'h' },
						 { NULL, 0, NULL, 0 } };
	struct receive_options o = { 0 };
	const struct be_command_line line = {
		.usage = usage, .letters = ":ho:q", .options = options, .take = take_option, .data = &o
	};
	struct be_error err = BE_ERROR_INIT;
	enum be_status status = BE_OK;
	int ended;
	if (!be_usage_take(&line, argc, argv, &ended))
		return ended;
	if (argc - optind != 1)
		return be_usage_error(argv[0], argc == optind ? "needs a console log" : "takes one console log");
	if (!o.request.output && !o.list)
		return be_usage_error(argv[0], "needs -o RESULT, the folder to make, or --list");
	o.request.log = argv[optind];
	int rc = o.list ? be_receive_list(o.request.log, &err) : be_receive(&o.request, &status, &err);
	return rc == 0 ? (int)status : be_command_failed(argv[0], &err);
}
