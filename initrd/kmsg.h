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

/* All records, kept: several factors are read from them. */
struct be_kmsg {
	bool read; /* whether it was tried */
	int errnum;
	struct be_strv texts;
	double *times; /* one each */
};
void be_kmsg_load(struct be_kmsg *log, const struct be_root *root);
void be_kmsg_free(struct be_kmsg *log);
#define be_autokmsg be_cleanup(be_kmsg_free)

#endif
