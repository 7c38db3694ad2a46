/* `fs:`: mkfs and mount as LKP calls them, by date. */
#include <inttypes.h>
#include <string.h>

#include "layout_parts.h"
#include "plain.h"
#include "rules.h"

static const char *const kinds[] = { "btrfs", "ext2",   "ext3",     "ext4", "xfs",      "f2fs", "tmpfs",
				     "udf",   "nilfs2", "reiserfs", "jfs",  "bcachefs", "ocfs2" };

/* A key of the nested form (`fs: {fs: ext4, mount_option: dax}`), else of the job itself. */
static const struct be_node *option(const struct be_node *job, const char *key)
{
	const struct be_node *fs = be_get(job, "fs");
	const struct be_node *nested = fs && fs->kind == BE_MAP ? be_get(fs, key) : NULL;
	const struct be_node *node = nested ? nested : be_get(job, key);
	return node && node->kind == BE_SCALAR ? node : NULL;
}

const char *be_layout_filesystem(const struct be_node *job)
{
	const struct be_node *fs = be_get(job, "fs");
	const char *kind = fs && fs->kind == BE_MAP ? be_get_str(fs, "fs", NULL) : be_get_str(job, "fs", NULL);
	if (kind)
		return kind;
	/* y and n are LKP's own `testfile:`, an option of fio. */
	const char *testfile = be_get_str(job, "testfile", "initrd");
	return strcmp(testfile, "initrd") != 0 && strcmp(testfile, "y") != 0 && strcmp(testfile, "n") != 0 ? testfile
													   : NULL;
}

bool be_layout_is_filesystem(const char *kind)
{
	for (size_t i = 0; i < BE_ARRAY_LEN(kinds); i++)
		if (strcmp(kinds[i], kind) == 0)
			return true;
	return false;
}

static int check_kind(const struct be_node *job, const char *kind, struct be_error *err)
{
	const struct be_node *where = be_get(job, "fs");
	const char *near = NULL;
	unsigned least = 3; /* letters apart */
	for (size_t i = 0; i < BE_ARRAY_LEN(kinds); i++) {
		unsigned distance = be_distance(kind, kinds[i]);
		if (distance == 0)
			return 0;
		if (distance < least) {
			least = distance;
			near = kinds[i];
		}
	}
	if (!where || where->kind == BE_NULL)
		where = be_get(job, "testfile");
	be_fail_usage(err, "%s: '%.40s' is no file system that this program can make", be_where(where), kind);
	return near ? be_hint(err, "did you mean %s?", near)
		    : be_hint(err, "known are btrfs, ext2, ext3, ext4, xfs, f2fs, tmpfs, udf, nilfs2, reiserfs, jfs");
}

/* LKP's own options of mkfs, blank separated. */
static const char *mkfs_options(const char *kind, const char *date)
{
	if (strcmp(kind, "xfs") == 0) {
		if (be_rules_since(date, BE_RULE_XFS_NO_REFLINK))
			return "-f -mreflink=0";
		return be_rules_since(date, BE_RULE_XFS_FORCE) ? "-f" : "";
	}
	if (strcmp(kind, "ext4") == 0 && be_rules_since(date, BE_RULE_EXT4_NO_LAZY))
		return "-q -E lazy_itable_init=0,lazy_journal_init=0 -F";
	if (be_starts(kind, "ext") || strcmp(kind, "ocfs2") == 0)
		return "-q -F";
	return "";
}

static const char *mount_options(const char *kind, const char *date)
{
	if (strcmp(kind, "xfs") != 0)
		return "";
	return be_rules_since(date, BE_RULE_XFS_BARRIER) ? "-o inode64" : "-o nobarrier,inode64";
}

/* The options behind each -o, one by one, for the plan's `options:`. */
static struct be_node *option_list(const struct be_strv *words)
{
	be_autostrv struct be_strv list = { 0 };
	for (size_t i = 0; i + 1 < words->n; i++)
		if (strcmp(words->v[i], "-o") == 0)
			be_strv_split(&list, words->v[++i], ",");
	return be_node_strv(&list);
}

/* Words that the job adds to a command: none is a place, so that only the layout's devices are ever formatted. */
static int check_words(const struct be_node *job, const char *key, struct be_error *err)
{
	const struct be_node *own = option(job, key);
	be_autostrv struct be_strv words = { 0 };
	if (!own)
		return 0;
	if (be_check_line(own, key, err))
		return -1;
	be_strv_split(&words, own->text, " \t");
	for (size_t i = 0; i < words.n; i++)
		if (strchr("/.", words.v[i][0])) {
			be_fail_usage(err, "%s: %s: '%.80s' is a path, options are expected", be_where(own), key,
				      words.v[i]);
			return be_hint(err, "the device and the mount point are those of disk: and md:");
		}
	return 0;
}

static int check_options(const struct be_node *job, struct be_error *err)
{
	const struct be_node *more = option(job, "mount_option");
	if (check_words(job, "mkfs", err) || check_words(job, "mount", err))
		return -1;
	if (more && !be_is_word(more->text)) {
		be_fail_usage(err, "%s: mount_option: '%.80s' holds a blank, a quote or a line break", be_where(more),
			      more->text);
		return be_hint(err, "it is what stands behind one -o, for example dax or noatime,discard");
	}
	return 0;
}

