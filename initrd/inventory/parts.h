/* The parts of an inventory: each sets keys of the host file, and adds lines that become comments. */
#ifndef BE_INVENTORY_PARTS_H
#define BE_INVENTORY_PARTS_H

#include "base/file.h"
#include "base/node.h"

struct be_host_draft {
	const struct be_root *root;
	bool private;
	struct be_node *host;    /* the keys that are known */
	struct be_strv unknown;  /* "KEY: why it is not known" */
	struct be_strv unlisted; /* disks and partitions that no list names: "PATH: why" */
	struct be_strv others;   /* what a host file has no key for */
};

/* model, nr_cpu, nr_socket, nr_node, brand, ucode, firmware and board */
void be_inventory_machine(struct be_host_draft *draft);
/* memory and node_memory */
void be_inventory_memory(struct be_host_draft *draft);
/* hdd_partitions, ssd_partitions and disks */
int be_inventory_disks(struct be_host_draft *draft, struct be_error *err) BE_MUST_CHECK;
/* boot_params and pmem_origin of persistent memory */
void be_inventory_pmem(struct be_host_draft *draft);
/* Network controllers and their drivers, which a host file has no key for. */
void be_inventory_network(struct be_host_draft *draft);

/* A size as host files write it, the largest of 256G, 64M, 4K and 512 that is exact. The caller frees. */
char *be_inventory_size(int64_t bytes);

#endif
