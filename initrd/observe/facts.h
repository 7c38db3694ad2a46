/* What only the run itself knows, under the names that the catalogue gives it (factors/probes.txt, section "run"). */
#ifndef BE_FACTS_H
#define BE_FACTS_H

#include "initrd/guest.h"

/* Known just before the measured steps: commands, environment, what disk-setup did. */
void be_facts_before(struct be_guest *guest);
/* Known when the steps have ended: elapsed time, what ended them, dirty limits. */
void be_facts_after(struct be_guest *guest);

/*
 * What ended the measured steps, which took @elapsed seconds: @asked is the time that the recipe asks for, or 0; @state
 * is the outcome's.
 */
const char *be_ended_by(const char *state, double elapsed, double asked);

#endif
