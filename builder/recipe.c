#include "builder/recipe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "host.h"
#include "mail.h"
#include "plan.h"

#define LISTED 20 /* atomic jobs named in a message */

void be_recipe_free(struct be_recipe *recipe)
{
	struct be_error ignored = BE_ERROR_INIT;
	if (recipe->mail_dir)
		be_remove_tree(recipe->mail_dir, &ignored);
	free(recipe->mail_dir);
	free(recipe->mail_job);
	free(recipe->mail_host);
	be_buf_free(&recipe->content);
	be_node_free(recipe->host);
	free(recipe->host_text);
	free(recipe->host_path);
	free(recipe->rules_date);
	be_jobs_free(&recipe->jobs);
	be_strv_free(&recipe->warnings);
	be_paths_free(&recipe->paths);
}

void be_recipe_warn(struct be_recipe *recipe, const char *command)
{
	const struct be_strv *lists[] = { &recipe->jobs.warnings, &recipe->warnings };
	be_autostrv struct be_strv shown = { 0 };
	for (size_t k = 0; k < BE_ARRAY_LEN(lists); k++) {
		for (size_t i = 0; i < lists[k]->n; i++) {
			if (be_strv_has(&shown, lists[k]->v[i]))
				continue;
			be_strv_add(&shown, lists[k]->v[i]);
			fprintf(stderr, "mkbenchenv %s: warning: %s\n", command, lists[k]->v[i]);
		}
	}
	be_strv_free(&recipe->jobs.warnings);
	be_strv_free(&recipe->warnings);
	recipe->jobs.warnings = recipe->warnings = (struct be_strv){ 0 };
}

static int fail_several(const struct be_recipe_request *request, const struct be_jobs *jobs, struct be_error *err)
{
	be_autobuf struct be_buf list = { 0 };
	for (size_t i = 0; i < jobs->n && i < LISTED; i++)
		be_buf_addf(&list, "\n%4zu  %s", i + 1, jobs->atoms[i].name);
	if (jobs->n > LISTED)
		be_buf_addf(&list, "\n      ... and %zu more", jobs->n - LISTED);
	be_fail_usage(err, "%s: holds %zu atomic jobs, one is needed:%s", request->job, jobs->n, list.data);
	return be_hint(err, "Choose one with --pick NAME or --pick N, or build them all with --all.");
}

static int choose(const struct be_recipe_request *request, bool all, struct be_recipe *recipe, struct be_error *err)
{
	const struct be_jobs *jobs = &recipe->jobs;
	if (jobs->n == 0)
		return be_fail_usage(err, "%s: no atomic job is left after its lists were expanded", request->job);
	if (request->manifest)
		return be_recipe_pick_of_manifest(request, recipe, err);
	recipe->first = 0;
	recipe->n = all ? jobs->n : 1;
	if (all)
		return 0;
	if (!request->pick || recipe->mail_job)
		return jobs->n == 1 ? 0 : fail_several(request, jobs, err);
	int64_t number = 0;
	bool is_number = be_parse_int(request->pick, &number);
	for (size_t i = 0; i < jobs->n; i++) {
		if (strcmp(jobs->atoms[i].name, request->pick) == 0 || (is_number && number == (int64_t)i + 1)) {
			recipe->first = i;
			return 0;
		}
	}
	be_fail_usage(err, "%s: has no atomic job \"%s\" among its %zu", request->job, request->pick, jobs->n);
	return be_hint(err, "`mkbenchenv jobs %s` lists them.", request->job);
}

/* The host file that was given, read once: it may be a pipe. */
static struct be_node *given_host(struct be_recipe *recipe, const char *given, char **text, char **path,
				  struct be_error *err)
{
	if (!recipe->host)
		recipe->host = be_host_load(given, recipe->paths.data, &recipe->warnings, &recipe->host_text,
					    &recipe->host_path, err);
	if (!recipe->host)
		return NULL;
	if (text)
		*text = be_strdup(recipe->host_text);
	if (path)
		*path = be_strdup(recipe->host_path);
	return be_node_clone(recipe->host);
}

