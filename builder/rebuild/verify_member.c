#include "builder/rebuild/verify_member.h"

#include <string.h>
#include <sys/stat.h>

#define MARK "benchenv/complete" /* init refuses an initrd without it */

void be_unpacked_free(struct be_unpacked *unpacked)
{
	be_strv_free(&unpacked->folders);
}

/* The kernel makes no folder by itself: an entry whose folder is not there is lost without a word. */
static void check_place(struct be_unpacked *unpacked, const char *name, const struct be_member_entry *entry,
			struct be_strv *problems)
{
	const char *path = entry->path, *slash = strrchr(path, '/');
	be_autofree char *folder = slash ? be_strndup(path, (size_t)(slash - path)) : NULL;
	if (path[0] == '/' || strstr(path, "../") || be_ends(path, "/.."))
		be_strv_addf(problems, "member %s: %s leads out of the root", name, path);
	if (folder && !be_strv_has(&unpacked->folders, folder))
		be_strv_addf(problems, "member %s: %s comes before its folder: the kernel loses it", name, path);
	if ((S_ISDIR(entry->mode) || S_ISLNK(entry->mode)) && !be_strv_has(&unpacked->folders, path))
		be_strv_add(&unpacked->folders, path);
}

/* The table of hard links ends with the member. */
static void check_links(const char *name, const struct be_member *member, struct be_strv *problems)
{
	for (size_t i = 0; i < member->n; i++) {
		const struct be_member_entry *entry = &member->v[i];
		size_t names = 0;
		if (!S_ISREG(entry->mode) || entry->hardlink || entry->links < 2)
			continue;
		for (size_t k = 0; k < member->n; k++)
			names += member->v[k].inode == entry->inode;
		if (names != entry->links)
			be_strv_addf(problems, "member %s: %s has %u names, %zu of them are in the member", name,
				     entry->path, entry->links, names);
	}
}

static void expect(const struct be_member *member, const char *name, const char *path, const char *sha256,
		   struct be_strv *problems)
{
	const struct be_member_entry *entry = be_member_find(member, path);
	if (!entry)
		be_strv_addf(problems, "member %s: %s is not in it", name, path);
	else if (!be_streq(entry->sha256, sha256))
		be_strv_addf(problems, "member %s: %s has SHA-256 %.12s, the manifest says %.12s", name, path,
			     entry->sha256, sha256);
}

static void check_guest(const struct be_unpacked *unpacked, const struct be_member *member, struct be_strv *problems)
{
	const struct be_node *list = be_get_path(unpacked->manifest, "lock.guest");
	for (size_t i = 0; list && list->kind == BE_SEQ && i < list->n; i++) {
		const char *file = be_get_str(list->items[i], "path", "");
		be_autofree char *path = be_streq(file, "init") ? be_strdup(file) : be_strf("benchenv/%s", file);
		expect(member, "guest", path, be_get_str(list->items[i], "sha256", ""), problems);
	}
}

/* The programs of the workload, whose hashes are a factor. */
static void check_programs(const struct be_unpacked *unpacked, const char *name, const struct be_member *member,
			   struct be_strv *problems)
{
	static const char *const folders[] = { "usr/bin", "usr/sbin" };
	const struct be_node *environment = be_get(unpacked->manifest, "environment");
	const struct be_node *hashes = be_get(be_get(environment, "workload.binary_sha256"), "built");
	for (size_t i = 0; hashes && hashes->kind == BE_MAP && i < hashes->n; i++) {
		for (size_t k = 0; k < BE_ARRAY_LEN(folders); k++) {
			be_autofree char *path = be_strf("%s/%s", folders[k], hashes->keys[i]);
			const struct be_member_entry *entry = be_member_find(member, path);
			if (entry && S_ISREG(entry->mode) && !entry->hardlink)
				expect(member, name, path, be_get_str(hashes, hashes->keys[i], ""), problems);
		}
	}
}

void be_unpacked_add(struct be_unpacked *unpacked, const char *name, const struct be_member *member,
		     struct be_strv *problems)
{
	for (size_t i = 0; i < member->n; i++)
		check_place(unpacked, name, &member->v[i], problems);
	check_links(name, member, problems);
	if (be_streq(name, "guest"))
		check_guest(unpacked, member, problems);
	if (be_starts(name, "package/"))
		check_programs(unpacked, name, member, problems);
}

void be_unpacked_end(struct be_unpacked *unpacked, const struct be_member *member, struct be_strv *problems)
{
	const struct be_member_entry *plan = be_member_find(member, "benchenv/plan.yaml");
	if (!plan || !be_streq(plan->sha256, unpacked->plan))
		be_strv_add(problems, "plan.yaml: is not the plan inside the initrd");
	if (!member->n || !be_streq(member->v[member->n - 1].path, MARK))
		be_strv_add(problems, "initrd.img: its last entry is not the mark that says it is complete");
}
