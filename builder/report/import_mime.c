/* Mails as files: mbox and MIME by GMime, and text that was saved from a page or a reader as it is. */
#include "builder/report/import.h"

#include <ctype.h>
#include <gmime/gmime.h>
#include <string.h>

#include "base/file.h"
#include "mail.h"

#define HEADER_LINES 200

/* Length of "Name:" at the start of a line, as in a mail's header; else 0. */
static size_t header_name(const char *p, size_t len)
{
	size_t n = 0;
	while (n < len && (isalnum((unsigned char)p[n]) || p[n] == '-' || p[n] == '_'))
		n++;
	return n && n < len && p[n] == ':' ? n : 0;
}

static bool is_word(const char *p, size_t len, const char *word)
{
	return len == strlen(word) && strncasecmp(p, word, len) == 0;
}

/*
 * Is there a header as RFC 5322 has it: lines "Name: ..." and continued ones up to an empty line, with a name among
 * them that a mail cannot do without?
 */
static bool has_header(const char *data, size_t len)
{
	static const char *const names[] = { "Subject", "Date", "From", "Message-ID", "MIME-Version" };
	size_t known = 0, lines = 0;
	for (size_t i = 0; i < len && lines < HEADER_LINES; lines++) {
		const char *line = data + i, *newline = memchr(line, '\n', len - i);
		size_t n = newline ? (size_t)(newline - line) : len - i;
		size_t visible = n && line[n - 1] == '\r' ? n - 1 : n, name = header_name(line, visible);
		if (!visible)
			return known >= 2;
		if (!name && !(lines && (line[0] == ' ' || line[0] == '\t')) &&
		    !(lines == 0 && visible > 5 && memcmp(line, "From ", 5) == 0))
			return false;
		for (size_t k = 0; k < BE_ARRAY_LEN(names); k++)
			known += is_word(line, name, names[k]);
		i += n + 1;
	}
	return false;
}

/* Text that was stored as quoted-printable although nothing says so: "=3D" and lines that end in "=". */
static bool is_quoted_printable(const char *data, size_t len)
{
	size_t escapes = 0, soft = 0;
	for (const char *p = data; (p = memchr(p, '=', len - (size_t)(p - data))); p++) {
		size_t left = len - (size_t)(p - data);
		escapes += left > 2 && p[1] == '3' && (p[2] == 'D' || p[2] == 'd');
		soft += left > 1 && p[1] == '\n';
	}
	return escapes > 1 && soft;
}

static void decode_quoted_printable(const char *data, size_t len, struct be_buf *out)
{
	GMimeEncoding state;
	g_mime_encoding_init_decode(&state, GMIME_CONTENT_ENCODING_QUOTEDPRINTABLE);
	be_autofree char *text = be_alloc(g_mime_encoding_outlen(&state, len) + 1);
	size_t n = g_mime_encoding_flush(&state, data, len, text);
	be_buf_add(out, text, n);
}

struct walk {
	struct be_buf *out;
	bool html; /* also take parts in HTML: there is no plain text */
	bool *job_attached;
	size_t taken;
	unsigned depth; /* of mails in mails */
};

#define DEPTH_MAX 8u

static bool is_job_file(GMimeObject *part)
{
	const char *name = GMIME_IS_PART(part) ? g_mime_part_get_filename(GMIME_PART(part)) : NULL;
	return name && (be_streq(name, "job.yaml") || be_streq(name, "job.yml"));
}

static void add_header(GMimeMessage *message, const char *name, struct be_buf *out)
{
	const char *value = g_mime_object_get_header(GMIME_OBJECT(message), name);
	if (value)
		be_buf_addf(out, "%s: %s\n", name, value);
}

static void take_part(GMimeObject *parent, GMimeObject *part, gpointer data);

/* A mail that is attached to another one. */
static void take_message(GMimeMessage *message, struct walk *walk)
{
	if (!message || walk->depth >= DEPTH_MAX)
		return;
	add_header(message, "Subject", walk->out);
	add_header(message, "Date", walk->out);
	be_buf_addc(walk->out, '\n');
	walk->depth++;
	g_mime_message_foreach(message, take_part, walk);
	walk->depth--;
}

