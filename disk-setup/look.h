/* Looking at what a device carries while something else goes on: other devices' looks, or a program that runs. */
#ifndef BE_LOOK_H
#define BE_LOOK_H

#include <pthread.h>

#include "device.h"

struct be_look {
	struct be_device *device; /* gets the signatures; nobody else touches it until be_look_end */
	const char *node;
	bool unknown; /* look for data of no known kind too (be_signature_probe, not be_signature_list) */
	int rc;       /* after be_look_end */
	struct be_error err;
	pthread_t thread;
	bool started;
};
/* Begins; where no thread is to be had, it looks at once. */
void be_look_start(struct be_look *look);
/* Waits for it; 0, or -1 with look->err set. */
int be_look_end(struct be_look *look) BE_MUST_CHECK;

#endif
