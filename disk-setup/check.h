/* Disk safety (the design's section 8): what is looked at before anything is written, for all devices first. */
#ifndef BE_CHECK_H
#define BE_CHECK_H

#include "device.h"
#include "setup.h"

/*
 * Decides on every device and fills @setup->found. Returns -1 when one or more are refused; the error names each device
 * with the finding, the hint says what would permit the first. Writes nothing.
 */
int be_check_devices(struct be_setup *setup, const struct be_node *plan, struct be_devices *devices,
		     struct be_error *err) BE_MUST_CHECK;
/*
 * For people, when be_devices_wait has failed: decides on those devices that are there, all the same, and fills
 * @setup->found with these and the missing ones.
 */
void be_check_present(struct be_setup *setup, const struct be_node *plan);
/* Adds a refusal of @device; @remedy (taken over) says what would permit it. */
void be_refuse(struct be_device *device, char *remedy, const char *fmt, ...) BE_PRINTF(3, 4);
/* Do the commands of layout.load make the devices of @kind (brd, srd)? Then there are none before they ran. */
bool be_device_is_made(const struct be_node *plan, const char *kind);

#endif
