/* Devices that are named by what they carry (by-label, by-uuid): the name is gone once that is overwritten. */
#ifndef BE_RESOLVE_H
#define BE_RESOLVE_H

#include "device.h"
#include "setup.h"

/* Is @path such a name? */
bool be_resolve_by_content(const char *path);
/*
 * A plan of nothing but a copy of @plan's layout, which calls such devices by the kernel's name that setup->found has
 * for them. The caller frees.
 */
struct be_node *be_resolve_plan(const struct be_setup *setup, const struct be_node *plan);
/* Points @devices to the stanzas of @resolved; those have the same order. */
void be_resolve_devices(const struct be_node *resolved, struct be_devices *devices);

#endif
