/*
 * Disk layouts as LKP's set-ups make them: `disk:`, `md:` and `fs:` of a job, on the partitions of a host file, become
 * the `layout:` of a plan (SCHEMA.md, section 2) with the very commands that the harness ran on the rules' day.
 */
#ifndef BE_LAYOUT_H
#define BE_LAYOUT_H

#include "base/node.h"

/*
 * All the disks that @host names, one entry each (machine.disks), in the order of hdd_partitions, ssd_partitions. A
 * glob stands for as many paths as nr_*_partitions says: which names they have only the machine knows, and the layout
 * that uses them says so. Fails on a size that is none.
 */
struct be_node *be_layout_disks(const struct be_node *host, struct be_error *err);

/* The link that udev makes for LABEL=, UUID=, PARTLABEL= or PARTUUID= of a host file; NULL for others. Caller frees. */
char *be_layout_tag_path(const char *word);

struct be_layout_request {
	const struct be_node *job, *host;
	const char *host_name;
	const struct be_node *disks; /* be_layout_disks(); pmem devices are added to it */
	const char *date;            /* of the harness rules */
};

/* NULL on failure. A job without `disk:` and `fs:` gives a layout with an empty list of devices and testdir "/". */
struct be_node *be_layout_make(const struct be_layout_request *request, struct be_node *deviations,
			       struct be_error *err);

/* The file system kind that a job asks (`fs: ext4`, `fs: {fs: ext4}`, `testfile: ext4`), or NULL. */
const char *be_layout_filesystem(const struct be_node *job);

#endif
