/* What the commands that take one job have in common: their command line, and the plan that they look at. */
#include <stdio.h>

#include "builder/recipe.h"
#include "builder/usage.h"

bool be_recipe_option(struct be_recipe_request *request, int c, const char *value)
{
	if (c == 'H')
		request->host = value;
	else if (c == 's')
		be_strv_add(&request->set, value);
	else if (c == 'p')
		request->pick = value;
	else if (c == 'C')
		request->compatible = true;
	else
		return false;
	return true;
}

int be_recipe_command(struct be_recipe_request *request, int argc, char **argv, const struct option *options,
		      const char *usage, bool (*other)(void *data, int c), void *data)
{
	opterr = 0;
	for (int c; (c = getopt_long(argc, argv, ":hs:", options, NULL)) != -1;) {
		if (c == 'h') {
			fputs(usage, stdout);
			return BE_OK;
		}
		if (!be_recipe_option(request, c, optarg) && !other(data, c))
			return be_usage_option(argv, c);
	}
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
