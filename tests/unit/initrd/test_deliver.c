#include <archive.h>
#include <archive_entry.h>
#include <openssl/evp.h>
#include <signal.h>
#include <string.h>

#include "frame.h"
#include "initrd/deliver.h"
#include "tree.h"

/* The stream's entries as "NAME=TEXT" lines, later entries of a name after earlier ones. */
static char *entries(const void *data, size_t len)
{
	be_autobuf struct be_buf out = { 0 };
	struct archive *a = archive_read_new();
	struct archive_entry *entry;
	archive_read_support_format_tar(a);
	cr_assert_eq(archive_read_open_memory(a, data, len), ARCHIVE_OK);
	while (archive_read_next_header(a, &entry) == ARCHIVE_OK) {
		char text[4096] = "";
		la_ssize_t n = archive_read_data(a, text, sizeof(text) - 1);
		text[n > 0 ? n : 0] = '\0';
		be_buf_addf(&out, "%s=%s\n", archive_entry_pathname(entry), text);
	}
	archive_read_free(a);
	return be_buf_steal(&out);
}

static int scratch(void)
{
	int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	cr_assert_geq(fd, 0);
	return fd;
}

static void content(int fd, struct be_buf *out)
{
	struct be_error err = BE_ERROR_INIT;
	cr_assert_eq(lseek(fd, 0, SEEK_SET), 0);
	cr_assert_eq(be_read_fd(fd, "stream", 1u << 24, out, &err), 0, "%s", err.text);
}

#define SUM_A "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb" /* of "a" */
#define SUM_B "3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d" /* of "b" */

Test(deliver, stream_with_its_list)
{
	struct be_error err = BE_ERROR_INIT;
	be_autofd int fd = scratch();
	struct be_delivery *d = be_delivery_open(fd, BE_RAW, &err);
	cr_assert_not_null(d, "%s", err.text);
	cr_expect_eq(be_delivery_add(d, "before.yaml", "x", 1, &err), 0);
	cr_expect_eq(be_delivery_add(d, "before.yaml", "a", 1, &err), 0);
	cr_expect_eq(be_delivery_add(d, "after.yaml", "b", 1, &err), 0);
	cr_expect_eq(be_delivery_complete(d, &err), 0, "%s", err.text);
	be_delivery_free(d);
	be_autobuf struct be_buf stream = { 0 };
	content(fd, &stream);
	be_autofree char *got = entries(stream.data, stream.len);
	cr_expect_str_eq(got, "before.yaml=x\nbefore.yaml=a\nafter.yaml=b\n"
			      "complete=" SUM_A "  before.yaml\n" SUM_B "  after.yaml\n\n");
}

/* Each entry is with the host before the next is begun: a crash takes only what was not said yet. */
Test(deliver, entry_is_there_at_once)
{
	struct be_error err = BE_ERROR_INIT;
	be_autofd int fd = scratch();
	struct be_delivery *d = be_delivery_open(fd, BE_RAW, &err);
	cr_assert_not_null(d);
	cr_expect_eq(be_delivery_add(d, "before.yaml", "a", 1, &err), 0);
	be_autobuf struct be_buf stream = { 0 };
	content(fd, &stream);
	be_autofree char *got = entries(stream.data, stream.len);
	cr_expect_str_eq(got, "before.yaml=a\n");
	be_delivery_free(d);
}

static void decode_line(const char *line, struct be_buf *out)
{
	unsigned char bytes[BE_FRAME_TEXT];
	be_autofree char *text = be_strndup(line + BE_FRAME_MARK_LEN + BE_FRAME_HEAD + 1, BE_FRAME_TEXT);
	cr_assert_eq(EVP_DecodeBlock(bytes, (const unsigned char *)text, BE_FRAME_TEXT), BE_FRAME_BYTES + 1);
	be_buf_add(out, bytes, BE_FRAME_BYTES);
}

/* The lines of the delivery; @other counts those that are none. */
static void frame_lines(int fd, struct be_strv *frames, size_t *other)
{
	be_autobuf struct be_buf text = { 0 };
	be_autostrv struct be_strv lines = { 0 };
	content(fd, &text);
	be_strv_split(&lines, text.data, "\n");
	for (size_t i = 0; i < lines.n; i++) {
		if (be_starts(lines.v[i], BE_FRAME_MARK))
			be_strv_add(frames, lines.v[i]);
		else
			*other += *lines.v[i] != '\0';
	}
}

