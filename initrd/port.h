/* Where the delivery goes: the virtio-serial port of the twin, else the serial console. */
#ifndef BE_PORT_H
#define BE_PORT_H

#include "base/file.h"

/*
 * Waits up to @wait seconds for the virtio-serial port called @name and opens it for writing, non-blocking. Returns the
 * descriptor, or -1.
 */
int be_port_open(const struct be_root *root, const char *name, double wait);
/* Opens the serial console, /dev/ttyS0 or else /dev/console, blocking and without any change of the bytes; or -1. */
int be_serial_open(void);

#endif
