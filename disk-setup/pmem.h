/* Persistent memory: ranges that the kernel command line sets aside, and NVDIMM namespaces. */
#ifndef BE_PMEM_H
#define BE_PMEM_H

#include "device.h"
#include "setup.h"

/* @whole is an e820 range of a kernel that was started with memmap=SIZE!START: its content is nobody's. */
bool be_pmem_is_memory(const struct be_root *root, const char *whole);
/*
 * An NVDIMM in raw mode has no DAX. With machine.pmem_origin `nvdimm` it is to become an fsdax namespace
 * (device->namespace), provided that it carries nothing foreign; otherwise that is a deviation.
 */
void be_pmem_check(const struct be_setup *setup, const struct be_node *plan, struct be_device *device);
/* Makes the namespaces and identifies their devices again. */
int be_pmem_make(struct be_setup *setup, struct be_devices *devices, struct be_error *err) BE_MUST_CHECK;
/* Namespace, mode, UUID, region and NUMA node of @whole as a map; NULL when it is no pmem device. The caller frees. */
struct be_node *be_pmem_identity(const struct be_root *root, const char *whole);

#endif