static void take_part(GMimeObject *parent, GMimeObject *part, gpointer data)
{
	(void)parent;
	struct walk *walk = data;
	if (is_job_file(part)) {
		if (walk->job_attached)
			*walk->job_attached = true;
		return;
	}
	if (GMIME_IS_MESSAGE_PART(part)) {
		take_message(g_mime_message_part_get_message(GMIME_MESSAGE_PART(part)), walk);
		return;
	}
	if (!GMIME_IS_TEXT_PART(part))
		return;
	bool html = g_mime_content_type_is_type(g_mime_object_get_content_type(part), "text", "html");
	if (html != walk->html)
		return;
	char *text = g_mime_text_part_get_text(GMIME_TEXT_PART(part));
	if (!text)
		return;
	be_buf_adds(walk->out, text);
	be_buf_addc(walk->out, '\n');
	walk->taken++;
	g_free(text);
}

static void add_message(GMimeMessage *message, struct be_buf *out, bool *job_attached)
{
	be_autobuf struct be_buf text = { 0 };
	struct walk walk = { .out = &text, .job_attached = job_attached };
	add_header(message, "Subject", out);
	add_header(message, "Date", out);
	be_buf_addc(out, '\n');
	for (int html = 0; html < 2 && !walk.taken; html++) {
		walk.html = html;
		g_mime_message_foreach(message, take_part, &walk);
	}
	if (text.len)
		be_buf_add(out, text.data, text.len);
	be_buf_addc(out, '\n');
}

static size_t read_messages(GMimeParser *parser, struct be_buf *out, bool *job_attached)
{
	size_t n = 0;
	while (!g_mime_parser_eos(parser)) {
		GMimeMessage *message = g_mime_parser_construct_message(parser, NULL);
		if (!message)
			break;
		add_message(message, out, job_attached);
		g_object_unref(message);
		n++;
	}
	return n;
}

static size_t decode_mime(const char *data, size_t len, struct be_buf *out, bool *job_attached)
{
	GMimeStream *stream = g_mime_stream_mem_new_with_buffer(data, len);
	GMimeParser *parser = g_mime_parser_new_with_stream(stream);
	bool mbox = len > 5 && memcmp(data, "From ", 5) == 0;
	g_mime_parser_set_format(parser, mbox ? GMIME_FORMAT_MBOX : GMIME_FORMAT_MESSAGE);
	size_t n = read_messages(parser, out, job_attached);
	g_object_unref(parser);
	g_object_unref(stream);
	return n;
}

static void init(void)
{
	static bool done;
	if (!done)
		g_mime_init();
	done = true;
}

int be_mail_decode_text(const char *data, size_t len, struct be_buf *out, bool *job_attached, struct be_error *err)
{
	if (len > BE_MAIL_MAX_BYTES)
		return be_fail_usage(err, "has %zu bytes; %u are the limit of a mail", len, BE_MAIL_MAX_BYTES);
	init();
	if (has_header(data, len) && decode_mime(data, len, out, job_attached))
		return 0;
	out->len = 0;
	if (is_quoted_printable(data, len))
		decode_quoted_printable(data, len, out);
	else
		be_buf_add(out, data, len);
	return 0;
}

int be_mail_text(const char *path, struct be_buf *out, bool *job_attached, struct be_error *err)
{
	be_autobuf struct be_buf raw = { 0 };
	if (be_read_input(path, BE_MAIL_MAX_BYTES, &raw, err) != 0)
		return -1;
	if (be_mail_decode_text(raw.data, raw.len, out, job_attached, err) != 0)
		return be_wrap(err, "%s", path);
	return 0;
}

bool be_is_mail(const char *data, size_t len)
{
	return has_header(data, len) || (len > 5 && memcmp(data, "From ", 5) == 0);
}
