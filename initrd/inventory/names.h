/* The lasting names of block devices: /dev/disk/by-id. */
#ifndef BE_INVENTORY_NAMES_H
#define BE_INVENTORY_NAMES_H

#include "base/file.h"

/*
 * The name in /dev/disk/by-id that a host file should have for @kernel, a disk or partition: one with model and serial
 * number before a bare number, then the shortest, then the first in order. Only a name from which
 * recipes/layout_disks.c reads the right disk and partition counts. NULL when there is none. The caller frees.
 */
char *be_inventory_name(const struct be_root *root, const char *kernel, int64_t partition);

#endif
