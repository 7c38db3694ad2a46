/* Kernel modules, by libkmod: those that the plan names and those that the machine's devices ask for. */
#ifndef BE_MODULES_H
#define BE_MODULES_H

#include "base/file.h"

/*
 * Loads a module with its dependencies. One built into the kernel counts as there. Returns 0; -1 with errno and @err:
 * ENOENT when the image does not hold it.
 */
int be_module_load(const char *name, struct be_error *err);

/*
 * Is @name a module of the kernel's drivers/ folder? Such a one waits for its device: loading every network driver of
 * an image only because it is there would change the machine under test.
 */
bool be_module_is_driver(const char *name);

/*
 * Loads what the modalias files of the devices below @root name, again and again until no new device appears (a host
 * adapter brings disks, a disk brings sd_mod). Devices without a module in the image stay without a driver. Returns
 * how many aliases were found.
 */
size_t be_modules_coldplug(const struct be_root *root);

#endif
