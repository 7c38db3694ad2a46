/* The twin's own addition to an initrd. The image stays as it is: the twin boots a copy. */
#ifndef BE_INITRD_EXTEND_H
#define BE_INITRD_EXTEND_H

#include "base/error.h"

/* Writes @to: the bytes of @initrd and one more cpio member that holds the udev rules @rules. */
int be_initrd_extend(const char *initrd, const char *rules, const char *to, struct be_error *err) BE_MUST_CHECK;

#endif
