/* From a twin that is off to a result folder. */
#ifndef BE_BOOT_RESULT_H
#define BE_BOOT_RESULT_H

#include "builder/image/image_folder.h"
#include "builder/twin/qemu.h"
#include "builder/twin/twin.h"

struct be_boot_outcome {
	const struct be_image_folder *image;
	const struct be_twin *twin;
	const struct be_qemu *qemu;
	bool kvm;
	const char *kernel; /* "vmlinux" when the image's kernel was unpacked for the start, else "vmlinuz" */
	const char *work;   /* folder with the delivery and the console */
	bool quiet;
};

/* Makes the folder @dir: manifest, observations, logs and the workload's files. Sets the exit status. */
int be_boot_result(const struct be_boot_outcome *outcome, const char *dir, enum be_status *status,
		   struct be_error *err) BE_MUST_CHECK;

#endif
