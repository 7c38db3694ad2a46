/* A result taken out of a console log: what a guest leaves there when nothing else takes its delivery. */
#ifndef BE_RECEIVE_H
#define BE_RECEIVE_H

#include <stdbool.h>

#include "base/error.h"

struct be_receive_request {
	const char *log;      /* console log, or the stream itself, as a labelled disk or stick has it */
	const char *output;   /* result folder */
	const char *image;    /* image folder that was booted, or NULL: the result has no manifest */
	const char *delivery; /* its id, "last", or NULL: the only one */
	bool quiet;
};
/*
 * Makes the result folder. What is lost and what is whole of a damaged delivery is printed to stderr; an entry that
 * is not whole is left out. @status is then the exit status that the run deserves. -1 when there is nothing to take
 * out, and nothing is left behind then.
 */
int be_receive(const struct be_receive_request *request, enum be_status *status, struct be_error *err) BE_MUST_CHECK;
/* Prints the deliveries of a log to stdout. */
int be_receive_list(const char *log, struct be_error *err) BE_MUST_CHECK;

#endif
