/* The workload's steps: run one by one, watched, with all that they print kept for delivery. */
#ifndef BE_STEPS_H
#define BE_STEPS_H

#include "initrd/guest.h"

/* How many steps come before the first of role "run", and whether there is one. */
size_t be_steps_before_run(const struct be_guest *guest);
bool be_steps_any_run(const struct be_guest *guest);

/*
 * Run the steps before the first measured one, and all from it on, in order; the first that fails ends it. On failure
 * the guest's outcome says which step and why. Output goes to workload/NAME.out and .err below the state folder.
 */
int be_steps_prepare(struct be_guest *guest, struct be_error *err) BE_MUST_CHECK;
int be_steps_run(struct be_guest *guest, struct be_error *err) BE_MUST_CHECK;
/* Ends what steps of role "daemon" started. */
void be_steps_stop_daemons(struct be_guest *guest);

#endif
