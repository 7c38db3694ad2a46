/* Booting an image in its twin and making a result of what came out. */
#ifndef BE_BOOT_H
#define BE_BOOT_H

#include <stdint.h>

#include "builder/twin/accel.h"
#include "builder/paths.h"

struct be_boot_request {
	const char *image;  /* image folder */
	const char *output; /* result folder; appears only when it is complete */
	const struct be_paths *paths;
	int64_t memory, disk_size, cpus; /* bytes, bytes, number; 0: chosen */
	enum be_accel accel;
	int64_t timeout;    /* seconds; 0: the plan's, and what booting takes */
	const char *append; /* more kernel arguments, or NULL */
	bool quiet;
};

/*
 * Boots, waits, receives and writes the result folder. @status is then the exit status that the run deserves. -1 when
 * no result could be made; nothing is left behind then.
 */
int be_boot(const struct be_boot_request *request, enum be_status *status, struct be_error *err) BE_MUST_CHECK;

#endif
