/*
 * LAVA job definitions (https://docs.lavasoftware.org): an image deployed, booted and watched by LAVA's own actions.
 * LAVA reads the console; what init says there of steps and figures become its test cases, and the whole result is in
 * the job's log, for `mkbenchenv receive`.
 */
#ifndef BE_LAVA_H
#define BE_LAVA_H

#include "builder/image/image_folder.h"

#define BE_LAVA_QEMU "qemu" /* the device type that is deployed to tmpfs and booted by -kernel */

struct be_lava_request {
	const struct be_image_folder *image;
	const char *url;         /* of the image folder, without a slash at the end */
	const char *device_type; /* of LAVA; NULL: qemu */
	const char *method;      /* LAVA's boot method of other types, e.g. ipxe */
	int64_t bytes;           /* kernel and initrd: decides how long the download may take */
};
/* The definition; what it cannot give is added to @notes. NULL with an error when the image cannot be given to LAVA. */
struct be_node *be_lava_job(const struct be_lava_request *request, struct be_strv *notes, struct be_error *err);

#endif
