/* Kernel support that comes as modules: loaded by name, for a kernel that finds no /sbin/modprobe to call by itself. */
#ifndef BE_SUPPORT_H
#define BE_SUPPORT_H

#include "setup.h"

/* Loads the module of file system @kind unless /proc/filesystems has it (LKP does so since 2020-03-18). What cannot be
 * loaded shows when it is mounted. */
void be_support_filesystem(struct be_setup *setup, const char *kind);
/* The same for an md level and /proc/mdstat. */
void be_support_level(struct be_setup *setup, const char *level);

#endif
