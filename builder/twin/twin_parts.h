/* The parts of a twin, each in a file of its own; only the twin's own files include this. */
#ifndef BE_TWIN_PARTS_H
#define BE_TWIN_PARTS_H

#include "builder/twin/twin.h"
#include "deviation.h"

#define MIB (1LL << 20)
#define GIB (1LL << 30)
#define TWIN_NODES 16   /* NUMA nodes at most; the largest machine of the lab has 8 */
#define TWIN_REGIONS 16 /* persistent memory regions at most */

struct twin_memory {
	int64_t nodes;            /* at least 1 */
	int64_t node[TWIN_NODES]; /* bytes, with the regions that lie in it */
	int64_t total;            /* sum over the nodes */
	int64_t below_4g;         /* RAM below 4 GiB; 0: as QEMU has it */
	int64_t regions;          /* memmap=SIZE!START regions that the command line asks for */
	int64_t start[TWIN_REGIONS], region_size;
	int64_t nvdimms, nvdimm[TWIN_REGIONS];
};

/* A text as the value of a QEMU option: commas doubled. The caller frees. */
char *twin_value(const char *text);

/* twin_memory.c: how much memory, on which nodes, and where persistent memory lies. */
int twin_plan_memory(const struct be_twin_request *request, struct be_twin *twin, struct twin_memory *memory,
		     struct be_error *err) BE_MUST_CHECK;
void twin_add_memory(const struct be_twin_request *request, const struct twin_memory *memory, struct be_twin *twin);
/* The image's command line as this machine needs it. */
void twin_make_cmdline(const struct be_twin_request *request, const struct twin_memory *memory, struct be_twin *twin);

/* twin_disks.c */
int twin_add_disks(const struct be_twin_request *request, struct be_twin *twin, struct be_error *err) BE_MUST_CHECK;
/* A file of @size bytes for the twin; returns its name, which belongs to the twin. */
const char *twin_add_file(struct be_twin *twin, const char *name, int64_t size, int64_t partitions);

#endif
