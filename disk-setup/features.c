#include "features.h"

#include <string.h>

#include "base/process.h"
#include "device.h"
#include "note.h"
#include "units.h"

#define DUMP_TIMEOUT 60.0 /* seconds */

/* A short program that only reads; what it printed, or nothing. */
static void dump(struct be_setup *setup, char *const *argv, struct be_strv *lines)
{
	be_autorun struct be_run run = { .argv = argv, .timeout = DUMP_TIMEOUT };
	struct be_error err = BE_ERROR_INIT;
	if (be_run_ok(&run, &err) != 0)
		be_setup_log(setup, "%s", err.text);
	else if (run.out.data)
		be_strv_split(lines, run.out.data, "\n");
}

static void read_btrfs(const struct be_root *root, const char *uuid, struct be_node *features, struct be_node *made)
{
	static const char *const attrs[] = { "nodesize", "sectorsize", "checksum" };
	static const char *const kinds[] = { "data", "metadata" };
	be_autofree char *base = be_strf("/sys/fs/btrfs/%s", uuid);
	be_autofree char *list = be_strf("%s/features", base), *members = be_strf("%s/devices", base);
	be_autostrv struct be_strv names = { 0 }, devices = { 0 };
	if (be_root_list(root, list, &names) == 0)
		for (size_t i = 0; i < names.n; i++)
			be_add_str(features, names.v[i]);
	for (size_t i = 0; i < BE_ARRAY_LEN(attrs); i++) {
		be_autofree char *path = be_strf("%s/%s", base, attrs[i]);
		be_autofree char *text = be_root_text(root, path);
		be_device_set_value(made, attrs[i], text);
	}
	for (size_t i = 0; i < BE_ARRAY_LEN(kinds); i++) {
		be_autofree char *path = be_strf("%s/allocation/%s", base, kinds[i]);
		be_autostrv struct be_strv entries = { 0 };
		be_autobuf struct be_buf profiles = { 0 };
		if (be_root_list(root, path, &entries) != 0)
			continue;
		for (size_t k = 0; k < entries.n; k++) { /* folders are profiles, files are sizes */
			be_autofree char *inside = be_strf("%s/%s/total_bytes", path, entries.v[k]);
			if (be_root_exists(root, inside))
				be_buf_addf(&profiles, "%s%s", profiles.len ? "," : "", entries.v[k]);
		}
		be_set_str(made, kinds[i], profiles.data);
	}
	if (be_root_list(root, members, &devices) == 0)
		be_set_int(made, "devices", (int64_t)devices.n);
}

static void read_f2fs(const struct be_root *root, const char *kernel, struct be_node *features)
{
	be_autofree char *dir = be_strf("/sys/fs/f2fs/%s/feature_list", kernel);
	be_autostrv struct be_strv names = { 0 };
	if (be_root_list(root, dir, &names) != 0)
		return;
	for (size_t i = 0; i < names.n; i++) {
		be_autofree char *path = be_strf("%s/%s", dir, names.v[i]);
		be_autofree char *text = be_root_text(root, path);
		if (be_streq(text, "supported"))
			be_add_str(features, names.v[i]);
	}
}

static void read_ext(struct be_setup *setup, const char *kernel, struct be_node *features, struct be_node *made)
{
	static const struct {
		const char *label, *key;
	} fields[] = { { "Block size:", "block_size" },
		       { "Inode size:", "inode_size" },
		       { "Inode count:", "inode_count" },
		       { "RAID stride:", "stride" },
		       { "RAID stripe width:", "stripe_width" } };
	be_autofree char *path = be_strf("/dev/%s", kernel);
	char *argv[] = { "dumpe2fs", "-h", path, NULL };
	be_autostrv struct be_strv lines = { 0 };
	dump(setup, argv, &lines);
	for (size_t i = 0; i < lines.n; i++) {
		for (size_t k = 0; k < BE_ARRAY_LEN(fields); k++)
			if (be_starts(lines.v[i], fields[k].label))
				be_device_set_value(made, fields[k].key, be_trim(lines.v[i] + strlen(fields[k].label)));
		be_autostrv struct be_strv words = { 0 };
		if (be_starts(lines.v[i], "Filesystem features:"))
			be_strv_split(&words, lines.v[i] + strlen("Filesystem features:"), " ");
		for (size_t k = 0; k < words.n; k++)
			be_add_str(features, words.v[k]);
	}
}

