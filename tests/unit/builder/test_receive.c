/* Deliveries taken out of console logs: whole ones bit for bit, damaged ones reported, never half an entry. */
#include <archive.h>
#include <archive_entry.h>
#include <criterion/criterion.h>
#include <openssl/evp.h>
#include <string.h>

#include "base/file.h"
#include "base/node.h"
#include "builder/receive/deliveries.h"
#include "builder/receive/receive.h"

#define STAMP "[   12.345678] "
#define MESSAGE STAMP "usb 1-1: new high-speed USB device number 2 using xhci_hcd\r\n"

/* A delivery as a guest makes it: the stream, and its lines. */
struct made {
	struct archive *archive;
	struct be_buf stream, list;
	size_t ends[16]; /* of each entry in the stream */
	size_t n;
	struct be_strv lines;
};

static la_ssize_t on_write(struct archive *a, void *data, const void *bytes, size_t len)
{
	(void)a;
	be_buf_add(&((struct made *)data)->stream, bytes, len);
	return (la_ssize_t)len;
}

static void add_entry(struct made *m, const char *name, const char *text)
{
	struct archive_entry *e = archive_entry_new();
	struct be_hash hash;
	char sum[BE_HASH_TEXT];
	archive_entry_set_pathname(e, name);
	archive_entry_set_filetype(e, AE_IFREG);
	archive_entry_set_perm(e, 0644);
	archive_entry_set_size(e, (la_int64_t)strlen(text));
	cr_assert_eq(archive_write_header(m->archive, e), ARCHIVE_OK);
	cr_assert_eq(archive_write_data(m->archive, text, strlen(text)), (la_ssize_t)strlen(text));
	cr_assert_eq(archive_write_finish_entry(m->archive), ARCHIVE_OK);
	archive_entry_free(e);
	be_hash_start(&hash);
	be_hash_add(&hash, text, strlen(text));
	be_hash_end(&hash, sum);
	be_buf_addf(&m->list, "%s  %s\n", sum, name);
	m->ends[m->n++] = m->stream.len;
}

static void add_line(struct made *m, const char *body)
{
	struct be_hash hash;
	char sum[BE_HASH_TEXT];
	be_hash_start(&hash);
	be_hash_add(&hash, body, strlen(body));
	be_hash_end(&hash, sum);
	be_strv_addf(&m->lines, BE_FRAME_MARK "%s %.8s", body, sum);
}

static void make_lines(struct made *m, const char *run)
{
	char sum[BE_HASH_TEXT];
	struct be_hash hash;
	for (size_t i = 0, start = 0; i < m->n; start = m->ends[i++]) {
		size_t lines = (m->ends[i] - start) / BE_FRAME_BYTES;
		for (size_t k = 0; k < lines; k++) {
			unsigned char text[BE_FRAME_TEXT + 1];
			EVP_EncodeBlock(text, (unsigned char *)m->stream.data + start + k * BE_FRAME_BYTES,
					BE_FRAME_BYTES);
			be_autofree char *body = be_strf("%s-%04zx-%06zx-%06zx %s", run, i, k, lines, (char *)text);
			add_line(m, body);
		}
	}
	be_hash_start(&hash);
	be_hash_add(&hash, m->stream.data, m->stream.len);
	be_hash_end(&hash, sum);
	be_autofree char *end = be_strf("%s-end %04zx %016zx %s", run, m->n, m->stream.len, sum);
	add_line(m, end);
}

static const char before[] = "mkbenchenv: observation\nschema: 1\nphase: before\noutcome: {state: running}\n";
static const char after[] = "mkbenchenv: observation\nschema: 1\nphase: after\noutcome: {state: done}\n";

static void make(struct made *m, const char *run)
{
	be_autobuf struct be_buf output = { 0 };
	for (int i = 0; i < 200; i++)
		be_buf_addf(&output, "line %d of %s\n", i * i, run);
	*m = (struct made){ .archive = archive_write_new() };
	archive_write_set_format_pax(m->archive);
	archive_write_set_bytes_per_block(m->archive, 0);
	cr_assert_eq(archive_write_open(m->archive, m, NULL, on_write, NULL), ARCHIVE_OK);
	add_entry(m, "before.yaml", before);
	add_entry(m, "workload/fio.out", output.data);
	add_entry(m, "kernel.log", "a\n");
	add_entry(m, "after.yaml", after);
	be_autofree char *list = be_strdup(m->list.data);
	add_entry(m, "complete", list);
	cr_assert_eq(archive_write_close(m->archive), ARCHIVE_OK);
	m->ends[m->n++] = m->stream.len;
	make_lines(m, run);
}

