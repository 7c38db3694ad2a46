/* The statement of a machine on which no workload of ours runs: what a manifest says of a run, as far as it can be
 * said. */
#ifndef BE_STATEMENT_H
#define BE_STATEMENT_H

#include "base/file.h"
#include "base/node.h"

/*
 * A plan (SCHEMA.md, section 2) that describes the machine below @root as it is: all its disks, arrays and mounted file
 * systems of block devices, and @testdir. @factors is the catalogue. The caller frees.
 */
struct be_node *be_statement_plan(const struct be_root *root, const char *testdir, const struct be_node *factors);

/*
 * The manifest of what is observed, result state `observed`. @readings are those of a recorded tree, or NULL.
 * @recorded, where not NULL, becomes what a recording keeps of it: {testcase, layout, environment}. The caller frees
 * both.
 */
struct be_node *be_statement_make(const struct be_root *root, const struct be_node *plan,
				  const struct be_node *readings, struct be_node **recorded);

#endif
