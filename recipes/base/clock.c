#include "base/clock.h"

#include <time.h>

static double seconds_of(clockid_t clock)
{
	struct timespec ts;
	clock_gettime(clock, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

double be_monotonic(void)
{
	return seconds_of(CLOCK_MONOTONIC);
}

double be_cpu_seconds(void)
{
	return seconds_of(CLOCK_THREAD_CPUTIME_ID);
}

void be_pause(unsigned milliseconds)
{
	nanosleep(&(struct timespec){ .tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000L }, NULL);
}
