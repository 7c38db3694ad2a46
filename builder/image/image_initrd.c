/*
 * Kernel, its configuration and initrd of an image: copied and hashed at the same time. Where the file system can share
 * blocks between files, copy_file_range(2) does: members end at a multiple of a block for that.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "builder/image/image_parts.h"
#include "builder/parallel.h"

#define BLOCK (1u << 20)

/* For file systems and kernels that cannot copy by themselves. */
static int copy_by_hand(int from, int to, int64_t left, const char *name, struct be_error *err)
{
	be_autofree char *block = be_alloc(BLOCK);
	while (left > 0) {
		ssize_t n = read(from, block, BLOCK);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return be_fail_errno(err, errno, "%s: cannot be read", name);
		if (n == 0)
			return be_fail(err, "%s: became shorter while it was read", name);
		if (be_interrupted(err) != 0 || be_write_fd(to, name, block, (size_t)n, err) != 0)
			return -1;
		left -= n;
	}
	return 0;
}

static int copy_object(const struct be_object *object, int to, const char *name, struct be_error *err)
{
	be_autofd int from = open(object->path, O_RDONLY | O_CLOEXEC);
	int64_t left = object->size;
	if (from < 0)
		return be_fail_errno(err, errno, "%s: cannot be opened", object->path);
	while (left > 0) {
		ssize_t n = copy_file_range(from, NULL, to, NULL, (size_t)left, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EXDEV || errno == ENOSYS || errno == EOPNOTSUPP || errno == EINVAL))
			return copy_by_hand(from, to, left, name, err);
		if (n < 0)
			return be_fail_errno(err, errno, "%s: cannot be written", name);
		if (n == 0)
			return be_fail(err, "%s: became shorter while it was read", object->path);
		if (be_interrupted(err) != 0)
			return -1;
		left -= n;
	}
	return 0;
}

static int open_file(const char *dir, const char *name, struct be_error *err)
{
	be_autofree char *path = be_strf("%s/%s", dir, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0 || fchmod(fd, 0644) != 0)
		be_fail_errno(err, errno, "%s: cannot be created", path);
	return fd;
}

static int copy_file(const struct be_object *object, const char *dir, const char *name, struct be_error *err)
{
	be_autofd int fd = open_file(dir, name, err);
	return fd < 0 ? -1 : copy_object(object, fd, name, err);
}

static int copy_all(const struct be_build *build, const char *dir, struct be_error *err)
{
	const struct be_kernel *kernel = &build->kernel;
	if (copy_file(&kernel->image, dir, "vmlinuz", err) != 0 ||
	    (kernel->config.path && copy_file(&kernel->config, dir, "kernel.config", err) != 0))
		return -1;
	be_autofd int initrd = open_file(dir, "initrd.img", err);
	if (initrd < 0)
		return -1;
	for (size_t i = 0; i < build->n; i++)
		if (copy_object(&build->segments[i].object, initrd, "initrd.img", err) != 0)
			return -1;
	return 0;
}

static int hash_object(const struct be_object *object, struct be_hash *hash, struct be_error *err)
{
	be_autofd int fd = open(object->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return be_fail_errno(err, errno, "%s: cannot be opened", object->path);
	return be_hash_add_range(hash, fd, 0, object->size, object->path, err);
}

/* The members before the last are the same for all jobs of a matrix with the same packages. */
static void prefix_key(const struct be_build *build, char key[BE_HASH_TEXT])
{
	be_autohash struct be_hash hash = { 0 };
	be_hash_start(&hash);
	for (size_t i = 0; i + 1 < build->n; i++)
		be_hash_adds(&hash, build->segments[i].object.sha256);
	be_hash_end(&hash, key);
}

static int hash_all(struct be_build *build, struct be_error *err)
{
	be_autohash struct be_hash hash = { 0 };
	struct be_shared *shared = build->request->shared;
	char key[BE_HASH_TEXT];
	prefix_key(build, key);
	if (!shared || !be_shared_recall(shared, key, &hash)) {
		be_hash_start(&hash);
		for (size_t i = 0; i + 1 < build->n; i++)
			if (hash_object(&build->segments[i].object, &hash, err) != 0)
				return -1;
		if (shared)
			be_shared_keep(shared, key, &hash);
	}
	if (hash_object(&build->segments[build->n - 1].object, &hash, err) != 0)
		return -1;
	be_hash_end(&hash, build->initrd_sha256);
	return 0;
}

struct writing {
	struct be_build *build;
	const char *dir;
};

static int write_part(void *data, size_t item, struct be_error *err)
{
	const struct writing *writing = data;
	return item == 0 ? copy_all(writing->build, writing->dir, err) : hash_all(writing->build, err);
}

int be_image_write_initrd(struct be_build *build, const char *dir, struct be_error *err)
{
	struct writing writing = { .build = build, .dir = dir };
	build->initrd_size = 0;
	for (size_t i = 0; i < build->n; i++)
		build->initrd_size += build->segments[i].object.size;
	return be_parallel(2, write_part, &writing, err);
}