static void unmake(struct made *m)
{
	archive_write_free(m->archive);
	be_buf_free(&m->stream);
	be_buf_free(&m->list);
	be_strv_free(&m->lines);
}

static void join_lines(const struct made *m, const char *prefix, const char *end, struct be_buf *log)
{
	for (size_t i = 0; i < m->lines.n; i++)
		be_buf_addf(log, "%s%s%s", prefix, m->lines.v[i], end);
}

static void expect_whole(const struct made *m, const struct be_buf *log, const char *what)
{
	be_autoconsole struct be_console_log found = { 0 };
	be_console_log_read(log->data, log->len, &found);
	cr_assert_eq(found.n, 1u, "%s", what);
	cr_expect_null(found.v[0].damage, "%s: %s", what, found.v[0].damage);
	cr_expect(found.v[0].ended, "%s", what);
	cr_expect(found.v[0].stream.len == m->stream.len &&
			  memcmp(found.v[0].stream.data, m->stream.data, m->stream.len) == 0,
		  "%s", what);
}

Test(receive, stamps_prefixes_and_line_ends)
{
	static const struct {
		const char *prefix, *end;
	} cases[] = {
		{ "", "\n" },
		{ "", "\r\n" },
		{ "", "\r\r\n" },
		{ "2026-11-30T21:39:21.123456+00:00 ", "\r\n" },
		{ "[2026-11-30 21:39:21] host7 ttyS1: ", " \n" },
		{ "\033[0m\033[32m", "\033[0m\r\n" },
		{ "", "\n" MESSAGE },
		{ "", MESSAGE }, /* the message came before the line's own end */
	};
	struct made m;
	make(&m, "0badcafe");
	for (size_t i = 0; i < BE_ARRAY_LEN(cases); i++) {
		be_autobuf struct be_buf log = { 0 };
		join_lines(&m, cases[i].prefix, cases[i].end, &log);
		expect_whole(&m, &log, cases[i].end);
	}
	unmake(&m);
}

/* The log with @message in the middle of line @line, before its character @at. */
static void cut_line(const struct made *m, size_t line, size_t at, const char *prefix, const char *message,
		     struct be_buf *log)
{
	for (size_t i = 0; i < m->lines.n; i++) {
		if (i == line)
			be_buf_addf(log, "%s%.*s%s%s\r\n", prefix, (int)at, m->lines.v[i], message, m->lines.v[i] + at);
		else
			be_buf_addf(log, "%s%s\r\n", prefix, m->lines.v[i]);
	}
}

Test(receive, message_in_the_middle_of_a_line)
{
	static const char *const messages[] = {
		MESSAGE,
		MESSAGE MESSAGE MESSAGE,
		"deadbeef\n", /* made of the line's own letters */
		"host7 ttyS1: no stamp here\n",
		"\a",                                             /* no line end: somebody's bell */
		MESSAGE "2026-11-30 stamp of a console server: ", /* before the rest of the line too */
	};
	struct made m;
	make(&m, "0badcafe");
	size_t lines[] = { 0, 7, m.lines.n - 1 };
	for (size_t i = 0; i < BE_ARRAY_LEN(lines) * BE_ARRAY_LEN(messages); i++) {
		size_t line = lines[i % BE_ARRAY_LEN(lines)];
		const char *message = messages[i / BE_ARRAY_LEN(lines)];
		for (size_t at = 0; at <= strlen(m.lines.v[line]); at++) {
			be_autobuf struct be_buf log = { 0 };
			be_autofree char *what = be_strf("line %zu at %zu: %s", line, at, message);
			cut_line(&m, line, at, "", message, &log);
			expect_whole(&m, &log, what);
		}
	}
	unmake(&m);
}

Test(receive, every_line_is_cut)
{
	struct made m;
	be_autobuf struct be_buf log = { 0 };
	make(&m, "0badcafe");
	for (size_t i = 0; i < m.lines.n; i++) {
		size_t at = i * 31 % strlen(m.lines.v[i]);
		be_buf_addf(&log, "%.*s" MESSAGE "%s\r\n", (int)at, m.lines.v[i], m.lines.v[i] + at);
	}
	expect_whole(&m, &log, "every line");
	unmake(&m);
}

