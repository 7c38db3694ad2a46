/*
 * The lines of deliveries (recipes/frame.h) in a console log, whatever else stands in it: other lines, stamps and
 * prefixes before the line, CR LF, and messages that came into the middle of a line and cut it in two.
 */
#ifndef BE_FRAMES_H
#define BE_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "builder/image/hash.h"
#include "frame.h"

/* A line of data, with a check that holds. */
struct be_frame {
	uint32_t run;
	unsigned entry, line, lines;
	size_t at;   /* offset in the log */
	bool mended; /* it was cut by something else */
	unsigned char data[BE_FRAME_BYTES];
};

/* The line that ends a delivery. */
struct be_frame_end {
	uint32_t run;
	unsigned entries;
	uint64_t bytes;
	char sha256[BE_HASH_TEXT]; /* of the stream */
	size_t at;
};

struct be_frames {
	struct be_frame *v; /* by run, entry and line; of each only the first that the log has */
	size_t n, cap;
	struct be_frame_end *ends;
	size_t n_ends;
	bool tired; /* so much in the log is like a cut line that not all of it was tried */
};
void be_frames_find(const char *log, size_t len, struct be_frames *out);
void be_frames_free(struct be_frames *frames);
#define be_autoframes be_cleanup(be_frames_free)

#endif
