/* What the parts of the runner share: the plan, what was made and found, and what after.yaml will say. */
#ifndef BE_GUEST_H
#define BE_GUEST_H

#include "base/file.h"
#include "base/node.h"
#include "deviation.h"
#include "disk-setup/setup.h"
#include "initrd/kmsg.h"
#include "initrd/observe/sample.h"
#include "initrd/observe/scopes.h"

struct be_guest {
	struct be_root root;
	int link;              /* to PID 1 */
	const char *state_dir; /* where what is to be delivered lies */
	struct be_node *plan;  /* NULL until it is read */
	char plan_sha256[65];  /* of its file: tells the host whose result this is */
	struct be_setup setup;
	bool set_up; /* be_setup_run succeeded: there is something to undo */
	struct be_scopes scopes;
	struct be_sample sample;
	struct be_node *steps;       /* the workload's steps, rendered for this machine */
	struct be_node *values;      /* and the numbers in them that a size decides */
	struct be_node *facts;       /* factor -> value: what only the run itself knows */
	struct be_node *settings;    /* sequence: every setting made, with the value before and after */
	struct be_node *deviations;  /* sequence of {topic, text} */
	struct be_node *steps_done;  /* sequence: `steps:` of after.yaml */
	struct be_node *environment; /* of the last observation */
	struct be_kmsg log;          /* as far as the last observation read it */
	double stating;              /* seconds that statements before the workload took */
	pid_t *daemons;              /* what steps of role daemon started */
	size_t n_daemons;
	struct be_node *outcome; /* {state, step, reason} */
	double deadline;         /* seconds since boot; 0: none */
};

#endif