Test(receive, every_line_is_cut_twice)
{
	static const char *const prefixes[] = { "", "2026-11-30T21:39:21 host7: " };
	struct made m;
	make(&m, "0badcafe");
	for (size_t p = 0; p < BE_ARRAY_LEN(prefixes); p++) {
		be_autobuf struct be_buf log = { 0 };
		for (size_t i = 0; i < m.lines.n; i++) {
			const char *line = m.lines.v[i];
			size_t len = strlen(line), a = 9 + i * 31 % (len - 20), b = a + 1 + i * 7 % (len - a - 2);
			be_buf_addf(&log, "%s%.*s" STAMP "one\r\n", prefixes[p], (int)a, line);
			be_buf_addf(&log, "%s" STAMP "between\r\n", prefixes[p]);
			be_buf_addf(&log, "%s%.*s" MESSAGE, prefixes[p], (int)(b - a), line + a);
			be_buf_addf(&log, "%s%s\r\n", prefixes[p], line + b);
		}
		expect_whole(&m, &log, prefixes[p]);
	}
	unmake(&m);
}

Test(receive, two_boots_and_two_machines_in_one_log)
{
	struct made m[2];
	be_autobuf struct be_buf log = { 0 };
	be_autoconsole struct be_console_log found = { 0 };
	make(&m[0], "11111111");
	make(&m[1], "00000002");
	for (size_t i = 0; i < m[0].lines.n; i++)
		be_buf_addf(&log, "%s\n%s\n", m[0].lines.v[i], i < m[1].lines.n ? m[1].lines.v[i] : "");
	be_console_log_read(log.data, log.len, &found);
	cr_assert_eq(found.n, 2u);
	cr_expect_str_eq(found.v[0].id, "11111111");
	for (size_t i = 0; i < 2; i++) {
		cr_expect_null(found.v[i].damage, "%s", found.v[i].damage);
		cr_expect_eq(memcmp(found.v[i].stream.data, m[i].stream.data, m[i].stream.len), 0);
		unmake(&m[i]);
	}
}

Test(receive, lost_lines_are_named)
{
	struct made m;
	be_autobuf struct be_buf log = { 0 };
	be_autoconsole struct be_console_log found = { 0 };
	make(&m, "0badcafe");
	size_t first = m.ends[0] / BE_FRAME_BYTES, third = m.ends[1] / BE_FRAME_BYTES,
	       fourth = m.ends[2] / BE_FRAME_BYTES;
	for (size_t i = 0; i < m.lines.n; i++)
		if (i != first + 5 && i != first + 6 && (i < third || i >= fourth))
			be_buf_addf(&log, "%s\n", m.lines.v[i]);
	be_console_log_read(log.data, log.len, &found);
	cr_assert_eq(found.n, 1u);
	be_autofree char *wanted =
		be_strf("workload/fio.out: 2 of %zu lines are missing, entry 2: all of it is missing", third - first);
	cr_expect_str_eq(found.v[0].damage, wanted);
	cr_expect_eq(found.v[0].stream.len, m.stream.len - (m.ends[2] - m.ends[0]));
	unmake(&m);
}

/* Is @part, a sequence of whole entries, what the delivery holds of them? */
static bool entries_only(const struct made *m, const struct be_buf *part)
{
	size_t at = 0;
	for (size_t i = 0, start = 0; i < m->n; start = m->ends[i++]) {
		size_t len = m->ends[i] - start;
		if (part->len - at >= len && memcmp(part->data + at, m->stream.data + start, len) == 0)
			at += len;
	}
	return at == part->len;
}

static unsigned next_random(unsigned *state)
{
	*state = *state * 1103515245u + 12345u;
	return *state >> 8;
}

static void damage(struct be_buf *log, unsigned *state)
{
	size_t at = next_random(state) % log->len, n = 1 + next_random(state) % 40;
	if (n > log->len - at)
		n = log->len - at;
	switch (next_random(state) % 4) {
	case 0: /* characters lost by an overrun */
		memmove(log->data + at, log->data + at + n, log->len - at - n);
		log->len -= n;
		break;
	case 1: /* one changed */
		log->data[at] = (char)next_random(state);
		break;
	case 2: /* overwritten by a piece from elsewhere */
		memmove(log->data + at, log->data + next_random(state) % (log->len - n + 1), n);
		break;
	default: /* cut off */
		log->len -= next_random(state) % 3 ? 0 : n;
		break;
	}
}

