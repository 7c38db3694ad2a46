/*
 * What a run came to, on the console, for a lab that only reads along: a line each of the measured steps, of the
 * figures and of the whole,
 *
 *   init: case fio: pass 10.2 s
 *   init: case fio.read_iops: pass 51234 -
 *   init: case run: done 71.3 s
 *
 * The manifest is made from what is delivered, never from these.
 */
#ifndef BE_CASES_H
#define BE_CASES_H

#include "initrd/guest.h"

void be_cases_log(const struct be_guest *guest);
/* One of the lines. @seconds is its measurement. */
void be_case_log(const char *name, const char *result, double seconds);

#endif
