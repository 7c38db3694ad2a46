/* The running system or a recorded one, as a tree of files. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

#define ATTR_MAX (16u << 20) /* no file of /proc or /sys that we read is larger */
#define SYSFS_BYTES 4096u    /* of an attribute at most: a page */
#define LINKS_MAX 40u        /* on the way to one file, as in the kernel */

char *be_root_prefix(const char *dir)
{
	char *prefix = be_strdup(dir ? dir : "");
	for (size_t n = strlen(prefix); n && prefix[n - 1] == '/'; n--)
		prefix[n - 1] = '\0';
	return prefix;
}

static char *below(const struct be_root *root, const char *path)
{
	return be_strf("%s%s", root && root->prefix ? root->prefix : "", path);
}

static char *link_at(const char *full)
{
	char target[PATH_MAX];
	ssize_t n = readlink(full, target, sizeof(target));
	return n < 0 ? NULL : be_strndup(target, (size_t)n);
}

/* The path that the link at @path[0..len) leads to, with what stood behind it. NULL: it is none. The caller frees. */
static char *follow(const struct be_root *root, const char *path, size_t len, be_root_link_fn *wanted, void *data)
{
	be_autofree char *link = be_strndup(path, len), *full = below(root, link), *target = link_at(full);
	if (!target || (wanted && !wanted(data, link, target)))
		return NULL;
	if (*target == '/')
		return be_strf("%s%s", target, path + len);
	*strrchr(link, '/') = '\0';
	return be_strf("%s/%s%s", link, target, path + len);
}

/*
 * Takes a component "", "." or ".." out that begins at @path[*known]; what is before it holds no link, so that ".." is
 * its parent. False: it is another one.
 */
static bool step_over(char *path, size_t *known)
{
	const char *name = path + *known + 1;
	size_t n = strcspn(name, "/"), up = *known;
	if (n > 2 || strncmp(name, "..", n) != 0)
		return false;
	while (n == 2 && up > 0 && path[--up] != '/')
		;
	memmove(path + up, name + n, strlen(name + n) + 1);
	*known = up;
	return true;
}

char *be_root_resolve(const struct be_root *root, const char *asked, be_root_link_fn *wanted, void *data)
{
	be_autofree char *path = be_strf("%s%s", *asked == '/' ? "" : "/", asked);
	unsigned links = 0;
	for (size_t known = 0; path[known];) {
		if (step_over(path, &known))
			continue;
		size_t end = known + 1 + strcspn(path + known + 1, "/");
		char *there = follow(root, path, end, wanted, data);
		if (there) {
			free(path);
			path = there;
			if (++links > LINKS_MAX)
				return NULL;
		}
		known = there ? 0 : end;
	}
	return *path ? be_steal(&path) : be_strdup("/");
}

static void note(const struct be_root *root, const char *path)
{
	if (root && root->seen)
		be_strv_add(root->seen, path);
}

char *be_root_path(const struct be_root *root, const char *path)
{
	note(root, path);
	if (!root || !root->recorded)
		return below(root, path);
	be_autofree char *real = be_root_resolve(root, path, NULL, NULL);
	return real ? below(root, real) : be_strf("/dev/null%s", path); /* which leads nowhere */
}

char *be_root_real(const struct be_root *root, const char *path)
{
	note(root, path);
	be_autofree char *real = be_root_resolve(root, path, NULL, NULL), *full = real ? below(root, real) : NULL;
	return full && be_exists(full) ? be_steal(&real) : NULL;
}

int be_root_check(const struct be_root *root, const char *name, struct be_error *err)
{
	if (be_root_exists(root, "/proc") || be_root_exists(root, "/sys"))
		return 0;
	be_fail_usage(err, "--root %s: holds no machine: neither /proc nor /sys is there", name);
	return be_hint(err, "a recorded machine is a folder with its /proc, /sys, /dev and /run");
}

/* What makes no sense in a recording is not opened: a pipe hangs, and a device would be one of this machine. */
static int open_file(const struct be_root *root, const char *full)
{
	struct stat st;
	if (root && root->recorded && stat(full, &st) == 0 && !S_ISREG(st.st_mode)) {
		errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
		return -1;
	}
	return open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

/*
 * Reads what is left of @fd, a file of sysfs by one call: it gives an attribute whole (Documentation/filesystems/
 * sysfs.rst), and in an emulated machine each call more costs as much as the reading.
 */
static int read_file(const struct be_root *root, int fd, const char *full, struct be_buf *out, struct be_error *err)
{
	char page[SYSFS_BYTES];
	if ((root && root->recorded) || !be_starts(full, "/sys/"))
		return be_read_fd(fd, full, ATTR_MAX, out, err);
	ssize_t n = read(fd, page, sizeof(page));
	if (n < 0)
		return be_fail_errno(err, errno, "%s: cannot be read", full);
	be_buf_add(out, page, (size_t)n);
	return (size_t)n < sizeof(page) ? 0 : be_read_fd(fd, full, ATTR_MAX, out, err);
}

int be_root_read(const struct be_root *root, const char *path, struct be_buf *out, struct be_error *err)
{
	be_autofree char *full = be_root_path(root, path);
	be_autofd int fd = open_file(root, full);
	if (fd < 0)
		return be_fail_errno(err, errno, "%s: cannot be opened", full);
	return read_file(root, fd, full, out, err);
}

char *be_root_text(const struct be_root *root, const char *path)
{
	be_autofree char *full = be_root_path(root, path);
	be_autofd int fd = open_file(root, full);
	if (fd < 0)
		return NULL;
	be_autobuf struct be_buf buf = { 0 };
	struct be_error err = BE_ERROR_INIT;
	errno = 0;
	if (read_file(root, fd, full, &buf, &err) != 0) {
		if (!errno)
			errno = EFBIG;
		return NULL;
	}
	return be_strdup(be_trim(buf.data));
}

char *be_root_link(const struct be_root *root, const char *path)
{
	const char *slash = strrchr(path, '/');
	be_autofree char *folder = be_strndup(path, slash ? (size_t)(slash - path) : 0);
	be_autofree char *above = be_root_path(root, folder);
	be_autofree char *full = be_strf("%s/%s", above, slash ? slash + 1 : path);
	note(root, path);
	return link_at(full);
}

bool be_root_exists(const struct be_root *root, const char *path)
{
	be_autofree char *full = be_root_path(root, path);
	return be_exists(full);
}

int be_root_list(const struct be_root *root, const char *path, struct be_strv *names)
{
	be_autofree char *full = be_root_path(root, path);
	DIR *dir = opendir(full);
	if (!dir)
		return -1;
	struct dirent *e;
	while ((e = readdir(dir)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			be_strv_add(names, e->d_name);
	closedir(dir);
	be_strv_sort_unique(names);
	return 0;
}
