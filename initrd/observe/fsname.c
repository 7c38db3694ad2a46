/* Names of file systems by statfs(2)'s f_type; the numbers are those of linux/magic.h and of the file systems. */
#include <linux/magic.h>

#include "initrd/observe/observe.h"

#define F2FS_MAGIC 0xf2f52010UL
#define XFS_MAGIC 0x58465342UL
#define BCACHEFS_MAGIC 0xca451a4eUL
#define RAMFS_NUMBER 0x858458f6UL

char *be_fs_name(unsigned long type)
{
	static const struct {
		unsigned long type;
		const char *name;
	} names[] = {
		{ EXT4_SUPER_MAGIC, "ext4" }, /* ext2 and ext3 have the same; the ext4 driver serves all three */
		{ XFS_MAGIC, "xfs" },
		{ BTRFS_SUPER_MAGIC, "btrfs" },
		{ F2FS_MAGIC, "f2fs" },
		{ BCACHEFS_MAGIC, "bcachefs" },
		{ TMPFS_MAGIC, "tmpfs" },
		{ RAMFS_NUMBER, "ramfs" },
		{ NFS_SUPER_MAGIC, "nfs" },
		{ SMB2_SUPER_MAGIC, "cifs" },
		{ V9FS_MAGIC, "9p" },
		{ OVERLAYFS_SUPER_MAGIC, "overlay" },
		{ SQUASHFS_MAGIC, "squashfs" },
		{ SYSFS_MAGIC, "sysfs" },
		{ PROC_SUPER_MAGIC, "proc" },
		{ CGROUP_SUPER_MAGIC, "cgroup" },
		{ CGROUP2_SUPER_MAGIC, "cgroup2" },
	};
	for (size_t i = 0; i < BE_ARRAY_LEN(names); i++)
		if (names[i].type == type)
			return be_strdup(names[i].name);
	return be_strf("0x%lx", type);
}
