/*
 * What the runner says to PID 1. The runner is a child that does all that can fail or hang; PID 1 only watches, feeds
 * the watchdog and delivers. Each message is one packet of text on a socket pair.
 */
#ifndef BE_LINK_H
#define BE_LINK_H

#include "base/error.h"

#define BE_LINK_MAX 1024

/* Messages of the runner. */
#define BE_LINK_STAGE "stage "     /* + text: what it does now; the reason given should it hang */
#define BE_LINK_LIMIT "limit "     /* + seconds since start at which the run ends whatever it does; 0: never */
#define BE_LINK_DELIVER "deliver " /* + name of a file in the state folder; answered */
#define BE_LINK_FINISH "finish"    /* after.yaml is final: deliver all the rest; answered */
#define BE_LINK_AFTER "after "     /* + what the machine does at the end: power-off or reboot */
#define BE_LINK_OK "ok"            /* the answer; anything else is an error's text */

void be_link_say(int fd, const char *fmt, ...) BE_PRINTF(2, 3);
/* Sends and waits for the answer. */
int be_link_ask(int fd, struct be_error *err, const char *fmt, ...) BE_PRINTF(3, 4);

#endif
