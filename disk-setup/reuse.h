/* `earlier: reuse`: a layout that an earlier run of the same plan has left whole is taken instead of made anew. */
#ifndef BE_REUSE_H
#define BE_REUSE_H

#include "device.h"
#include "setup.h"

/* Does the plan want an earlier layout reused? */
bool be_reuse_asked(const struct be_node *plan);
/*
 * Sets @reused when the devices carry just what this plan's commands make, made to the end: arrays are assembled, file
 * systems mounted, and the read-back shows no difference. Otherwise everything is taken down again, and layout.earlier
 * says why. Nothing is overwritten.
 */
int be_reuse_try(struct be_setup *setup, const struct be_node *plan, const struct be_devices *devices, bool *reused,
		 struct be_error *err) BE_MUST_CHECK;
/*
 * Writes all that was made to the devices, and then the label that says so. A file system without it was perhaps not
 * made to the end, as after a power cut, and is not reused.
 */
int be_reuse_mark(struct be_setup *setup, const struct be_node *plan, struct be_error *err) BE_MUST_CHECK;

#endif
