#include "builder/receive/frames.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#define HEX '\1'               /* in a shape: a hexadecimal digit in lower case */
#define BASE64 '\2'            /* a digit of base64 */
#define MEND_WINDOW 32768u     /* bytes after the start of a cut line in which its rest is looked for */
#define MEND_WORK (1ull << 29) /* bytes that are looked at for all of them */
#define MEND_CHECKS (1ull << 23)
#define ENDS_MAX 65536u /* of deliveries: more than a log has boots */

/* What a line looks like, character by character. */
struct shape {
	char text[BE_FRAME_LINE + 1];
	size_t len;
};

struct finder {
	const char *log;
	size_t len;
	struct shape data, end;
	uint64_t work, checks; /* spent on mending */
	struct be_frames *out;
};

static void add_shape(struct shape *shape, char c, size_t n)
{
	memset(shape->text + shape->len, c, n);
	shape->len += n;
}

static void add_literal(struct shape *shape, const char *text)
{
	memcpy(shape->text + shape->len, text, strlen(text));
	shape->len += strlen(text);
}

static void make_shapes(struct finder *f)
{
	static const size_t head[] = { 8, 4, 6, 6 }, end[] = { 4, 16, 64, BE_FRAME_CHECK };
	add_literal(&f->data, BE_FRAME_MARK);
	for (size_t i = 0; i < BE_ARRAY_LEN(head); i++) {
		add_shape(&f->data, HEX, head[i]);
		add_literal(&f->data, i + 1 < BE_ARRAY_LEN(head) ? "-" : " ");
	}
	add_shape(&f->data, BASE64, BE_FRAME_TEXT - 1);
	add_literal(&f->data, "= "); /* 128 bytes end in one sign that stands for nothing */
	add_shape(&f->data, HEX, BE_FRAME_CHECK);
	add_literal(&f->end, BE_FRAME_MARK);
	add_shape(&f->end, HEX, 8);
	add_literal(&f->end, "-end ");
	for (size_t i = 0; i < BE_ARRAY_LEN(end); i++) {
		add_shape(&f->end, HEX, end[i]);
		if (i + 1 < BE_ARRAY_LEN(end))
			add_literal(&f->end, " ");
	}
}

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

static bool fits(const struct shape *shape, size_t i, char c)
{
	switch (shape->text[i]) {
	case HEX:
		return is_hex(c);
	case BASE64:
		return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' ||
		       c == '/';
	default:
		return shape->text[i] == c;
	}
}

/* The check at the end of a line that fits its shape. */
static bool proven(const struct shape *shape, const char *line)
{
	unsigned char sum[EVP_MAX_MD_SIZE] = { 0 };
	char text[BE_FRAME_CHECK + 1];
	size_t body = shape->len - BE_FRAME_MARK_LEN - 1 - BE_FRAME_CHECK;
	EVP_Digest(line + BE_FRAME_MARK_LEN, body, sum, NULL, EVP_sha256(), NULL);
	for (size_t i = 0; i < BE_FRAME_CHECK / 2; i++)
		snprintf(text + 2 * i, 3, "%02x", sum[i]);
	return memcmp(text, line + shape->len - BE_FRAME_CHECK, BE_FRAME_CHECK) == 0;
}

static uint64_t number(const char *digits, size_t n)
{
	uint64_t value = 0;
	for (size_t i = 0; i < n; i++)
		value = value << 4 | (uint64_t)(digits[i] <= '9' ? digits[i] - '0' : digits[i] - 'a' + 10);
	return value;
}

static void keep_data(struct finder *f, const char *line, size_t at, bool mended)
{
	const char *head = line + BE_FRAME_MARK_LEN;
	unsigned char bytes[BE_FRAME_TEXT];
	struct be_frame frame = { .run = (uint32_t)number(head, 8),
				  .entry = (unsigned)number(head + 9, 4),
				  .line = (unsigned)number(head + 14, 6),
				  .lines = (unsigned)number(head + 21, 6),
				  .at = at,
				  .mended = mended };
	if (frame.line >= frame.lines ||
	    EVP_DecodeBlock(bytes, (const unsigned char *)head + BE_FRAME_HEAD + 1, BE_FRAME_TEXT) < BE_FRAME_BYTES)
		return;
	memcpy(frame.data, bytes, BE_FRAME_BYTES);
	struct be_frames *out = f->out;
	if (out->n == out->cap) {
		out->cap = out->cap ? 2 * out->cap : 64;
		out->v = be_realloc(out->v, out->cap, sizeof(*out->v));
	}
	out->v[out->n++] = frame;
}

static void keep_end(struct finder *f, const char *line, size_t at)
{
	const char *head = line + BE_FRAME_MARK_LEN;
	struct be_frame_end end = { .run = (uint32_t)number(head, 8),
				    .entries = (unsigned)number(head + 13, 4),
				    .bytes = number(head + 18, 16),
				    .at = at };
	memcpy(end.sha256, head + 35, BE_HASH_TEXT - 1);
	struct be_frames *out = f->out;
	out->tired = out->tired || out->n_ends == ENDS_MAX;
	if (out->n_ends == ENDS_MAX)
		return;
	out->ends = be_realloc(out->ends, out->n_ends + 1, sizeof(*out->ends));
	out->ends[out->n_ends++] = end;
}

