#include "initrd/port.h"

#include <errno.h>
#include <fcntl.h>
#include <termios.h>

#include "base/clock.h"
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
		be_pause(20);
	}
}

char *be_serial_name(const struct be_root *root)
{
	static const char *const kinds[] = { "ttyS", "ttyAMA", "ttyUSB", "hvc" };
	be_autofree char *active = be_root_text(root, "/sys/class/tty/console/active"), *found = NULL;
	be_autostrv struct be_strv names = { 0 };
	be_strv_split(&names, active ? active : "", " \n");
	for (size_t i = 0; i < names.n * BE_ARRAY_LEN(kinds); i++) {
		const char *name = names.v[i / BE_ARRAY_LEN(kinds)];
		if (!be_starts(name, kinds[i % BE_ARRAY_LEN(kinds)]))
			continue;
		free(found);
		found = be_strdup(name);
	}
	return be_steal(&found);
}

static int open_terminal(const struct be_root *root, const char *name)
{
	be_autofree char *node = be_strf("/dev/%s", name), *path = be_root_path(root, node);
	struct termios mode;
	int fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
	if (fd >= 0 && tcgetattr(fd, &mode) != 0) /* the driver answers EIO where there is no such UART */
		be_close_fd(&fd);
	return fd;
}

int be_serial_open(const struct be_root *root)
{
	be_autofree char *name = be_serial_name(root), *console = be_root_path(root, "/dev/console");
	int fd = open_terminal(root, name ? name : "ttyS0");
	return fd >= 0 ? fd : open(console, O_WRONLY | O_NOCTTY | O_CLOEXEC);
}
