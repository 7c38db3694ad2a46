/* File systems: made with the plan's mkfs commands, mounted by libmount, read back from the kernel. */
#ifndef BE_FILESYSTEM_H
#define BE_FILESYSTEM_H

#include "setup.h"

/* Runs every mkfs of layout.filesystems at the same time, as LKP does, each with our mark. */
int be_filesystems_make(struct be_setup *setup, const struct be_node *plan, struct be_error *err) BE_MUST_CHECK;
/* The UUID that marks a file system as ours: always the same for the same mkfs command, another for others. */
void be_filesystem_uuid(const struct be_node *stanza, char uuid[37]);
/* The argument vector of a stanza's mkfs with the option that marks the file system as ours. */
void be_filesystem_mkfs_argv(const struct be_node *stanza, struct be_strv *argv);
int be_filesystems_mount(struct be_setup *setup, const struct be_node *plan, struct be_error *err) BE_MUST_CHECK;
/*
 * Reads what is mounted into @out (a sequence) and compares it: another type or source is an error, a planned option
 * that the kernel does not show is a deviation.
 */
int be_filesystems_read(struct be_setup *setup, const struct be_node *plan, struct be_node *out,
			struct be_error *err) BE_MUST_CHECK;
/* Does the kernel's option list @options (or NULL) show @option, which may be "name" or "name=value"? */
bool be_mount_option_there(const char *options, const char *option);
/* Unmounts, last one first, what of the plan is mounted; other people's mounts in its places stay. */
int be_filesystems_unmount(struct be_setup *setup, const struct be_node *plan, struct be_error *err) BE_MUST_CHECK;

#endif
