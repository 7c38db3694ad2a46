/*
 * The guest's network, for delivery only: it is brought up before the run when the kernel's command line says where
 * results go, and nothing of it runs on its own while the workload does.
 */
#ifndef BE_NETWORK_H
#define BE_NETWORK_H

#include "base/file.h"

/* Words of the kernel's command line, as the place of boot adds them. */
#define BE_WORD_DELIVER "benchenv.deliver" /* URL that takes the parts of the delivery; holds the run's token */
#define BE_WORD_BOOTIF "BOOTIF"            /* the network card that the machine booted from */
#define BE_WORD_IP "ip"                    /* "dhcp" (default), or CLIENT:SERVER:ROUTER:NETMASK as in nfsroot.rst */

/* The address that an `ip=` word states. The texts point into `text`. */
struct be_static_address {
	char *text;
	const char *client, *router, *netmask; /* "" where it says none */
};
/* False when @value asks for DHCP or states no address. The caller frees `text`. */
bool be_network_static(const char *value, struct be_static_address *out);

/*
 * Loads drivers, takes the interface that the machine booted from, else the first that gets an address. Takes at most
 * about a minute for each interface. @progress is called about once a second, with @data.
 */
int be_network_start(const struct be_root *root, void (*progress)(void *data), void *data,
		     struct be_error *err) BE_MUST_CHECK;

#endif
