/* For image*.c: what a build has in hand, from the suite to the finished members. */
#ifndef BE_IMAGE_PARTS_H
#define BE_IMAGE_PARTS_H

#include "builder/image/image.h"
#include "builder/kernel/kernel.h"
#include "builder/image/segment.h"

/* --ucode (ucode.h) */
struct be_ucode {
	struct be_packages packages; /* the one that it is in, or none */
	char sha256[BE_HASH_TEXT];   /* else of the file that it came from; "": there is none */
};

/* --uki (uki.h) */
struct be_uki {
	struct be_packages packages; /* the one that the stub is in */
	struct be_deb stub;
	char sha256[BE_HASH_TEXT];
	int64_t size; /* 0: there is none */
};

struct be_build {
	const struct be_build_request *request;
	struct be_cache cache;
	struct be_progress progress;
	double began; /* seconds of the monotonic clock */
	struct be_suite suite;
	struct be_kernel kernel;
	struct be_compressor compressor;
	struct be_packages packages;
	size_t named;        /* the first packages are those that the plan names */
	struct be_deb *debs; /* one a package */
	struct be_selection selection;
	struct be_givens given;      /* --program */
	struct be_segment *segments; /* microcode if there is any, base, one a picked package, one a given program,
					modules, guest, job */
	size_t n;
	bool as_locked;              /* members that the tools here make otherwise are the lock's own */
	struct be_node *guest;       /* manifest's lock.guest */
	struct be_strv notes;        /* of the modules, for the deviations */
	struct be_strv limits;       /* those that some ways of booting have (builder/image/limits.h) */
	struct be_buf plan, cmdline; /* the files' bytes */
	char initrd_sha256[BE_HASH_TEXT], id[BE_HASH_TEXT];
	int64_t initrd_size;
	struct be_uki uki;
	size_t early; /* members before the base: 1 with microcode */
	struct be_ucode ucode;
};

/* The member before all others, where microcode is asked for or the manifest of a lock has some; else @segment stays
 * empty. */
int be_image_early(struct be_build *build, struct be_segment *segment, struct be_error *err) BE_MUST_CHECK;
/* The manifest of a finished image (SCHEMA.md, section 6). */
struct be_node *be_image_manifest(struct be_build *build, struct be_error *err);
/* Values of the factors that the builder knows: a map factor -> value. */
struct be_node *be_image_built(struct be_build *build, struct be_error *err);

/* Is the image at the output what this build would make, judged by the files' identities? The suite must be known. */
bool be_image_is_current(const struct be_build *build);
/* Keeps that answer for the next build; where it cannot be kept, that build does its work again. */
void be_image_record(const struct be_build *build);

/* Writes vmlinuz, kernel.config and initrd.img, and hashes the latter. */
int be_image_write_initrd(struct be_build *build, const char *dir, struct be_error *err) BE_MUST_CHECK;
/* Checks that @path can become an image: it does not exist, is empty, or is an image. */
int be_image_check_output(const char *path, struct be_error *err) BE_MUST_CHECK;
/* Writes the image folder beside its place and renames it when it is complete. */
int be_image_write(struct be_build *build, struct be_error *err) BE_MUST_CHECK;

#endif