Test(receive, damage_is_reported_and_never_half_an_entry)
{
	struct made m;
	unsigned state = 7;
	size_t whole = 0, damaged = 0;
	make(&m, "0badcafe");
	for (int round = 0; round < 400; round++) {
		be_autobuf struct be_buf log = { 0 };
		be_autoconsole struct be_console_log found = { 0 };
		join_lines(&m, "", round % 2 ? "\r\n" : "\n" MESSAGE, &log);
		for (unsigned i = next_random(&state) % 6; i; i--)
			damage(&log, &state);
		be_console_log_read(log.data, log.len, &found);
		cr_assert_eq(found.n, 1u);
		const struct be_console_delivery *d = &found.v[0];
		cr_assert(entries_only(&m, &d->stream), "round %d", round);
		bool same = d->stream.len == m.stream.len;
		cr_expect(same || d->damage || !d->ended, "round %d", round);
		whole += same;
		damaged += !same;
	}
	cr_expect(whole > 50 && damaged > 50, "%zu whole, %zu damaged", whole, damaged);
	unmake(&m);
}

Test(receive, hostile_numbers)
{
	struct made m = { .n = 0 };
	be_autobuf struct be_buf log = { 0 }, data = { 0 };
	be_autoconsole struct be_console_log found = { 0 };
	for (size_t i = 0; i < BE_FRAME_TEXT - 1; i++)
		be_buf_addc(&data, 'A');
	static const char *const heads[] = { "00000001-ffff-fffffe-ffffff", "00000001-0000-000000-ffffff",
					     "00000002-0000-000001-000001", "00000003-0000-000000-000000",
					     "00000001-0000-000000-000001" };
	for (size_t i = 0; i < BE_ARRAY_LEN(heads); i++) {
		be_autofree char *body = be_strf("%s %s=", heads[i], data.data);
		add_line(&m, body);
	}
	add_line(&m, "00000001-end ffff ffffffffffffffff "
		     "0000000000000000000000000000000000000000000000000000000000000000");
	join_lines(&m, "", "\n", &log);
	for (int i = 0; i < 100000; i++) /* each could be the start of a cut line */
		be_buf_adds(&log, BE_FRAME_MARK);
	be_console_log_read(log.data, log.len, &found);
	cr_assert_eq(found.n, 1u);
	cr_expect_not_null(found.v[0].damage);
	cr_expect_eq(found.v[0].stream.len, 0u);
	unmake(&m);
}

/* The command's work: a folder from a log. */
struct folder {
	char dir[64];
	char *log, *out;
};

static void write_log(struct folder *f, const struct made *m, size_t skip)
{
	struct be_error err = BE_ERROR_INIT;
	be_autobuf struct be_buf text = { 0 };
	be_buf_adds(&text, "Linux version 6.12\r\n");
	for (size_t i = 0; i < m->lines.n; i++)
		if (i != skip)
			be_buf_addf(&text, "%s\r\n" MESSAGE, m->lines.v[i]);
	snprintf(f->dir, sizeof(f->dir), "/tmp/be-receive.XXXXXX");
	cr_assert_not_null(mkdtemp(f->dir));
	f->log = be_strf("%s/console", f->dir);
	f->out = be_strf("%s/result", f->dir);
	cr_assert_eq(be_write_file(f->log, text.data, text.len, 0644, &err), 0, "%s", err.text);
}

static void remove_folder(struct folder *f)
{
	struct be_error err = BE_ERROR_INIT;
	cr_expect_eq(be_remove_tree(f->dir, &err), 0);
	free(f->log);
	free(f->out);
}

static bool holds(const struct folder *f, const char *name)
{
	be_autofree char *path = be_strf("%s/%s", f->out, name);
	return be_exists(path);
}

