#include "builder/twin/disks.h"

#include <errno.h>
#include <fcntl.h>
#include <libfdisk.h>
#include <unistd.h>

#include "base/file.h"

#define MIB (1LL << 20)
#define PARTITIONS_MAX 128 /* entries of a GPT as everybody makes it */

static void free_context(struct fdisk_context **context)
{
	fdisk_unref_context(*context);
}

static void free_partition(struct fdisk_partition **partition)
{
	fdisk_unref_partition(*partition);
}

/* Partition @index of @count, in whole MiB; the first and the last MiB of the disk belong to the table. */
static int add_partition(struct fdisk_context *context, int64_t size, int64_t index, int64_t count)
{
	int64_t sector = (int64_t)fdisk_get_sector_size(context), each = (size / MIB - 2) / count;
	be_cleanup(free_partition) struct fdisk_partition *partition = fdisk_new_partition();
	if (!partition)
		return -ENOMEM;
	size_t number;
	int rc = fdisk_partition_set_partno(partition, (size_t)index);
	if (rc == 0)
		rc = fdisk_partition_set_start(partition, (fdisk_sector_t)((1 + index * each) * MIB / sector));
	if (rc == 0)
		rc = fdisk_partition_set_size(partition, (fdisk_sector_t)(each * MIB / sector));
	return rc == 0 ? fdisk_add_partition(context, partition, &number) : rc;
}

static int write_table(const char *path, int64_t size, int64_t count)
{
	be_cleanup(free_context) struct fdisk_context *context = fdisk_new_context();
	if (!context)
		return -ENOMEM;
	fdisk_disable_dialogs(context, 1);
	int rc = fdisk_assign_device(context, path, 0);
	if (rc == 0)
		rc = fdisk_create_disklabel(context, "gpt");
	for (int64_t i = 0; rc == 0 && i < count; i++)
		rc = add_partition(context, size, i, count);
	if (rc == 0)
		rc = fdisk_write_disklabel(context);
	if (fdisk_deassign_device(context, 1) != 0 && rc == 0)
		rc = -errno;
	return rc;
}

int be_disk_make(const char *path, int64_t size, int64_t partitions, struct be_error *err)
{
	if (partitions > PARTITIONS_MAX)
		return be_fail(err, "%s: %lld partitions, a table holds %d", path, (long long)partitions,
			       PARTITIONS_MAX);
	if (partitions > 0 && size / MIB - 2 < partitions)
		return be_fail(err, "%s: %lld bytes are too few for %lld partitions", path, (long long)size,
			       (long long)partitions);
	be_autofd int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0)
		return be_fail_errno(err, errno, "%s: cannot be made", path);
	if (ftruncate(fd, size) != 0)
		return be_fail_errno(err, errno, "%s: cannot have %lld bytes", path, (long long)size);
	int rc = partitions > 0 ? write_table(path, size, partitions) : 0;
	return rc == 0 ? 0 : be_fail_errno(err, -rc, "%s: no partition table can be written", path);
}
