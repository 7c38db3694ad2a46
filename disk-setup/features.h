/* What a made file system is by its superblock and the kernel, beside what its mkfs command stated. */
#ifndef BE_FEATURES_H
#define BE_FEATURES_H

#include "setup.h"

/*
 * Adds to @node `features:` (names that are on) and `made:` (name -> value: block sizes, profiles ...) of the mounted
 * file system of @stanza, read from sysfs (btrfs, f2fs), dumpe2fs (ext2, ext3, ext4) or xfs_spaceman (xfs). @kernel:
 * the first device's name, @uuid: the file system's, or NULL.
 */
void be_features_read(struct be_setup *setup, const struct be_node *stanza, const char *kernel, const char *uuid,
		      struct be_node *node);
/*
 * Compares them with the options of the stanza's mkfs command that state a feature or a value, and with what the kind
 * and the number of devices mean. A difference is a deviation "fs.features".
 */
void be_features_compare(struct be_setup *setup, const struct be_node *stanza, const struct be_node *node);

#endif