Test(deliver, lines_for_a_console_say_where_they_belong)
{
	struct be_error err = BE_ERROR_INIT;
	be_autofd int fd = scratch();
	struct be_delivery *d = be_delivery_open(fd, BE_BASE64, &err);
	cr_assert_not_null(d, "%s", err.text);
	cr_expect_eq(be_delivery_add(d, "before.yaml", "a", 1, &err), 0);
	cr_expect_eq(be_write_fd(fd, "console", "[ 1.0] a kernel message\n", 24, &err), 0);
	cr_expect_eq(be_delivery_add(d, "after.yaml", "b", 1, &err), 0);
	cr_expect_eq(be_delivery_complete(d, &err), 0);
	be_delivery_free(d);
	be_autostrv struct be_strv frames = { 0 };
	be_autobuf struct be_buf stream = { 0 };
	size_t other = 0, firsts = 0;
	frame_lines(fd, &frames, &other);
	cr_expect_eq(other, 1u);
	cr_assert_geq(frames.n, 2u);
	for (size_t i = 0; i + 1 < frames.n; i++) {
		cr_expect_eq(strlen(frames.v[i]), BE_FRAME_LINE);
		cr_expect_eq(strncmp(frames.v[i], frames.v[0], BE_FRAME_MARK_LEN + 9), 0, "one delivery, one name");
		firsts += strncmp(frames.v[i] + BE_FRAME_MARK_LEN + 13, "-000000-", 8) == 0;
		decode_line(frames.v[i], &stream);
	}
	cr_expect_eq(firsts, 4u, "two entries, complete, and the end of the stream");
	be_autofree char *got = entries(stream.data, stream.len);
	cr_expect(be_starts(got, "before.yaml=a\nafter.yaml=b\ncomplete="), "%s", got);
	be_autofree char *end = be_strf("-end 0004 %016zx ", stream.len);
	cr_expect_not_null(strstr(frames.v[frames.n - 1], end), "%s", frames.v[frames.n - 1]);
}

Test(deliver, directory_of_outputs)
{
	struct be_error err = BE_ERROR_INIT;
	struct be_root root = tree_new();
	tree_write(&root, "/w/b.out", "second");
	tree_write(&root, "/w/a.out", "first");
	tree_write(&root, "/w/sub/deep", "not taken");
	tree_link(&root, "/w/link", "a.out");
	be_autofree char *dir = be_root_path(&root, "/w");
	be_autofd int fd = scratch();
	struct be_delivery *d = be_delivery_open(fd, BE_RAW, &err);
	cr_expect_eq(be_delivery_add_dir(d, "workload", dir, &err), 0, "%s", err.text);
	cr_expect_eq(be_delivery_add_dir(d, "workload", "/nonexistent", &err), 0, "no outputs are no error");
	be_delivery_free(d);
	be_autobuf struct be_buf stream = { 0 };
	content(fd, &stream);
	be_autofree char *got = entries(stream.data, stream.len);
	cr_expect_str_eq(got, "workload/a.out=first\nworkload/b.out=second\n");
	tree_free(&root);
}

Test(deliver, lost_reader_is_an_error)
{
	struct be_error err = BE_ERROR_INIT;
	int ends[2];
	signal(SIGPIPE, SIG_IGN);
	cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
	struct be_delivery *d = be_delivery_open(ends[1], BE_RAW, &err);
	cr_assert_not_null(d);
	close(ends[0]);
	cr_expect_eq(be_delivery_add(d, "before.yaml", "a", 1, &err), -1);
	cr_expect_str_eq(err.text, "delivery of before.yaml: Broken pipe");
	be_delivery_free(d);
	close(ends[1]);
}

Test(deliver, unused_formats_refuse)
{
	struct archive *a = archive_write_new();
	cr_expect_eq(be_delivery_no_format(a), ARCHIVE_FATAL);
	archive_write_free(a);
}
