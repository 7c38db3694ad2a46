/* The kernel's log, from /dev/kmsg. */
#ifndef BE_KMSG_H
#define BE_KMSG_H

#include <stdint.h>

#include "base/file.h"

struct be_kmsg_record {
	int level;        /* 0 emergency .. 7 debug */
	uint64_t seq;     /* counts up from boot */
	double time;      /* seconds since boot */
	const char *text; /* one line; valid until the next record */
};

/*
 * Calls @each for every record that the kernel still has, oldest first. Does not wait for more. In a recorded tree
 * /dev/kmsg is a file with one record a line. Returns -1 with errno when there is no log.
 */
int be_kmsg_each(const struct be_root *root, void (*each)(void *data, const struct be_kmsg_record *record), void *data);
/* The whole log as text, one "<level>[seconds] message" a line. */
int be_kmsg_text(const struct be_root *root, struct be_buf *out);

/* All records, kept: several factors are read from them, and a later statement reads only what came since. */
struct be_kmsg {
	bool open;    /* all zero is an empty log that nobody opened yet */
	int fd;       /* behind the last record that was read */
	int errnum;   /* why nothing could be read; 0: it could */
	double until; /* seconds since boot: what is not later than that was read already */
	struct be_strv texts;
	double *times; /* one each */
};
/* Adds the records that came since the last call, at first all; sets errnum. */
void be_kmsg_update(struct be_kmsg *log, const struct be_root *root);
void be_kmsg_free(struct be_kmsg *log);
#define be_autokmsg be_cleanup(be_kmsg_free)

#endif
