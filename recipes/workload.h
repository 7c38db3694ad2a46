/* Workloads are data (SCHEMA.md, section 4); this turns a definition and a job's parameters into argument vectors. */
#ifndef BE_WORKLOAD_H
#define BE_WORKLOAD_H

#include "base/node.h"

struct be_machine_size {
	int64_t nr_cpu, nr_node, memory; /* memory in bytes; 0: not known */
};

/*
 * Renders the steps of @workload, the `workload:` of a plan (definition, parameters, storages, prefix), for a machine.
 * @rules is the date of the harness rules. Sets @steps (a sequence) and @values (SCHEMA.md: asked, of, base, value). A
 * count that would come to 0 is 1 and says so in @notes. The planner calls it with the host file's size, the guest with
 * the size of the machine that is there.
 */
int be_workload_render(const struct be_node *workload, const char *testdir, const struct be_machine_size *size,
		       const char *rules, struct be_node **steps, struct be_node **values, struct be_strv *notes,
		       struct be_error *err) BE_MUST_CHECK;

/*
 * Renders one list of the definition (packages, needs, files, modules, modules_wanted) as the steps' lists are, but
 * without the parameters' values: only lists that the job gives can be used. A definition without it gives an empty
 * list.
 */
int be_workload_list(const struct be_node *workload, const char *key, const char *rules, struct be_strv *out,
		     struct be_error *err) BE_MUST_CHECK;

/*
 * Adds the entries of `settings` or `deviations` of the definition that hold on this day and for these parameters,
 * their texts rendered, to the sequence @out.
 */
int be_workload_entries(const struct be_node *workload, const char *key, const char *testdir,
			const struct be_machine_size *size, const char *rules, struct be_node *out,
			struct be_error *err) BE_MUST_CHECK;

#endif
