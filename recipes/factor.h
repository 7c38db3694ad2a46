/* The catalogue of factors and what two values of one mean to each other. */
#ifndef BE_FACTOR_H
#define BE_FACTOR_H

#include "base/node.h"

/* All stanzas of @data_dir/factors/, a sequence in catalogue order, each a map with `name:` and `group:` first. */
struct be_node *be_factors_load(const char *data_dir, struct be_error *err);

/*
 * Does @observed (a scalar, or a map instance -> scalar of which every one must match) give what was @wanted?
 * @compare is the factor's `compare:`; NULL means exact. Sizes with units and plain bytes compare as numbers by
 * `bytes`.
 */
bool be_value_matches(const char *compare, const char *wanted, const struct be_node *observed);

/* The same for a wanted value of any form: a list of which any will do, or a map instance -> wanted value. */
bool be_wanted_matches(const char *compare, const struct be_node *wanted, const struct be_node *observed);

/*
 * Are two observed values of a factor the same? Sizes and numbers count by value, lists that are sets without order; a
 * value that is one for all instances equals a map that has it for each. `capacity` allows what firmware keeps.
 */
bool be_values_same(const char *compare, const struct be_node *a, const struct be_node *b);

/*
 * The `environment:` of a manifest: every factor of @plan with requested, built, observed, after and verdict.
 * @built is a map factor -> value known to the builder (may be NULL); @before and @after are observation documents or
 * NULL (then the verdicts say that nothing was observed yet: `not observable: not booted yet`).
 */
struct be_node *be_environment_make(const struct be_node *plan, const struct be_node *built,
				    const struct be_node *before, const struct be_node *after);

#endif
