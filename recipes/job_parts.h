/* The steps from the documents of a job file to its atomic jobs. Used by the job reader only. */
#ifndef BE_JOB_PARTS_H
#define BE_JOB_PARTS_H

#include "job.h"
#include "job_keys.h"
#include "job_source.h"

/* The key whose values are set: a list of one is a dimension of the matrix. */
#define BE_KEY_ENVIRONMENT "environment"

/*
 * Lays the top level of @over over @job, as LKP does: `a.b.c: v` sets a nested value, `k+: v` appends or merges,
 * `k-: v` removes, mail_to, mail_cc, constraints and need_* append by themselves, all else replaces in its place.
 */
int be_job_merge(struct be_node *job, const struct be_node *over, const struct be_keys *keys,
		 struct be_error *err) BE_MUST_CHECK;

/*
 * Parses one KEY=VALUE or "KEY: VALUE" into a map of one key. The value of KEY=VALUE is text as it stands, unless it
 * begins like a list, a map or a quoted text.
 */
struct be_node *be_job_parse_setting(const char *setting, struct be_error *err);
/* Applies a parsed setting: an option's bare name is set where it stands in the job or at its program. */
int be_job_set(struct be_node *job, const struct be_node *setting, const struct be_keys *keys,
	       struct be_error *err) BE_MUST_CHECK;

/* Is it one of the files that the robot makes of an atomic job? */
bool be_job_is_expanded(const struct be_node *job);
/* `--compatible`: keeps what came from the job's own sections, and on what it ran, and when. */
void be_job_keep_own(struct be_node *job, const struct be_source *source, const struct be_keys *keys,
		     struct be_strv *warnings);

/* Which programs are in @job; [number of the program]. The caller frees. */
bool *be_job_programs(const struct be_node *job, const struct be_keys *keys);
/* Does @name belong to the job's name when the programs @present are in the job? */
bool be_job_is_parameter(const struct be_keys *keys, const bool *present, const char *name);

/* Has the text a `{{ ... }}`? */
bool be_is_template(const char *text);
/* The machine that templates ask for what the job does not say (nr_cpu, memory). */
struct be_machine {
	const struct be_node *host; /* given, or NULL: the job's own is looked up when one asks */
	const char *data_dir;
	struct be_node *own;
	bool looked;
};
/*
 * Evaluates the templates in @node, a scalar of @job, and gives the text with their values in @out; NULL in @out when
 * one is nil, which drops the combination.
 */
int be_template_eval(const struct be_node *node, const struct be_node *job, struct be_machine *machine,
		     struct be_node **out, struct be_error *err) BE_MUST_CHECK;

struct be_expansion {
	const struct be_keys *keys;
	struct be_machine machine;
	const char *base; /* file name without .yaml */
	size_t cost;      /* bytes copied so far: what limits the whole */
	struct be_jobs *out;
};
/* Adds the atomic jobs of one merged document; takes ownership of @job. */
int be_job_expand(struct be_expansion *expansion, struct be_node *job, struct be_error *err) BE_MUST_CHECK;

/*
 * LKP's name of an atomic job with the programs @present; @dimensions are keys of ours that were lists and
 * "environment.FACTOR" for a factor that had several values. The caller frees.
 */
char *be_job_name(const char *base, const struct be_node *job, const struct be_keys *keys, const bool *present,
		  const struct be_strv *dimensions);

/* Warns of keys that nothing knows (@warnings may be NULL) and returns how many there are. */
unsigned be_job_check_keys(const struct be_source *source, const struct be_node *doc, const struct be_keys *keys,
			   struct be_strv *warnings);
/* The same of a setting, a map of one key; @where stands for its position. */
unsigned be_job_check_setting(const char *where, const struct be_node *setting, const struct be_keys *keys,
			      struct be_strv *warnings);

#endif
