/* The steps of layout.c: which devices, which arrays, which file systems. */
#ifndef BE_LAYOUT_PARTS_H
#define BE_LAYOUT_PARTS_H

#include "deviation.h"
#include "layout.h"

struct be_layout_state {
	const struct be_layout_request *req;
	struct be_node *deviations;
	struct be_node *layout;    /* being made */
	struct be_strv partitions; /* device paths that the next step uses, in LKP's order */
	const char *raid;          /* raid0 .. raid10, braid0 .. as LKP's raid_level; NULL: none */
};

/*
 * The paths of @key (hdd_partitions, ssd_partitions) of a host file, globs resolved by the count @nr_key, or where the
 * host file does not say it so that there are at least @wanted.
 */
int be_layout_paths(const struct be_node *host, const char *key, const char *nr_key, int64_t wanted,
		    struct be_node *deviations, struct be_strv *paths, struct be_error *err);
/* The disk that a partition's path lies on: /dev/disk/by-id/X-part1 -> X, /dev/nvme0n1p2 -> nvme0n1. Caller frees. */
char *be_layout_disk_id(const char *path, int64_t *partition);

int be_layout_devices(struct be_layout_state *s, struct be_error *err);     /* disk: */
int be_layout_arrays(struct be_layout_state *s, struct be_error *err);      /* md: */
int be_layout_filesystems(struct be_layout_state *s, struct be_error *err); /* fs: */

int be_layout_swaps(struct be_layout_state *s, struct be_error *err); /* swap: */
/* Adds a device to layout.devices and to the partitions that the next step uses; @size 0: not stated. */
struct be_node *be_layout_add_device(struct be_layout_state *s, const char *kind, const char *path, const char *disk,
				     int64_t size);

bool be_layout_is_filesystem(const char *kind); /* can mkfs or mount make it? */
/* The entry of machine.disks with @id, or NULL. */
const struct be_node *be_layout_disk(const struct be_node *disks, const char *id);
/* The last part of a path. */
const char *be_layout_base(const char *path);

#endif
