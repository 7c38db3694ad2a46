/* What disk-setup does, each step recorded: what, argv, seconds, status, version. */
#ifndef BE_ACTION_H
#define BE_ACTION_H

#include "base/process.h"
#include "setup.h"

/* A program to run; several run at the same time with be_actions_run. */
struct be_action {
	const char *what; /* mkfs, mdadm, load ... */
	struct be_strv argv;
	double timeout; /* seconds */
};
void be_action_free(struct be_action *action);

/*
 * Runs all @n at the same time, standard input /dev/null, and records them in order in setup->actions once all have
 * ended. Any that fails makes an error that shows the command and what it said; the first one counts.
 */
int be_actions_run(struct be_setup *setup, struct be_action *actions, size_t n, struct be_error *err) BE_MUST_CHECK;
/* One action from an argument vector. */
int be_action_run(struct be_setup *setup, const char *what, const struct be_strv *argv, double timeout,
		  struct be_error *err) BE_MUST_CHECK;
/* Records what a library did in place of a program; @version e.g. "libmount 2.38.1". */
void be_action_record(struct be_setup *setup, const char *what, const struct be_node *argv, double seconds, int status,
		      const char *version);

#endif
