/* From the command line's job, host and settings to one plan: what `build` and `plan` have in common. */
#ifndef BE_RECIPE_H
#define BE_RECIPE_H

#include "base/options.h"
#include "builder/paths.h"
#include "job.h"

struct be_recipe_request {
	const char *job;  /* path of the job file, or of a report mail */
	const char *host; /* --host: path or a name of data/hosts; NULL: the job's own */
	bool compatible;  /* --compatible: of an expanded job only what came from the job itself */
	const char *pick; /* --pick: name or number (from 1) of an atomic job or of a mail's test; NULL: the only one */
	struct be_strv set;             /* --set, in their order */
	const struct be_node *manifest; /* whose recipe it is, in the place of all of the above; or NULL */
};

/* The options that every command with a job takes, for its own table, and their help. */
#define BE_RECIPE_OPTIONS(request)                                                  \
	BE_TEXT("host", 0, &(request)->host), BE_LIST("set", 's', &(request)->set), \
		BE_FLAG("compatible", 0, &(request)->compatible), BE_TEXT("pick", 0, &(request)->pick)
#define BE_RECIPE_HELP                                                                     \
	"  --host FILE|NAME    host file of the machine (default: the job's tbox_group)\n" \
	"  -s, --set KEY=VALUE set or replace a key of the job, as LKP's -s\n"             \
	"  --pick NAME|N       which of the atomic jobs of a job file with lists\n"        \
	"  --compatible        of an expanded job only what came from the job itself\n"
/*
 * The command line of a command that takes one job and @options; "--help" prints @usage. Sets @request->job. Returns -1
 * to go on, else the exit status; the caller frees @request->set in each case.
 */
int be_recipe_command(struct be_recipe_request *request, int argc, char **argv, const struct be_option *options,
		      const char *usage) BE_MUST_CHECK;

/* An expanded job file: the atomic jobs that were asked for and what they were made of. */
struct be_recipe {
	struct be_buf content; /* of the job file or mail, read once: it may be a pipe */
	struct be_node *host;  /* that was given, its text and where it was found; NULL: the job's own */
	char *host_text, *host_path;
	struct be_jobs jobs;
	struct be_strv warnings; /* of the host file and the planner; each with its position */
	struct be_paths paths;
	size_t first, n; /* the atoms that were asked for */
	/* Of a report mail: a folder that goes with the recipe, with the job, and with the host unless that is shipped.
	 */
	char *mail_dir, *mail_job, *mail_host;
	char *rules_date; /* of a manifest whose rules were those of its day: that day */
};
void be_recipe_free(struct be_recipe *recipe);
#define be_autorecipe be_cleanup(be_recipe_free)

/*
 * Makes job and host of @request->job when that is a mail, and sets the members above; does nothing when it is none.
 * @certain false: it may be one, for it could not be read as a job.
 */
int be_recipe_mail(const struct be_recipe_request *request, bool certain, struct be_recipe *out,
		   struct be_error *err) BE_MUST_CHECK;

/*
 * The same for the recipe that @request->manifest holds: the documents are written to such a folder. With
 * be_recipe_of_manifest the request gets what else decided that recipe.
 */
int be_recipe_manifest(const struct be_recipe_request *request, struct be_recipe *out,
		       struct be_error *err) BE_MUST_CHECK;
int be_recipe_of_manifest(struct be_recipe_request *request, const struct be_node *manifest,
			  struct be_error *err) BE_MUST_CHECK;
/* The atom that the manifest is of. */
int be_recipe_pick_of_manifest(const struct be_recipe_request *request, struct be_recipe *recipe,
			       struct be_error *err) BE_MUST_CHECK;

/* Reads and expands the job. With @all every atom counts as asked for. */
int be_recipe_load(const struct be_recipe_request *request, bool all, struct be_recipe *out,
		   struct be_error *err) BE_MUST_CHECK;
/*
 * The plan of atom number @i. @source, where not NULL, becomes the manifest's `recipe:` (job and host verbatim, set,
 * pick, resolved). The caller frees both.
 */
struct be_node *be_recipe_plan(struct be_recipe *recipe, const struct be_recipe_request *request, size_t i,
			       struct be_node **source, struct be_error *err);
/* The plan of the one job that was asked for, its warnings printed; nothing else of it is kept. The caller frees. */
struct be_node *be_recipe_plan_only(const struct be_recipe_request *request, const char *command, struct be_error *err);
/* Prints the warnings so far to stderr, each once. */
void be_recipe_warn(struct be_recipe *recipe, const char *command);

#endif
