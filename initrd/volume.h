/*
 * Delivery to a disk partition or a USB stick. It is known by its label alone, which somebody gave it for this purpose
 * and no other; every other device is only read. It is mounted while something is written and no longer.
 */
#ifndef BE_VOLUME_H
#define BE_VOLUME_H

#include "base/file.h"

#define BE_VOLUME_LABEL "BENCHRESULT"    /* of the file system; FAT has room for these 11 characters */
#define BE_VOLUME_WORD "benchenv.volume" /* on the kernel's command line: asks for it */

struct be_volume {
	char *node;  /* device file */
	char *type;  /* of its file system, as libblkid and mount(2) name it */
	char run[9]; /* random: the name of this delivery's file holds it */
};
void be_volume_free(struct be_volume *volume);

/*
 * Looks among the block devices below @root for the one that carries a file system with the label, for up to @wait
 * seconds. An error when there is none, when there are two, when it is read-only, and when something else is on the
 * same device (a partition table, a member of an array).
 */
int be_volume_find(const struct be_root *root, double wait, struct be_volume *volume,
		   struct be_error *err) BE_MUST_CHECK;
/*
 * Writes all of the file @stream to the volume: as benchenv-RUN.part, and when it is @complete under its last name,
 * benchenv-RUN.tar. Everything is on the device when this returns.
 */
int be_volume_write(const struct be_volume *volume, int stream, bool complete, struct be_error *err) BE_MUST_CHECK;

#endif
