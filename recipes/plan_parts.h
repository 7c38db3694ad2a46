/* The parts of be_plan_make: each fills its key of the plan and adds what it cannot give to the deviations. */
#ifndef BE_PLAN_PARTS_H
#define BE_PLAN_PARTS_H

#include "deviation.h"
#include "layout_parts.h"
#include "plan.h"
#include "rules.h"
#include "workload.h"

struct be_planner {
	const struct be_plan_request *req;
	const struct be_node *job, *host;
	struct be_rules rules;
	struct be_machine_size size;
	struct be_node *plan;       /* being made */
	struct be_node *deviations; /* the plan's */
	struct be_node *factors;    /* the catalogue */
	struct be_strv *warnings;
};

/* A warning with the position of @node. */
void be_plan_warn(struct be_planner *p, const struct be_node *node, const char *fmt, ...) BE_PRINTF(3, 4);
/* The stanza of a factor, or NULL. */
const struct be_node *be_plan_factor(const struct be_planner *p, const char *name);
/* The text of a scalar job key, NULL when it is missing, null or no scalar. */
const char *be_plan_text_of(const struct be_node *map, const char *key);

int be_plan_machine(struct be_planner *p, struct be_error *err);
int be_plan_firmware(struct be_planner *p, struct be_error *err) BE_MUST_CHECK;
/* Is the result to go to a disk or USB stick that is labelled for it? */
bool be_plan_delivers_to_volume(const struct be_planner *p);
int be_plan_after(struct be_planner *p, struct be_error *err);
void be_plan_kconfig(struct be_planner *p, struct be_node *machine);
/* fs2: and fs1:. Puts the network's mount points into @storages and into the layout's directories. */
int be_plan_network(struct be_planner *p, struct be_node *storages, struct be_error *err);
/* Puts the steps that export and mount @storages before those of @definition. */
void be_plan_network_steps(const struct be_node *storages, struct be_node *definition);
/* nfs or cifs, when the workload works over one; else NULL. */
const char *be_plan_network_type(const struct be_node *plan);
/* numactl, taskset and chrt: the words in front of the workload. */
int be_plan_prefix(const struct be_planner *p, struct be_strv *prefix, struct be_error *err);
int be_plan_layout(struct be_planner *p, struct be_error *err);
int be_plan_boot(struct be_planner *p, struct be_error *err);
int be_plan_settings(struct be_planner *p, struct be_error *err);
int be_plan_workload(struct be_planner *p, struct be_error *err);
int be_plan_image(struct be_planner *p, struct be_error *err);
int be_plan_wanted(struct be_planner *p, struct be_error *err);
void be_plan_built(struct be_planner *p);
int be_plan_keys(struct be_planner *p, struct be_error *err);
void be_plan_rule_changes(struct be_planner *p);

#endif
