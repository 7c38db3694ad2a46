/* Time for limits and durations, which setting the date does not change. */
#ifndef BE_BASE_CLOCK_H
#define BE_BASE_CLOCK_H

double be_monotonic(void);            /* seconds since some moment */
double be_cpu_seconds(void);          /* that this thread has had a processor */
void be_pause(unsigned milliseconds); /* a signal that is caught ends it early */

#endif
