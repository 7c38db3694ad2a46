#include "swap.h"

#include <errno.h>
#include <fcntl.h>
#include <libmount/libmount.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/swap.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "action.h"
#include "device.h"
#include "signature.h"
#include "use.h"

#define MKSWAP_TIMEOUT 600.0 /* seconds */

static const char *path_of(const struct be_node *swap)
{
	return be_get_str(swap, "file", be_get_str(swap, "device", ""));
}

/* btrfs swaps only to files that it does not copy on write, and the flag is taken only while the file is empty. */
static void forbid_copies(int fd)
{
	int flags = 0;
	if (ioctl(fd, FS_IOC_GETFLAGS, &flags) != 0)
		return;
	flags |= FS_NOCOW_FL;
	(void)!ioctl(fd, FS_IOC_SETFLAGS, &flags); /* others have no such flag, and need none */
}

static int make_file(const char *path, int64_t size, struct be_error *err)
{
	be_autofd int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return be_fail_errno(err, errno, "%s cannot be made", path);
	forbid_copies(fd);
	int rc = posix_fallocate(fd, 0, size);
	if (rc == 0)
		return 0;
	unlink(path);
	return be_fail_errno(err, rc, "%s: no room for %lld bytes", path, (long long)size);
}

static int mkswap(struct be_setup *setup, const struct be_node *swap, struct be_error *err)
{
	be_autostrv struct be_strv words = { 0 }, argv = { 0 };
	char uuid[37];
	be_get_strv(swap, "mkswap", &words);
	be_signature_uuid(&words, uuid);
	for (size_t i = 0; i < words.n; i++) {
		be_strv_add(&argv, words.v[i]);
		if (i == 0) {
			be_strv_add(&argv, "-U");
			be_strv_add(&argv, uuid);
		}
	}
	return be_action_run(setup, "mkswap", &argv, MKSWAP_TIMEOUT, err);
}

static void record(struct be_setup *setup, const struct be_node *swap, const char *what, double start, int rc)
{
	be_autonode struct be_node *argv = be_node_seq();
	struct utsname name;
	be_add_str(argv, what);
	if (strcmp(what, "swapon") == 0 && be_get(swap, "priority")) {
		be_add_str(argv, "-p");
		be_add_str(argv, be_get_str(swap, "priority", "0"));
	}
	be_add_str(argv, path_of(swap));
	be_autofree char *version = be_strf("Linux %s", uname(&name) == 0 ? name.release : "");
	be_action_record(setup, what, argv, be_monotonic() - start, rc != 0, version);
}

static int switch_on(struct be_setup *setup, const struct be_node *swap, struct be_error *err)
{
	int64_t priority = be_get_int(swap, "priority", -1);
	int flags = priority < 0 ? 0 : SWAP_FLAG_PREFER | ((int)priority & SWAP_FLAG_PRIO_MASK);
	double start = be_monotonic();
	int rc = swapon(path_of(swap), flags), errnum = errno;
	record(setup, swap, "swapon", start, rc);
	if (rc != 0)
		return be_fail_errno(err, errnum, "%s cannot be switched on as swap", path_of(swap));
	return 0;
}

int be_swaps_make(struct be_setup *setup, const struct be_node *plan, struct be_error *err)
{
	const struct be_node *swaps = be_get_path(plan, "layout.swaps");
	for (size_t i = 0; swaps && i < swaps->n; i++) {
		const struct be_node *swap = swaps->items[i];
		const char *file = be_get_str(swap, "file", NULL);
		if (file && make_file(file, be_get_int(swap, "size", 0), err) != 0)
			return -1;
		if (mkswap(setup, swap, err) != 0 || switch_on(setup, swap, err) != 0)
			return -1;
	}
	return 0;
}

/* The kernel names files by path and devices as it calls them. */
static bool is_same(const struct be_root *root, const struct be_node *swap, const char *source)
{
	if (be_get_str(swap, "file", NULL))
		return be_streq(be_get_str(swap, "file", NULL), source);
	be_autofree char *planned = be_device_kernel_name(root, path_of(swap), NULL);
	be_autofree char *there = be_device_kernel_name(root, source, NULL);
	return planned && be_streq(planned, there);
}

static struct libmnt_fs *find(const struct be_root *root, struct libmnt_table *table, const struct be_node *swap)
{
	struct libmnt_iter *iter = mnt_new_iter(MNT_ITER_FORWARD);
	struct libmnt_fs *fs = NULL, *found = NULL;
	while (iter && !found && mnt_table_next_fs(table, iter, &fs) == 0)
		if (is_same(root, swap, mnt_fs_get_source(fs)))
			found = fs;
	mnt_free_iter(iter);
	return found;
}

static int read_one(const struct be_root *root, struct libmnt_table *table, const struct be_node *swap,
		    struct be_node *out, struct be_error *err)
{
	const char *path = path_of(swap);
	struct libmnt_fs *fs = find(root, table, swap);
	if (!fs)
		return be_fail(err, "%s is not in use as swap", path);
	int64_t size = (int64_t)mnt_fs_get_size(fs) * 1024, planned = be_get_int(swap, "size", 0);
	int64_t priority = be_get_int(swap, "priority", -1), page = sysconf(_SC_PAGESIZE);
	struct be_node *node = be_node_map();
	be_set_str(node, "path", path);
	be_set_str(node, "kind", mnt_fs_get_swaptype(fs));
	be_set_int(node, "size", size);
	be_set_int(node, "priority", mnt_fs_get_priority(fs));
	be_add(out, node);
	if (planned && size != planned / page * page - page) /* its first page is the header */
		return be_fail(err, "%s: swap of %lld bytes planned, the kernel uses %lld", path, (long long)planned,
			       (long long)size);
	if (priority >= 0 && priority != mnt_fs_get_priority(fs))
		return be_fail(err, "%s: swap priority %lld planned, the kernel says %d", path, (long long)priority,
			       mnt_fs_get_priority(fs));
	return 0;
}

int be_swaps_read(struct be_setup *setup, const struct be_node *plan, struct be_node *out, struct be_error *err)
{
	const struct be_node *swaps = be_get_path(plan, "layout.swaps");
	if (!swaps || !swaps->n)
		return 0;
	struct libmnt_table *table = be_use_table(&setup->root, "/proc/swaps", err);
	if (!table)
		return -1;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < swaps->n; i++)
		rc = read_one(&setup->root, table, swaps->items[i], out, err);
	mnt_unref_table(table);
	return rc;
}

int be_swaps_off(struct be_setup *setup, const struct be_node *plan, struct be_error *err)
{
	const struct be_node *swaps = be_get_path(plan, "layout.swaps");
	if (!swaps || !swaps->n)
		return 0;
	struct libmnt_table *table = be_use_table(&setup->root, "/proc/swaps", err);
	if (!table)
		return -1;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < swaps->n; i++) {
		if (!find(&setup->root, table, swaps->items[i]))
			continue;
		double start = be_monotonic();
		rc = swapoff(path_of(swaps->items[i]));
		int errnum = errno;
		record(setup, swaps->items[i], "swapoff", start, rc);
		if (rc != 0)
			be_fail_errno(err, errnum, "%s cannot be switched off", path_of(swaps->items[i]));
	}
	mnt_unref_table(table);
	return rc;
}