static void mount_words(const struct be_layout_state *s, const char *kind, struct be_strv *words)
{
	const struct be_node *own = option(s->req->job, "mount"), *more = option(s->req->job, "mount_option");
	be_strv_split(words, own ? own->text : mount_options(kind, s->req->date), " \t");
	if (more) {
		be_strv_add(words, "-o");
		be_strv_add(words, more->text);
	}
}

static void add_filesystem(struct be_layout_state *s, const char *kind, const struct be_strv *devices,
			   const struct be_strv *mkfs, const char *mountpoint)
{
	struct be_node *fs = be_node_map(), *testdirs = be_get(s->layout, "testdirs");
	be_autostrv struct be_strv words = { 0 }, argv = { 0 };
	mount_words(s, kind, &words);
	be_strv_split(&argv, "mount -t", " ");
	be_strv_add(&argv, kind);
	be_strv_add_all(&argv, &words);
	be_strv_add(&argv, devices->n ? devices->v[0] : "none");
	be_strv_add(&argv, mountpoint);
	be_set_str(fs, "kind", kind);
	if (devices->n) {
		be_set(fs, "devices", be_node_strv(devices));
		be_set(fs, "mkfs", be_node_strv(mkfs));
	}
	be_set(fs, "options", option_list(&words));
	be_set_str(fs, "mount", mountpoint);
	be_set(fs, "mount_argv", be_node_strv(&argv));
	be_add(be_get(s->layout, "filesystems"), fs);
	be_add_str(testdirs, mountpoint);
}

/* One file system of btrfs over all devices, its profile in place of md's level. */
static void btrfs_raid(struct be_layout_state *s)
{
	be_autostrv struct be_strv mkfs = { 0 };
	const char *profile = s->raid + 1; /* braid5 -> raid5 */
	be_strv_add(&mkfs, "mkfs.btrfs");
	be_strv_add(&mkfs, "--data");
	be_strv_add(&mkfs, profile);
	if (be_rules_since(s->req->date, BE_RULE_BTRFS_RAID_METADATA)) {
		be_strv_add(&mkfs, "-m");
		be_strv_add(&mkfs, profile);
	}
	be_strv_add_all(&mkfs, &s->partitions);
	be_autofree char *mountpoint = be_strf("/fs/%s", be_layout_base(s->partitions.v[0]));
	add_filesystem(s, "btrfs", &s->partitions, &mkfs, mountpoint);
}

static void one_each(struct be_layout_state *s, const char *kind)
{
	const struct be_node *own = option(s->req->job, "mkfs");
	for (size_t i = 0; i < s->partitions.n; i++) {
		be_autostrv struct be_strv mkfs = { 0 }, devices = { 0 };
		be_strv_split(&mkfs, "mkfs -t", " ");
		be_strv_add(&mkfs, kind);
		be_strv_split(&mkfs, own ? own->text : mkfs_options(kind, s->req->date), " \t");
		be_strv_add(&mkfs, s->partitions.v[i]);
		be_strv_add(&devices, s->partitions.v[i]);
		be_autofree char *mountpoint = be_strf("/fs/%s", be_layout_base(s->partitions.v[i]));
		add_filesystem(s, kind, &devices, &mkfs, mountpoint);
	}
}

static int tmpfs(struct be_layout_state *s, struct be_error *err)
{
	const struct be_strv none = { 0 };
	const struct be_node *nr = option(s->req->job, "nr_tmpfs");
	int64_t n = nr ? be_get_int(s->req->job, "nr_tmpfs", be_get_int(be_get(s->req->job, "fs"), "nr_tmpfs", 0)) : 1;
	if (n < 1 || n > 256)
		return be_fail_usage(err, "%s: nr_tmpfs must be a number from 1 to 256", be_where(nr));
	for (int64_t i = 0; i < n; i++) {
		be_autofree char *mountpoint = be_strf("/fs/tmpfs%" PRId64, i);
		add_filesystem(s, "tmpfs", &none, &none, mountpoint);
	}
	return 0;
}

static int no_device(const struct be_node *job, const char *kind, struct be_error *err)
{
	const struct be_node *where = be_get(job, "fs") ? be_get(job, "fs") : be_get(job, "testfile");
	be_fail_usage(err, "%s: %s needs a device, and the job has no disk:", be_where(where), kind);
	return be_hint(err, "add disk: 1SSD (1HDD, 1BRD_4G, 2pmem, ...), or use fs: tmpfs");
}

int be_layout_filesystems(struct be_layout_state *s, struct be_error *err)
{
	const char *kind = be_layout_filesystem(s->req->job);
	if (!kind)
		return 0;
	if (check_kind(s->req->job, kind, err) || check_options(s->req->job, err))
		return -1;
	if (strcmp(kind, "tmpfs") == 0)
		return tmpfs(s, err);
	if (!s->partitions.n)
		return no_device(s->req->job, kind, err);
	const struct be_node *format = option(s->req->job, "format");
	if (format && strcmp(format->text, "n") == 0)
		be_deviation(s->deviations, "fs", "format: n asked: the file system is made all the same");
	bool braid = s->raid && *s->raid == 'b';
	if (braid && strcmp(kind, "xfs") == 0)
		be_deviation(s->deviations, "fs", "LKP adds -d agcount=N and logbsize=262144 here: not done");
	if (braid && strcmp(kind, "btrfs") == 0)
		btrfs_raid(s);
	else
		one_each(s, kind);
	return 0;
}
