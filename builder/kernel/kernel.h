/*
 * The kernel of an image and where its modules come from: Debian's package, a .deb of `make bindeb-pkg`, a bzImage
 * with a folder of modules, a build tree, or the robot's vmlinuz with modules.cgz beside it.
 */
#ifndef BE_KERNEL_H
#define BE_KERNEL_H

#include "builder/packages/apt.h"
#include "builder/image/cpio.h"
#include "builder/packages/tree.h"

struct be_kernel {
	char *source;            /* debian, package, file, tree */
	char *package, *version; /* of a Debian package, or NULL */
	char *release;           /* 6.12.48+deb13-amd64, from the image's header */
	struct be_object image;  /* the bzImage, in the cache */
	struct be_object config; /* its configuration, in the cache; path NULL: not known */
	struct be_buf config_text;

	/* Where its modules are: one of these, or none. */
	struct be_packages packages; /* Debian's: of the image and, since Debian 14, the parts that it is split into */
	char *archive;               /* a .deb, or a cpio archive such as modules.cgz */
	char *modules;               /* the folder with kernel/ and modules.order in it */
	char *tree;                  /* a build tree */
	char id[BE_HASH_TEXT];       /* of packages or archive; "" with folders, which may change at any time */
	struct be_tree files; /* what packages or archive hold, once read; of modules hardly ever wanted no content */
	struct be_tree rest;  /* the content of those, once one was wanted */
	bool unpacked;
	bool stored; /* known by its hash alone: be_kernel_stored */

	struct be_suite *suite;
};
#define BE_KERNEL_INIT                                       \
	{                                                    \
		.files = BE_TREE_INIT, .rest = BE_TREE_INIT, \
	}
void be_kernel_free(struct be_kernel *kernel);
#define be_autokernel be_cleanup(be_kernel_free)

/* @wish "debian" or NULL: the package behind linux-image-amd64 in @suite; else a file or folder. @modules: --modules,
 * or NULL. Of a kernel in a package the image is known after this only if it was taken from that package before. */
int be_kernel_find(struct be_kernel *kernel, struct be_suite *suite, const char *wish, const char *modules,
		   struct be_error *err) BE_MUST_CHECK;
/* Debian's kernel of these packages, the image's first; takes them. */
void be_kernel_of_packages(struct be_kernel *kernel, struct be_suite *suite, struct be_packages *packages);
/* A kernel whose image and configuration (NULL: it has none) the cache holds under these hashes; of its modules nothing
 * is known. */
int be_kernel_stored(struct be_kernel *kernel, struct be_suite *suite, const char *source, const char *image,
		     const char *config, struct be_error *err) BE_MUST_CHECK;
/* Takes image and configuration from the package, unless they are known. */
int be_kernel_read(struct be_kernel *kernel, struct be_error *err) BE_MUST_CHECK;

/* Reads the archive that the modules are in, into `files`; does nothing when that is done. */
int be_kernel_unpack(struct be_kernel *kernel, struct be_error *err) BE_MUST_CHECK;
int be_kernel_unpack_rest(struct be_kernel *kernel, struct be_error *err) BE_MUST_CHECK;

/*
 * The release that a bzImage names in its header: offset 0x20e, Documentation/arch/x86/boot.rst. Fails for anything
 * that is no 64-bit bzImage. The caller frees.
 */
char *be_kernel_release(const char *path, struct be_error *err);

enum be_config { BE_CONFIG_UNKNOWN, BE_CONFIG_NO, BE_CONFIG_MODULE, BE_CONFIG_YES };
/* What the configuration says about @symbol (without CONFIG_). */
enum be_config be_kernel_config(const struct be_kernel *kernel, const char *symbol);

/* The value without quotes, "250", "y"; NULL: off or not known. The caller frees. */
char *be_kernel_config_value(const struct be_kernel *kernel, const char *symbol);

/* Refuses a kernel that cannot run this image: older than @oldest (the C library's, or NULL), or without initrd. */
int be_kernel_check(const struct be_kernel *kernel, const char *oldest, struct be_error *err) BE_MUST_CHECK;
/* The best compression that the kernel can unpack; @small asks for the highest level. */
void be_kernel_compressor(const struct be_kernel *kernel, bool small, struct be_compressor *compressor);

#endif
