/* Deviations and progress of disk-setup. */
#ifndef BE_NOTE_H
#define BE_NOTE_H

#include "deviation.h"
#include "setup.h"

/* One line of progress, when somebody listens. */
void be_setup_log(const struct be_setup *setup, const char *fmt, ...) BE_PRINTF(2, 3);

#endif
