#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void be_close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Few files of /proc and /sys are longer, and for each read of /proc/sys, also the one that meets the end, the kernel
 * clears as many bytes as it is asked for. */
#define SMALL_READ 4096

int be_read_fd(int fd, const char *name, size_t limit, struct be_buf *out, struct be_error *err)
{
	char block[65536];
	size_t total = 0, asked = SMALL_READ;
	for (;;) {
		ssize_t n = read(fd, block, asked);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return be_fail_errno(err, errno, "%s: cannot be read", name);
		if (n == 0)
			break;
		total += (size_t)n;
		if (total > limit)
			return be_fail(err, "%s: larger than the limit of %zu bytes", name, limit);
		be_buf_add(out, block, (size_t)n);
		if ((size_t)n == asked)
			asked = sizeof(block);
	}
	if (!out->data)
		be_buf_adds(out, "");
	return 0;
}

/* O_NONBLOCK for the opening only: a named pipe that nobody writes to is empty, not a hang. */
static int open_for_reading(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int flags = fd < 0 ? -1 : fcntl(fd, F_GETFL);
	if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) == 0)
		return fd;
	int errnum = errno;
	close(fd);
	errno = errnum;
	return -1;
}

int be_read_file(const char *path, size_t limit, struct be_buf *out, struct be_error *err)
{
	be_autofd int fd = open_for_reading(path);
	if (fd < 0)
		return be_fail_errno(err, errno, "%s: cannot be opened", path);
	return be_read_fd(fd, path, limit, out, err);
}

int be_read_input(const char *path, size_t limit, struct be_buf *out, struct be_error *err)
{
	if (!*path)
		return be_fail_usage(err, "the name of a file is empty");
	if (be_read_file(path, limit, out, err) == 0)
		return 0;
	err->status = BE_USAGE;
	return -1;
}

int be_write_fd(int fd, const char *name, const void *data, size_t len, struct be_error *err)
{
	const char *p = data;
	while (len) {
		ssize_t n = write(fd, p, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return be_fail_errno(err, errno, "%s: cannot be written", name);
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

int be_write_file(const char *path, const void *data, size_t len, unsigned mode, struct be_error *err)
{
	struct stat st;
	/* Renaming would put a plain file in the place of a device such as /dev/full, or of the link /dev/stdout. */
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		be_fail_usage(err, "%s: is there and is no regular file, so it is not replaced", path);
		return be_hint(err, "give the name of a file");
	}
	be_autofree char *real = realpath(path, NULL);
	be_autofree char *tmp = be_strf("%s.XXXXXX", real ? real : path);
	be_autofd int fd = mkostemp(tmp, O_CLOEXEC);
	if (fd < 0)
		return be_fail_errno(err, errno, "%s: cannot be created", path);
	int rc = be_write_fd(fd, path, data, len, err);
	if (rc == 0 && fchmod(fd, mode) != 0)
		rc = be_fail_errno(err, errno, "%s: mode cannot be set", path);
	if (rc == 0 && fsync(fd) != 0 && errno != EINVAL)
		rc = be_fail_errno(err, errno, "%s: cannot be written", path);
	if (rc == 0 && rename(tmp, real ? real : path) != 0)
		rc = be_fail_errno(err, errno, "%s: cannot be put in place", path);
	if (rc != 0)
		unlink(tmp);
	return rc;
}

int be_write_output(const char *path, const void *data, size_t len, struct be_error *err)
{
	if (path)
		return be_write_file(path, data, len, 0644, err);
	fflush(stdout); /* what was printed comes first */
	return be_write_fd(STDOUT_FILENO, "standard output", data, len, err);
}

int be_write_attr(const char *path, const char *value, struct be_error *err)
{
	be_autofd int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return be_fail_errno(err, errno, "%s: cannot be opened for writing", path);
	ssize_t n = write(fd, value, strlen(value));
	if (n < 0)
		return be_fail_errno(err, errno, "%s: \"%s\" is not accepted", path, value);
	return 0;
}

int be_mkdirs(const char *path, unsigned mode, struct be_error *err)
{
	be_autofree char *copy = be_strdup(path);
	if (!*path)
		return be_fail_usage(err, "the name of a folder is empty");
	for (char *p = copy + 1;; p++) {
		if (*p != '/' && *p != '\0')
			continue;
		char c = *p;
		*p = '\0';
		if (mkdir(copy, mode) != 0) {
			int errnum = errno;
			struct stat st;
			if (stat(copy, &st) != 0)
				return be_fail_errno(err, errnum, "%s: directory cannot be made", copy);
			if (!S_ISDIR(st.st_mode))
				return be_fail_usage(err, "%s: is there and is no directory", copy);
		}
		if (!c)
			return 0;
		*p = c;
	}
}

static int remove_at(int dirfd, const char *name, const char *shown, struct be_error *err)
{
	if (unlinkat(dirfd, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return be_fail_errno(err, errno, "%s: cannot be removed", shown);
	int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return be_fail_errno(err, errno, "%s: cannot be removed", shown);
	DIR *dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return be_fail_errno(err, errno, "%s: cannot be read", shown);
	}
	int rc = 0;
	struct dirent *e;
	while (rc == 0 && (e = readdir(dir)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		be_autofree char *below = be_strf("%s/%s", shown, e->d_name);
		rc = remove_at(fd, e->d_name, below, err);
	}
	closedir(dir);
	if (rc == 0 && unlinkat(dirfd, name, AT_REMOVEDIR) != 0)
		rc = be_fail_errno(err, errno, "%s: cannot be removed", shown);
	return rc;
}

int be_remove_tree(const char *path, struct be_error *err)
{
	return remove_at(AT_FDCWD, path, path, err);
}

bool be_exists(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0;
}

/* Where a file of this name is or would be made; NULL: nowhere. The caller frees. */
static char *place_of(const char *path)
{
	char *real = realpath(path, NULL);
	if (real)
		return real;
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	be_autofree char *above = be_strndup(path, (size_t)(name - path));
	be_autofree char *folder = realpath(*above ? above : ".", NULL);
	return folder ? be_strf("%s/%s", folder, name) : NULL;
}

bool be_same_file(const char *a, const char *b)
{
	if (!a || !b)
		return false;
	be_autofree char *x = place_of(a), *y = place_of(b);
	struct stat s, t;
	return strcmp(a, b) == 0 || (x && be_streq(x, y)) ||
	       (stat(a, &s) == 0 && stat(b, &t) == 0 && s.st_dev == t.st_dev && s.st_ino == t.st_ino);
}

char *be_file_identity(const struct stat *st)
{
	return be_strf("%llx:%llx:%llx:%llx.%lx:%llx.%lx", (unsigned long long)st->st_dev,
		       (unsigned long long)st->st_ino, (unsigned long long)st->st_size,
		       (unsigned long long)st->st_mtim.tv_sec, st->st_mtim.tv_nsec,
		       (unsigned long long)st->st_ctim.tv_sec, st->st_ctim.tv_nsec);
}
