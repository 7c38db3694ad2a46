/* Is it a plan that disk-setup can trust to name all that it touches? */
#ifndef BE_SHAPE_H
#define BE_SHAPE_H

#include "base/node.h"

/*
 * Checks the kind of document and the parts of `layout:` that disk-setup uses: their shapes, and that no command names
 * a device which the plan does not list. Checks look at listed devices only, so that another one in an mkfs command
 * would be written unseen. Errors have status BE_USAGE and the place in the plan.
 */
int be_shape_check(const struct be_node *plan, struct be_error *err) BE_MUST_CHECK;

#endif
