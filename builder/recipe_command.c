/* What the commands that take one job have in common: their command line, and the plan that they look at. */
#include <getopt.h>

#include "builder/recipe.h"
#include "builder/usage.h"

int be_recipe_command(struct be_recipe_request *request, int argc, char **argv, const struct be_option *options,
		      const char *usage)
{
	int status = be_usage_read(usage, options, argc, argv);
	if (status >= 0)
		return status;
	if (argc - optind != 1)
		return be_usage_error(argv[0], argc == optind ? "needs a job file" : "takes one job file");
	request->job = argv[optind];
	return -1;
}

struct be_node *be_recipe_plan_only(const struct be_recipe_request *request, const char *command, struct be_error *err)
{
	be_autorecipe struct be_recipe recipe = { 0 };
	if (be_recipe_load(request, false, &recipe, err) != 0)
		return NULL;
	struct be_node *plan = be_recipe_plan(&recipe, request, recipe.first, NULL, err);
	be_recipe_warn(&recipe, command);
	return plan;
}
