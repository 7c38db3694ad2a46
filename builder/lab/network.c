#include "builder/lab/network.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <string.h>

#include "base/str.h"

static void take(struct be_lab_network *network, const struct ifaddrs *i)
{
	network->own = ((const struct sockaddr_in *)(const void *)i->ifa_addr)->sin_addr;
	network->mask = ((const struct sockaddr_in *)(const void *)i->ifa_netmask)->sin_addr;
	struct in_addr base = { .s_addr = network->own.s_addr & network->mask.s_addr };
	inet_ntop(AF_INET, &network->own, network->address, sizeof(network->address));
	inet_ntop(AF_INET, &base, network->network, sizeof(network->network));
}

int be_lab_network_find(const char *interface, struct be_lab_network *network, struct be_error *err)
{
	struct ifaddrs *list = NULL;
	if (getifaddrs(&list) != 0)
		return be_fail_errno(err, errno, "the network interfaces cannot be listed");
	const char *wrong = "there is none of this name";
	for (const struct ifaddrs *i = list; i && wrong; i = i->ifa_next) {
		if (strcmp(i->ifa_name, interface) != 0)
			continue;
		wrong = i->ifa_flags & IFF_LOOPBACK ? "no machine is on it but this one" : "has no IPv4 address";
		if (i->ifa_flags & IFF_LOOPBACK)
			break;
		if (!i->ifa_addr || !i->ifa_netmask || i->ifa_addr->sa_family != AF_INET)
			continue;
		take(network, i);
		wrong = NULL;
	}
	freeifaddrs(list);
	if (!wrong)
		return 0;
	be_fail_usage(err, "interface %s: %s", interface, wrong);
	return be_hint(err, "`ip address` lists the interfaces and their addresses");
}

bool be_lab_range_parse(const char *text, struct in_addr *first, struct in_addr *last)
{
	const char *comma = strchr(text, ',');
	be_autofree char *low = comma ? be_strndup(text, (size_t)(comma - text)) : NULL;
	return comma && inet_pton(AF_INET, low, first) == 1 && inet_pton(AF_INET, comma + 1, last) == 1 &&
	       ntohl(first->s_addr) <= ntohl(last->s_addr);
}

/* Neither the address of the network itself nor that of all its machines. */
static bool is_machine(const struct be_lab_network *network, struct in_addr address)
{
	in_addr_t mask = network->mask.s_addr, host = address.s_addr & ~mask;
	return (address.s_addr & mask) == (network->own.s_addr & mask) && host != 0 && host != (in_addr_t)~mask;
}

int be_lab_network_check(const struct be_lab_network *network, const char *range, struct be_error *err)
{
	struct in_addr first, last;
	if (be_lab_range_parse(range, &first, &last) && is_machine(network, first) && is_machine(network, last))
		return 0;
	char mask[INET_ADDRSTRLEN];
	inet_ntop(AF_INET, &network->mask, mask, sizeof(mask));
	be_fail_usage(err, "--dhcp %s: does not lie in the interface's network, %s with netmask %s", range,
		      network->network, mask);
	return be_hint(err, "the interface has %s: give two addresses of that network", network->address);
}
