#include "use.h"

#include <errno.h>
#include <fcntl.h>
#include <libmount/libmount.h>
#include <string.h>
#include <sys/sysmacros.h>

static void add(struct be_uses *uses, char *finding, char *remedy)
{
	uses->v = be_realloc(uses->v, uses->n + 1, sizeof(*uses->v));
	uses->v[uses->n++] = (struct be_use){ finding, remedy };
}

void be_uses_free(struct be_uses *uses)
{
	for (size_t i = 0; i < uses->n; i++) {
		free(uses->v[i].finding);
		free(uses->v[i].remedy);
	}
	free(uses->v);
	*uses = (struct be_uses){ 0 };
}

struct libmnt_table *be_use_table(const struct be_root *root, const char *path, struct be_error *err)
{
	be_autobuf struct be_buf text = { 0 };
	if (be_root_read(root, path, &text, err) != 0)
		return NULL;
	struct libmnt_table *table = mnt_new_table();
	FILE *stream = table ? fmemopen(text.data, text.len, "r") : NULL;
	int rc = stream ? mnt_table_parse_stream(table, stream, path) : -errno;
	if (stream)
		fclose(stream);
	if (rc == 0)
		return table;
	mnt_unref_table(table);
	be_fail_errno(err, rc < 0 ? -rc : EINVAL, "%s cannot be read", path);
	return NULL;
}

/* @source is a device file, or a link to one, that stands for @kernel. */
static bool stands_for(const struct be_root *root, const char *source, const char *kernel)
{
	be_autofree char *name = source ? be_device_kernel_name(root, source, NULL) : NULL;
	return be_streq(name, kernel);
}

static bool same_number(const struct be_root *root, dev_t devno, const char *kernel)
{
	be_autofree char *dev = be_device_attr(root, kernel, "dev");
	unsigned major, minor;
	return dev && sscanf(dev, "%u:%u", &major, &minor) == 2 && devno == makedev(major, minor);
}

static void find_mounts(const struct be_root *root, struct libmnt_table *table, const char *kernel,
			struct be_uses *uses)
{
	struct libmnt_iter *iter = mnt_new_iter(MNT_ITER_FORWARD);
	struct libmnt_fs *fs;
	while (iter && mnt_table_next_fs(table, iter, &fs) == 0) {
		if (!same_number(root, mnt_fs_get_devno(fs), kernel) &&
		    !stands_for(root, mnt_fs_get_srcpath(fs), kernel))
			continue;
		const char *target = mnt_fs_get_target(fs);
		if (be_streq(target, "/"))
			add(uses, be_strf("%s holds the running system's root", kernel),
			    be_strdup("name another device: the root's is never touched"));
		else
			add(uses, be_strf("%s is mounted on %s", kernel, target), be_strf("unmount %s", target));
	}
	mnt_free_iter(iter);
}

int be_use_target(const struct be_root *root, const char *target, bool *taken, struct be_error *err)
{
	struct libmnt_table *table = be_use_table(root, "/proc/self/mountinfo", err);
	if (!table)
		return -1;
	*taken = mnt_table_find_target(table, target, MNT_ITER_BACKWARD) != NULL;
	mnt_unref_table(table);
	return 0;
}

static void find_swaps(const struct be_root *root, struct libmnt_table *table, const char *kernel, struct be_uses *uses)
{
	struct libmnt_iter *iter = mnt_new_iter(MNT_ITER_FORWARD);
	struct libmnt_fs *fs;
	while (iter && mnt_table_next_fs(table, iter, &fs) == 0)
		if (stands_for(root, mnt_fs_get_source(fs), kernel))
			add(uses, be_strf("%s is in use as swap", kernel), be_strf("swapoff /dev/%s", kernel));
	mnt_free_iter(iter);
}

static bool is_array(const struct be_root *root, const char *kernel)
{
	be_autofree char *path = be_strf("/sys/class/block/%s/md", kernel);
	return be_root_exists(root, path);
}