/* "data     =    bsize=4096   blocks=65536, imaxpct=25": sections begin a line, keys belong to the last one. */
static void read_xfs(struct be_setup *setup, const char *mount, struct be_node *made)
{
	be_autofree char *target = be_strdup(mount), *section = NULL;
	char *argv[] = { "xfs_spaceman", "-c", "info", target, NULL };
	be_autostrv struct be_strv lines = { 0 };
	dump(setup, argv, &lines);
	for (size_t i = 0; i < lines.n; i++) {
		be_autostrv struct be_strv words = { 0 };
		if (lines.v[i][0] != ' ') {
			free(section);
			section = be_strndup(lines.v[i], strcspn(lines.v[i], " ="));
		}
		be_strv_split(&words, lines.v[i], " ,");
		for (size_t k = 0; k < words.n; k++) {
			const char *equals = strchr(words.v[k], '=');
			if (!equals || equals == words.v[k] || be_starts(words.v[k], "meta-data="))
				continue;
			be_autofree char *key =
				be_strf("%s.%.*s", section ? section : "?", (int)(equals - words.v[k]), words.v[k]);
			be_device_set_value(made, key, equals + 1);
		}
	}
}

static bool is_ext(const char *kind)
{
	return strcmp(kind, "ext2") == 0 || strcmp(kind, "ext3") == 0 || strcmp(kind, "ext4") == 0;
}

void be_features_read(struct be_setup *setup, const struct be_node *stanza, const char *kernel, const char *uuid,
		      struct be_node *node)
{
	const char *kind = be_get_str(stanza, "kind", "");
	struct be_node *features = be_node_seq(), *made = be_node_map();
	if (strcmp(kind, "btrfs") == 0 && uuid)
		read_btrfs(&setup->root, uuid, features, made);
	else if (strcmp(kind, "f2fs") == 0 && kernel)
		read_f2fs(&setup->root, kernel, features);
	else if (is_ext(kind) && kernel)
		read_ext(setup, kernel, features, made);
	else if (strcmp(kind, "xfs") == 0)
		read_xfs(setup, be_get_str(stanza, "mount", "/"), made);
	be_set(node, "features", features);
	be_set(node, "made", made);
}

struct comparison {
	struct be_setup *setup;
	const struct be_node *stanza, *node;
	const char *kind;
};

static void differs(const struct comparison *c, const char *option, const char *there)
{
	be_deviation(c->setup->deviations, "fs.features", "%s: %s planned, the file system has %s",
		     be_get_str(c->stanza, "mount", "?"), option, there);
}

static bool has_feature(const struct comparison *c, const char *name)
{
	be_autostrv struct be_strv list = { 0 };
	be_get_strv(c->node, "features", &list);
	return be_strv_has(&list, name);
}

static void compare_feature(const struct comparison *c, const char *name, bool wanted)
{
	be_autofree char *option = be_strf("%sfeature %s", wanted ? "" : "no ", name);
	if (has_feature(c, name) != wanted)
		differs(c, option, wanted ? "it not" : "it");
}

static void compare_value(const struct comparison *c, const char *option, const char *key, const char *wanted)
{
	const char *there = be_get_str(be_get(c->node, "made"), key, NULL);
	int64_t a, b;
	be_autofree char *text = be_strf("%s %s", option, wanted);
	bool equal =
		there && (be_streq(wanted, there) || (be_parse_size(wanted, &a) && be_parse_size(there, &b) && a == b));
	/* mkfs says xxhash and blake2 for the kernel's "xxhash64 (xxhash64-generic)" and blake2b. */
	if (there && strcmp(key, "checksum") == 0)
		equal = be_starts(there, wanted);
	if (!equal)
		differs(c, text, there ? there : "nothing of the kind");
}

