/*
 * The delivery: one pax tar stream, each entry handed to the host before the next is begun, so that a crash loses only
 * what was not said yet. Its last entry, `complete`, lists the SHA-256 of all entries before it (of each
 * name the last).
 */
#ifndef BE_DELIVER_H
#define BE_DELIVER_H

#include "base/file.h"

enum be_framing {
	BE_RAW,    /* the port carries bytes */
	BE_BASE64, /* a console shared with kernel messages: lines of base64 (recipes/frame.h) */
};

struct be_delivery;

/* Starts a stream on @fd, which stays the caller's. */
struct be_delivery *be_delivery_open(int fd, enum be_framing framing, struct be_error *err);
/* Adds an entry and flushes it. An entry of a name that was used before takes the earlier one's place for the reader. A
 * write that does not get on for 10 s is an error, and so is all that follows. */
int be_delivery_add(struct be_delivery *d, const char *name, const void *data, size_t len,
		    struct be_error *err) BE_MUST_CHECK;
int be_delivery_add_file(struct be_delivery *d, const char *name, const char *path, struct be_error *err) BE_MUST_CHECK;
/* Adds every regular file of the directory @path as @prefix/NAME, sorted. */
int be_delivery_add_dir(struct be_delivery *d, const char *prefix, const char *path,
			struct be_error *err) BE_MUST_CHECK;
/* Calls @progress after every write: a long delivery must not look like a hang. */
void be_delivery_watch(struct be_delivery *d, void (*progress)(void *data), void *data);
/* Adds `complete` and ends the stream. */
int be_delivery_complete(struct be_delivery *d, struct be_error *err) BE_MUST_CHECK;
void be_delivery_free(struct be_delivery *d); /* NULL is fine */

/* Stands for libarchive's writers of other formats in the guest (initrd/guest.mk): refuses. */
struct archive;
int be_delivery_no_format(struct archive *archive);

#endif
