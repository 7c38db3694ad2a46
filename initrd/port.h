/* Where the delivery goes: the virtio-serial port of the twin, else the serial console. */
#ifndef BE_PORT_H
#define BE_PORT_H

#include "base/file.h"

/*
 * Waits up to @wait seconds for the virtio-serial port called @name and opens it for writing, non-blocking. Returns the
 * descriptor, or -1.
 */
int be_port_open(const struct be_root *root, const char *name, double wait);
/*
 * Opens the serial console, blocking and without any change of the bytes: the last one that the kernel prints to, as
 * console= on its command line says; else /dev/ttyS0, else /dev/console. -1 when there is none.
 */
int be_serial_open(const struct be_root *root);
/* The name of that console ("ttyS1"), or NULL when the kernel prints to none; the caller frees. */
char *be_serial_name(const struct be_root *root);

#endif