static void keep(struct finder *f, const struct shape *shape, const char *line, size_t at, bool mended)
{
	if (shape == &f->data)
		keep_data(f, line, at, mended);
	else
		keep_end(f, line, at);
}

/* The end of the line that goes on at @at; @stop where it is longer. */
static size_t line_end(const struct finder *f, size_t at, size_t stop)
{
	const char *newline = memchr(f->log + at, '\n', stop - at);
	return newline ? (size_t)(newline - f->log) : stop;
}

static size_t trimmed(const struct finder *f, size_t from, size_t end)
{
	while (end > from && (f->log[end - 1] == '\r' || f->log[end - 1] == ' ' || f->log[end - 1] == '\0'))
		end--;
	return end;
}

/* How many characters from @from on, at most up to @end, are those of a line of this shape. */
static size_t fitting_start(const struct finder *f, const struct shape *shape, size_t from, size_t end)
{
	size_t n = 0;
	while (n < shape->len && from + n < end && fits(shape, n, f->log[from + n]))
		n++;
	return n;
}

/* The same from the back: how many of the last characters before @end are those of the end of such a line. */
static size_t fitting_end(const struct finder *f, const struct shape *shape, size_t from, size_t end)
{
	size_t n = 0;
	while (n < shape->len && end - n > from && fits(shape, shape->len - n - 1, f->log[end - n - 1]))
		n++;
	return n;
}

/* A piece of a line: @len characters from @at on. */
struct piece {
	size_t at, len;
};

/* Do the pieces make a line? */
static bool join(struct finder *f, const struct shape *shape, const struct piece *pieces, size_t n)
{
	char line[BE_FRAME_LINE];
	size_t len = 0;
	for (size_t i = 0; i < n; len += pieces[i++].len)
		memcpy(line + len, f->log + pieces[i].at, pieces[i].len);
	f->checks++;
	if (!proven(shape, line))
		return false;
	keep(f, shape, line, pieces[0].at, true);
	return true;
}

static bool tired(const struct finder *f)
{
	return f->work >= MEND_WORK || f->checks >= MEND_CHECKS;
}

/* A message may begin with letters that the line could have had: so many of them are tried. */
#define MEND_LETTERS 8
#define MEND_PREFIX 128u
#define MEND_LINES 12 /* between the pieces of a line that was cut twice */

/* How far into its line @at is: later pieces of a line stand behind the same stamp. */
static size_t prefix_of(struct finder *f, size_t at)
{
	size_t n = 0;
	while (n < MEND_PREFIX && at > n && f->log[at - n - 1] != '\n')
		n++;
	f->work += n;
	return n;
}

/* The rest of a line at the end of another, which ends at @last; the longest head that does. */
static size_t join_end(struct finder *f, const struct shape *shape, struct piece head, size_t last, size_t tail)
{
	for (size_t n = head.len; n + tail >= shape->len && n >= BE_FRAME_MARK_LEN; n--) {
		const struct piece pieces[] = { { head.at, n }, { last - (shape->len - n), shape->len - n } };
		/* The rest of the very line begins behind what was taken of it. */
		if (n < shape->len && pieces[1].at != head.at + n && join(f, shape, pieces, 2))
			return n;
	}
	return 0;
}

/* The rest at the start of another line, at @at: something else came before that line's own end. */
static size_t join_start(struct finder *f, const struct shape *shape, struct piece head, size_t at, size_t end)
{
	for (size_t n = head.len; n + MEND_LETTERS > head.len && n >= BE_FRAME_MARK_LEN; n--) {
		const struct piece pieces[] = { { head.at, n }, { at, shape->len - n } };
		size_t i = n;
		while (i < shape->len && at + i - n < end && fits(shape, i, f->log[at + i - n]))
			i++;
		if (n < shape->len && i == shape->len && join(f, shape, pieces, 2))
			return n;
	}
	return 0;
}

/*
 * A line that was cut: its rest stands at the end of its own or of a later line, or at the start of a later one. A head
 * that does not say which line it is fits the rests of others too, so that the search goes on behind such a one.
 */
static bool mend(struct finder *f, const struct shape *shape, size_t start)
{
	size_t from = start, stop = f->len - start < MEND_WINDOW ? f->len : start + MEND_WINDOW;
	size_t prefix = prefix_of(f, start);
	struct piece head = { start, fitting_start(f, shape, start, stop) };
	while (from < stop && !tired(f)) {
		size_t end = line_end(f, from, stop), last = trimmed(f, from, end);
		size_t n = join_end(f, shape, head, last, fitting_end(f, shape, from, last));
		if (!n && from != start)
			n = join_start(f, shape, head, from + prefix, end);
		if (n > BE_FRAME_MARK_LEN + BE_FRAME_HEAD)
			return true;
		f->work += end - from + 1;
		from = end + 1;
	}
	f->out->tired = f->out->tired || tired(f);
	return false;
}

