/* Erasing old signatures, recorded as actions. */
#ifndef BE_WIPE_H
#define BE_WIPE_H

#include "device.h"
#include "setup.h"

/* Erases the signatures of the plan's devices that an array, a file system or swap is made on; be_check_devices has
 * permitted each. A disk for raw use keeps what it has. */
int be_wipe_all(struct be_setup *setup, const struct be_node *plan, struct be_devices *devices,
		struct be_error *err) BE_MUST_CHECK;
/* The same for one device that this run made (an array whose old file system shows through). */
int be_wipe_device(struct be_setup *setup, const char *path, struct be_error *err) BE_MUST_CHECK;

#endif
