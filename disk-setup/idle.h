/* md arrays of yesterday that udev has brought up again: which may be stopped because nobody can miss them. */
#ifndef BE_IDLE_H
#define BE_IDLE_H

#include "device.h"
#include "setup.h"

/*
 * Adds to @device->stop the arrays that hold it (or, of a whole disk, its partitions), that nothing uses, and that are
 * either mkbenchenv's own or, on a device that the host file says is the lab's (device->owned), made only of the plan's
 * and the host file's disks. An array that is used is a refusal.
 */
int be_idle_arrays(const struct be_setup *setup, const struct be_node *plan, struct be_device *device,
		   struct be_error *err) BE_MUST_CHECK;

#endif