static void list_holders(const struct be_root *root, const char *kernel, struct be_strv *holders)
{
	be_autofree char *path = be_strf("/sys/class/block/%s/holders", kernel);
	if (be_root_list(root, path, holders) != 0)
		be_strv_free(holders); /* no folder: nothing can hold it */
}

void be_use_arrays(const struct be_root *root, const char *kernel, struct be_strv *arrays)
{
	be_autostrv struct be_strv holders = { 0 };
	list_holders(root, kernel, &holders);
	for (size_t i = 0; i < holders.n; i++)
		if (is_array(root, holders.v[i]))
			be_strv_add(arrays, holders.v[i]);
}

static void add_holder(const struct be_root *root, const char *kernel, const char *holder, struct be_uses *uses)
{
	if (is_array(root, holder)) {
		be_autofree char *level = be_device_attr(root, holder, "md/level");
		be_autofree char *state = be_device_attr(root, holder, "md/array_state");
		add(uses,
		    be_strf("%s is a member of the md array %s (%s, %s)", kernel, holder,
			    level && *level ? level : "no level", state ? state : "state unknown"),
		    be_strf("see what the array holds; mdadm --stop /dev/%s", holder));
		return;
	}
	be_autofree char *name = be_device_attr(root, holder, "dm/name");
	if (name)
		add(uses, be_strf("%s is mapped by the device mapper as %s (%s)", kernel, holder, name),
		    be_strf("see what uses it; dmsetup remove %s", name));
	else
		add(uses, be_strf("%s is held by %s", kernel, holder), be_strf("release %s", holder));
}

static void find_holders(const struct be_root *root, const char *kernel, const struct be_strv *idle,
			 struct be_uses *uses)
{
	be_autostrv struct be_strv holders = { 0 };
	list_holders(root, kernel, &holders);
	for (size_t i = 0; i < holders.n; i++)
		if (!idle || !be_strv_has(idle, holders.v[i]))
			add_holder(root, kernel, holders.v[i], uses);
}

void be_use_partitions(const struct be_root *root, const char *whole, struct be_strv *partitions)
{
	be_autostrv struct be_strv all = { 0 };
	be_autofree char *path = be_strf("/sys/class/block/%s", whole);
	if (be_root_list(root, path, &all) != 0)
		return;
	for (size_t i = 0; i < all.n; i++) {
		be_autofree char *file = be_strf("%s/%s/partition", path, all.v[i]);
		if (be_root_exists(root, file))
			be_strv_add(partitions, all.v[i]);
	}
}

int be_use_find(const struct be_root *root, const char *kernel, const struct be_strv *idle, struct be_uses *uses,
		struct be_error *err)
{
	be_autofree char *whole = be_device_whole(root, kernel);
	be_autostrv struct be_strv names = { 0 };
	be_strv_add(&names, kernel);
	if (be_streq(whole, kernel))
		be_use_partitions(root, whole, &names);
	else
		be_strv_add(&names, whole);
	struct libmnt_table *mounts = be_use_table(root, "/proc/self/mountinfo", err), *swaps = NULL;
	if (!mounts)
		return -1;
	bool has_swap = be_root_exists(root, "/proc/swaps"); /* else a kernel without */
	if (has_swap)
		swaps = be_use_table(root, "/proc/swaps", err);
	int rc = has_swap && !swaps ? -1 : 0;
	for (size_t i = 0; i < names.n && rc == 0; i++) {
		find_holders(root, names.v[i], idle, uses);
		find_mounts(root, mounts, names.v[i], uses);
		if (swaps)
			find_swaps(root, swaps, names.v[i], uses);
	}
	mnt_unref_table(mounts);
	mnt_unref_table(swaps);
	return rc;
}

int be_use_exclusive(const char *node, struct be_uses *uses, struct be_error *err)
{
	be_autofd int fd = open(node, O_RDONLY | O_EXCL | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0)
		return 0;
	if (errno != EBUSY)
		return be_fail_errno(err, errno, "%s cannot be opened", node);
	add(uses, be_strf("%s is opened exclusively by a program or by the kernel", node),
	    be_strf("find and end what uses it (fuser -v %s; lsblk)", node));
	return 0;
}
