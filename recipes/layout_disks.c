/* Host files: lists, one string of several paths, globs with a count. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "layout_parts.h"
#include "plain.h"
#include "units.h"

const char *be_layout_base(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static int64_t trailing_number(const char *name, size_t *len)
{
	size_t n = strlen(name);
	while (n && isdigit((unsigned char)name[n - 1]))
		n--;
	int64_t number = 0;
	for (const char *p = name + n; *p && number < 100000; p++)
		number = 10 * number + *p - '0';
	*len = n;
	return name[n] ? number : 0;
}

char *be_layout_disk_id(const char *path, int64_t *partition)
{
	const char *name = be_layout_base(path);
	size_t len;
	*partition = trailing_number(name, &len);
	if (!*partition)
		return be_strdup(name);
	if (len > 5 && memcmp(name + len - 5, "-part", 5) == 0)
		return be_strndup(name, len - 5);
	/* nvme0n1p2, mmcblk0p1: a p between two numbers */
	if (len > 1 && name[len - 1] == 'p' && isdigit((unsigned char)name[len - 2]))
		return be_strndup(name, len - 1);
	bool letters = len > 2 && (be_starts(name, "sd") || be_starts(name, "vd") || be_starts(name, "hd"));
	for (size_t i = 0; i < len; i++)
		letters &= islower((unsigned char)name[i]) != 0;
	if (letters)
		return be_strndup(name, len);
	*partition = 0;
	return be_strdup(name);
}

/* part[2-5] and part[235]: every name is certain. */
static bool bracket(const char *word, const char *open, struct be_strv *paths)
{
	const char *close = strchr(open, ']');
	bool range = close && close == open + 4 && open[2] == '-';
	if (!close || close == open + 1 || (range && open[1] > open[3]))
		return false;
	const char *last = range ? open + 3 : close - 1;
	for (char c = open[1]; range && c <= *last; c++)
		be_strv_addf(paths, "%.*s%c%s", (int)(open - word), word, c, close + 1);
	for (const char *p = open + 1; !range && p <= last; p++)
		be_strv_addf(paths, "%.*s%c%s", (int)(open - word), word, *p, close + 1);
	return true;
}

char *be_layout_tag_path(const char *word)
{
	static const struct {
		const char *tag, *folder;
	} tags[] = { { "LABEL=", "by-label" },
		     { "UUID=", "by-uuid" },
		     { "PARTLABEL=", "by-partlabel" },
		     { "PARTUUID=", "by-partuuid" } };
	for (size_t i = 0; i < BE_ARRAY_LEN(tags); i++)
		if (be_starts(word, tags[i].tag) && word[strlen(tags[i].tag)])
			return be_strf("/dev/disk/%s/%s", tags[i].folder, word + strlen(tags[i].tag));
	return NULL;
}

static int add_word(const struct be_node *node, const char *word, int64_t count, struct be_node *deviations,
		    struct be_strv *paths, struct be_error *err)
{
	const char *star = strpbrk(word, "*?"), *open = strchr(word, '[');
	be_autofree char *tag = be_layout_tag_path(word), *plain = be_strdup(tag ? tag : word);
	for (char *p = plain; !tag && *p; p++) /* the characters of a pattern mean others */
		*p = strchr("*?[]", *p) ? 'x' : *p;
	if (!be_is_device_path(plain)) {
		be_fail_usage(err, "%s: '%.80s' is no path of a partition", be_where(node), word);
		return be_hint(err, "it is below /dev and has letters, digits and #+-.:=@_ only");
	}
	if (tag) {
		be_strv_add(paths, tag);
		return 0;
	}
	if (open && !star && bracket(word, open, paths))
		return 0;
	if (!star) {
		be_strv_add(paths, word);
		return 0;
	}
	for (int64_t i = 1; i <= count; i++)
		be_strv_addf(paths, "%.*s%" PRId64 "%s", (int)(star - word), word, i, star + 1);
	be_deviation(deviations, "disks", "%s: which partitions match only the machine knows; taken as %s%s", word,
		     paths->v[paths->n - (size_t)count], count > 1 ? " and following" : "");
	return 0;
}

static int split_words(const struct be_node *node, struct be_strv *words, struct be_error *err)
{
	if (node->kind == BE_SCALAR) {
		be_strv_split(words, node->text, " \t\r\n");
		return 0;
	}
	if (node->kind == BE_MAP)
		return be_fail_usage(err, "%s: partitions must be a list or one text", be_where(node));
	for (size_t i = 0; i < node->n; i++)
		if (node->items[i]->kind == BE_SCALAR)
			be_strv_split(words, node->items[i]->text, " \t\r\n");
		else if (node->items[i]->kind != BE_NULL)
			return be_fail_usage(err, "%s: a partition must be a path", be_where(node->items[i]));
	return 0;
}

