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

/* None: the text for people. */
struct form {
	bool shell, yaml, json;
};

static int plan_text(const struct be_node *plan, struct be_buf *out, struct be_error *err)
{
	if (be_plan_text(plan, out, err) != 0)
		return -1;
	be_buf_adds(out, "\nlayout\n");
	return be_picture_plan(plan, out, err);
}

static int print_plan(const struct be_recipe_request *request, const struct form *form, struct be_error *err)
{
	be_autonode struct be_node *plan = be_recipe_plan_only(request, "plan", err);
	be_autobuf struct be_buf out = { 0 };
	if (!plan)
		return -1;
	int rc = form->shell  ? be_plan_shell(plan, &out, err)
		 : form->yaml ? be_node_yaml(plan, &out, err)
		 : form->json ? be_node_json(plan, &out, err)
			      : plan_text(plan, &out, err);
	return rc == 0 ? be_write_output(NULL, out.data, out.len, err) : -1;
}

int be_cmd_plan(int argc, char **argv)
{
	struct be_recipe_request request = { 0 };
	struct be_error err = BE_ERROR_INIT;
	struct form form = { 0 };
	const struct be_option options[] = {
		BE_RECIPE_OPTIONS(&request),
		BE_FLAG("shell", 0, &form.shell),
		BE_FLAG("yaml", 0, &form.yaml),
		BE_FLAG("json", 0, &form.json),
		BE_OPTIONS_END,
	};
	int status = be_recipe_command(&request, argc, argv, options, usage);
	if (status < 0 && form.shell + form.yaml + form.json > 1)
		status = be_usage_error(argv[0], "--shell, --yaml and --json exclude each other");
	if (status < 0)
		status = print_plan(&request, &form, &err) == 0 ? BE_OK : be_command_failed(argv[0], &err);
	be_strv_free(&request.set);
	return status;
}
