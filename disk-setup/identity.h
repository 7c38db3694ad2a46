/* Is it the device that the plan means: kind, size, one of its name, no two plan names for one disk. */
#ifndef BE_IDENTITY_H
#define BE_IDENTITY_H

#include "device.h"
#include "setup.h"

/* Refuses a device that is not what the plan states: kind, size, read-only, a name that two devices claim. */
void be_check_identity(const struct be_setup *setup, struct be_device *device);
/* Refuses plan devices that are the same device, or a disk and a partition of it. */
void be_check_overlap(struct be_devices *devices);
/* Members of unequal size: a deviation, or with `expect: refuse` a refusal of the array's members. */
void be_check_members(struct be_setup *setup, const struct be_node *plan, struct be_devices *devices);

#endif
