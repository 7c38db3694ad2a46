#include "filesystem.h"

#include <string.h>

#include "action.h"
#include "signature.h"
#include "support.h"

#define MKFS_TIMEOUT 3600.0 /* seconds; ext4 writes all its inode tables when told not to be lazy */

/* How each mkfs takes a UUID (or, f2fs, a label); kinds that are not here stay unmarked. */
static const struct mark {
	const char *kind, *option, *prefix;
} marks[] = {
	{ "btrfs", "-U", "" }, { "ext2", "-U", "" },     { "ext3", "-U", "" },
	{ "ext4", "-U", "" },  { "xfs", "-m", "uuid=" }, { "f2fs", "-l", NULL },
};

static const struct mark *find_mark(const char *kind)
{
	for (size_t i = 0; i < BE_ARRAY_LEN(marks); i++)
		if (strcmp(marks[i].kind, kind) == 0)
			return &marks[i];
	return NULL;
}

void be_filesystem_uuid(const struct be_node *stanza, char uuid[37])
{
	be_autostrv struct be_strv words = { 0 };
	be_get_strv(stanza, "mkfs", &words);
	be_signature_uuid(&words, uuid);
}

void be_filesystem_mkfs_argv(const struct be_node *stanza, struct be_strv *argv)
{
	be_autostrv struct be_strv words = { 0 };
	const struct mark *mark = find_mark(be_get_str(stanza, "kind", ""));
	char uuid[37];
	be_get_strv(stanza, "mkfs", &words);
	be_filesystem_uuid(stanza, uuid);
	/* Behind `mkfs -t TYPE` or `mkfs.TYPE`: options come before the device. */
	size_t at = words.n > 2 && strcmp(words.v[1], "-t") == 0 ? 3 : 1;
	for (size_t i = 0; i < words.n; i++) {
		if (i == at && mark) {
			be_strv_add(argv, mark->option);
			be_strv_addf(argv, "%s%s", mark->prefix ? mark->prefix : "", mark->prefix ? uuid : BE_FS_LABEL);
		}
		be_strv_add(argv, words.v[i]);
	}
}

int be_filesystems_make(struct be_setup *setup, const struct be_node *plan, struct be_error *err)
{
	const struct be_node *stanzas = be_get_path(plan, "layout.filesystems");
	size_t n = 0, total = stanzas ? stanzas->n : 0;
	be_autofree struct be_action *actions = be_alloc((total + 1) * sizeof(*actions));
	for (size_t i = 0; i < total; i++) {
		/* Before mkfs.btrfs, which tells the kernel of a file system's devices. */
		be_support_filesystem(setup, be_get_str(stanzas->items[i], "kind", ""));
		be_filesystem_mkfs_argv(stanzas->items[i], &actions[n].argv);
		actions[n].what = "mkfs";
		actions[n].timeout = MKFS_TIMEOUT;
		n += actions[n].argv.n > 0; /* tmpfs has no mkfs */
	}
	int rc = be_actions_run(setup, actions, n, err);
	for (size_t i = 0; i < n; i++)
		be_action_free(&actions[i]);
	return rc;
}