/* Options of mkfs whose value can be read back; an empty `sub` stands for the whole value of the option. */
static const struct readable {
	const char *kind, *option, *sub, *key;
} readable[] = {
	{ "xfs", "-m", "crc", "meta-data.crc" },
	{ "xfs", "-m", "finobt", "meta-data.finobt" },
	{ "xfs", "-m", "rmapbt", "meta-data.rmapbt" },
	{ "xfs", "-m", "reflink", "meta-data.reflink" },
	{ "xfs", "-m", "bigtime", "meta-data.bigtime" },
	{ "xfs", "-m", "inobtcount", "meta-data.inobtcount" },
	{ "xfs", "-i", "size", "meta-data.isize" },
	{ "xfs", "-i", "sparse", "meta-data.sparse" },
	{ "xfs", "-i", "maxpct", "data.imaxpct" },
	{ "xfs", "-d", "agcount", "meta-data.agcount" },
	{ "xfs", "-b", "size", "data.bsize" },
	{ "xfs", "-n", "ftype", "naming.ftype" },
	{ "ext", "-b", "", "block_size" },
	{ "ext", "-I", "", "inode_size" },
	{ "ext", "-N", "", "inode_count" },
	{ "ext", "-E", "stride", "stride" },
	{ "ext", "-E", "stripe_width", "stripe_width" },
	{ "btrfs", "--data", "", "data" },
	{ "btrfs", "-d", "", "data" },
	{ "btrfs", "--metadata", "", "metadata" },
	{ "btrfs", "-m", "", "metadata" },
	{ "btrfs", "--nodesize", "", "nodesize" },
	{ "btrfs", "-n", "", "nodesize" },
	{ "btrfs", "--sectorsize", "", "sectorsize" },
	{ "btrfs", "-s", "", "sectorsize" },
	{ "btrfs", "--csum", "", "checksum" },
};

/* One option with its value, which may be a list of NAME=VALUE. */
static void compare_option(const struct comparison *c, const char *option, const char *value)
{
	const char *kind = is_ext(c->kind) ? "ext" : c->kind;
	be_autostrv struct be_strv parts = { 0 };
	be_strv_split(&parts, value, ",");
	for (size_t i = 0; i < BE_ARRAY_LEN(readable); i++) {
		const struct readable *r = &readable[i];
		if (strcmp(r->kind, kind) != 0 || strcmp(r->option, option) != 0)
			continue;
		if (!*r->sub)
			compare_value(c, option, r->key, value);
		for (size_t k = 0; *r->sub && k < parts.n; k++) {
			size_t n = strlen(r->sub);
			be_autofree char *shown = be_strf("%s %s", option, r->sub);
			if (be_starts(parts.v[k], r->sub) && parts.v[k][n] == '=')
				compare_value(c, shown, r->key, parts.v[k] + n + 1);
		}
	}
	for (size_t k = 0; is_ext(c->kind) && strcmp(option, "-O") == 0 && k < parts.n; k++)
		if (strcmp(parts.v[k], "none") != 0)
			compare_feature(c, parts.v[k] + (parts.v[k][0] == '^'), parts.v[k][0] != '^');
}

/* The options come as `-b 4096`, `-b4096`, `--nodesize 16k` and `--nodesize=16k`. */
static void compare_options(const struct comparison *c)
{
	be_autostrv struct be_strv argv = { 0 };
	be_get_strv(c->stanza, "mkfs", &argv);
	for (size_t i = 1; i < argv.n; i++) {
		const char *word = argv.v[i], *equals = strchr(word, '=');
		bool lengthy = be_starts(word, "--");
		if (word[0] != '-' || !word[1])
			continue;
		if (lengthy ? equals != NULL : word[2] != '\0') {
			size_t n = lengthy ? (size_t)(equals - word) : 2;
			be_autofree char *option = be_strndup(word, n);
			compare_option(c, option, word + n + lengthy);
		} else if (i + 1 < argv.n) {
			compare_option(c, word, argv.v[i + 1]);
		}
	}
}

void be_features_compare(struct be_setup *setup, const struct be_node *stanza, const struct be_node *node)
{
	struct comparison c = { setup, stanza, node, be_get_str(stanza, "kind", "") };
	const struct be_node *features = be_get(node, "features"), *made = be_get(node, "made");
	bool readable_kind = is_ext(c.kind) || strcmp(c.kind, "xfs") == 0 || strcmp(c.kind, "btrfs") == 0;
	if (readable_kind && !(features && features->n) && !(made && made->n)) {
		be_deviation(setup->deviations, "fs.features", "%s: what mkfs made cannot be read back",
			     be_get_str(stanza, "mount", "?"));
		return;
	}
	if (is_ext(c.kind)) {
		compare_feature(&c, "extent", strcmp(c.kind, "ext4") == 0);
		if (strcmp(c.kind, "ext4") != 0) /* which may do without */
			compare_feature(&c, "has_journal", strcmp(c.kind, "ext3") == 0);
	}
	if (strcmp(c.kind, "btrfs") == 0) {
		be_autofree char *n = be_strf("%zu", be_get(stanza, "devices") ? be_get(stanza, "devices")->n : 0);
		compare_value(&c, "number of devices", "devices", n);
	}
	compare_options(&c);
}
