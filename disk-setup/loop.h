/* Loop devices on files of the initrd: devices with `file:` in layout.devices. */
#ifndef BE_LOOP_H
#define BE_LOOP_H

#include "setup.h"

/* Makes each file anew, as long as the device's `size:` and with holes, and attaches it. A device in use is an error.
 */
int be_loops_attach(struct be_setup *setup, const struct be_node *plan, struct be_error *err) BE_MUST_CHECK;
/* Detaches what is attached to the plan's files and removes the files. */
int be_loops_detach(struct be_setup *setup, const struct be_node *plan, struct be_error *err) BE_MUST_CHECK;

#endif