/* The pieces of a line that was cut twice: the first, a start of the line at @middle, the end of the one at @last. */
static bool join_three(struct finder *f, const struct shape *shape, struct piece first, struct piece middle,
		       size_t last, size_t tail)
{
	for (size_t n = first.len; n + MEND_LETTERS > first.len && n >= BE_FRAME_MARK_LEN; n--) {
		size_t run = 0;
		while (run < middle.len && n + run < shape->len && fits(shape, n + run, f->log[middle.at + run]))
			run++;
		for (size_t m = run; m && m + MEND_LETTERS > run; m--) {
			size_t rest = shape->len - n - m;
			const struct piece pieces[] = { { first.at, n }, { middle.at, m }, { last - rest, rest } };
			if (rest && rest <= tail && join(f, shape, pieces, 3))
				return true;
		}
	}
	return false;
}

static bool mend_twice(struct finder *f, const struct shape *shape, size_t start)
{
	size_t stop = f->len - start < MEND_WINDOW ? f->len : start + MEND_WINDOW, prefix = prefix_of(f, start);
	struct piece first = { start, fitting_start(f, shape, start, stop) };
	size_t from = line_end(f, start, stop) + 1;
	for (int i = 0; i < MEND_LINES && from < stop && !tired(f); i++) {
		size_t end = line_end(f, from, stop), next = end + 1;
		struct piece middle = { from + prefix, end > from + prefix ? end - from - prefix : 0 };
		for (int k = 0; middle.len && k < MEND_LINES && next < stop; k++) {
			size_t next_end = line_end(f, next, stop), last = trimmed(f, next, next_end);
			f->work += next_end - next + 1;
			if (join_three(f, shape, first, middle, last, fitting_end(f, shape, next, last)))
				return true;
			next = next_end + 1;
		}
		from = end + 1;
	}
	return false;
}

static bool whole(struct finder *f, const struct shape *shape, size_t at, size_t end)
{
	if (fitting_start(f, shape, at, end) != shape->len || !proven(shape, f->log + at))
		return false;
	keep(f, shape, f->log + at, at, false);
	return true;
}

/* A line whose mark was cut: all the rest stands at the end of this one. */
static bool unmarked(struct finder *f, const struct shape *shape, size_t from, size_t end)
{
	char line[BE_FRAME_LINE] = BE_FRAME_MARK;
	size_t body = shape->len - BE_FRAME_MARK_LEN;
	if (end - from < body || fitting_end(f, shape, from, end) < body)
		return false;
	memcpy(line + BE_FRAME_MARK_LEN, f->log + end - body, body);
	if (!proven(shape, line))
		return false;
	keep(f, shape, line, end - body, true);
	return true;
}

static void find_in_line(struct finder *f, size_t from, size_t end)
{
	size_t last = trimmed(f, from, end);
	bool found = false;
	for (size_t at = from; at < last;) {
		const char *mark = memmem(f->log + at, last - at, BE_FRAME_MARK, BE_FRAME_MARK_LEN);
		if (!mark)
			break;
		size_t start = (size_t)(mark - f->log);
		at = start + BE_FRAME_MARK_LEN;
		found = true;
		if (whole(f, &f->data, start, end) || whole(f, &f->end, start, end))
			continue;
		if (!mend(f, &f->data, start) && !mend(f, &f->end, start) && !mend_twice(f, &f->data, start))
			mend_twice(f, &f->end, start);
	}
	if (!found && !unmarked(f, &f->data, from, last))
		unmarked(f, &f->end, from, last);
}

static int compare(const void *a, const void *b)
{
	const struct be_frame *x = a, *y = b;
	if (x->run != y->run)
		return x->run < y->run ? -1 : 1;
	if (x->entry != y->entry)
		return x->entry < y->entry ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* Two programs may have logged the same console, and the rest of a cut line is found again as one without a mark. */
static void drop_doubles(struct be_frames *frames)
{
	size_t kept = 0;
	if (frames->n)
		qsort(frames->v, frames->n, sizeof(*frames->v), compare);
	for (size_t i = 0; i < frames->n; i++) {
		const struct be_frame *last = kept ? &frames->v[kept - 1] : NULL, *frame = &frames->v[i];
		if (!last || last->run != frame->run || last->entry != frame->entry || last->line != frame->line)
			frames->v[kept++] = *frame;
	}
	frames->n = kept;
}

void be_frames_find(const char *log, size_t len, struct be_frames *out)
{
	struct finder f = { .log = log, .len = len, .out = out };
	*out = (struct be_frames){ .v = NULL };
	make_shapes(&f);
	for (size_t at = 0; at < len;) {
		size_t end = line_end(&f, at, len);
		find_in_line(&f, at, end);
		at = end + 1;
	}
	drop_doubles(out);
}

void be_frames_free(struct be_frames *frames)
{
	free(frames->v);
	free(frames->ends);
	*frames = (struct be_frames){ .v = NULL };
}
