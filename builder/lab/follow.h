/* A log that another process writes, line by line as they come. */
#ifndef BE_FOLLOW_H
#define BE_FOLLOW_H

#include "base/str.h"

struct be_follow {
	int fd;
	struct be_buf line; /* of a line that has no end yet */
};

/* Opens @path, which is made when missing, behind what is in it now. */
int be_follow_open(struct be_follow *follow, const char *path, struct be_error *err) BE_MUST_CHECK;
/* Calls @take with each line that has come since; a line of more than 64 KiB is dropped. */
void be_follow_read(struct be_follow *follow, void (*take)(void *data, const char *line), void *data);
void be_follow_close(struct be_follow *follow);

#endif
