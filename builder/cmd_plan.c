/* `plan`: what an image of this job would do, without making one. */
#include "base/file.h"
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
	be_autonode struct be_node *plan = be_recipe_plan_only(request, "plan", err);
	be_autobuf struct be_buf out = { 0 };
	if (!plan)
		return -1;
	int rc = form == SHELL  ? be_plan_shell(plan, &out, err)
		 : form == YAML ? be_node_yaml(plan, &out, err)
		 : form == JSON ? be_node_json(plan, &out, err)
				: plan_text(plan, &out, err);
	return rc == 0 ? be_write_output(NULL, out.data, out.len, err) : -1;
}

static bool take_option(void *data, int c)
{
	int *form = data;
	bool known = c == SHELL || c == YAML || c == JSON;
	if (known)
		*form = c;
	return known;
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
	struct be_error err = BE_ERROR_INIT;
	int form = 0;
	int status = be_recipe_command(&request, argc, argv, options, usage, take_option, &form);
	if (status < 0)
		status = print_plan(&request, form, &err) == 0 ? BE_OK : be_command_failed(argv[0], &err);
	be_strv_free(&request.set);
	return status;
}
