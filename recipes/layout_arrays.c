/* `md:`: software RAID by mdadm; BRAIDn leaves it to btrfs. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "layout_parts.h"
#include "rules.h"

#define BITMAP_ABOVE (INT64_C(100) << 30) /* mdadm's own limit for a bitmap by itself, bytes a member */

static const struct {
	const char *level;
	size_t members; /* at least */
} levels[] = {
	{ "raid0", 2 },  { "raid1", 2 },  { "raid4", 3 },  { "raid5", 3 },  { "raid6", 4 },   { "raid10", 2 },
	{ "braid0", 2 }, { "braid1", 2 }, { "braid5", 2 }, { "braid6", 3 }, { "braid10", 4 },
};

static int unknown_level(const struct be_node *node, const char *text, struct be_error *err)
{
	be_fail_usage(err, "%s: md: '%.40s' is no RAID level", be_where(node), text);
	return be_hint(err, "known are JBOD, RAID0, RAID1, RAID4, RAID5, RAID6, RAID10 and BRAID0, 1, 5, 6, 10");
}

/* The member's size on the host file's machine: its disk shared equally by the partitions; 0: not stated. */
static int64_t member_size(const struct be_layout_state *s, const char *path)
{
	int64_t partition;
	be_autofree char *id = be_layout_disk_id(path, &partition);
	const struct be_node *disk = be_layout_disk(s->req->disks, id);
	const struct be_node *devices = be_get(s->layout, "devices");
	if (disk) {
		int64_t parts = be_get_int(disk, "partitions", 0);
		return be_get_int(disk, "size", 0) / (parts > 0 ? parts : 1);
	}
	for (size_t i = 0; i < devices->n; i++)
		if (strcmp(be_get_str(devices->items[i], "path", ""), path) == 0)
			return be_get_int(devices->items[i], "size", 0);
	return 0;
}

/*
 * mdadm before 4.4 gives an array with redundancy an internal bitmap by itself when a member is above 100 GiB; from 4.4
 * on (Debian 13) the `y` that LKP pipes in answers a new question and always switches it on. Here the choice is
 * explicit, and follows the host file's sizes, not a twin's.
 */
static const char *bitmap(struct be_layout_state *s, const char *level)
{
	if (strcmp(level, "raid0") == 0)
		return "none";
	const char *rootfs = be_get_str(s->req->job, "rootfs", "");
	if (strstr(rootfs, "debian-13") || strstr(rootfs, "debian-14"))
		return "internal";
	int64_t size = member_size(s, s->partitions.v[0]);
	if (size == 0)
		be_deviation(s->deviations, "md",
			     "the host file states no size of the members: taken as above 100 GiB, "
			     "so that mdadm gives the array an internal bitmap");
	return size == 0 || size > BITMAP_ABOVE ? "internal" : "none";
}

static void mdadm_argv(const struct be_layout_state *s, const char *level, int64_t chunk, const char *bitmap_kind,
		       struct be_strv *argv)
{
	be_strv_split(argv, "mdadm -q --create /dev/md0", " ");
	if (chunk)
		be_strv_addf(argv, "--chunk=%" PRId64, chunk);
	be_strv_addf(argv, "--level=%s", level);
	be_strv_addf(argv, "--raid-devices=%zu", s->partitions.n);
	be_strv_add(argv, "--force");
	be_strv_add(argv, "--assume-clean");
	if (strcmp(level, "raid0") != 0)
		be_strv_addf(argv, "--bitmap=%s", bitmap_kind);
	be_strv_add(argv, "--run"); /* in place of the answer that LKP pipes in */
	be_strv_add_all(argv, &s->partitions);
}

static void load_raid0(struct be_layout_state *s)
{
	static const char *const commands[] = { "modprobe -r raid0", "modprobe raid0 default_layout=1" };
	for (size_t i = 0; i < BE_ARRAY_LEN(commands); i++) {
		be_autostrv struct be_strv argv = { 0 };
		be_strv_split(&argv, commands[i], " ");
		be_add(be_get(s->layout, "load"), be_node_strv(&argv));
	}
}

static void add_array(struct be_layout_state *s, const char *level, int64_t chunk)
{
	struct be_node *arrays = be_node_seq(), *array = be_node_map();
	const char *bitmap_kind = bitmap(s, level);
	be_autostrv struct be_strv argv = { 0 };
	mdadm_argv(s, level, chunk, bitmap_kind, &argv);
	be_set_str(array, "name", "md0");
	be_set_str(array, "level", level);
	be_set(array, "members", be_node_strv(&s->partitions));
	if (chunk)
		be_set_int(array, "chunk_kib", chunk);
	be_set(array, "assume_clean", be_node_bool(true));
	be_set_str(array, "bitmap", bitmap_kind);
	be_set_str(array, "metadata", "1.2");
	be_set(array, "argv", be_node_strv(&argv));
	be_add(arrays, array);
	be_set(s->layout, "arrays", arrays);
	if (strcmp(level, "raid0") == 0 && be_rules_since(s->req->date, BE_RULE_RAID0_LAYOUT))
		load_raid0(s);
	be_strv_free(&s->partitions);
	be_strv_add(&s->partitions, "/dev/md0");
}

static char *asked_level(const struct be_node *md)
{
	const char *text = md->kind == BE_MAP ? be_get_str(md, "raid_level", "") : md->text ? md->text : "";
	char *level = be_strdup(text);
	for (char *p = level; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	return level;
}

static int64_t asked_chunk(const struct be_node *job, const struct be_node *md, const char *level, const char *date)
{
	if (strcmp(level, "raid1") == 0 && be_rules_since(date, BE_RULE_RAID1_NO_CHUNK))
		return 0;
	return be_get_int(md, "raid_chunk", be_get_int(job, "raid_chunk", 256));
}

int be_layout_arrays(struct be_layout_state *s, struct be_error *err)
{
	const struct be_node *md = be_get(s->req->job, "md");
	if (!md || md->kind == BE_NULL)
		return 0;
	be_autofree char *level = asked_level(md);
	if (strcmp(level, "jbod") == 0)
		return 0;
	size_t i = 0;
	while (i < BE_ARRAY_LEN(levels) && strcmp(levels[i].level, level) != 0)
		i++;
	if (i == BE_ARRAY_LEN(levels))
		return unknown_level(md, level, err);
	if (s->partitions.n < levels[i].members) {
		be_fail_usage(err, "%s: md: %s needs %zu devices, disk: gives %zu", be_where(md), level,
			      levels[i].members, s->partitions.n);
		return be_hint(err, "ask for more disks, for example --set disk=%zuHDD", levels[i].members);
	}
	s->raid = levels[i].level;
	if (*level == 'b')
		return 0;
	int64_t chunk = asked_chunk(s->req->job, md, level, s->req->date);
	if (chunk < 0 || chunk > 1 << 20)
		return be_fail_usage(err, "%s: raid_chunk: %" PRId64 " KiB is no chunk size", be_where(md), chunk);
	add_array(s, level, chunk);
	return 0;
}
