/* Several runs of one or more images, one after the other in turn: A B A B, so that what drifts in the machine meets
 * all of them alike. */
#ifndef BE_BOOT_RUNS_H
#define BE_BOOT_RUNS_H

#include "builder/twin/boot.h"

struct be_runs_request {
	const struct be_boot_request *boot; /* what holds for every run; its image and output are not used */
	const struct be_strv *images;       /* image folders */
	int64_t runs;                       /* of each image */
	const char *output;                 /* folder to make: OUTPUT/IMAGE/N is the Nth result of an image */
};

/*
 * Boots all. A run that failed with a result does not end the series; one without does. @status: BE_FAILED when any
 * run failed, else BE_DIFFERS when any was refused.
 */
int be_boot_runs(const struct be_runs_request *request, enum be_status *status, struct be_error *err) BE_MUST_CHECK;

#endif
