/* udev, from the image's systemd-udevd: it makes the /dev/disk/by-id names by which plans name disks. */
#ifndef BE_UDEV_H
#define BE_UDEV_H

#include "base/error.h"

/* Starts the daemon. Returns 0; -1 when the image has none or it does not start. */
int be_udev_start(struct be_error *err) BE_MUST_CHECK;
/* Announces the block and pmem devices that are there already, and waits until udev has named them. */
int be_udev_settle(struct be_error *err) BE_MUST_CHECK;

#endif
