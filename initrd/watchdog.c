#include "initrd/watchdog.h"

#include <fcntl.h>
#include <linux/watchdog.h>
#include <stdio.h>
#include <sys/ioctl.h>

#include "initrd/modules.h"

void be_watchdog_load(void)
{
	static const char *const drivers[] = { "i6300esb", "iTCO_wdt" };
	struct be_error ignored = BE_ERROR_INIT;
	for (unsigned i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++)
		be_module_load(drivers[i], &ignored);
}

bool be_watchdog_arm(struct be_watchdog *dog)
{
	if (dog->fd >= 0 || !dog->wanted)
		return dog->fd >= 0;
	dog->fd = open("/dev/watchdog", O_WRONLY | O_CLOEXEC);
	if (dog->fd < 0)
		return false;
	int seconds = BE_WATCHDOG_SECONDS;
	ioctl(dog->fd, WDIOC_SETTIMEOUT, &seconds); /* a driver with a fixed time keeps its own */
	struct watchdog_info info = { 0 };
	if (ioctl(dog->fd, WDIOC_GETSUPPORT, &info) == 0)
		snprintf(dog->identity, sizeof(dog->identity), "%.32s", (const char *)info.identity);
	be_watchdog_feed(dog);
	return true;
}

void be_watchdog_feed(struct be_watchdog *dog)
{
	if (dog->fd >= 0)
		ioctl(dog->fd, WDIOC_KEEPALIVE, 0);
}
