/*
 * Limits of firmware, loaders, kernels and machines that an image may not pass; checked when it is built, and before it
 * is served. Each message says what it is, what the limit is and why, and its hint what to do.
 */
#ifndef BE_LIMITS_H
#define BE_LIMITS_H

#include "builder/image/image_folder.h"
#include "builder/kernel/kernel.h"

/* COMMAND_LINE_SIZE of arch/x86/include/asm/setup.h; the text ends with a NUL. The kernel cuts a longer one. */
#define BE_CMDLINE_MAX 2047
/* What the place of boot adds to it: console=, initrd=, the address that results go to with its token. */
#define BE_CMDLINE_PLACE 320
/* TFTP numbers its blocks with 16 bits (RFC 1350), and pxelinux asks for blocks of 1408 bytes. */
#define BE_TFTP_MAX (65535LL * 1408)
/* Where a BIOS loader must put the initrd: initrd_addr_max of the kernel's header, Documentation/arch/x86/boot.rst. */
#define BE_BIOS_MAX 0x7fffffffLL
/* Of a machine's memory: kernel, page tables and what runs. */
#define BE_MEMORY_KERNEL (128LL << 20)

struct be_limits {
	const struct be_node *plan;
	const char *cmdline;
	const char *place;              /* the words that the place of boot adds to it; NULL: not known yet */
	int64_t initrd, unpacked;       /* bytes */
	const char *compressor;         /* of the initrd: zstd, gzip, none */
	const struct be_kernel *kernel; /* its configuration, which may be unknown */
};
/*
 * -1 with the first limit that no way of booting gets round (status BE_USAGE); those that only some ways have, and
 * drivers that the host file asks for and the kernel lacks, are added to @warnings.
 */
int be_limits_check(const struct be_limits *image, struct be_strv *warnings, struct be_error *err) BE_MUST_CHECK;
/* The same for an image folder that is booted with the words @place. */
int be_limits_check_folder(const struct be_image_folder *image, const char *place, struct be_strv *warnings,
			   struct be_error *err) BE_MUST_CHECK;

#endif
