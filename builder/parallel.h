/* The same work on many independent items, on as many threads as there are CPUs. */
#ifndef BE_PARALLEL_H
#define BE_PARALLEL_H

#include <stddef.h>

#include "base/error.h"

/*
 * Calls work(data, i) for i from 0 to n - 1, in this order but several at once. Ends early after a failure; the error
 * is that of the smallest i that failed. Signals stay with the calling thread.
 */
int be_parallel(size_t n, int (*work)(void *data, size_t i, struct be_error *err), void *data,
		struct be_error *err) BE_MUST_CHECK;

#endif
