#include "builder/receive/deliveries.h"

#include <archive.h>
#include <archive_entry.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAMED 3 /* damaged entries that `damage` names */

/* Entries whose number no line of a delivery of ours can have: a line that claims more is somebody's joke. */
#define ENTRIES_MAX 8192u
/* Of all deliveries of a log together: each line may claim to be the last of so many. */
#define ALL_ENTRIES_MAX (1u << 20)
#define DELIVERIES_MAX 4096u

static void free_reader(struct archive **a)
{
	archive_read_free(*a);
}

/* The lines of an entry from its start to the first that is missing. */
static void add_beginning(const struct be_frames *frames, const struct be_console_entry *entry, struct be_buf *out)
{
	for (size_t i = 0; i < entry->n; i++) {
		const struct be_frame *frame = &frames->v[entry->first + i];
		if (frame->lines != entry->lines)
			continue;
		if (frame->line != out->len / BE_FRAME_BYTES)
			return;
		be_buf_add(out, frame->data, BE_FRAME_BYTES);
	}
}

static char *entry_name(const struct be_buf *beginning)
{
	be_cleanup(free_reader) struct archive *a = archive_read_new();
	struct archive_entry *entry;
	archive_read_support_format_tar(a);
	if (!beginning->len || archive_read_open_memory(a, beginning->data, beginning->len) != ARCHIVE_OK ||
	    archive_read_next_header(a, &entry) != ARCHIVE_OK)
		return NULL;
	return be_strdup(archive_entry_pathname(entry));
}

/* Frames of one entry: its first says how many there are. */
static void read_entry(const struct be_frames *frames, size_t first, size_t n, struct be_console_delivery *d)
{
	struct be_console_entry *entry = &d->entries[frames->v[first].entry];
	be_autobuf struct be_buf beginning = { 0 };
	size_t next = 0, there = 0;
	*entry = (struct be_console_entry){ .lines = frames->v[first].lines, .first = first, .n = n };
	entry->gap = frames->v[first].at;
	for (size_t i = first; i < first + n; i++) {
		const struct be_frame *frame = &frames->v[i];
		if (frame->lines != entry->lines)
			continue;
		entry->mended += frame->mended;
		if (frame->line == next) {
			entry->gap = frame->at;
			next++;
		}
		there++;
	}
	entry->missing = entry->lines - there;
	add_beginning(frames, entry, &beginning);
	entry->name = entry_name(&beginning);
	if (!entry->missing)
		be_buf_add(&d->stream, beginning.data, beginning.len);
}

static const char *name_of(const struct be_console_delivery *d, size_t i, char text[32])
{
	if (d->entries[i].name)
		return d->entries[i].name;
	snprintf(text, 32, "entry %zu", i);
	return text;
}

static void describe_entry(const struct be_console_delivery *d, size_t i, struct be_buf *out)
{
	char text[32];
	const struct be_console_entry *entry = &d->entries[i];
	if (entry->lines)
		be_buf_addf(out, "%s%s: %zu of %zu lines are missing", out->len ? ", " : "", name_of(d, i, text),
			    entry->missing, entry->lines);
	else
		be_buf_addf(out, "%s%s: all of it is missing", out->len ? ", " : "", name_of(d, i, text));
}

/* The line that ends the delivery states the hash of it all. */
static void check_whole(const struct be_console_delivery *d, const struct be_frame_end *end, struct be_buf *damage)
{
	be_autohash struct be_hash hash = { 0 };
	char found[BE_HASH_TEXT];
	be_hash_start(&hash);
	be_hash_add(&hash, d->stream.data ? d->stream.data : "", d->stream.len);
	be_hash_end(&hash, found);
	if (end->bytes != d->stream.len || strcmp(found, end->sha256) != 0)
		be_buf_addf(damage, "SHA-256 of all of it is %.12s, not %.12s as its last line says", found,
			    end->sha256);
}