/* The host of an atom: --host, or what the job itself names. */
static struct be_node *find_host(struct be_recipe *recipe, const struct be_recipe_request *request, size_t i,
				 char **text, char **path, struct be_error *err)
{
	const char *given = request->host ? request->host : recipe->mail_host;
	struct be_node *host = given ? given_host(recipe, given, text, path, err)
				     : be_host_of_job(recipe->jobs.atoms[i].job, recipe->paths.data, &recipe->warnings,
						      text, path, err);
	if (!host && err->status != BE_OK)
		be_hint(err,
			"Name the machine's host file with --host FILE; `--host qemu` is a machine without a lab.");
	return host;
}

static int expand(const struct be_recipe_request *request, const struct be_node *host, struct be_recipe *recipe,
		  struct be_error *err)
{
	struct be_job_options options = { .data_dir = recipe->paths.data,
					  .set = &request->set,
					  .compatible = request->compatible,
					  .host = host,
					  .content = recipe->mail_job ? NULL : &recipe->content };
	return be_jobs_load(recipe->mail_job ? recipe->mail_job : request->job, &options, &recipe->jobs, err);
}

/* Reads the job the first time, when it is not yet known whether it is one or a report mail. */
static int read_job(const struct be_recipe_request *request, const struct be_node *host, struct be_recipe *recipe,
		    struct be_error *err)
{
	struct be_error as_mail = BE_ERROR_INIT;
	if (request->manifest ? be_recipe_manifest(request, recipe, err) != 0
			      : be_recipe_mail(request, true, recipe, err) != 0)
		return -1;
	if (expand(request, host, recipe, err) == 0)
		return 0;
	if (request->manifest)
		return be_wrap(err, "the manifest's recipe");
	if (recipe->mail_job || be_recipe_mail(request, false, recipe, &as_mail) != 0 || !recipe->mail_job)
		return -1;
	*err = (struct be_error)BE_ERROR_INIT;
	be_jobs_free(&recipe->jobs);
	recipe->jobs = (struct be_jobs){ 0 };
	return expand(request, host, recipe, err);
}

int be_recipe_load(const struct be_recipe_request *request, bool all, struct be_recipe *out, struct be_error *err)
{
	*out = (struct be_recipe){ 0 };
	if (be_paths_find(&out->paths, err) != 0)
		return -1;
	if (!request->manifest && be_read_input(request->job, BE_MAIL_MAX_BYTES, &out->content, err) != 0)
		return -1;
	be_autonode struct be_node *host = NULL;
	if (request->host) {
		host = find_host(out, request, 0, NULL, NULL, err);
		if (!host)
			return -1;
	}
	if (read_job(request, host, out, err) != 0)
		return -1;
	if (!host && out->jobs.n) {
		/* Which machine it is stands in the job; what its templates ask of the machine is known only now. */
		host = find_host(out, request, 0, NULL, NULL, err);
		if (!host && err->status != BE_OK)
			return -1;
		if (host) {
			be_jobs_free(&out->jobs);
			out->jobs = (struct be_jobs){ 0 };
			if (expand(request, host, out, err) != 0)
				return -1;
		}
	}
	return choose(request, all, out, err);
}

/* The day whose rules hold for a job without a date; SOURCE_DATE_EPOCH fixes it, so that a build can be repeated. */
static void today(char date[16])
{
	const char *fixed = getenv("SOURCE_DATE_EPOCH");
	int64_t seconds;
	time_t now = fixed && be_parse_int(fixed, &seconds) && seconds >= 0 ? (time_t)seconds : time(NULL);
	struct tm tm;
	gmtime_r(&now, &tm);
	strftime(date, 16, "%Y-%m-%d", &tm);
}

/* lkp-icl-2sp7 of hosts/lkp-icl-2sp7, and of my-machine.yaml my-machine. */
static char *base_name(const char *path, const char *of_a_pipe)
{
	if (!path)
		return NULL;
	if (be_starts(path, "/dev/") || be_starts(path, "/proc/"))
		return be_strdup(of_a_pipe);
	const char *slash = strrchr(path, '/');
	char *name = be_strdup(slash ? slash + 1 : path);
	if (be_ends(name, ".yaml"))
		name[strlen(name) - strlen(".yaml")] = '\0';
	return name;
}

