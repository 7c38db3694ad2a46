/* What a device carries, and what of it is ours (libblkid's low-level probe). */
#ifndef BE_SIGNATURE_H
#define BE_SIGNATURE_H

#include <stdbool.h>

#include "device.h"

/*
 * Everything that mkbenchenv makes carries a UUID whose first eight bytes spell "benchenv": 62656e63-6865-6e76-....
 * mkfs and mdadm take it as an argument, so the mark is there from the first write, it stays when the machine crashes,
 * and it changes nothing that a workload could feel.
 */
#define BE_UUID_PREFIX "62656e63-6865-6e76-"
/* f2fs takes no UUID in the releases that we support; there the label is the mark. */
#define BE_FS_LABEL "benchenv"

/* The type of data without a signature: `overwrite: [unknown]` permits it. */
#define BE_UNKNOWN_DATA "unknown"

bool be_signature_ours(const struct be_signature *signature);
/* "btrfs (label X, made by mkbenchenv)". The caller frees. */
char *be_signature_text(const struct be_signature *signature);
/* The UUID of something that is made of @paths: always the same for the same paths, another for others. */
void be_signature_uuid(const struct be_strv *paths, char uuid[37]);

/*
 * Adds every superblock and partition table on @node to @device->signatures; BE_UNKNOWN_DATA when there is none, and
 * the first or the last MiB is not all zeros. @node is opened read-only.
 */
int be_signature_probe(struct be_device *device, const char *node, struct be_error *err) BE_MUST_CHECK;
/* The same without a look for unknown data. */
int be_signature_list(struct be_device *device, const char *node, struct be_error *err) BE_MUST_CHECK;
/* Erases all signatures of @node (opened exclusively) and makes sure that none is left. Adds their names to @wiped. */
int be_signature_wipe(const char *node, struct be_strv *wiped, struct be_error *err) BE_MUST_CHECK;
/* The type in the partition table of the partition @node: a GUID, or "0x83"; NULL when it has none. The caller frees.
 */
char *be_signature_partition_type(const char *node);
/*
 * The UUID of the file system of @kind (as libblkid names it) on @node, NULL when there is none. It looks for that one
 * kind, so it is for what was just mounted: be_signature_probe tells what else a device carries. The caller frees.
 */
int be_signature_filesystem(const char *node, const char *kind, char **uuid, struct be_error *err) BE_MUST_CHECK;

#endif
