/*
 * What a job's or host's value may be where something else than an argument list reads it: a line of a program's input,
 * the kernel's command line, a path. Values are never changed to fit: they are refused with their position.
 */
#ifndef BE_PLAIN_H
#define BE_PLAIN_H

#include <stdbool.h>

#include "base/node.h"

bool be_is_line(const char *text); /* no control character, so also no end of a line */
bool be_is_word(const char *text); /* such a line without blanks and quotes */
/*
 * A word of the kernel's command line that boot loaders hand on as it is: iPXE would replace "${...}", take "&&", "||"
 * and ";" for the end of its command and "#" for a comment; none leaves "initrd=" to us.
 */
bool be_is_boot_word(const char *text);
/* "initrd=..." or "initrdmem=...": loaders, QEMU and the kernel would look there for the initrd, and not at the
 * image's. */
bool be_is_initrd_word(const char *text);
bool be_is_name(const char *text, const char *more); /* letters, digits and @more; begins with a letter or digit */
/* "/dev/..." as udev makes names: letters, digits and #+-.:=@_ in parts of which none is "." or "..". */
bool be_is_device_path(const char *text);

/* Fails, with the position of @node, unless its text is a line. @what names it: "mkfs". */
int be_check_line(const struct be_node *node, const char *what, struct be_error *err) BE_MUST_CHECK;

#endif
