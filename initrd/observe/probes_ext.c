/* ext2, ext3 and ext4 by their superblock, through libext2fs. A program a file system takes too long where there are
 * many. */
#include <e2p/e2p.h>
#include <ext2fs/ext2fs.h>
#include <string.h>

#include "initrd/observe/probes.h"

#define NAME_MAX_LEN 64 /* of a feature */

static void close_fs(ext2_filsys *fs)
{
	if (*fs)
		ext2fs_close_free(fs);
}

/* Features that a bit of @mask stands for, as mke2fs and dumpe2fs call them. */
static void add_features(struct be_node *list, int group, uint32_t bits)
{
	for (unsigned i = 0; i < 32; i++) {
		char name[NAME_MAX_LEN];
		uint32_t bit = 1u << i;
		if (!(bits & bit))
			continue;
		e2p_feature_to_string(group, bit, name, sizeof(name));
		be_add_str(list, name);
	}
}

static struct be_reading features(const struct ext2_super_block *super)
{
	struct be_node *list = be_node_seq();
	add_features(list, E2P_FEATURE_COMPAT, super->s_feature_compat);
	add_features(list, E2P_FEATURE_INCOMPAT, super->s_feature_incompat);
	add_features(list, E2P_FEATURE_RO_INCOMPAT, super->s_feature_ro_compat);
	return be_reading_value(list);
}

/* The superblock keeps a copy of the journal's inode; its last two words are the size. */
static struct be_reading journal(const struct ext2_super_block *super)
{
	if (!(super->s_feature_compat & EXT3_FEATURE_COMPAT_HAS_JOURNAL))
		return be_reading_absent("the file system has no journal");
	if (super->s_journal_dev)
		return be_reading_not_observable("the journal is on a device of its own");
	if (super->s_jnl_backup_type != EXT3_JNL_BACKUP_BLOCKS)
		return be_reading_not_observable("the superblock has no copy of the journal's inode");
	uint64_t size = ((uint64_t)super->s_jnl_blocks[15] << 32) | super->s_jnl_blocks[16];
	return be_reading_value(be_node_int((int64_t)size));
}

struct be_reading be_probe_ext_super(const struct be_look *look)
{
	be_cleanup(close_fs) ext2_filsys fs = NULL;
	be_autofree char *path = be_root_path(&look->o->root, look->path);
	errcode_t rc = ext2fs_open(path, EXT2_FLAG_SUPER_ONLY | EXT2_FLAG_64BITS | EXT2_FLAG_FORCE, 0, 0,
				   unix_io_manager, &fs);
	if (rc)
		return be_reading_not_observable("%s: %s", look->path, error_message(rc));
	return be_streq(be_get_str(look->how, "field", NULL), "journal") ? journal(fs->super) : features(fs->super);
}
