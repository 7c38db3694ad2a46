/* Files: whole reads with a limit, atomic writes, and a handle for /proc, /sys and /dev that tests can point elsewhere.
 */
#ifndef BE_BASE_FILE_H
#define BE_BASE_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/str.h"

void be_close_fd(int *fd);
#define be_autofd be_cleanup(be_close_fd)

/* Reads the whole of @path (also of files in /proc whose size is 0). More than @limit bytes is an error. */
int be_read_file(const char *path, size_t limit, struct be_buf *out, struct be_error *err) BE_MUST_CHECK;
/* The same for a file that the user named: what cannot be read is wrong input (BE_USAGE), not a failure of ours. */
int be_read_input(const char *path, size_t limit, struct be_buf *out, struct be_error *err) BE_MUST_CHECK;
int be_read_fd(int fd, const char *name, size_t limit, struct be_buf *out, struct be_error *err) BE_MUST_CHECK;
/* Writes @path by way of a temporary file beside it, fsync and rename: the old or the new content, never a part. */
int be_write_file(const char *path, const void *data, size_t len, unsigned mode, struct be_error *err) BE_MUST_CHECK;
/* What a command was asked for: to the file @path, as above and for all to read; NULL: to standard output. */
int be_write_output(const char *path, const void *data, size_t len, struct be_error *err) BE_MUST_CHECK;
/* Writes all of @len bytes to @fd, also after short writes and EINTR. */
int be_write_fd(int fd, const char *name, const void *data, size_t len, struct be_error *err) BE_MUST_CHECK;
/* One write(2) to an existing file (sysfs, procfs); the kernel's errno is in the error. */
int be_write_attr(const char *path, const char *value, struct be_error *err) BE_MUST_CHECK;
int be_mkdirs(const char *path, unsigned mode, struct be_error *err) BE_MUST_CHECK; /* like mkdir -p */
int be_remove_tree(const char *path, struct be_error *err); /* never follows a link; a missing path is no error */
bool be_exists(const char *path);
/* Are @a and @b, which may be NULL, names of one file, also where it is yet to be made? */
bool be_same_file(const char *a, const char *b);
/* What changes whenever a file may have: device, inode, size, mtime and ctime as one word. The caller frees. */
struct stat;
char *be_file_identity(const struct stat *st);

/*
 * The running system, or a recorded one: every path is looked up below @prefix ("" for the real root). A recording
 * comes from somebody else: its links lead where they led on its machine, never out of @prefix, and only plain files
 * are read.
 */
struct be_root {
	char *prefix;
	struct be_strv *seen; /* every path that is looked up is added, for a recording; or NULL */
	bool recorded;
};
/* @dir, which a user named, as a prefix: without a slash at its end; NULL: the real root. The caller frees. */
char *be_root_prefix(const char *dir);
/* Where @path is found from outside, of a recording without links. The caller frees. */
char *be_root_path(const struct be_root *root, const char *path);
/* realpath(3) inside of the root: @path without links; NULL: there is nothing, or a loop of links. The caller frees. */
char *be_root_real(const struct be_root *root, const char *path);
/* Asked of each link on the way, a path inside of the root; false: it is left as it is. */
typedef bool be_root_link_fn(void *data, const char *link, const char *target);
/* @path with its links followed as far as it exists; NULL: they are a loop. @wanted may be NULL. The caller
 * frees. */
char *be_root_resolve(const struct be_root *root, const char *path, be_root_link_fn *wanted, void *data);
/* Fails unless there is a /proc or a /sys: `--root @name` is another folder, of which all would be unknown. */
int be_root_check(const struct be_root *root, const char *name, struct be_error *err) BE_MUST_CHECK;
int be_root_read(const struct be_root *root, const char *path, struct be_buf *out, struct be_error *err) BE_MUST_CHECK;
/* The same, trimmed; NULL where the file does not exist or cannot be read (errno says why). The caller frees. */
char *be_root_text(const struct be_root *root, const char *path);
/* What the symbolic link @path holds, or NULL: it is none. The caller frees. */
char *be_root_link(const struct be_root *root, const char *path);
bool be_root_exists(const struct be_root *root, const char *path);
/* Names in a directory, sorted by strcmp, without "." and ".."; -1 with errno when it cannot be read. */
int be_root_list(const struct be_root *root, const char *path, struct be_strv *names);

#endif
