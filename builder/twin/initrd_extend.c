#include "builder/twin/initrd_extend.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

static void free_writer(struct archive **a)
{
	archive_write_free(*a);
}

static void free_entry(struct archive_entry **entry)
{
	archive_entry_free(*entry);
}

static int add(struct archive *a, const char *path, mode_t type, const char *data)
{
	be_cleanup(free_entry) struct archive_entry *entry = archive_entry_new();
	archive_entry_set_pathname(entry, path);
	archive_entry_set_filetype(entry, type);
	archive_entry_set_perm(entry, type == AE_IFDIR ? 0755 : 0644);
	archive_entry_set_nlink(entry, 1);
	archive_entry_set_size(entry, data ? (la_int64_t)strlen(data) : 0);
	if (archive_write_header(a, entry) != ARCHIVE_OK)
		return -1;
	return !data || archive_write_data(a, data, strlen(data)) == (la_ssize_t)strlen(data) ? 0 : -1;
}

static int copy(int from, int to, const char *name, struct be_error *err)
{
	char block[65536];
	off_t total = 0;
	for (ssize_t n; (n = read(from, block, sizeof(block))) != 0;) {
		if (n < 0)
			return be_fail_errno(err, errno, "%s: cannot be read", name);
		if (be_write_fd(to, name, block, (size_t)n, err) != 0)
			return -1;
		total += n;
	}
	/* The kernel finds an uncompressed member only at a multiple of four. */
	return be_write_fd(to, name, "\0\0\0", (size_t)(-total & 3), err);
}

int be_initrd_extend(const char *initrd, const char *rules, const char *to, struct be_error *err)
{
	be_autofd int from = open(initrd, O_RDONLY | O_CLOEXEC);
	if (from < 0)
		return be_fail_errno(err, errno, "%s: cannot be opened", initrd);
	be_autofd int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (out < 0)
		return be_fail_errno(err, errno, "%s: cannot be made", to);
	if (copy(from, out, to, err) != 0)
		return -1;
	be_cleanup(free_writer) struct archive *a = archive_write_new();
	if (archive_write_set_format_cpio_newc(a) != ARCHIVE_OK || archive_write_open_fd(a, out) != ARCHIVE_OK ||
	    add(a, "etc", AE_IFDIR, NULL) != 0 || add(a, "etc/udev", AE_IFDIR, NULL) != 0 ||
	    add(a, "etc/udev/rules.d", AE_IFDIR, NULL) != 0 ||
	    add(a, "etc/udev/rules.d/61-benchenv-twin.rules", AE_IFREG, rules) != 0 ||
	    archive_write_close(a) != ARCHIVE_OK)
		return be_fail(err, "%s: cannot be extended: %s", to, archive_error_string(a));
	return 0;
}
