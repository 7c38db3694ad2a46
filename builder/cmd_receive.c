/* `receive`: the result that a guest left on its console, out of the console's log. */
#include <getopt.h>

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

int be_cmd_receive(int argc, char **argv)
{
	struct be_receive_request request = { 0 };
	struct be_error err = BE_ERROR_INIT;
	enum be_status result = BE_OK;
	bool list = false;
	const struct be_option options[] = {
		BE_TEXT("output", 'o', &request.output),   BE_TEXT("image", 0, &request.image),
		BE_TEXT("delivery", 0, &request.delivery), BE_FLAG("list", 0, &list),
		BE_FLAG("quiet", 'q', &request.quiet),     BE_OPTIONS_END,
	};
	int status = be_usage_read(usage, options, argc, argv);
	if (status >= 0)
		return status;
	if (argc - optind != 1)
		return be_usage_error(argv[0], argc == optind ? "needs a console log" : "takes one console log");
	if (!request.output && !list)
		return be_usage_error(argv[0], "needs -o RESULT, the folder to make, or --list");
	request.log = argv[optind];
	int rc = list ? be_receive_list(request.log, &err) : be_receive(&request, &result, &err);
	return rc == 0 ? (int)result : be_command_failed(argv[0], &err);
}
