/* ext2, ext3 and ext4 by their superblock, through libext2fs. A program a file system takes too long where there are
 * many, and so does one disk after the other: all superblocks are read at the same time, while other factors are looked
 * at. */
#include <e2p/e2p.h>
#include <ext2fs/ext2fs.h>
#include <pthread.h>
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

static struct be_node *features(const struct ext2_super_block *super)
{
	struct be_node *list = be_node_seq();
	add_features(list, E2P_FEATURE_COMPAT, super->s_feature_compat);
	add_features(list, E2P_FEATURE_INCOMPAT, super->s_feature_incompat);
	add_features(list, E2P_FEATURE_RO_INCOMPAT, super->s_feature_ro_compat);
	return list;
}

/* The superblock keeps a copy of the journal's inode; its last two words are the size. */
static void add_journal(struct be_node *map, const struct ext2_super_block *super)
{
	uint64_t size = ((uint64_t)super->s_jnl_blocks[15] << 32) | super->s_jnl_blocks[16];
	if (!(super->s_feature_compat & EXT3_FEATURE_COMPAT_HAS_JOURNAL))
		be_set_str(map, "no journal", "the file system has no journal");
	else if (super->s_journal_dev)
		be_set_str(map, "unknown journal", "the journal is on a device of its own");
	else if (super->s_jnl_backup_type != EXT3_JNL_BACKUP_BLOCKS)
		be_set_str(map, "unknown journal", "the superblock has no copy of the journal's inode");
	else
		be_set_int(map, "journal", (int64_t)size);
}

struct reader {
	char *path;
	pthread_t thread;
	bool started;
	errcode_t rc;
	struct ext2_super_block super;
};

static void *read_super(void *data)
{
	struct reader *r = data;
	be_cleanup(close_fs) ext2_filsys fs = NULL;
	r->rc = ext2fs_open(r->path, EXT2_FLAG_SUPER_ONLY | EXT2_FLAG_64BITS | EXT2_FLAG_FORCE, 0, 0, unix_io_manager,
			    &fs);
	if (!r->rc)
		r->super = *fs->super;
	return NULL;
}

static void start(struct reader *r, char *path)
{
	r->path = path;
	r->started = pthread_create(&r->thread, NULL, read_super, r) == 0;
	if (!r->started)
		read_super(r);
}

static void finish(struct reader *r)
{
	if (r->started)
		pthread_join(r->thread, NULL);
	free(r->path);
	r->path = NULL;
}

/* {features, journal} or {error} */
static struct be_node *described(const struct reader *r)
{
	struct be_node *map = be_node_map();
	if (r->rc) {
		be_set_str(map, "error", error_message(r->rc));
		return map;
	}
	be_set(map, "features", features(&r->super));
	add_journal(map, &r->super);
	return map;
}

struct be_supers {
	struct reader *v; /* one for each file system of the test; without a path: none of ext */
	size_t n;
};

struct be_supers *be_supers_start(const struct be_observer *o)
{
	const struct be_instances *list = &o->scopes->of[BE_SCOPE_FS];
	struct be_supers *supers = be_alloc(sizeof(*supers));
	supers->n = list->n;
	supers->v = be_alloc(list->n * sizeof(*supers->v));
	for (size_t i = 0; i < list->n; i++) {
		if (!list->v[i].kernel || !list->v[i].kind || !be_starts(list->v[i].kind, "ext"))
			continue;
		be_autofree char *device = be_strf("/dev/%s", list->v[i].kernel);
		start(&supers->v[i], be_root_path(&o->root, device));
	}
	return supers;
}

void be_supers_free(struct be_supers **supers)
{
	for (size_t i = 0; *supers && i < (*supers)->n; i++)
		if ((*supers)->v[i].path)
			finish(&(*supers)->v[i]);
	if (*supers)
		free((*supers)->v);
	free(*supers);
	*supers = NULL;
}

/* Kernel name of a device -> what its superblock states. */
static struct be_node *superblocks(const struct be_observer *o)
{
	const struct be_instances *list = &o->scopes->of[BE_SCOPE_FS];
	struct be_node *map = be_node_map();
	for (size_t i = 0; o->supers && i < o->supers->n; i++) {
		struct reader *r = &o->supers->v[i];
		if (!r->path)
			continue;
		finish(r);
		be_set(map, list->v[i].kernel, described(r));
	}
	return map;
}

struct be_reading be_probe_ext_super(const struct be_look *look)
{
	const struct be_node *super = be_get(be_observe_table(look->o, "ext", superblocks), look->at->kernel);
	const char *error = be_get_str(super, "error", super ? NULL : "no ext file system");
	if (error)
		return be_reading_not_observable("%s: %s", look->path, error);
	if (!be_streq(be_get_str(look->how, "field", NULL), "journal"))
		return be_reading_value(be_node_clone(be_get(super, "features")));
	const char *unknown = be_get_str(super, "unknown journal", NULL);
	if (unknown)
		return be_reading_not_observable("%s", unknown);
	const struct be_node *size = be_get(super, "journal");
	return size ? be_reading_value(be_node_clone(size))
		    : be_reading_absent("%s", be_get_str(super, "no journal", "no journal"));
}
