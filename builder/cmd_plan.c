/* `plan`: what an image of this job would do, without making one. */
#include <stdio.h>

#include "builder/commands.h"
#include "builder/recipe.h"
#include "builder/report/picture.h"
#include "builder/usage.h"
#include "plan.h"

static const char usage[] =
	"Usage: mkbenchenv plan JOB [OPTION]...\n"
	"\n"
	"Prints the plan of a job: machine, settings, disk layout, workload. Nothing is made.\n"
	"\n" BE_RECIPE_HELP "  --shell             the commands, one a line, as the robot's scripts run them\n"
	"  --yaml, --json      the plan document\n";

enum { SHELL = 256, YAML, JSON };

static int plan_text(const struct be_node *plan, struct be_buf *out, struct be_error *err)
{
	if (be_plan_text(plan, out, err) != 0)
		return -1;
	be_buf_adds(out, "\nlayout\n");
	return be_picture_plan(plan, out, err);
}

static int print_plan(const struct be_recipe_request *request, int form, struct be_error *err)
{
	be_autorecipe struct be_recipe recipe = { 0 };
	if (be_recipe_load(request, false, &recipe, err) != 0)
		return -1;
	be_autonode struct be_node *plan = be_recipe_plan(&recipe, request, recipe.first, NULL, err);
	be_recipe_warn(&recipe, "plan");
	if (!plan)
		return -1;
	be_autobuf struct be_buf out = { 0 };
	int rc = form == SHELL  ? be_plan_shell(plan, &out, err)
		 : form == YAML ? be_node_yaml(plan, &out, err)
		 : form == JSON ? be_node_json(plan, &out, err)
				: plan_text(plan, &out, err);
	if (rc == 0)
		fwrite(out.data, 1, out.len, stdout);
	return rc;
}

int be_cmd_plan(int argc, char **argv)
{
	static const struct option options[] = { BE_RECIPE_OPTIONS,
						 { "shell", no_argument, NULL, SHELL },
						 { "yaml", no_argument, NULL, YAML },
						 { "json", no_argument, NULL, JSON },
						 { "help", no_argument, NULL, 'h' },
						 { NULL, 0, NULL, 0 } };
	struct be_recipe_request request = { 0 };
	int form = 0, status = BE_OK;
	opterr = 0;
	for (int c; status == BE_OK && (c = getopt_long(argc, argv, ":hs:", options, NULL)) != -1;) {
		if (c == 'h') {
			be_strv_free(&request.set);
			fputs(usage, stdout);
			return BE_OK;
		}
		if (c == SHELL || c == YAML || c == JSON)
			form = c;
		else if (!be_recipe_option(&request, c, optarg))
			status = be_usage_option(argv, c);
	}
	if (status == BE_OK && argc - optind != 1)
		status = be_usage_error(argv[0], "needs one job file");
	if (status == BE_OK) {
		struct be_error err = BE_ERROR_INIT;
		request.job = argv[optind];
		if (print_plan(&request, form, &err) != 0)
			status = be_command_failed(argv[0], &err);
	}
	be_strv_free(&request.set);
	return status;
}
