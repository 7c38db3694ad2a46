/* A block device that the plan names, as sysfs and udev's database describe it. */
#ifndef BE_DEVICE_H
#define BE_DEVICE_H

#include "base/file.h"
#include "base/node.h"

/* One superblock or partition table found on a device (libblkid). */
struct be_signature {
	char *type;  /* libblkid's name: btrfs, linux_raid_member, crypto_LUKS, gpt, dos ... */
	char *label; /* or NULL */
	char *uuid;  /* or NULL */
	bool table;  /* a partition table */
};

struct be_device {
	const struct be_node *stanza; /* of layout.devices; lives as long as the plan */
	const struct be_node *disk;   /* of machine.disks, or NULL */
	const char *name;             /* disk0 */
	const char *path;             /* as the plan writes it */
	const char *kind;             /* hdd ssd nvme pmem brd */
	char *kernel;                 /* kernel name: sda1 */
	char *whole;                  /* kernel name of the whole disk: sda */
	char *node;                   /* device file that path leads to, with the root's prefix */
	unsigned major, minor;
	int64_t size;      /* bytes, of this device */
	int64_t disk_size; /* bytes, of the whole disk */
	bool rotational;
	bool dax;          /* queue/dax */
	char *write_cache; /* "write back", "write through", or NULL */
	char *model, *serial;
	/* What the checks decide. */
	const char *owned; /* why everything on it is ours to overwrite, or NULL */
	struct be_signature *signatures;
	size_t nsignatures;
	struct be_strv stop;     /* idle md arrays that hold it: stopped before it is written */
	char *namespace;         /* raw NVDIMM namespace to make an fsdax one of, or NULL */
	struct be_strv refusals; /* findings; empty: it may be written */
	struct be_strv remedies; /* what would permit each of them */
};

struct be_devices {
	struct be_device *v;
	size_t n;
};
void be_devices_free(struct be_devices *devices);
/* Frees the signatures alone. */
void be_device_forget(struct be_device *device);
#define be_autodevices be_cleanup(be_devices_free)

/* The running system, not a recorded one: only there can a device be asked whether somebody has it open. */
bool be_device_is_real(const struct be_root *root);
/*
 * The kernel name behind @path (a device file or a link to one, as udev makes them): looked up in /dev and
 * /sys/class/block below @root. NULL when there is none yet. @node, if not NULL, gets the device file. The caller frees
 * both.
 */
char *be_device_kernel_name(const struct be_root *root, const char *path, char **node);
/* Kernel name of the whole disk of @kernel: itself unless it is a partition. The caller frees. */
char *be_device_whole(const struct be_root *root, const char *kernel);
/* "/sys/class/block/KERNEL/ATTR" as text or NULL. The caller frees. */
/* One path of several to an NVMe disk, which has a name of its own beside the disk's. */
bool be_device_is_hidden(const struct be_root *root, const char *kernel);
char *be_device_attr(const struct be_root *root, const char *kernel, const char *attr);
/* A property of a block device in udev's database, such as ID_MODEL; NULL when udev does not know it. The caller frees.
 */
char *be_device_udev(const struct be_root *root, unsigned major, unsigned minor, const char *key);
/* The numbers ("8:16") of the devices that claim the name @path, in /dev/disk, as udev's database has them. */
void be_device_claimants(const struct be_root *root, const char *path, struct be_strv *numbers);
/* Sets @key of @map to what the kernel says: a number where it reads as one, nothing where @text is NULL. */
void be_device_set_value(struct be_node *map, const char *key, const char *text);
/* The same with an attribute of @kernel. */
void be_device_set_attr(struct be_node *map, const char *key, const struct be_root *root, const char *kernel,
			const char *attr);
int64_t be_device_size(const struct be_root *root, const char *kernel); /* bytes; -1: not known */
/* Fills everything above "What the checks decide" from @stanza and what is there. */
int be_device_identify(const struct be_root *root, const struct be_node *plan, const struct be_node *stanza,
		       struct be_device *device, struct be_error *err) BE_MUST_CHECK;
/* The device for manifests: path, kernel, disk, size, rotational, write_cache, model, serial. The caller frees. */
struct be_node *be_device_node(const struct be_device *device);
/* "sda1 (3.0 TB ...)": kernel name, size and model of a whole disk, for messages. The caller frees. */
char *be_device_describe(const struct be_root *root, const char *kernel);

/*
 * Waits until every device of layout.devices is there, at most layout.wait seconds, and identifies them. A device that
 * does not come is an error that names what is missing and what is there instead.
 */
int be_devices_wait(const struct be_root *root, const struct be_node *plan, void (*log)(const char *line),
		    struct be_devices *devices, struct be_error *err) BE_MUST_CHECK;

#endif