/* What the robot's reports have in their header line: the workload's parameters and what the environment is named by.
 */
static struct be_node *parameters(const struct be_node *plan)
{
	static const char *const named[] = { "compiler",         "kconfig",     "rootfs",  "tbox_group", "testcase",
					     "cpufreq_governor", "debug-setup", "disk",    "fs",         "fs2",
					     "iosched",          "md",          "numactl", "ucode" };
	const struct be_node *job = be_get(plan, "job"), *own = be_get_path(plan, "workload.parameters");
	struct be_node *all = be_node_map();
	for (size_t i = 0; i < BE_ARRAY_LEN(named); i++)
		be_set_str(all, named[i], be_get_str(job, named[i], NULL));
	for (size_t i = 0; own && own->kind == BE_MAP && i < own->n; i++)
		if (own->items[i]->kind == BE_SCALAR)
			be_set_str(all, own->keys[i], own->items[i]->text);
	return all;
}

/* Is @text the shipped host file @name, word for word? What stands in that is public. */
static bool is_shipped_host(const struct be_recipe *recipe, const char *name, const char *text)
{
	struct be_error ignored = BE_ERROR_INIT;
	be_autobuf struct be_buf shipped = { 0 };
	be_autofree char *path = be_strf("%s/hosts/%s", recipe->paths.data, name);
	return !strchr(name, '/') && be_read_file(path, BE_NODE_MAX_BYTES, &shipped, &ignored) == 0 &&
	       be_streq(shipped.data, text);
}

static struct be_node *describe(const struct be_recipe *recipe, const struct be_recipe_request *request,
				const char *host_name, const char *host_text, const struct be_node *plan)
{
	struct be_node *source = be_node_map();
	const struct be_node *job = be_get(plan, "job");
	const char *pipe_name = be_get_str(job, "testcase", be_get_str(job, "suite", "job")); /* as be_jobs_load does */
	be_autofree char *job_name = base_name(recipe->mail_job ? recipe->mail_job : request->job, pipe_name);
	be_set_str(source, "job", recipe->jobs.text);
	be_set_str(source, "job_name", job_name);
	be_set_str(source, "host", host_text);
	if (host_text)
		be_set_str(source, "host_name", host_name);
	if (host_text && host_name && is_shipped_host(recipe, host_name, host_text))
		be_set(source, "host_shipped", be_node_bool(true));
	if (request->set.n)
		be_set(source, "set", be_node_strv(&request->set));
	if (request->compatible)
		be_set(source, "compatible", be_node_bool(true));
	be_set_str(source, "pick", request->pick);
	be_set(source, "resolved", be_node_clone(be_get(plan, "job")));
	be_set(source, "parameters", parameters(plan));
	return source;
}

struct be_node *be_recipe_plan(struct be_recipe *recipe, const struct be_recipe_request *request, size_t i,
			       struct be_node **source, struct be_error *err)
{
	be_autofree char *text = NULL, *path = NULL;
	be_autonode struct be_node *host = find_host(recipe, request, i, &text, &path, err);
	if (!host && err->status != BE_OK)
		return NULL;
	const struct be_atom *atom = &recipe->jobs.atoms[i];
	/* An expanded job carries its host: there is no file to take the name from. */
	const char *box = be_get_str(atom->job, "tbox_group", NULL);
	be_autofree char *name = path ? base_name(path, box ? box : "machine") : be_strdup(box);
	char date[16];
	today(date);
	struct be_plan_request ask = { .name = atom->name,
				       .job = atom->job,
				       .host = host,
				       .host_name = name,
				       .data_dir = recipe->paths.data,
				       .today = recipe->rules_date ? recipe->rules_date : date };
	if (!host) {
		be_fail_usage(err, "%s: names no host, and without a machine there is no environment", request->job);
		be_hint(err, "Name one with --host FILE; `--host qemu` is a machine without a lab.");
		return NULL;
	}
	struct be_node *plan = be_plan_make(&ask, &recipe->warnings, err);
	if (plan && source)
		*source = describe(recipe, request, name, text, plan);
	return plan;
}
