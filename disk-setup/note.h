/* Deviations and progress of disk-setup. */
#ifndef BE_NOTE_H
#define BE_NOTE_H

#include "setup.h"

/* Adds {topic, text} to @deviations. */
void be_note(struct be_node *deviations, const char *topic, const char *fmt, ...) BE_PRINTF(3, 4);
/* One line of progress, when somebody listens. */
void be_setup_log(const struct be_setup *setup, const char *fmt, ...) BE_PRINTF(2, 3);

#endif
