/* The workload's steps: run one by one, watched, with all that they print kept for delivery. */
#ifndef BE_STEPS_H
#define BE_STEPS_H

#include "initrd/guest.h"

/*
 * Runs the steps of @role ("prepare" or "run") in order; the first that fails ends it. On failure the guest's outcome
 * says which step and why. Output goes to workload/NAME.out and .err below BE_STATE_DIR.
 */
int be_steps_run(struct be_guest *guest, const char *role, struct be_error *err) BE_MUST_CHECK;

#endif
