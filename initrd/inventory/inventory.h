/* A machine described as an LKP host file, from what it says of itself; nothing is guessed and nothing is written. */
#ifndef BE_INVENTORY_H
#define BE_INVENTORY_H

#include "base/file.h"

/*
 * The text of a host file (the forms that recipes/host.c reads) of the machine below @root: of the running one, or of a
 * recorded tree of /proc, /sys, /dev and /run. What cannot be known, and disks that somebody may own, stand in it as
 * comments. @private adds the host name and MAC addresses, as comments. Block devices are opened for reading only, and
 * only of the running machine. Returns NULL when there is no machine to read. The caller frees.
 */
char *be_inventory(const struct be_root *root, bool private, struct be_error *err);

#endif
