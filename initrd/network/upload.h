/*
 * Delivery by HTTP. The stream lies in a file; what is new in it goes to the server in parts, each by one PUT to
 * URL/OFFSET (12 decimal digits), and at the end its size to URL/end. A part that the server took is given back to
 * memory. Whether all parts make one whole stream is checked by who receives them, and the stream lists the SHA-256 of
 * all that is in it.
 */
#ifndef BE_UPLOAD_H
#define BE_UPLOAD_H

#include <sys/types.h>

#include "base/file.h"

#define BE_UPLOAD_PART (8 << 20) /* bytes; `mkbenchenv serve` takes no larger body */

struct be_upload {
	char *url;
	int fd;     /* the stream's file */
	off_t sent; /* how much of it the server has */
	bool lost;  /* the server was not reached in its time: only the last attempt tries again */
	void (*progress)(void *data);
	void *data;
};

/* Opens the stream's file @path; @url is copied. */
int be_upload_open(struct be_upload *upload, const char *url, const char *path, struct be_error *err) BE_MUST_CHECK;
void be_upload_close(struct be_upload *upload);
/*
 * Asks the server whether it knows the run, and sets the clock by its answer when it is more than a second off.
 * Network and server may need a moment: tries for @seconds.
 */
int be_upload_greet(struct be_upload *upload, double seconds, struct be_error *err) BE_MUST_CHECK;
/* Sends what is new, trying again for up to @seconds. A server that refuses the token or the size ends it at once. */
int be_upload_push(struct be_upload *upload, double seconds, struct be_error *err) BE_MUST_CHECK;
/* Sends whole parts only, while the stream grows; failure is remembered and no error. */
void be_upload_push_parts(struct be_upload *upload);
/* Tells the server that the stream is at its end. */
int be_upload_end(struct be_upload *upload, double seconds, struct be_error *err) BE_MUST_CHECK;

#endif
