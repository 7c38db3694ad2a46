/* What could not be had as it was asked: the `deviations:` of plans, twins, set-ups and observations. */
#ifndef BE_DEVIATION_H
#define BE_DEVIATION_H

#include "base/node.h"

/* Adds {topic, text} to the sequence @deviations, unless the same stands there already. */
void be_deviation(struct be_node *deviations, const char *topic, const char *fmt, ...) BE_PRINTF(3, 4);

#endif
