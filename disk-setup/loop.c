#include "loop.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "action.h"
#include "device.h"

#define LOOP_PREFIX "/dev/loop"

static void record(struct be_setup *setup, const char *what, const char *device, const char *file, double start,
		   int status)
{
	be_autonode struct be_node *argv = be_node_seq();
	be_add_str(argv, what);
	be_add_str(argv, device);
	be_add_str(argv, file);
	be_action_record(setup, "loop", argv, be_monotonic() - start, status, "the kernel's loop");
}

/* The module makes only so many by itself. */
static void add_device(const char *device)
{
	be_autofd int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	if (control >= 0 && !be_exists(device))
		(void)!ioctl(control, LOOP_CTL_ADD, strtol(device + strlen(LOOP_PREFIX), NULL, 10));
	for (unsigned i = 0; i < 100 && !be_exists(device); i++)
		be_pause(20);
}

static int make_file(const char *file, int64_t size, struct be_error *err)
{
	be_autofree char *folder = be_strndup(file, (size_t)(strrchr(file, '/') - file));
	if (*folder && be_mkdirs(folder, 0755, err) != 0)
		return -1;
	int fd = open(file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return be_fail_errno(err, errno, "%s cannot be made", file);
	if (ftruncate(fd, size) == 0)
		return fd;
	be_fail_errno(err, errno, "%s cannot have %lld bytes", file, (long long)size);
	close(fd);
	return -1;
}

static int attach(struct be_setup *setup, const char *device, const char *file, int64_t size, struct be_error *err)
{
	add_device(device);
	be_autofd int loop = open(device, O_RDWR | O_CLOEXEC);
	if (loop < 0)
		return be_fail_errno(err, errno, "%s cannot be opened", device);
	be_autofd int backing = make_file(file, size, err);
	if (backing < 0)
		return -1;
	struct loop_config config = { .fd = (__u32)backing };
	snprintf((char *)config.info.lo_file_name, sizeof(config.info.lo_file_name), "%s", file);
	double start = be_monotonic();
	int rc = ioctl(loop, LOOP_CONFIGURE, &config), errnum = errno;
	record(setup, "attach", device, file, start, rc != 0);
	if (rc == 0)
		return 0;
	be_fail_errno(err, errnum, "%s cannot be attached to %s", device, file);
	return be_hint(err, "see what it is attached to: losetup -l %s", device);
}

static bool is_loop(const struct be_node *stanza)
{
	return be_streq(be_get_str(stanza, "kind", NULL), "loop") && be_get_str(stanza, "file", NULL);
}

int be_loops_attach(struct be_setup *setup, const struct be_node *plan, struct be_error *err)
{
	const struct be_node *devices = be_get_path(plan, "layout.devices");
	for (size_t i = 0; devices && i < devices->n; i++) {
		const struct be_node *d = devices->items[i];
		if (is_loop(d) && attach(setup, be_get_str(d, "path", ""), be_get_str(d, "file", ""),
					 be_get_int(d, "size", 0), err) != 0)
			return be_wrap(err, "%s", be_get_str(d, "name", "?"));
	}
	return 0;
}

static int detach(struct be_setup *setup, const char *device, const char *file, struct be_error *err)
{
	be_autofree char *kernel = be_device_kernel_name(&setup->root, device, NULL);
	be_autofree char *there = kernel ? be_device_attr(&setup->root, kernel, "loop/backing_file") : NULL;
	if (!be_streq(there, file))
		return 0; /* not attached, or to somebody else's file */
	be_autofd int loop = open(device, O_RDWR | O_CLOEXEC);
	double start = be_monotonic();
	int rc = loop < 0 ? -1 : ioctl(loop, LOOP_CLR_FD, 0), errnum = errno;
	record(setup, "detach", device, file, start, rc != 0);
	if (rc != 0)
		return be_fail_errno(err, errnum, "%s cannot be detached from %s", device, file);
	unlink(file);
	return 0;
}

int be_loops_detach(struct be_setup *setup, const struct be_node *plan, struct be_error *err)
{
	const struct be_node *devices = be_get_path(plan, "layout.devices");
	for (size_t i = devices ? devices->n : 0; i-- > 0;) {
		const struct be_node *d = devices->items[i];
		if (is_loop(d) && detach(setup, be_get_str(d, "path", ""), be_get_str(d, "file", ""), err) != 0)
			return -1;
	}
	return 0;
}
