#include "initrd/network/interface.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <net/route.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "initrd/modules.h"
#include "initrd/system.h"

#define PCI "/sys/bus/pci/devices"
#define VIRTIO "/sys/bus/virtio/devices"
#define NET "/sys/class/net"
#define PCI_CLASS_NETWORK "0x02"
#define VIRTIO_NET "virtio:d00000001v"

/* Loads what the device's modalias names when its attribute @attr begins with @prefix. */
static void load_drivers(const struct be_root *root, const char *bus, const char *attr, const char *prefix)
{
	be_autostrv struct be_strv devices = { 0 };
	if (be_root_list(root, bus, &devices) != 0)
		return;
	for (size_t i = 0; i < devices.n; i++) {
		be_autofree char *path = be_strf("%s/%s/%s", bus, devices.v[i], attr);
		be_autofree char *value = be_root_text(root, path);
		be_autofree char *alias_path = be_strf("%s/%s/modalias", bus, devices.v[i]);
		be_autofree char *alias = be_root_text(root, alias_path);
		struct be_error ignored = BE_ERROR_INIT;
		/* One that is built into the kernel has no module: whether there is an interface in the end is what
		 * counts. */
		if (value && alias && be_starts(value, prefix))
			be_module_load(alias, &ignored);
	}
}

void be_interface_drivers(const struct be_root *root)
{
	load_drivers(root, PCI, "class", PCI_CLASS_NETWORK);
	load_drivers(root, VIRTIO, "modalias", VIRTIO_NET);
}

/* "01-52-54-00-12-34-56" names the interface with address 52:54:00:12:34:56. */
static bool has_address(const struct be_root *root, const char *name, const char *bootif)
{
	be_autofree char *path = be_strf(NET "/%s/address", name);
	be_autofree char *address = be_root_text(root, path);
	const char *wanted = strlen(bootif) == 20 ? bootif + 3 : bootif;
	if (!address || strlen(address) != strlen(wanted))
		return false;
	for (char *p = address; *p; p++)
		if (*p == ':')
			*p = '-';
	return strcasecmp(address, wanted) == 0;
}

void be_interface_list(const struct be_root *root, const char *bootif, struct be_strv *names)
{
	be_autostrv struct be_strv all = { 0 };
	if (be_root_list(root, NET, &all) != 0)
		return;
	for (size_t i = 0; bootif && i < all.n; i++)
		if (has_address(root, all.v[i], bootif))
			be_strv_add(names, all.v[i]);
	if (names->n)
		return;
	for (size_t i = 0; i < all.n; i++) {
		be_autofree char *device = be_strf(NET "/%s/device", all.v[i]);
		if (be_root_exists(root, device)) /* lo, bonds and tunnels are no devices */
			be_strv_add(names, all.v[i]);
	}
}

static int set_flags(int fd, const char *name, bool up)
{
	struct ifreq request = { 0 };
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	if (ioctl(fd, SIOCGIFFLAGS, &request) != 0)
		return -1;
	request.ifr_flags = (short)(up ? request.ifr_flags | IFF_UP : request.ifr_flags & ~IFF_UP);
	return ioctl(fd, SIOCSIFFLAGS, &request);
}

int be_interface_up(const struct be_root *root, const char *name, double seconds, struct be_error *err)
{
	be_autofd int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || set_flags(fd, name, true) != 0)
		return be_fail_errno(err, errno, "%s: cannot be switched on", name);
	be_autofree char *path = be_strf(NET "/%s/carrier", name);
	double until = be_monotonic() + seconds;
	for (;;) {
		be_autofree char *carrier = be_root_text(root, path);
		if (be_streq(carrier, "1"))
			return 0;
		if (be_monotonic() >= until)
			return be_fail(err, "%s: no link", name);
		be_pause(50);
	}
}

void be_interface_down(const char *name)
{
	be_autofd int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct be_error ignored = BE_ERROR_INIT;
	if (be_interface_address(name, "0.0.0.0", NULL, NULL, &ignored) != 0 || fd < 0 ||
	    set_flags(fd, name, false) != 0)
		be_log("%s: cannot be switched off", name);
}

static int set_one(int fd, unsigned long what, const char *name, const char *text, struct be_error *err)
{
	struct ifreq request = { 0 };
	struct sockaddr_in address = { .sin_family = AF_INET };
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	if (inet_pton(AF_INET, text, &address.sin_addr) != 1)
		return be_fail(err, "%s: \"%.40s\" is no IPv4 address", name, text);
	memcpy(&request.ifr_addr, &address, sizeof(address));
	if (ioctl(fd, what, &request) != 0)
		return be_fail_errno(err, errno, "%s: %s", name, text);
	return 0;
}

static int add_router(int fd, const char *name, const char *router, struct be_error *err)
{
	struct sockaddr_in any = { .sin_family = AF_INET }, gateway = any;
	if (inet_pton(AF_INET, router, &gateway.sin_addr) != 1)
		return be_fail(err, "%s: \"%.40s\" is no router's address", name, router);
	if (gateway.sin_addr.s_addr == INADDR_ANY)
		return 0;
	struct rtentry route = { .rt_flags = RTF_UP | RTF_GATEWAY };
	memcpy(&route.rt_dst, &any, sizeof(any));
	memcpy(&route.rt_genmask, &any, sizeof(any));
	memcpy(&route.rt_gateway, &gateway, sizeof(gateway));
	if (ioctl(fd, SIOCADDRT, &route) != 0 && errno != EEXIST)
		return be_fail_errno(err, errno, "%s: no route by %s", name, router);
	return 0;
}

int be_interface_address(const char *name, const char *address, const char *netmask, const char *router,
			 struct be_error *err)
{
	be_autofd int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return be_fail_errno(err, errno, "%s: no socket", name);
	if (set_one(fd, SIOCSIFADDR, name, address, err) != 0)
		return -1;
	if (netmask && *netmask && set_one(fd, SIOCSIFNETMASK, name, netmask, err) != 0)
		return -1;
	return router && *router ? add_router(fd, name, router, err) : 0;
}
