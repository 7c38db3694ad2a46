#include "initrd/network/network.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/node.h"
#include "base/process.h"
#include "initrd/network/interface.h"
#include "initrd/system.h"

#define APPEAR_SECONDS 5.0 /* for an interface after its driver was loaded */
#define LINK_SECONDS 20.0  /* autonegotiation takes 3 to 5; a spanning tree lets nothing through for longer */
#define LEASE_SCRIPT "/benchenv/lease"
#define LEASE_FILE BE_STATE_DIR "/lease.yaml"
#define LEASE_VARIABLE "BENCHENV_LEASE"
#define DISCOVERS "8" /* times 3 s: a spanning tree's 30 s are over when link and lease were waited for */
#define DISCOVER_SECONDS "3"
#define DHCP_LIMIT 40.0 /* seconds; udhcpc gives up before */

struct progress {
	void (*call)(void *data);
	void *data;
};

static void on_tick(void *data, pid_t pid, double elapsed)
{
	const struct progress *progress = data;
	(void)pid;
	(void)elapsed;
	if (progress->call)
		progress->call(progress->data);
}

bool be_network_static(const char *value, struct be_static_address *out)
{
	enum { CLIENT, SERVER, ROUTER, NETMASK, FIELDS };
	*out = (struct be_static_address){ .client = "", .router = "", .netmask = "" };
	if (!value || !strchr(value, ':'))
		return false;
	const char *fields[FIELDS] = { "", "", "", "" };
	out->text = be_strdup(value);
	char *at = out->text;
	for (size_t i = 0; i < FIELDS && at; i++)
		fields[i] = strsep(&at, ":");
	out->client = fields[CLIENT];
	out->router = fields[ROUTER];
	out->netmask = fields[NETMASK];
	if (*out->client)
		return true;
	free(out->text);
	*out = (struct be_static_address){ .client = "", .router = "", .netmask = "" };
	return false;
}

static int ask_dhcp(const char *interface, struct progress *progress, struct be_error *err)
{
	char *argv[] = { "udhcpc",  "-i", (char *)interface, "-n", "-q",         "-f", "-t",
			 DISCOVERS, "-T", DISCOVER_SECONDS,  "-s", LEASE_SCRIPT, NULL };
	be_autorun struct be_run run = { .argv = argv, .timeout = DHCP_LIMIT, .tick = on_tick, .tick_data = progress };
	unlink(LEASE_FILE);
	setenv(LEASE_VARIABLE, LEASE_FILE, 1);
	int rc = be_run_ok(&run, err);
	unsetenv(LEASE_VARIABLE);
	if (rc != 0)
		return be_fail(err, "%s: nobody gave an address by DHCP", interface);
	be_autonode struct be_node *lease = be_node_load_file(LEASE_FILE, err);
	if (!lease)
		return -1;
	return be_interface_address(interface, be_get_str(lease, "ip", ""), be_get_str(lease, "subnet", ""),
				    be_get_str(lease, "router", ""), err);
}

static int start_one(const struct be_root *root, const char *interface, const char *ip, struct progress *progress,
		     struct be_error *err)
{
	struct be_static_address address;
	if (be_interface_up(root, interface, LINK_SECONDS, err) != 0)
		return -1;
	if (!be_network_static(ip, &address))
		return ask_dhcp(interface, progress, err);
	int rc = be_interface_address(interface, address.client, address.netmask, address.router, err);
	free(address.text);
	return rc;
}

/* Virtual functions and slow firmware appear some time after their driver. */
static void wait_for_interfaces(const struct be_root *root, const char *bootif, struct be_strv *names)
{
	for (double until = be_monotonic() + APPEAR_SECONDS;;) {
		be_interface_list(root, bootif, names);
		if (names->n || be_monotonic() >= until)
			return;
		be_pause(50);
	}
}

int be_network_start(const struct be_root *root, void (*progress)(void *data), void *data, struct be_error *err)
{
	be_autofree char *bootif = be_cmdline_value(root, BE_WORD_BOOTIF), *ip = be_cmdline_value(root, BE_WORD_IP);
	be_autostrv struct be_strv names = { 0 };
	struct progress tick = { .call = progress, .data = data };
	be_interface_drivers(root);
	wait_for_interfaces(root, bootif, &names);
	if (!names.n)
		return be_fail(err, "there is no network card whose driver is in the image");
	for (size_t i = 0; i < names.n; i++) {
		if (start_one(root, names.v[i], ip, &tick, err) == 0) {
			be_log("network: %s is up", names.v[i]);
			return 0;
		}
		be_log("network: %s", err->text);
		be_interface_down(names.v[i]);
	}
	return -1;
}
