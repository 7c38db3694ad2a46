#include "initrd/volume.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "disk-setup/signature.h"
#include "initrd/system.h"

#define MOUNT_POINT BE_STATE_DIR "/volume"
#define BLOCK 65536

void be_volume_free(struct be_volume *volume)
{
	free(volume->node);
	free(volume->type);
	*volume = (struct be_volume){ .node = NULL };
}

static void free_signatures(struct be_devices *one)
{
	be_devices_free(one);
}

/* Does @node carry the label? Then @type is what it is made of; more than one thing on it is an error. */
static int look(const char *node, char **type, struct be_error *err)
{
	be_cleanup(free_signatures) struct be_devices one = { .v = be_alloc(sizeof(struct be_device)), .n = 1 };
	struct be_device *device = one.v;
	const struct be_signature *found = NULL;
	struct be_error ignored = BE_ERROR_INIT;
	*type = NULL;
	if (be_signature_probe(device, node, &ignored) != 0)
		return 0; /* a drive without a medium; what cannot be read is not the one */
	for (size_t i = 0; i < device->nsignatures; i++)
		if (!device->signatures[i].table && be_streq(device->signatures[i].label, BE_VOLUME_LABEL))
			found = &device->signatures[i];
	if (!found)
		return 0;
	/* A FAT file system begins with what looks like a partition table of its own. */
	for (size_t i = 0; i < device->nsignatures; i++)
		if (&device->signatures[i] != found && !(device->signatures[i].table && be_streq(found->type, "vfat")))
			return be_fail(err,
				       "%s is labelled " BE_VOLUME_LABEL " and carries %s too: it is not written to",
				       node, device->signatures[i].type);
	*type = be_strdup(found->type);
	return 0;
}

static int take(const struct be_root *root, const char *kernel, const char *node, struct be_volume *volume,
		struct be_error *err)
{
	be_autofree char *type = NULL, *read_only = be_device_attr(root, kernel, "ro");
	if (look(node, &type, err) != 0)
		return -1;
	if (!type)
		return 0;
	if (volume->node) {
		be_fail(err, "%s and %s are both labelled " BE_VOLUME_LABEL ": neither is written to", volume->node,
			node);
		return be_hint(err, "leave the label to one of them");
	}
	if (be_streq(read_only, "1"))
		return be_fail(err, "%s is labelled " BE_VOLUME_LABEL " and is read-only", node);
	volume->node = be_strdup(node);
	volume->type = be_steal(&type);
	return 0;
}

static int look_at_all(const struct be_root *root, struct be_volume *volume, struct be_error *err)
{
	be_autostrv struct be_strv names = { 0 };
	if (be_root_list(root, "/sys/class/block", &names) != 0)
		return be_fail_errno(err, errno, "/sys/class/block");
	for (size_t i = 0; i < names.n; i++) {
		be_autofree char *path = be_strf("/dev/%s", names.v[i]), *node = be_root_path(root, path);
		if (be_device_size(root, names.v[i]) > 0 && take(root, names.v[i], node, volume, err) != 0)
			return -1;
	}
	return 0;
}

int be_volume_find(const struct be_root *root, double wait, struct be_volume *volume, struct be_error *err)
{
	double until = be_monotonic() + wait;
	uint32_t run = (uint32_t)time(NULL);
	*volume = (struct be_volume){ .node = NULL };
	for (;;) {
		if (look_at_all(root, volume, err) != 0) {
			be_volume_free(volume);
			return -1;
		}
		if (volume->node || be_monotonic() >= until)
			break;
		be_pause(200);
	}
	if (!volume->node) {
		be_fail(err, "no disk partition or USB stick is labelled " BE_VOLUME_LABEL);
		return be_hint(err, "mkfs.vfat -n " BE_VOLUME_LABEL " or mkfs.ext4 -L " BE_VOLUME_LABEL " makes one");
	}
	if (getrandom(&run, sizeof(run), GRND_NONBLOCK) != sizeof(run))
		run ^= (uint32_t)(be_monotonic() * 1e6);
	snprintf(volume->run, sizeof(volume->run), "%08" PRIx32, run);
	return 0;
}

static int copy(int from, int to, const char *name, struct be_error *err)
{
	static char block[BLOCK];
	for (off_t at = 0;;) {
		ssize_t n = pread(from, block, sizeof(block), at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return be_fail_errno(err, errno, "the delivery's stream");
		if (n == 0)
			return fsync(to) == 0 ? 0 : be_fail_errno(err, errno, "%s", name);
		if (be_write_fd(to, name, block, (size_t)n, err) != 0)
			return -1;
		at += n;
	}
}

/* The directory entry too must be on the device. */
static int sync_folder(const char *path, struct be_error *err)
{
	be_autofd int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd >= 0 && syncfs(fd) == 0 ? 0 : be_fail_errno(err, errno, "%s", path);
}

static int write_file(const struct be_volume *volume, int stream, bool complete, struct be_error *err)
{
	be_autofree char *part = be_strf(MOUNT_POINT "/benchenv-%s.part", volume->run);
	be_autofree char *whole = be_strf(MOUNT_POINT "/benchenv-%s.tar", volume->run);
	be_autofd int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return be_fail_errno(err, errno, "%s cannot be made on %s", part, volume->node);
	if (copy(stream, fd, part, err) != 0)
		return -1;
	if (complete && rename(part, whole) != 0)
		return be_fail_errno(err, errno, "%s cannot be renamed", part);
	return sync_folder(MOUNT_POINT, err);
}

int be_volume_write(const struct be_volume *volume, int stream, bool complete, struct be_error *err)
{
	if (be_mkdirs(MOUNT_POINT, 0700, err) != 0)
		return -1;
	if (mount(volume->node, MOUNT_POINT, volume->type, MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0)
		return be_fail_errno(err, errno, "%s (%s, labelled " BE_VOLUME_LABEL ") cannot be mounted",
				     volume->node, volume->type);
	int rc = write_file(volume, stream, complete, err);
	if (umount2(MOUNT_POINT, 0) != 0 && rc == 0)
		rc = be_fail_errno(err, errno, "%s cannot be unmounted", volume->node);
	return rc;
}
