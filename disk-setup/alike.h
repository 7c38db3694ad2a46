/* Disks that a plan's kernel name (/dev/sda) could stand for as well. */
#ifndef BE_ALIKE_H
#define BE_ALIKE_H

#include "device.h"
#include "setup.h"

/* Adds the kernel names of the whole disks that the plan's devices and the host file's disks stand for. */
void be_named_disks(const struct be_root *root, const struct be_node *plan, struct be_strv *wholes);
/*
 * A kernel name follows the order in which disks are found: where another disk of the same driver, kind and size is
 * there, it does not say which is meant. Refused when plan and host file name that other disk nowhere, for it may be
 * somebody's; else only their order is in question, which is a deviation. The twin's disks are made in the plan's
 * order.
 */
void be_check_alike(struct be_setup *setup, const struct be_node *plan, struct be_devices *devices);

#endif
