/*
 * Firmware that devices load, by the names of Debian packages: for a program of the plan's image.given that nobody
 * gave and that has `packages:`. What they hold is then as if it had been given by --program. And microcode.
 */
#ifndef BE_FIRMWARE_H
#define BE_FIRMWARE_H

#include "base/node.h"
#include "builder/packages/deb.h"

struct be_firmware {
	char *dir;               /* with all that was fetched, removed by be_firmware_free; NULL: nothing was */
	char *ucode;             /* the file that microcode comes from, or NULL */
	struct be_strv programs; /* what was given, and "firmware=DIR" */
};
/*
 * Unpacks what the plan asks for and @programs ("NAME=PATH") do not give, from the suite @wish with its component
 * non-free-firmware.
 */
int be_firmware_fetch(struct be_firmware *firmware, const struct be_node *plan, const struct be_strv *programs,
		      const struct be_cache *cache, struct be_progress *progress, const char *wish,
		      struct be_error *err) BE_MUST_CHECK;
/*
 * Where microcode comes from: the file @given (--ucode; NULL: none is wanted), or, when there is none and it is the
 * name of one of Debian's two packages, that one's archive. After be_firmware_fetch.
 */
int be_firmware_ucode(struct be_firmware *firmware, const char *given, const struct be_cache *cache,
		      struct be_progress *progress, const char *wish, struct be_error *err) BE_MUST_CHECK;
void be_firmware_free(struct be_firmware *firmware);

/* For tests: writes the files, folders and links of @tree below usr/lib/firmware to the folder @dir; -1: there are
 * none, or one cannot be written. */
int be_firmware_write(const struct be_tree *tree, const char *dir, struct be_error *err) BE_MUST_CHECK;

#endif