int be_layout_paths(const struct be_node *host, const char *key, const char *nr_key, int64_t wanted,
		    struct be_node *deviations, struct be_strv *paths, struct be_error *err)
{
	const struct be_node *node = be_get(host, key);
	be_autostrv struct be_strv words = { 0 };
	if (!node || node->kind == BE_NULL)
		return 0;
	if (split_words(node, &words, err))
		return -1;
	/* What the plain paths leave of the count belongs to the globs, in equal parts. */
	int64_t globs = 0, nr = be_get_int(host, nr_key, wanted);
	for (size_t i = 0; i < words.n; i++)
		globs += strpbrk(words.v[i], "*?") != NULL;
	int64_t rest = nr - ((int64_t)words.n - globs);
	int64_t share = globs ? (rest + (be_get(host, nr_key) ? 0 : globs - 1)) / globs : 0;
	if (share > 128)
		return be_fail_usage(err, "%s: %s of %" PRId64 " is more than this program handles", be_where(node),
				     nr_key, nr);
	for (size_t i = 0; i < words.n; i++)
		if (add_word(node, words.v[i], share > 0 ? share : 1, deviations, paths, err))
			return -1;
	return 0;
}

const struct be_node *be_layout_disk(const struct be_node *disks, const char *id)
{
	for (size_t i = 0; disks && i < disks->n; i++)
		if (strcmp(be_get_str(disks->items[i], "id", ""), id) == 0)
			return disks->items[i];
	return NULL;
}

static int copy_size(const struct be_node *detail, struct be_node *disk, struct be_error *err)
{
	const struct be_node *size = be_get(detail, "size");
	int64_t bytes;
	if (!size || size->kind == BE_NULL)
		return 0;
	if (size->kind != BE_SCALAR || !be_parse_size(size->text, &bytes))
		return be_fail_usage(err, "%s: '%.40s' is not a size such as 3T or 500107862016", be_where(size),
				     size->kind == BE_SCALAR ? size->text : "(a list or map)");
	be_set_int(disk, "size", bytes);
	return 0;
}

static int add_disk(const struct be_node *host, struct be_node *disks, const char *path, bool hdd, struct be_error *err)
{
	static const char *const details[] = { "rotational", "write_cache", "logical_block_size",
					       "physical_block_size" };
	int64_t partition;
	be_autofree char *id = be_layout_disk_id(path, &partition);
	struct be_node *known = (struct be_node *)be_layout_disk(disks, id);
	if (known) {
		if (partition > be_get_int(known, "partitions", 0))
			be_set_int(known, "partitions", partition);
		return 0;
	}
	be_autonode struct be_node *disk = be_node_map();
	const struct be_node *detail = be_get(be_get(host, "disks"), id);
	bool nvme = be_starts(id, "nvme");
	be_set_str(disk, "id", id);
	be_set(disk, "path", be_node_strf("%.*s%s", (int)(be_layout_base(path) - path), path, id));
	be_set_str(disk, "kind", nvme ? "nvme" : hdd ? "hdd" : "ssd");
	be_set_int(disk, "partitions", partition);
	if (copy_size(detail, disk, err))
		return -1;
	be_set(disk, "rotational", be_node_bool(hdd && !nvme));
	for (size_t i = 0; i < BE_ARRAY_LEN(details); i++)
		if (be_get(detail, details[i]))
			be_set(disk, details[i], be_node_clone(be_get(detail, details[i])));
	be_add(disks, be_steal(&disk));
	return 0;
}

struct be_node *be_layout_disks(const struct be_node *host, struct be_error *err)
{
	be_autonode struct be_node *disks = be_node_seq(), *unused = be_node_seq(); /* said when a layout uses them */
	be_autostrv struct be_strv hdd = { 0 }, ssd = { 0 };
	if (be_layout_paths(host, "hdd_partitions", "nr_hdd_partitions", 0, unused, &hdd, err) ||
	    be_layout_paths(host, "ssd_partitions", "nr_ssd_partitions", 0, unused, &ssd, err))
		return NULL;
	for (size_t i = 0; i < hdd.n; i++)
		if (add_disk(host, disks, hdd.v[i], true, err))
			return NULL;
	for (size_t i = 0; i < ssd.n; i++)
		if (add_disk(host, disks, ssd.v[i], false, err))
			return NULL;
	return be_steal(&disks);
}
