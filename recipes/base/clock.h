/* Time for limits and durations, which setting the date does not change. */
#ifndef BE_BASE_CLOCK_H
#define BE_BASE_CLOCK_H

double be_monotonic(void);            /* seconds since some moment */
void be_pause(unsigned milliseconds); /* a signal that is caught ends it early */

#endif
