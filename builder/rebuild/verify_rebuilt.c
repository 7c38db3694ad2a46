/* Two images of one manifest: which member, which file, and what of it. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "builder/image/image_folder.h"
#include "builder/image/member.h"
#include "builder/rebuild/verify.h"

#define FILES_MAX 20 /* named of one member */
#define NAMES_MAX 4  /* of members that were only compressed otherwise */

static const struct be_node *find_segment(const struct be_node *manifest, const char *name)
{
	const struct be_node *list = be_get_path(manifest, "image.segments");
	for (size_t i = 0; list && list->kind == BE_SEQ && i < list->n; i++)
		if (be_streq(be_get_str(list->items[i], "name", NULL), name))
			return list->items[i];
	return NULL;
}

static int read_segment(const char *dir, const struct be_node *segment, struct be_member *member, struct be_error *err)
{
	be_autofree char *path = be_strf("%s/initrd.img", dir);
	be_autofd int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return be_fail_errno(err, errno, "%s: cannot be opened", path);
	return be_member_read(member, fd, be_get_int(segment, "offset", -1), be_get_int(segment, "size", -1),
			      be_get_str(segment, "name", "?"), err);
}

static void add_line(const char *name, size_t *n, struct be_strv *problems, const char *path, const char *text)
{
	if ((*n)++ < FILES_MAX)
		be_strv_addf(problems, "member %s: %s: %s", name, path, text);
}

/* Do both list their files in the same order? Their files are the same. */
static bool same_order(const struct be_member *a, const struct be_member *b)
{
	for (size_t i = 0; i < a->n && i < b->n; i++)
		if (!be_streq(a->v[i].path, b->v[i].path))
			return false;
	return a->n == b->n;
}

/* The names of members of which only the compressed bytes differ go to @recompressed. */
static void compare_members(const char *name, const struct be_member *a, const struct be_member *b,
			    struct be_strv *recompressed, struct be_strv *problems)
{
	size_t n = 0;
	for (size_t i = 0; i < a->n; i++) {
		const struct be_member_entry *other = be_member_find(b, a->v[i].path);
		be_autofree char *text = other ? be_member_difference(&a->v[i], other, "built again")
					       : be_strdup("not in it when built again");
		if (text)
			add_line(name, &n, problems, a->v[i].path, text);
	}
	for (size_t i = 0; i < b->n; i++)
		if (!be_member_find(a, b->v[i].path))
			add_line(name, &n, problems, b->v[i].path, "only in it when built again");
	if (n > FILES_MAX)
		be_strv_addf(problems, "member %s: and %zu more files", name, n - FILES_MAX);
	if (!n && same_order(a, b))
		be_strv_add(recompressed, name);
	else if (!n)
		be_strv_addf(problems, "member %s: the same files in another order", name);
}

static int compare_segment(const char *dir, const struct be_node *old, const char *built, const struct be_node *new,
			   struct be_strv *recompressed, struct be_verified *verified, struct be_error *err)
{
	const char *name = be_get_str(old, "name", "?");
	be_automember struct be_member a = { 0 }, b = { 0 };
	if (be_streq(be_get_str(old, "sha256", NULL), be_get_str(new, "sha256", NULL)))
		return 0;
	if (!dir) {
		be_strv_addf(&verified->problems,
			     "member %s: SHA-256 %.12s, built again %.12s (give the image's folder to see the files)",
			     name, be_get_str(old, "sha256", ""), be_get_str(new, "sha256", ""));
		return 0;
	}
	if (read_segment(dir, old, &a, err) != 0 || read_segment(built, new, &b, err) != 0)
		return -1;
	compare_members(name, &a, &b, recompressed, &verified->problems);
	return 0;
}

/* Another libzstd makes other bytes of all members: one line, not eighty. */
static void report_recompressed(const struct be_strv *names, struct be_strv *problems)
{
	be_autobuf struct be_buf text = { 0 };
	if (!names->n)
		return;
	for (size_t i = 0; i < names->n && i < NAMES_MAX; i++)
		be_buf_addf(&text, "%s%s", i ? ", " : "", names->v[i]);
	if (names->n > NAMES_MAX)
		be_buf_addf(&text, " and %zu more", names->n - NAMES_MAX);
	be_strv_addf(problems, "member%s %s: the same files in the same order, compressed otherwise",
		     names->n > 1 ? "s" : "", text.data);
}

static int compare_segments(const char *dir, const struct be_node *manifest, const char *built,
			    const struct be_node *again, struct be_verified *verified, struct be_error *err)
{
	const struct be_node *old = be_get_path(manifest, "image.segments");
	const struct be_node *new = be_get_path(again, "image.segments");
	be_autostrv struct be_strv recompressed = { 0 };
	if (!old || old->kind != BE_SEQ) /* the list lies in another file: what there is of the whole was compared */
		return 0;
	for (size_t i = 0; i < old->n; i++) {
		const char *name = be_get_str(old->items[i], "name", "?");
		const struct be_node *other = find_segment(again, name);
		if (!other)
			be_strv_addf(&verified->problems, "member %s: not there when built again", name);
		else if (compare_segment(dir, old->items[i], built, other, &recompressed, verified, err) != 0)
			return -1;
	}
	report_recompressed(&recompressed, &verified->problems);
	for (size_t i = 0; new &&new->kind == BE_SEQ &&i < new->n; i++)
		if (!find_segment(manifest, be_get_str(new->items[i], "name", "?")))
			be_strv_addf(&verified->problems, "member %s: only there when built again",
				     be_get_str(new->items[i], "name", "?"));
	return 0;
}

int be_verify_rebuilt(const char *dir, const struct be_node *manifest, const char *built, struct be_verified *verified,
		      struct be_error *err)
{
	static const char *const keys[] = { "kernel.sha256", "initrd.sha256", "cmdline", "id" };
	be_autonode struct be_node *again = be_manifest_load(built, err);
	if (!again)
		return -1;
	for (size_t i = 0; i < BE_ARRAY_LEN(keys); i++) {
		const struct be_node *old = be_get_path(be_get(manifest, "image"), keys[i]);
		const struct be_node *new = be_get_path(be_get(again, "image"), keys[i]);
		if (!old || !new || !be_streq(old->text, new->text))
			be_strv_addf(&verified->problems, "image.%s: %.60s, built again %.60s", keys[i],
				     old ? old->text : "none", new ? new->text : "none");
	}
	return compare_segments(dir, manifest, built, again, verified, err);
}
