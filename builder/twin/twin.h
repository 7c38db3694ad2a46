/*
 * The QEMU machine that looks like the plan's lab machine. Making the description is pure (no file is touched), so that
 * tests compare whole argument vectors; what the twin cannot give is said in its deviations. QEMU runs in a folder of
 * its own and all names are relative to it, so that the vector says nothing of the machine that it ran on.
 */
#ifndef BE_TWIN_H
#define BE_TWIN_H

#include "base/node.h"

/* Files in the twin's folder, beside the kernel and the disks. */
#define BE_TWIN_INITRD "initrd.img"
#define BE_TWIN_CONSOLE "console.log"
#define BE_TWIN_DELIVERY "result.tar"
#define BE_TWIN_PORT "org.mkbenchenv.result" /* the virtio-serial port that init delivers to */
#define BE_TWIN_MIN_MEMORY (2048LL << 20)

struct be_twin_request {
	const struct be_node *plan;
	const char *cmdline;            /* the image's */
	const char *kernel;             /* file name: a bzImage or a vmlinux with a PVH entry */
	int64_t initrd_unpacked;        /* bytes that its files take in memory; 0: unknown */
	bool kvm;                       /* else TCG */
	const char *append;             /* --append: more kernel arguments, or NULL */
	int64_t memory, disk_size;      /* bytes; 0: chosen */
	int64_t cpus;                   /* 0: chosen */
	int64_t real_cpus, real_memory; /* of the machine that runs QEMU: processors, memory available */
	int qmp_fd;                     /* descriptor of the control channel that QEMU inherits; -1: none */
};

enum be_bus { BE_BUS_ATA, BE_BUS_SCSI, BE_BUS_VIRTIO, BE_BUS_NVME };

/* How a disk gets the name that the host file has for it. */
struct be_disk_identity {
	enum be_bus bus;
	char model[41], serial[21]; /* "" where the name does not tell */
	uint64_t wwn;               /* 0: none */
	bool by_rule;               /* QEMU and udev's own rules cannot give it: an added udev rule does */
};
void be_disk_identify(const char *id, struct be_disk_identity *out);

/* A file that must be made before the twin starts. */
struct be_twin_disk {
	char *name;
	int64_t size;
	int64_t partitions; /* 0: no partition table */
};

struct be_twin {
	struct be_strv argv;
	char *cmdline;
	char *rules; /* udev rules that must be added to the initrd (be_initrd_extend), or NULL */
	struct be_twin_disk *disks;
	size_t n_disks;
	struct be_node *deviations; /* sequence of {topic, text} */
	int64_t memory, cpus;
};
void be_twin_free(struct be_twin *twin);
#define be_autotwin be_cleanup(be_twin_free)

/* Describes the twin. An error means that no twin can be made, e.g. an option that contradicts the plan. */
int be_twin_make(const struct be_twin_request *request, struct be_twin *out, struct be_error *err) BE_MUST_CHECK;

#endif
