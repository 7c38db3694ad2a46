/* The ELF kernel inside a bzImage: QEMU starts it directly, without the seconds that unpacking takes under TCG. */
#ifndef BE_VMLINUX_H
#define BE_VMLINUX_H

#include "builder/image/cache.h"

/*
 * The uncompressed kernel of @bzimage, made once and then taken from the cache under @sha256, the bzImage's hash. -1
 * when the file is no bzImage, its compression is unknown, or the kernel has no PVH entry (CONFIG_PVH): then the
 * bzImage itself must be booted.
 */
int be_vmlinux_get(const struct be_cache *cache, const char *bzimage, const char *sha256, struct be_object *out,
		   struct be_error *err) BE_MUST_CHECK;

#endif
