#include "initrd/outlet.h"

#include <fcntl.h>

#include "base/clock.h"
#include "disk-setup/setup.h"
#include "initrd/modules.h"
#include "initrd/network/network.h"
#include "initrd/port.h"
#include "initrd/system.h"

#define PORT_WAIT 3.0      /* seconds for the host's port to appear after its drivers were loaded */
#define VOLUME_WAIT 15.0   /* for a USB stick to answer */
#define GREET_SECONDS 30.0 /* for the server's first answer */
#define STREAM BE_STATE_DIR "/delivery.tar"

static const struct be_root real = { .prefix = NULL };

static void set_delivery(struct be_supervisor *s, int fd, enum be_framing framing, const char *nothing)
{
	struct be_error err = BE_ERROR_INIT;
	s->delivery = fd >= 0 ? be_delivery_open(fd, framing, &err) : NULL;
	if (!s->delivery)
		be_log("no delivery: %s", fd < 0 ? nothing : err.text);
}

static void open_serial(struct be_supervisor *s)
{
	be_log("delivery goes to the serial console");
	set_delivery(s, be_serial_open(&real), BE_BASE64, "there is no serial console");
}

static bool open_port(struct be_supervisor *s)
{
	static const char *const drivers[] = { "virtio_pci", "virtio_mmio", "virtio_console" };
	struct be_error err = BE_ERROR_INIT;
	for (size_t i = 0; i < BE_ARRAY_LEN(drivers); i++)
		be_module_load(drivers[i], &err);
	int fd = be_port_open(&real, BE_TWIN_PORT_NAME, PORT_WAIT);
	if (fd < 0)
		return false;
	set_delivery(s, fd, BE_RAW, "");
	return true;
}

/* The whole of the network is there for the delivery: without a word of it none is touched. */
static bool open_network(struct be_supervisor *s)
{
	static struct be_upload upload;
	struct be_error err = BE_ERROR_INIT;
	be_autofree char *url = be_cmdline_value(&real, BE_WORD_DELIVER);
	if (!url)
		return false;
	if (be_network_start(&real, NULL, NULL, &err) != 0 || be_upload_open(&upload, url, STREAM, &err) != 0) {
		be_log("no delivery over the network: %s", err.text);
		return false;
	}
	if (be_upload_greet(&upload, GREET_SECONDS, &err) != 0) {
		be_log("no delivery over the network: %s", err.text);
		be_upload_close(&upload);
		return false;
	}
	be_log("delivery goes over the network");
	set_delivery(s, upload.fd, BE_RAW, "");
	s->upload = &upload;
	s->fall_back = open_serial;
	return s->delivery != NULL;
}

/* A stick shows its parts one after the other, and each may need another driver. */
static int find_volume(struct be_volume *volume, struct be_error *err)
{
	double until = be_monotonic() + VOLUME_WAIT;
	int rc;
	be_module_load("sd_mod", err);
	do {
		be_modules_coldplug(&real);
		rc = be_volume_find(&real, 1, volume, err);
	} while (rc != 0 && be_monotonic() < until);
	return rc;
}

/* Drivers of disks and sticks are loaded here already: before the run one must be known, not after it. */
static bool open_volume(struct be_supervisor *s)
{
	static struct be_volume volume;
	struct be_error err = BE_ERROR_INIT;
	if (!be_cmdline_has(&real, BE_VOLUME_WORD))
		return false;
	if (find_volume(&volume, &err) != 0) {
		be_log("no delivery to a disk or stick: %s", err.text);
		return false;
	}
	int fd = open(STREAM, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	be_log("delivery goes to %s (%s), file benchenv-%s.tar", volume.node, volume.type, volume.run);
	set_delivery(s, fd, BE_RAW, "the stream's file cannot be made");
	s->volume = &volume;
	s->stream = fd;
	s->fall_back = open_serial;
	return s->delivery != NULL;
}

void be_outlet_open(struct be_supervisor *s)
{
	if (open_network(s) || open_volume(s) || open_port(s))
		return;
	open_serial(s);
}
