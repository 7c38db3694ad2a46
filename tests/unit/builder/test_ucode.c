/* Microcode as the first member: from a container, an early initrd, a package; not from anything else. */
#include <archive.h>
#include <archive_entry.h>
#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>

#include "base/file.h"
#include "builder/image/member.h"
#include "builder/image/ucode.h"

#define INTEL "kernel/x86/microcode/GenuineIntel.bin"
#define AMD "kernel/x86/microcode/AuthenticAMD.bin"

static char dir[64];
static struct be_cache cache;

static void set_up(void)
{
	struct be_error err = BE_ERROR_INIT;
	snprintf(dir, sizeof(dir), "/tmp/be-ucode.XXXXXX");
	cr_assert_not_null(mkdtemp(dir));
	be_autofree char *path = be_strf("%s/cache", dir);
	cr_assert_eq(be_cache_open(&cache, path, &err), 0, "%s", err.text);
}

static void tear_down(void)
{
	struct be_error err = BE_ERROR_INIT;
	be_cache_close(&cache);
	cr_expect_eq(be_remove_tree(dir, &err), 0);
}

TestSuite(ucode, .init = set_up, .fini = tear_down);

static const char intel[64] = { 1, 0, 0, 0, 'i', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0 };
static const char amd[64] = { 'D', 'M', 'A', 0, 'a' };

static void write_archive(const char *path, int format, const char *const names[], const char *const contents[],
			  size_t n)
{
	struct archive *a = archive_write_new();
	cr_assert_eq(archive_write_set_format(a, format), ARCHIVE_OK);
	cr_assert_eq(archive_write_open_filename(a, path), ARCHIVE_OK);
	for (size_t i = 0; i < n; i++) {
		struct archive_entry *e = archive_entry_new();
		archive_entry_set_pathname(e, names[i]);
		archive_entry_set_filetype(e, AE_IFREG);
		archive_entry_set_perm(e, 0644);
		archive_entry_set_size(e, 64);
		cr_assert_eq(archive_write_header(a, e), ARCHIVE_OK);
		cr_assert_eq(archive_write_data(a, contents[i], 64), 64);
		archive_entry_free(e);
	}
	archive_write_close(a);
	archive_write_free(a);
}

/* The member's entries as "PATH SIZE" lines; the error's text when there is none. The caller frees. */
static char *member_of(const char *path)
{
	struct be_error err = BE_ERROR_INIT;
	struct be_segment segment = { 0 };
	be_automember struct be_member member = { 0 };
	be_autobuf struct be_buf text = { 0 };
	char head[6];
	if (be_segment_ucode(&segment, &cache, path, &err) != 0)
		return be_strdup(err.text);
	be_autofd int fd = open(segment.object.path, O_RDONLY | O_CLOEXEC);
	cr_assert_eq(read(fd, head, 6), 6);
	cr_expect_eq(memcmp(head, "070701", 6), 0, "the early loader reads no compressed member");
	cr_expect_eq(segment.object.size % 4, 0);
	cr_assert_eq(be_member_read(&member, fd, 0, segment.object.size, "member", &err), 0, "%s", err.text);
	for (size_t i = 0; i < member.n; i++)
		if (member.v[i].size)
			be_buf_addf(&text, "%s %lld\n", member.v[i].path, (long long)member.v[i].size);
	be_segment_free(&segment);
	return be_buf_steal(&text);
}

static void expect_member(const char *path, const char *wanted)
{
	be_autofree char *found = member_of(path);
	cr_expect(be_ends(found, wanted), "\"%s\" instead of \"%s\"", found, wanted);
}

Test(ucode, containers)
{
	struct be_error err = BE_ERROR_INIT;
	be_autofree char *path = be_strf("%s/container", dir);
	cr_assert_eq(be_write_file(path, intel, sizeof(intel), 0644, &err), 0);
	expect_member(path, INTEL " 64\n");
	cr_assert_eq(be_write_file(path, amd, sizeof(amd), 0644, &err), 0);
	expect_member(path, AMD " 64\n");
	cr_assert_eq(be_write_file(path, "something else", 14, 0644, &err), 0);
	expect_member(path, ": holds no microcode");
	cr_assert_eq(be_write_file(path, "", 0, 0644, &err), 0);
	expect_member(path, ": holds no microcode");
}

Test(ucode, early_initrd_of_another_tool)
{
	const char *const names[] = { AMD, INTEL, "kernel/firmware/acpi/x" }, *const contents[] = { amd, intel, intel };
	be_autofree char *path = be_strf("%s/early.cpio", dir);
	write_archive(path, ARCHIVE_FORMAT_CPIO_SVR4_NOCRC, names, contents, 3);
	expect_member(path, INTEL " 64\n" AMD " 64\n");
	write_archive(path, ARCHIVE_FORMAT_CPIO_SVR4_NOCRC, names + 2, contents, 1);
	expect_member(path, ": holds no microcode");
}

/* Files of several processors are one container, in the order of their names; what is no microcode is left out. */
Test(ucode, package)
{
	const char *const names[] = { "lib/firmware/intel-ucode/06-8f-08", "lib/firmware/intel-ucode/06-55-04",
				      "lib/firmware/intel-ucode/README" };
	const char *const contents[] = { intel, intel, amd };
	be_autofree char *data = be_strf("%s/data.tar", dir), *path = be_strf("%s/package", dir);
	struct be_error err = BE_ERROR_INIT;
	be_autobuf struct be_buf tar = { 0 };
	write_archive(data, ARCHIVE_FORMAT_TAR_USTAR, names, contents, 3);
	cr_assert_eq(be_read_file(data, 1 << 20, &tar, &err), 0, "%s", err.text);
	struct archive *a = archive_write_new();
	archive_write_set_format_ar_svr4(a);
	cr_assert_eq(archive_write_open_filename(a, path), ARCHIVE_OK);
	struct archive_entry *e = archive_entry_new();
	archive_entry_set_pathname(e, "data.tar");
	archive_entry_set_filetype(e, AE_IFREG);
	archive_entry_set_size(e, (la_int64_t)tar.len);
	cr_assert_eq(archive_write_header(a, e), ARCHIVE_OK);
	cr_assert_eq(archive_write_data(a, tar.data, tar.len), (la_ssize_t)tar.len);
	archive_entry_free(e);
	archive_write_close(a);
	archive_write_free(a);
	expect_member(path, INTEL " 128\n");
}

/* A file that has the name of one of the packages is a file. */
Test(ucode, names_of_packages)
{
	struct be_error err = BE_ERROR_INIT;
	cr_assert_eq(chdir(dir), 0);
	cr_expect(be_ucode_is_package("intel-microcode"));
	cr_expect(be_ucode_is_package("amd64-microcode"));
	cr_expect_not(be_ucode_is_package("microcode"));
	cr_expect_not(be_ucode_is_package("./intel-microcode"));
	cr_assert_eq(be_write_file("intel-microcode", "x", 1, 0644, &err), 0, "%s", err.text);
	cr_expect_not(be_ucode_is_package("intel-microcode"));
}
