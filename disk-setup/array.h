/* md arrays: made with the plan's own mdadm command, read back from sysfs. */
#ifndef BE_ARRAY_H
#define BE_ARRAY_H

#include "device.h"
#include "setup.h"

/* Stops our own idle arrays that the checks found (device->stop). */
int be_arrays_stop_old(struct be_setup *setup, struct be_devices *devices, struct be_error *err) BE_MUST_CHECK;
/* The UUID that marks an array as ours: always the same for the same mdadm command, another for others. */
void be_array_uuid(const struct be_node *array, char uuid[37]);
/* Waits until an array that mdadm has made or assembled runs. */
int be_array_wait(const struct be_setup *setup, const struct be_node *array, struct be_error *err) BE_MUST_CHECK;
/* Makes the arrays of layout.arrays and erases what shows through them from an earlier run. */
int be_arrays_make(struct be_setup *setup, const struct be_node *plan, struct be_error *err) BE_MUST_CHECK;
/*
 * Reads the arrays back into @out (a sequence) and compares them with the plan: another level, chunk, layout,
 * number or choice of members is an error, another bitmap, metadata version or a resync is a deviation.
 */
int be_arrays_read(struct be_setup *setup, const struct be_node *plan, struct be_node *out,
		   struct be_error *err) BE_MUST_CHECK;
/* Stops the plan's arrays, last one first; an array of other members under such a name stays. */
int be_arrays_stop(struct be_setup *setup, const struct be_node *plan, struct be_error *err) BE_MUST_CHECK;
/* Kernel name of the array that has the name of an array stanza; NULL: there is none. @running: one that is not
 * assembled far enough to run does not count. The caller frees. */
char *be_array_find(const struct be_root *root, const struct be_node *array, bool running);

#endif
