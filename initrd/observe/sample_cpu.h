/* The frequency that a CPU really ran at, from its own counters. */
#ifndef BE_SAMPLE_CPU_H
#define BE_SAMPLE_CPU_H

#include "base/node.h"
#include "initrd/observe/scopes.h"

/*
 * A map CPU number -> {aperf, mperf, tsc} for every CPU whose /dev/cpu/N/msr can be read (module msr); an empty map
 * where none can (a virtual machine has no such counters).
 */
struct be_node *be_sample_cpus(const struct be_root *root, const struct be_scopes *scopes);

/*
 * Mean frequency in MHz between two such readings that are @seconds apart: MPERF counts at the speed of the TSC while
 * the CPU is not asleep, APERF at its real speed. 0 when the counters did not move.
 */
double be_effective_mhz(const struct be_node *begin, const struct be_node *end, double seconds);

#endif
