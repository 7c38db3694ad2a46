#include "initrd/port.h"

#include <errno.h>
#include <fcntl.h>
#include <termios.h>
#include <time.h>

#include "initrd/system.h"

#define CLASS "/sys/class/virtio-ports"

static int open_named(const struct be_root *root, const char *name)
{
	be_autostrv struct be_strv ports = { 0 };
	if (be_root_list(root, CLASS, &ports) != 0)
		return -1;
	for (size_t i = 0; i < ports.n; i++) {
		be_autofree char *attr = be_strf(CLASS "/%s/name", ports.v[i]);
		be_autofree char *found = be_root_text(root, attr);
		if (!be_streq(found, name))
			continue;
		be_autofree char *node = be_strf("/dev/%s", ports.v[i]);
		be_autofree char *path = be_root_path(root, node);
		return open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	}
	return -1;
}

int be_port_open(const struct be_root *root, const char *name, double wait)
{
	double until = be_monotonic() + wait;
	for (;;) {
		int fd = open_named(root, name);
		if (fd >= 0 || be_monotonic() >= until)
			return fd;
		nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
	}
}

int be_serial_open(void)
{
	int fd = open("/dev/ttyS0", O_WRONLY | O_NOCTTY | O_CLOEXEC);
	struct termios mode;
	if (fd >= 0 && tcgetattr(fd, &mode) != 0) /* the driver answers EIO where there is no such UART */
		be_close_fd(&fd);
	if (fd < 0)
		fd = open("/dev/console", O_WRONLY | O_NOCTTY | O_CLOEXEC);
	return fd;
}
