/*
 * Microcode for the kernel's early loader: the first member of the initrd, not compressed, because the kernel looks
 * into it before it can unpack anything (Documentation/arch/x86/microcode.rst).
 */
#ifndef BE_UCODE_H
#define BE_UCODE_H

#include "builder/image/segment.h"

#define BE_UCODE_MEMBER "microcode"

/* Is @ucode, what --ucode takes, one of Debian's two packages? A file of that name is a file. */
bool be_ucode_is_package(const char *ucode);
/*
 * Makes the member from the file @path: Debian's package intel-microcode or amd64-microcode, an early initrd of another
 * tool, or one of the vendors' containers. An error when it holds no microcode.
 */
int be_segment_ucode(struct be_segment *segment, const struct be_cache *cache, const char *path,
		     struct be_error *err) BE_MUST_CHECK;

#endif
