/* The machine's own watchdog: resets it when nothing feeds it any more, so that a hung kernel ends the run too. */
#ifndef BE_WATCHDOG_H
#define BE_WATCHDOG_H

#include <stdbool.h>

#define BE_WATCHDOG_SECONDS 60

struct be_watchdog {
	bool wanted;       /* false: none is armed (a test is not PID 1) */
	int fd;            /* -1 while there is none */
	char identity[40]; /* as the driver calls itself, or "" */
};

/* Loads the drivers of the watchdogs that servers and QEMU's q35 have. */
void be_watchdog_load(void);
/* Arms /dev/watchdog unless that is done. Returns whether it is armed; cheap enough to be tried every second. */
bool be_watchdog_arm(struct be_watchdog *dog);
void be_watchdog_feed(struct be_watchdog *dog); /* does nothing without one */

#endif
