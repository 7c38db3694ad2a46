/* The deliveries of a console log: which there are, what of each arrived, and the stream of what did. */
#ifndef BE_DELIVERIES_H
#define BE_DELIVERIES_H

#include "builder/receive/frames.h"

struct be_console_entry {
	char *name;            /* as in the stream; NULL: its beginning is lost, or it is the stream's end */
	size_t lines, missing; /* lines 0: nothing at all of it is there */
	size_t mended;         /* lines that were cut by something else and put together again */
	size_t first, n;       /* its frames */
	size_t gap;            /* offset in the log of the line before the first missing one */
};

struct be_console_delivery {
	char id[9];
	size_t from, to; /* offsets in the log: of its first line, and behind its last */
	struct be_console_entry *entries;
	size_t n;
	bool ended;           /* its last line is there */
	struct be_buf stream; /* the entries that are whole, one after the other: a tar stream */
	char *damage;         /* what is lost, in words; NULL: nothing is */
};

struct be_console_log {
	struct be_console_delivery *v; /* in the order in which they begin */
	size_t n;
	bool tired; /* see be_frames */
};
void be_console_log_read(const char *log, size_t len, struct be_console_log *out);
void be_console_log_free(struct be_console_log *log);
#define be_autoconsole be_cleanup(be_console_log_free)

/* The text of the log from @from to @to without lines of deliveries, as a console would have shown it. */
void be_console_text(const char *log, size_t from, size_t to, struct be_buf *out);

#endif
