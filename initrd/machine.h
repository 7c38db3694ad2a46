/* The machine that is there, against the one that the plan was made for. */
#ifndef BE_MACHINE_H
#define BE_MACHINE_H

#include "base/file.h"
#include "base/node.h"
#include "workload.h"

/* How many numbers a list such as "0-3,8" of sysfs names. */
int64_t be_list_count(const char *list);

/* CPUs and nodes that are online, memory as the kernel counts it. */
void be_machine_size(const struct be_root *root, struct be_machine_size *size);

/*
 * The deviations between the plan's numbers (@asked, a map as plan.workload.values) and the same for this machine
 * (@here): "100% of 64 threads asked = 64, here 4 threads = 4" for each that differs.
 */
void be_machine_deviations(const struct be_node *asked, const struct be_node *here, struct be_node *deviations);

/*
 * Compares what the plan wants with the observed @environment. Returns -1 with status BE_DIFFERS, naming every factor
 * that differs, when the plan says `expect: refuse`; else 0.
 */
int be_machine_expect(const struct be_node *plan, const struct be_node *environment,
		      struct be_error *err) BE_MUST_CHECK;

#endif