Test(receive, folder)
{
	struct made m;
	struct folder f;
	struct be_error err = BE_ERROR_INIT;
	enum be_status status = BE_FAILED;
	be_autobuf struct be_buf console = { 0 };
	make(&m, "0badcafe");
	write_log(&f, &m, SIZE_MAX);
	struct be_receive_request request = { .log = f.log, .output = f.out, .quiet = true };
	for (int i = 0; i < 2; i++) { /* the second time in the place of the first */
		cr_assert_eq(be_receive(&request, &status, &err), 0, "%s", err.text);
		cr_expect_eq(status, BE_OK);
	}
	cr_expect(holds(&f, "before.yaml") && holds(&f, "after.yaml") && holds(&f, "workload/fio.out"));
	be_autofree char *path = be_strf("%s/console.log", f.out);
	cr_assert_eq(be_read_file(path, 1 << 20, &console, &err), 0, "%s", err.text);
	cr_expect(be_starts(console.data, "Linux version 6.12\r\n" STAMP), "%s", console.data);
	cr_expect_null(strstr(console.data, BE_FRAME_MARK));
	request.delivery = "12345678";
	cr_expect_eq(be_receive(&request, &status, &err), -1);
	cr_expect_eq(err.status, BE_USAGE);
	cr_expect_not_null(strstr(err.hint, "0badcafe"));
	remove_folder(&f);
	unmake(&m);
}

Test(receive, damaged_entry_is_left_out_of_the_folder)
{
	struct made m;
	struct folder f;
	struct be_error err = BE_ERROR_INIT;
	enum be_status status = BE_OK;
	make(&m, "0badcafe");
	write_log(&f, &m, m.ends[0] / BE_FRAME_BYTES + 9);
	struct be_receive_request request = { .log = f.log, .output = f.out, .quiet = true };
	cr_assert_eq(be_receive(&request, &status, &err), 0, "%s", err.text);
	cr_expect_eq(status, BE_FAILED);
	cr_expect(holds(&f, "before.yaml") && holds(&f, "after.yaml") && holds(&f, "kernel.log"));
	cr_expect_not(holds(&f, "workload/fio.out"));
	remove_folder(&f);
	unmake(&m);
}

Test(receive, log_without_a_delivery)
{
	struct made m = { .n = 0 };
	struct folder f;
	struct be_error err = BE_ERROR_INIT;
	enum be_status status = BE_OK;
	write_log(&f, &m, SIZE_MAX);
	struct be_receive_request request = { .log = f.log, .output = f.out, .quiet = true };
	cr_expect_eq(be_receive(&request, &status, &err), -1);
	cr_expect_not_null(strstr(err.text, "holds no line of a delivery"));
	cr_expect_not(be_exists(f.out));
	remove_folder(&f);
}

/* A stick labelled for it holds the stream itself. */
Test(receive, stream)
{
	struct made m;
	struct folder f;
	struct be_error err = BE_ERROR_INIT;
	enum be_status status = BE_FAILED;
	make(&m, "0badcafe");
	write_log(&f, &m, SIZE_MAX);
	struct be_receive_request request = { .log = f.log, .output = f.out, .quiet = true };
	cr_assert_eq(be_write_file(f.log, m.stream.data, m.stream.len, 0644, &err), 0, "%s", err.text);
	cr_assert_eq(be_receive(&request, &status, &err), 0, "%s", err.text);
	cr_expect_eq(status, BE_OK);
	cr_expect(holds(&f, "workload/fio.out"));
	cr_assert_eq(be_write_file(f.log, m.stream.data, m.ends[1] + 100, 0644, &err), 0, "%s", err.text);
	cr_assert_eq(be_receive(&request, &status, &err), 0, "%s", err.text);
	cr_expect_eq(status, BE_FAILED);
	remove_folder(&f);
	unmake(&m);
}

/* Each line claims to be of the last entry of a delivery of its own. */
Test(receive, claims_cost_no_memory)
{
	be_autoconsole struct be_console_log log = { 0 };
	be_autobuf struct be_buf text = { 0 };
	struct made m = { 0 };
	be_autofree char *data = be_alloc(BE_FRAME_TEXT + 1);
	memset(data, 'A', BE_FRAME_TEXT - 1);
	data[BE_FRAME_TEXT - 1] = '=';
	size_t entries = 0;
	for (unsigned i = 0; i < 3000; i++) {
		be_autofree char *body = be_strf("%08x-1ffe-000000-000001 %s", i, data);
		add_line(&m, body);
	}
	join_lines(&m, "", "\n", &text);
	be_console_log_read(text.data, text.len, &log);
	for (size_t i = 0; i < log.n; i++)
		entries += log.v[i].n;
	cr_expect_gt(log.n, 0);
	cr_expect_lt(entries, 2u << 20);
	cr_expect(log.tired, "and it is said");
	be_strv_free(&m.lines);
}
