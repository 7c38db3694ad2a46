/* layout.swaps: devices and files that the kernel pages to. */
#ifndef BE_SWAP_H
#define BE_SWAP_H

#include "setup.h"

/* Makes each with its mkswap command (with our mark) and switches it on; files are made first, without holes. */
int be_swaps_make(struct be_setup *setup, const struct be_node *plan, struct be_error *err) BE_MUST_CHECK;
/* Reads /proc/swaps into @out (a sequence); one that is missing, smaller or of another priority is an error. */
int be_swaps_read(struct be_setup *setup, const struct be_node *plan, struct be_node *out,
		  struct be_error *err) BE_MUST_CHECK;
/* Switches off what of the plan is on; it has to be before file systems are unmounted and arrays stopped. */
int be_swaps_off(struct be_setup *setup, const struct be_node *plan, struct be_error *err) BE_MUST_CHECK;

#endif
