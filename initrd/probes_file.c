/* Probes of the test file and its file system: they try what the workload would do, on a file of their own. */
#include "initrd/probes.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define PROBE_BYTES 4096

/* A new file in @dir that is already unlinked; -1 with errno. */
static int scratch(const struct be_root *root, const char *dir, int flags)
{
	be_autofree char *full = be_root_path(root, dir);
	be_autofree char *name = be_strf("%s/.benchenv-probe-%d", full, getpid());
	int fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | flags, 0600);
	int errnum = errno;
	unlink(name);
	errno = errnum;
	return fd;
}

static struct be_reading cannot_create(const char *dir)
{
	return be_reading_not_observable("%s: no file can be made there: %s", dir, strerror(errno));
}

/* Whether files read without waiting: EOPNOTSUPP says no, success and EAGAIN say that no-wait is understood. */
static struct be_reading nowait_of(int fd, const char *path)
{
	char byte;
	struct iovec io = { .iov_base = &byte, .iov_len = 1 };
	if (preadv2(fd, &io, 1, 0, RWF_NOWAIT) >= 0 || errno == EAGAIN)
		return be_reading_text("yes");
	if (errno == EOPNOTSUPP)
		return be_reading_text("no");
	if (errno == ENOSYS)
		return be_reading_not_observable("this kernel has no preadv2");
	return be_reading_not_observable("%s: preadv2 with RWF_NOWAIT: %s", path, strerror(errno));
}

/*
 * preadv2 alone decides: ext4 answers EOPNOTSUPP to a buffered pwritev2 although its files have FMODE_NOWAIT. So the
 * write needs no try of its own.
 */
struct be_reading be_probe_nowait(const struct be_look *look)
{
	be_autofree char *full = be_root_path(&look->o->root, look->path);
	struct stat st;
	if (stat(full, &st) != 0)
		return be_reading_absent("no such file %s", look->path);
	if (!S_ISDIR(st.st_mode)) {
		be_autofd int device = open(full, O_RDONLY | O_CLOEXEC);
		return device >= 0 ? nowait_of(device, look->path)
				   : be_reading_not_observable("%s: %s", look->path, strerror(errno));
	}
	be_autofd int fd = scratch(&look->o->root, look->path, 0);
	if (fd < 0)
		return cannot_create(look->path);
	static const char block[PROBE_BYTES];
	if (write(fd, block, sizeof(block)) != (ssize_t)sizeof(block))
		return be_reading_not_observable("%s: cannot be written: %s", look->path, strerror(errno));
	return nowait_of(fd, look->path);
}

struct be_reading be_probe_direct_io(const struct be_look *look)
{
	be_autofd int fd = scratch(&look->o->root, look->path, O_DIRECT);
	if (fd >= 0)
		return be_reading_text("yes");
	return errno == EINVAL ? be_reading_text("no") : cannot_create(look->path);
}

struct be_reading be_probe_statx_dax(const struct be_look *look)
{
	be_autofd int fd = scratch(&look->o->root, look->path, 0);
	struct statx stx;
	if (fd < 0)
		return cannot_create(look->path);
	if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &stx) != 0)
		return be_reading_not_observable("%s: statx: %s", look->path, strerror(errno));
	if (!(stx.stx_attributes_mask & STATX_ATTR_DAX))
		return be_reading_not_observable("this kernel's statx does not tell");
	return be_reading_text(stx.stx_attributes & STATX_ATTR_DAX ? "yes" : "no");
}

struct be_reading be_probe_fs_usage(const struct be_look *look)
{
	be_autofree char *full = be_root_path(&look->o->root, look->path);
	struct statvfs st;
	if (statvfs(full, &st) != 0)
		return be_reading_not_observable("%s: %s", look->path, strerror(errno));
	if (!st.f_blocks)
		return be_reading_not_observable("%s states no size", look->path);
	struct be_node *map = be_node_map();
	uint64_t used = st.f_blocks - st.f_bfree;
	be_set_int(map, "size", (int64_t)(st.f_blocks * st.f_frsize));
	be_set_int(map, "used", (int64_t)(used * st.f_frsize));
	be_set(map, "used_percent", be_node_strf("%.1f", 100.0 * (double)used / (double)st.f_blocks));
	return be_reading_value(map);
}

/* /sys/fs/btrfs/UUID/allocation/data/single/ and so on: the profile is the name of the directory. */
static struct be_node *profiles(const struct be_look *look, const char *kind)
{
	be_autofree char *dir = be_strf("/sys/fs/btrfs/%s/allocation/%s", look->at->uuid, kind);
	be_autostrv struct be_strv names = { 0 }, found = { 0 };
	if (be_root_list(&look->o->root, dir, &names) != 0)
		return NULL;
	for (size_t i = 0; i < names.n; i++) {
		be_autofree char *path = be_strf("%s/%s/total_bytes", dir, names.v[i]);
		if (be_root_exists(&look->o->root, path))
			be_strv_add(&found, names.v[i]);
	}
	return found.n == 1 ? be_node_str(found.v[0]) : be_node_strv(&found);
}

struct be_reading be_probe_btrfs_profiles(const struct be_look *look)
{
	static const char *const kinds[] = { "data", "metadata", "system" };
	if (!look->at->uuid)
		return be_reading_not_observable("%s: no UUID was found", look->path);
	be_autonode struct be_node *map = be_node_map();
	for (size_t i = 0; i < BE_ARRAY_LEN(kinds); i++) {
		struct be_node *found = profiles(look, kinds[i]);
		if (found)
			be_set(map, kinds[i], found);
	}
	if (!map->n)
		return be_reading_absent("no such file /sys/fs/btrfs/%s/allocation", look->at->uuid);
	return be_reading_value(be_steal(&map));
}
