#include "builder/lab/collect.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

#define END "end"
#define END_MAX 64

/* A regular file of the folder; nginx makes no others, and nothing else is followed. */
static int open_part(const char *folder, const char *name, struct stat *st)
{
	be_autofree char *path = be_strf("%s/%s", folder, name);
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0 && (fstat(fd, st) != 0 || !S_ISREG(st->st_mode)))
		be_close_fd(&fd);
	return fd;
}

static int list(const char *folder, struct be_strv *names)
{
	const struct be_root root = { .prefix = NULL };
	return be_root_list(&root, folder, names);
}

int64_t be_parts_size(const char *folder, size_t *parts)
{
	be_autostrv struct be_strv names = { 0 };
	int64_t size = 0;
	*parts = 0;
	if (list(folder, &names) != 0)
		return 0;
	*parts = names.n;
	for (size_t i = 0; i < names.n; i++) {
		struct stat st;
		be_autofd int fd = open_part(folder, names.v[i], &st);
		if (fd >= 0)
			size += st.st_size;
	}
	return size;
}

static int append(int out, const char *name, int in, int64_t size, struct be_error *err)
{
	while (size > 0) {
		ssize_t n = sendfile(out, in, NULL, (size_t)size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return be_fail_errno(err, n < 0 ? errno : EIO, "%s: cannot be written", name);
		size -= n;
	}
	return 0;
}

/* Does the last part say that there are @size bytes? */
static char *check_end(const char *folder, int64_t size)
{
	struct stat st;
	struct be_error ignored = BE_ERROR_INIT;
	be_autobuf struct be_buf text = { 0 };
	be_autofd int fd = open_part(folder, END, &st);
	if (fd < 0 || be_read_fd(fd, END, END_MAX, &text, &ignored) != 0 || !text.len)
		return be_strf("the delivery stops after %lld bytes", (long long)size);
	char *end;
	long long said = strtoll(text.data, &end, 10);
	if (said == size && *end == '\n')
		return NULL;
	return be_strf("the delivery has %lld bytes, and %.20s were sent", (long long)size, be_trim(text.data));
}

int be_parts_join(const char *folder, const char *out, char **damage, struct be_error *err)
{
	be_autostrv struct be_strv names = { 0 };
	be_autofd int to = open(out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int64_t size = 0;
	*damage = NULL;
	if (to < 0)
		return be_fail_errno(err, errno, "%s: cannot be made", out);
	if (list(folder, &names) != 0)
		return be_fail_errno(err, errno, "%s: cannot be read", folder);
	for (size_t i = 0; i < names.n; i++) {
		struct stat st;
		be_autofree char *expected = be_strf("%012lld", (long long)size);
		if (be_streq(names.v[i], END))
			continue;
		be_autofd int fd = be_streq(names.v[i], expected) ? open_part(folder, names.v[i], &st) : -1;
		if (fd < 0) {
			*damage = be_strf("the delivery lacks a part after %lld bytes", (long long)size);
			return 0;
		}
		if (append(to, out, fd, st.st_size, err) != 0)
			return -1;
		size += st.st_size;
	}
	*damage = check_end(folder, size);
	return 0;
}