static void judge(struct be_console_delivery *d, const struct be_frame_end *end)
{
	be_autobuf struct be_buf damage = { 0 };
	size_t damaged = 0;
	for (size_t i = 0; i < d->n; i++) {
		if (d->entries[i].lines && !d->entries[i].missing)
			continue;
		if (damaged++ < NAMED)
			describe_entry(d, i, &damage);
	}
	if (damaged > NAMED)
		be_buf_addf(&damage, ", and %zu more entries", damaged - NAMED);
	d->ended = end != NULL;
	if (end && !damaged)
		check_whole(d, end, &damage);
	d->damage = damage.len ? be_buf_steal(&damage) : NULL;
}

static const struct be_frame_end *find_end(const struct be_frames *frames, uint32_t run)
{
	for (size_t i = 0; i < frames->n_ends; i++)
		if (frames->ends[i].run == run)
			return &frames->ends[i];
	return NULL;
}

/* The frames from @first on that are of one delivery; returns how many. */
static size_t read_delivery(const struct be_frames *frames, size_t first, struct be_console_delivery *d)
{
	const struct be_frame *v = frames->v;
	const struct be_frame_end *end = find_end(frames, v[first].run);
	size_t n = 0;
	*d = (struct be_console_delivery){ .from = v[first].at };
	snprintf(d->id, sizeof(d->id), "%08" PRIx32, v[first].run);
	while (first + n < frames->n && v[first + n].run == v[first].run) {
		if (v[first + n].at < d->from)
			d->from = v[first + n].at;
		if (v[first + n].at >= d->to)
			d->to = v[first + n].at + 1;
		n++;
	}
	d->n = v[first + n - 1].entry + 1;
	if (end && end->entries > d->n)
		d->n = end->entries;
	if (d->n > ENTRIES_MAX)
		d->n = ENTRIES_MAX;
	if (end && end->at >= d->to)
		d->to = end->at + 1;
	d->entries = be_alloc(d->n * sizeof(*d->entries));
	for (size_t i = 0, same; i < n; i += same) {
		for (same = 1; i + same < n && v[first + i + same].entry == v[first + i].entry; same++)
			;
		if (v[first + i].entry < d->n)
			read_entry(frames, first + i, same, d);
	}
	judge(d, end);
	return n;
}

static int by_start(const void *a, const void *b)
{
	const struct be_console_delivery *x = a, *y = b;
	return x->from < y->from ? -1 : x->from > y->from;
}

void be_console_log_read(const char *log, size_t len, struct be_console_log *out)
{
	be_autoframes struct be_frames frames = { 0 };
	be_frames_find(log, len, &frames);
	size_t entries = 0, i = 0;
	*out = (struct be_console_log){ .tired = frames.tired };
	while (i < frames.n && entries < ALL_ENTRIES_MAX && out->n < DELIVERIES_MAX) {
		out->v = be_realloc(out->v, out->n + 1, sizeof(*out->v));
		i += read_delivery(&frames, i, &out->v[out->n++]);
		entries += out->v[out->n - 1].n;
	}
	out->tired = out->tired || i < frames.n;
	if (out->n)
		qsort(out->v, out->n, sizeof(*out->v), by_start);
}

void be_console_log_free(struct be_console_log *log)
{
	for (size_t i = 0; i < log->n; i++) {
		struct be_console_delivery *d = &log->v[i];
		for (size_t k = 0; k < d->n; k++)
			free(d->entries[k].name);
		free(d->entries);
		be_buf_free(&d->stream);
		free(d->damage);
	}
	free(log->v);
	*log = (struct be_console_log){ .v = NULL };
}

void be_console_text(const char *log, size_t from, size_t to, struct be_buf *out)
{
	while (from < to) {
		const char *newline = memchr(log + from, '\n', to - from);
		size_t end = newline ? (size_t)(newline - log) + 1 : to;
		if (!memmem(log + from, end - from, BE_FRAME_MARK, BE_FRAME_MARK_LEN))
			be_buf_add(out, log + from, end - from);
		from = end;
	}
}
