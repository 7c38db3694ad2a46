#include "initrd/udev.h"

#include <unistd.h>

#include "base/process.h"

#define UDEV_SECONDS 30.0

/* Output goes to the console: the daemon keeps its descriptors, and a pipe to us would not last as long as it does. */
static int run(char *const *argv, struct be_error *err)
{
	be_autorun struct be_run run = {
		.argv = argv, .stdout_fd = STDERR_FILENO, .stderr_fd = STDERR_FILENO, .timeout = UDEV_SECONDS
	};
	return be_run_ok(&run, err);
}

int be_udev_start(struct be_error *err)
{
	static const char *const places[] = { "/usr/lib/systemd/systemd-udevd", "/lib/systemd/systemd-udevd" };
	for (size_t i = 0; i < BE_ARRAY_LEN(places); i++) {
		if (access(places[i], X_OK) != 0)
			continue;
		be_autofree char *program = be_strdup(places[i]);
		return run((char *[]){ program, "--daemon", NULL }, err);
	}
	return be_fail(err, "the image has no systemd-udevd: disks have no names in /dev/disk");
}

int be_udev_settle(struct be_error *err)
{
	/* Only what carries test disks: announcing all devices takes three times as long. */
	if (run((char *[]){ "udevadm", "trigger", "--action=add", "--subsystem-match=block", "--subsystem-match=nd",
			    NULL },
		err) != 0)
		return -1;
	return run((char *[]){ "udevadm", "settle", "--timeout=25", NULL }, err);
}
