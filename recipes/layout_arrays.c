/* `md:`: software RAID by mdadm; BRAIDn leaves it to btrfs. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "layout_parts.h"
#include "md_layout.h"
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
	if (strstr(rootfs, "debian-13") || strstr(rootfs, "debian-14")) {
		if (strcmp(level, "raid1") == 0)
			be_deviation(s->deviations, "md",
				     "with mdadm of %s LKP's piped answer makes no raid1 at all: its job aborts",
				     rootfs);
		return "internal";
	}
	int64_t size = member_size(s, s->partitions.v[0]);
	if (size == 0)
		be_deviation(s->deviations, "md",
			     "the host file states no size of the members: taken as above 100 GiB, "
			     "so that mdadm gives the array an internal bitmap");
	return size == 0 || size > BITMAP_ABOVE ? "internal" : "none";
}

/* What the job says of an array beyond LKP's keys; NULL where it is silent. */
struct wishes {
	const char *layout, *metadata, *bitmap;
	bool wait; /* `sync: wait`: parity is written, and nothing starts before it is */
};

static int bad_wish(const struct be_node *md, const char *key, const char *known, struct be_error *err)
{
	const struct be_node *node = be_get(md, key);
	be_fail_usage(err, "%s: md: %s: '%.40s' is not known for this level", be_where(node), key,
		      node->kind == BE_SCALAR ? node->text : "(a list or map)");
	return be_hint(err, "known are %s", known);
}

static bool is_one_of(const char *text, const char *const *words)
{
	while (*words && strcmp(*words, text) != 0)
		words++;
	return *words != NULL;
}

static int read_wishes(const struct be_node *md, const char *level, struct wishes *w, struct be_error *err)
{
	static const char *const metadata[] = { "0.90", "1.0", "1.1", "1.2", NULL };
	static const char *const bitmaps[] = { "none", "internal", NULL };
	const char *sync = be_get_str(md, "sync", "assume-clean");
	w->layout = be_get_str(md, "layout", NULL);
	w->metadata = be_get_str(md, "metadata", NULL);
	w->bitmap = be_get_str(md, "bitmap", NULL);
	w->wait = strcmp(sync, "wait") == 0;
	if (w->layout && be_md_layout_number(level, w->layout) < 0)
		return bad_wish(md, "layout",
				"left-symmetric, left-asymmetric, right-symmetric, right-asymmetric, parity-first "
				"and parity-last for raid5 and raid6, and n2, f2, o2 for raid10",
				err);
	if (w->metadata && !is_one_of(w->metadata, metadata))
		return bad_wish(md, "metadata", "\"0.90\", \"1.0\", \"1.1\" and \"1.2\"", err);
	if (w->bitmap && (!is_one_of(w->bitmap, bitmaps) || strcmp(level, "raid0") == 0))
		return bad_wish(md, "bitmap", "none and internal; raid0 has no bitmap", err);
	if (!w->wait && strcmp(sync, "assume-clean") != 0)
		return bad_wish(md, "sync", "assume-clean, as LKP makes arrays, and wait", err);
	return 0;
}

static void mdadm_argv(const struct be_layout_state *s, const char *level, int64_t chunk, const struct wishes *w,
		       const char *bitmap_kind, struct be_strv *argv)
{
	be_strv_split(argv, "mdadm -q --create /dev/md0", " ");
	if (chunk)
		be_strv_addf(argv, "--chunk=%" PRId64, chunk);
	be_strv_addf(argv, "--level=%s", level);
	if (w->layout)
		be_strv_addf(argv, "--layout=%s", w->layout);
	if (w->metadata)
		be_strv_addf(argv, "--metadata=%s", w->metadata);
	be_strv_addf(argv, "--raid-devices=%zu", s->partitions.n);
	be_strv_add(argv, "--force");
	if (!w->wait)
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

static void add_array(struct be_layout_state *s, const char *level, int64_t chunk, const struct wishes *w)
{
	struct be_node *arrays = be_node_seq(), *array = be_node_map();
	const char *bitmap_kind = w->bitmap ? w->bitmap : bitmap(s, level);
	be_autostrv struct be_strv argv = { 0 };
	mdadm_argv(s, level, chunk, w, bitmap_kind, &argv);
	be_set_str(array, "name", "md0");
	be_set_str(array, "level", level);
	be_set(array, "members", be_node_strv(&s->partitions));
	if (chunk)
		be_set_int(array, "chunk_kib", chunk);
	be_set_str(array, "layout", w->layout ? w->layout : be_md_layout_default(level));
	be_set(array, "assume_clean", be_node_bool(!w->wait));
	if (w->wait)
		be_set_str(array, "sync", "wait");
	be_set_str(array, "bitmap", bitmap_kind);
	be_set_str(array, "metadata", w->metadata ? w->metadata : "1.2");
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

/* mdadm takes no --chunk for raid1, where it never meant anything; LKP passed it until 2024-04-29. */
static int64_t asked_chunk(struct be_layout_state *s, const struct be_node *md, const char *level)
{
	const struct be_node *job = s->req->job;
	if (strcmp(level, "raid1") != 0)
		return be_get_int(md, "raid_chunk", be_get_int(job, "raid_chunk", 256));
	if (!be_rules_since(s->req->date, BE_RULE_RAID1_NO_CHUNK))
		be_deviation(s->deviations, "md", "LKP passed --chunk for raid1 on that day, which mdadm now refuses");
	return 0;
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
	int64_t chunk = asked_chunk(s, md, level);
	if (chunk < 0 || chunk > 1 << 20)
		return be_fail_usage(err, "%s: raid_chunk: %" PRId64 " KiB is no chunk size", be_where(md), chunk);
	struct wishes wishes;
	if (read_wishes(md, level, &wishes, err))
		return -1;
	if (wishes.wait && strcmp(level, "raid0") == 0)
		be_deviation(s->deviations, "md", "sync: wait asked: raid0 has no parity that could be written");
	add_array(s, level, chunk, &wishes);
	return 0;
}
