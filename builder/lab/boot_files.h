/*
 * What iPXE, pxelinux and GRUB read to start an image. The files that lie in an image folder name their neighbours
 * only, so that the folder can be served as it is, by TFTP or HTTP, at any place.
 */
#ifndef BE_BOOT_FILES_H
#define BE_BOOT_FILES_H

#include "base/str.h"

/* Where a lab machine shows its console. The last one is where a delivery without a network goes. */
#define BE_LAB_CONSOLE "console=tty0 console=ttyS0,115200"

/*
 * Words of the kernel's command line that the loader adds by itself, in its own language: the network card that the
 * machine booted from, and the variable `benchenv`, in which a server hands over where results go.
 */
void be_boot_file_ipxe(const char *cmdline, struct be_buf *out);
void be_boot_file_grub(const char *cmdline, struct be_buf *out);
/* pxelinux has no variables: @more are words of the server, or NULL; @folder ("" or "http://.../") is put before names.
 */
void be_boot_file_pxelinux(const char *cmdline, const char *folder, const char *more, struct be_buf *out);

#endif
