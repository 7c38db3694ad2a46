/* Probes of the test file and its file system: they try what the workload would do, on a file of their own. */
#include "initrd/observe/probes.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/stat.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "disk-setup/device.h"

#define PROBE_BYTES 4096

/* A new file in @dir without a name, or already unlinked where that is not to be had; -1 with errno. */
static int scratch(const struct be_root *root, const char *dir, int flags)
{
	be_autofree char *full = be_root_path(root, dir);
	int nameless = open(full, O_RDWR | O_TMPFILE | O_EXCL | O_CLOEXEC | flags, 0600);
	if (nameless >= 0)
		return nameless;
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

/* Tries a read or write with RWF_NOWAIT: 0 when it was accepted (also with EAGAIN), else errno. */
static int try_nowait(int fd, bool writing, char *block)
{
	struct iovec io = { .iov_base = block, .iov_len = PROBE_BYTES };
	ssize_t n = writing ? pwritev2(fd, &io, 1, 0, RWF_NOWAIT) : preadv2(fd, &io, 1, 0, RWF_NOWAIT);
	return n >= 0 || errno == EAGAIN ? 0 : errno;
}

static struct be_reading nowait_failed(const char *path, int errnum)
{
	if (errnum == EOPNOTSUPP)
		return be_reading_text("no");
	if (errnum == ENOSYS)
		return be_reading_not_observable("this kernel has no preadv2");
	return be_reading_not_observable("%s: preadv2 with RWF_NOWAIT: %s", path, strerror(errnum));
}

/* A block device is opened with O_DIRECT: what its layers answer counts, not the page cache. */
static struct be_reading nowait_of_device(const char *full, const char *path)
{
	_Alignas(PROBE_BYTES) char block[PROBE_BYTES];
	be_autofd int fd = open(full, O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (fd < 0)
		return be_reading_not_observable("%s: %s", path, strerror(errno));
	int errnum = try_nowait(fd, false, block);
	return errnum ? nowait_failed(path, errnum) : be_reading_text("yes");
}

/*
 * preadv2 alone decides whether files have FMODE_NOWAIT: ext4 answers EOPNOTSUPP to a buffered pwritev2 although they
 * have. That is said too, because io_uring hands such writes to worker threads.
 */
struct be_reading be_probe_nowait(const struct be_look *look)
{
	be_autofree char *full = be_root_path(&look->o->root, look->path);
	struct stat st;
	if (stat(full, &st) != 0)
		return be_reading_absent("no such file %s", look->path);
	if (!S_ISDIR(st.st_mode))
		return nowait_of_device(full, look->path);
	char block[PROBE_BYTES] = { 0 };
	be_autofd int fd = scratch(&look->o->root, look->path, 0);
	if (fd < 0)
		return cannot_create(look->path);
	if (write(fd, block, sizeof(block)) != (ssize_t)sizeof(block))
		return be_reading_not_observable("%s: cannot be written: %s", look->path, strerror(errno));
	int errnum = try_nowait(fd, false, block);
	if (errnum)
		return nowait_failed(look->path, errnum);
	return be_reading_text(try_nowait(fd, true, block) == EOPNOTSUPP ? "yes, but not for buffered writes" : "yes");
}

struct be_reading be_probe_direct_io(const struct be_look *look)
{
	be_autofd int fd = scratch(&look->o->root, look->path, O_DIRECT);
	if (fd >= 0)
		return be_reading_text("yes");
	return errno == EINVAL ? be_reading_text("no") : cannot_create(look->path);
}

/* What new files get from their directory or mount: chattr(1)'s flags. */
struct be_reading be_probe_file_flags(const struct be_look *look)
{
	static const struct {
		int flag;
		const char *word;
	} words[] = {
		{ FS_NOCOW_FL, "nocow" },       { FS_COMPR_FL, "compress" },
		{ FS_NOCOMP_FL, "nocompress" }, { FS_SYNC_FL, "sync" },
		{ FS_NOATIME_FL, "noatime" },   { FS_APPEND_FL, "append" },
		{ FS_DAX_FL, "dax" },           { FS_JOURNAL_DATA_FL, "data journal" },
	};
	be_autofd int fd = scratch(&look->o->root, look->path, 0);
	be_autobuf struct be_buf text = { 0 };
	int flags = 0;
	if (fd < 0)
		return cannot_create(look->path);
	if (ioctl(fd, FS_IOC_GETFLAGS, &flags) != 0) {
		if (errno == ENOTTY || errno == EOPNOTSUPP)
			return be_reading_absent("%s: files there have no flags", look->path);
		return be_reading_not_observable("%s: FS_IOC_GETFLAGS: %s", look->path, strerror(errno));
	}
	for (size_t i = 0; i < BE_ARRAY_LEN(words); i++)
		if (flags & words[i].flag)
			be_buf_addf(&text, "%s%s", text.len ? ", " : "", words[i].word);
	return be_reading_text(text.len ? text.data : "none");
}

/* Does the kernel say that the file system's device has no direct access? Then no file has it, and none is made. */
static bool device_without_dax(const struct be_look *look)
{
	const struct be_root *root = &look->o->root;
	be_autofree char *whole = look->at->kernel ? be_device_whole(root, look->at->kernel) : NULL;
	be_autofree char *dax = whole ? be_device_attr(root, whole, "queue/dax") : NULL;
	return be_streq(dax, "0");
}

struct be_reading be_probe_statx_dax(const struct be_look *look)
{
	if (device_without_dax(look))
		return be_reading_text("no");
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
	be_set_int(map, "free", (int64_t)(st.f_bfree * st.f_frsize));
	be_set_int(map, "used_percent", (int64_t)(used * 100 / st.f_blocks));
	return be_reading_value(map);
}

/* /sys/fs/btrfs/UUID/allocation/data/single/ and so on: a profile is the name of a directory. */
static void add_profiles(const struct be_look *look, const char *kind, struct be_buf *out)
{
	be_autofree char *dir = be_strf("/sys/fs/btrfs/%s/allocation/%s", look->at->uuid, kind);
	be_autostrv struct be_strv names = { 0 };
	if (be_root_list(&look->o->root, dir, &names) != 0)
		return;
	for (size_t i = 0; i < names.n; i++) {
		be_autofree char *path = be_strf("%s/%s/total_bytes", dir, names.v[i]);
		if (be_root_exists(&look->o->root, path))
			be_buf_addf(out, "%s%s %s", out->len ? ", " : "", kind, names.v[i]);
	}
}

/* "data single, metadata dup, system dup" */
struct be_reading be_probe_btrfs_profiles(const struct be_look *look)
{
	static const char *const kinds[] = { "data", "metadata", "system" };
	be_autobuf struct be_buf text = { 0 };
	if (!look->at->uuid)
		return be_reading_not_observable("%s: no UUID was found", look->path);
	for (size_t i = 0; i < BE_ARRAY_LEN(kinds); i++)
		add_profiles(look, kinds[i], &text);
	if (!text.len)
		return be_reading_absent("no such file /sys/fs/btrfs/%s/allocation", look->at->uuid);
	return be_reading_text(text.data);
}
