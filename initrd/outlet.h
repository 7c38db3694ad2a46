/* Where the delivery goes: the server that the command line names, else the twin's port, else the serial console. */
#ifndef BE_OUTLET_H
#define BE_OUTLET_H

#include "initrd/supervisor.h"

/*
 * Sets @delivery, @upload and @fall_back of @s. @delivery stays NULL when there is nowhere: the run then only shows on
 * the console. May take a minute where a network is asked for and does not answer.
 */
void be_outlet_open(struct be_supervisor *s);

#endif
