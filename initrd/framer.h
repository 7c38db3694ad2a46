/* Writes a stream as lines for a console that is shared with kernel messages: recipes/frame.h. */
#ifndef BE_FRAMER_H
#define BE_FRAMER_H

#include <openssl/evp.h>
#include <stdint.h>

#include "frame.h"
#include "base/str.h"

struct be_framer {
	char run[9]; /* random: tells the deliveries of one log apart */
	unsigned entries;
	uint64_t bytes;
	EVP_MD_CTX *sum;
	struct be_buf pending; /* bytes of the entry that is being made */
	size_t done, lines;    /* of the pending lines: written so far, all */
};
void be_framer_start(struct be_framer *framer);
void be_framer_free(struct be_framer *framer);

/* Adds bytes to the entry. Its size is a multiple of BE_FRAME_BYTES in the end, as that of every tar entry. */
void be_framer_add(struct be_framer *framer, const void *data, size_t len);
/*
 * Adds at most @lines of the entry's lines to @out, and ends the entry with its last; false when there were none left.
 * To be called until then, with no be_framer_add() in between.
 */
bool be_framer_take(struct be_framer *framer, size_t lines, struct be_buf *out);
/* Adds the line that ends the delivery. */
void be_framer_end(struct be_framer *framer, struct be_buf *out);

#endif
