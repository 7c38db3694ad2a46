/* The lab's network: that of the interface which is served. */
#ifndef BE_LAB_NETWORK_H
#define BE_LAB_NETWORK_H

#include <netinet/in.h>
#include <stdbool.h>

#include "base/error.h"

struct be_lab_network {
	struct in_addr own, mask; /* of the interface's first IPv4 address */
	char address[INET_ADDRSTRLEN], network[INET_ADDRSTRLEN];
};

/* Fails (BE_USAGE) for a name that is none, for one without an IPv4 address, and for the loopback interface. */
int be_lab_network_find(const char *interface, struct be_lab_network *network, struct be_error *err) BE_MUST_CHECK;
/* "10.0.0.50,10.0.0.99": two addresses, the lower one first. */
bool be_lab_range_parse(const char *text, struct in_addr *first, struct in_addr *last);
/* Fails (BE_USAGE) unless all of the range are addresses of machines in @network. */
int be_lab_network_check(const struct be_lab_network *network, const char *range, struct be_error *err) BE_MUST_CHECK;

#endif
