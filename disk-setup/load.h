/* layout.load: the commands that make devices (brd, scsi_debug) or their drivers appear. */
#ifndef BE_LOAD_H
#define BE_LOAD_H

#include "setup.h"

/*
 * Runs the commands. One that fails is a deviation: what it was to bring is missed, or compared, later. So is a module
 * parameter that the kernel then has with another value.
 */
void be_load_run(struct be_setup *setup, const struct be_node *plan);
/* Does a command of layout.load name @module? */
bool be_load_names(const struct be_node *plan, const char *module);
/* Did this run load @module, after it had been unloaded or was not there? Then its devices are new and nobody's. */
bool be_load_is_fresh(const struct be_setup *setup, const char *module);
/*
 * scsi_debug's disks have no names that tell them apart before they are there. The plan calls them
 * /dev/disk/by-id/scsi-scsi_debug-I; this makes those links, I counting them by SCSI address, and waits a while for
 * them.
 */
void be_load_link_scsi_debug(struct be_setup *setup, const struct be_node *plan);

#endif
