/* The plan: everything that the builder, the twin and the guest need, from one atomic job and its host. Pure: touches
 * no disk but @data_dir, no process, no clock. */
#ifndef BE_PLAN_H
#define BE_PLAN_H

#include "base/node.h"

struct be_plan_request {
	const char *name;           /* the atom's name */
	const struct be_node *job;  /* one atomic job */
	const struct be_node *host; /* host file, or NULL: an error that names the ways to give one */
	const char *host_name;
	const char *data_dir;
	const char *today; /* YYYY-MM-DD: rules of a job without a date of its own */
};

/* Returns the plan (SCHEMA.md, section 2), or NULL. Warnings are added, each with its position. */
struct be_node *be_plan_make(const struct be_plan_request *request, struct be_strv *warnings, struct be_error *err);

#define BE_PLAN_TIMEOUT_MAX (10ll * 365 * 86400) /* seconds: ten years */

/* Seconds that the whole run of @plan may take; two hours where it does not say so, or says more than ten years. */
int64_t be_plan_timeout(const struct be_node *plan);

/* The plan for people. */
int be_plan_text(const struct be_node *plan, struct be_buf *out, struct be_error *err) BE_MUST_CHECK;
/* The transcript: one shell-quoted command a line in running order, inputs as the robot's scripts pipe them. */
int be_plan_shell(const struct be_node *plan, struct be_buf *out, struct be_error *err) BE_MUST_CHECK;

#endif
