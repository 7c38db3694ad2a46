/* `jobs`: the atomic jobs that a job file stands for. */
#include <stdio.h>

#include "builder/commands.h"
#include "builder/recipe.h"
#include "builder/usage.h"
#include "host.h"

static const char usage[] = "Usage: mkbenchenv jobs JOB [OPTION]...\n"
			    "\n"
			    "Lists the atomic jobs of a job file by the names that LKP gives them.\n"
			    "\n"
			    "  --host FILE|NAME    host file that templates ask (default: the job's own)\n"
			    "  -s, --set KEY=VALUE set or replace a key of the job, as LKP's -s\n"
			    "  --compatible        of an expanded job only what came from the job itself\n"
			    "  --json              the jobs with all their keys; every value is text\n";

struct jobs_request {
	struct be_recipe_request recipe;
	bool json;
};

static int print_json(const struct be_jobs *jobs, struct be_error *err)
{
	be_autobuf struct be_buf out = { 0 };
	/* One at a time: a list of all as one tree would hold every job twice. */
	fputs("[\n", stdout);
	for (size_t i = 0; i < jobs->n; i++) {
		out.len = 0;
		if (be_node_json_text(jobs->atoms[i].job, &out, err) != 0)
			return -1;
		fwrite(out.data, 1, out.len - 1, stdout);
		fputs(i + 1 < jobs->n ? ",\n" : "\n", stdout);
	}
	fputs("]\n", stdout);
	return 0;
}

static int list_jobs(const struct jobs_request *request, struct be_error *err)
{
	be_autorecipe struct be_recipe recipe = { 0 };
	be_autonode struct be_node *host = NULL;
	if (be_paths_find(&recipe.paths, err) != 0)
		return -1;
	if (request->recipe.host) {
		host = be_host_load(request->recipe.host, recipe.paths.data, &recipe.warnings, NULL, NULL, err);
		if (!host)
			return -1;
	}
	const struct be_job_options options = {
		.data_dir = recipe.paths.data,
		.set = &request->recipe.set,
		.compatible = request->recipe.compatible,
		.host = host,
	};
	int rc = be_jobs_load(request->recipe.job, &options, &recipe.jobs, err);
	be_recipe_warn(&recipe, "jobs");
	if (rc == 0 && request->json)
		rc = print_json(&recipe.jobs, err);
	for (size_t i = 0; rc == 0 && !request->json && i < recipe.jobs.n; i++)
		puts(recipe.jobs.atoms[i].name);
	return rc;
}

int be_cmd_jobs(int argc, char **argv)
{
	struct jobs_request request = { 0 };
	struct be_recipe_request *recipe = &request.recipe;
	struct be_error err = BE_ERROR_INIT;
	const struct be_option options[] = {
		BE_TEXT("host", 0, &recipe->host),
		BE_LIST("set", 's', &recipe->set),
		BE_FLAG("compatible", 0, &recipe->compatible),
		BE_FLAG("json", 0, &request.json),
		BE_OPTIONS_END,
	};
	int status = be_recipe_command(recipe, argc, argv, options, usage);
	if (status < 0)
		status = list_jobs(&request, &err) == 0 ? BE_OK : be_command_failed(argv[0], &err);
	be_strv_free(&request.recipe.set);
	return status;
}
