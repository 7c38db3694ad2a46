/*
 * A unified kernel image: systemd-boot's stub with kernel, initrd and command line as sections, one file that UEFI
 * firmware starts by itself, from a disk or over HTTP. The same inputs give the same bytes.
 */
#ifndef BE_UKI_H
#define BE_UKI_H

#include "builder/image/image_parts.h"

#define BE_UKI_NAME "uki.efi"
#define BE_UKI_PACKAGE "systemd-boot-efi"

/* Gets the stub from the image's suite into build->uki. */
int be_uki_fetch(struct be_build *build, struct be_error *err) BE_MUST_CHECK;
/* Makes the file in the folder @dir, which holds vmlinuz and initrd.img. */
int be_uki_write(struct be_build *build, const char *dir, struct be_error *err) BE_MUST_CHECK;
void be_uki_free(struct be_uki *uki);

/*
 * Sets the time stamp and the checksum in the header of the PE file at @path to 0: objcopy writes the time of day, and
 * no firmware looks at the checksum of an application.
 */
int be_pe_settle(const char *path, struct be_error *err) BE_MUST_CHECK;
/* The first address behind all sections in the output of `objdump -h`; 0 when it lists none. */
uint64_t be_objdump_end(const char *text);

#endif
