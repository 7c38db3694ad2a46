/* Probes of block devices: what kind, which one, and what the device itself says. */
#include "initrd/observe/probes.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/nvme_ioctl.h>
#include <string.h>
#include <sys/ioctl.h>

#include "disk-setup/device.h"

#define SECTOR 512
#define NVME_IDENTIFY 0x06       /* NVM Express base specification: Identify command */
#define NVME_IDENTIFY_BYTES 4096 /* its data */
#define NVME_IDENTIFY_VWC 525    /* Identify Controller data: volatile write cache, bit 0: present */

static const char *disk_of(const struct be_look *look)
{
	return look->at->kernel ? look->at->kernel : "";
}

static char *attribute(const struct be_look *look, const char *name)
{
	be_autofree char *path = be_strf("/sys/block/%s/%s", disk_of(look), name);
	return be_root_text(&look->o->root, path);
}

/* The driver's name, by which an unknown kind of disk is called. */
static char *driver_of(const struct be_look *look)
{
	be_autofree char *link = be_strf("/sys/block/%s/device/driver", disk_of(look));
	char *name = be_kernel_name(&look->o->root, link);
	return name ? name : be_strdup("unknown");
}

struct be_reading be_probe_disk_kind(const struct be_look *look)
{
	static const char *const names[][2] = {
		{ "pmem", "pmem" }, { "ram", "brd" }, { "nvme", "nvme" },
		{ "vd", "virtio" }, { "md", "md" },   { "loop", "loop" },
	};
	const char *disk = disk_of(look);
	be_autofree char *rotational = attribute(look, "queue/rotational");
	if (!rotational)
		return be_reading_absent("no such file /sys/block/%s/queue/rotational", disk);
	for (size_t i = 0; i < BE_ARRAY_LEN(names); i++)
		if (be_starts(disk, names[i][0]))
			return be_reading_text(names[i][1]);
	if (be_starts(disk, "sd"))
		return be_reading_text(be_streq(rotational, "1") ? "hdd" : "ssd");
	be_autofree char *driver = driver_of(look);
	return be_reading_value(be_node_strf("other: %s", driver));
}

/* The serial number of a SCSI or SATA disk: VPD page 0x80, a header of four bytes and the text. */
static char *vpd_serial(const struct be_look *look)
{
	be_autofree char *path = be_strf("/sys/block/%s/device/vpd_pg80", disk_of(look));
	be_autobuf struct be_buf page = { 0 };
	struct be_error ignored = BE_ERROR_INIT;
	if (be_root_read(&look->o->root, path, &page, &ignored) != 0 || page.len <= 4)
		return NULL;
	be_autofree char *text = be_strndup(page.data + 4, page.len - 4);
	return be_strdup(be_trim(text));
}

/* Kernel name -> the first name in /dev/disk/by-id that leads to it and says more than a number. */
static struct be_node *names_by_id(const struct be_observer *o)
{
	struct be_node *map = be_node_map();
	be_autostrv struct be_strv names = { 0 };
	if (be_root_list(&o->root, "/dev/disk/by-id", &names) != 0)
		return map;
	for (size_t i = 0; i < names.n; i++) {
		if (be_starts(names.v[i], "wwn-") || be_starts(names.v[i], "nvme-eui."))
			continue;
		be_autofree char *path = be_strf("/dev/disk/by-id/%s", names.v[i]);
		be_autofree char *target = be_root_link(&o->root, path); /* leads straight to the device */
		const char *slash = target ? strrchr(target, '/') : NULL;
		if (slash && !be_get(map, slash + 1))
			be_set_str(map, slash + 1, names.v[i]);
	}
	return map;
}

static void add_first(const struct be_look *look, struct be_node *map, const char *key, const char *const *attributes)
{
	for (; *attributes; attributes++) {
		be_autofree char *text = attribute(look, *attributes);
		if (text && *text) {
			be_set_str(map, key, text);
			return;
		}
	}
}

struct be_reading be_probe_disk_identity(const struct be_look *look)
{
	static const struct {
		const char *key, *attributes[3];
	} parts[] = {
		{ "model", { "device/model" } },
		{ "vendor", { "device/vendor" } },
		{ "serial", { "device/serial", "serial" } },
		{ "firmware", { "device/firmware_rev", "device/rev" } },
		{ "wwn", { "wwid", "device/wwid" } },
		{ "uuid", { "md/uuid", "device/uuid" } },
	};
	struct be_node *map = be_node_map();
	for (size_t i = 0; i < BE_ARRAY_LEN(parts); i++)
		add_first(look, map, parts[i].key, parts[i].attributes);
	be_autofree char *vpd = be_get(map, "serial") ? NULL : vpd_serial(look);
	if (vpd && *vpd)
		be_set_str(map, "serial", vpd);
	be_set_str(map, "by_id", be_get_str(be_observe_table(look->o, "by-id", names_by_id), disk_of(look), NULL));
	if (map->n)
		return be_reading_value(map);
	be_node_free(map);
	return be_reading_not_applicable("this kind of disk has no identity");
}

static int64_t sectors(const struct be_observer *o, const char *kernel, const char *name)
{
	be_autofree char *path = be_strf("/sys/class/block/%s/%s", kernel, name);
	be_autofree char *text = be_root_text(&o->root, path);
	return text ? strtoll(text, NULL, 10) * SECTOR : 0;
}

/* Kernel name of a disk -> the layout's partitions on it: NAME -> start and size in bytes. */
static struct be_node *partitions(const struct be_observer *o)
{
	struct be_node *map = be_node_map();
	const struct be_node *devices = be_get_path(o->plan, "layout.devices");
	for (size_t i = 0; devices && i < devices->n; i++) {
		be_autofree char *kernel = be_kernel_name(&o->root, be_get_str(devices->items[i], "path", ""));
		be_autofree char *disk = kernel ? be_device_whole(&o->root, kernel) : NULL;
		if (!disk || be_streq(kernel, disk))
			continue;
		if (!be_get(map, disk))
			be_set(map, disk, be_node_map());
		struct be_node *part = be_node_map();
		be_set_int(part, "start", sectors(o, kernel, "start"));
		be_set_int(part, "size", sectors(o, kernel, "size"));
		be_set(be_get(map, disk), be_get_str(devices->items[i], "name", kernel), part);
	}
	return map;
}

struct be_reading be_probe_partition(const struct be_look *look)
{
	if (be_streq(look->at->kind, "md"))
		return be_reading_not_applicable("an array is used whole");
	const struct be_node *used = be_get(be_observe_table(look->o, "partitions", partitions), disk_of(look));
	return used ? be_reading_value(be_node_clone(used)) : be_reading_text("whole");
}

/* Asks an NVMe controller by its Identify data: sysfs does not tell. */
static struct be_reading nvme_write_cache(const struct be_look *look)
{
	be_autofree char *node = be_strf("/dev/%s", disk_of(look));
	be_autofree char *path = be_root_path(&look->o->root, node);
	be_autofd int fd = open(path, O_RDONLY | O_CLOEXEC);
	be_autofree unsigned char *data = be_alloc(NVME_IDENTIFY_BYTES);
	struct nvme_admin_cmd command = {
		.opcode = NVME_IDENTIFY, .addr = (uintptr_t)data, .data_len = NVME_IDENTIFY_BYTES, .cdw10 = 1
	};
	if (fd < 0 || ioctl(fd, NVME_IOCTL_ADMIN_CMD, &command) != 0)
		return be_reading_not_observable("%s: Identify: %s", node, strerror(errno));
	return be_reading_text(data[NVME_IDENTIFY_VWC] & 1 ? "volatile write cache present"
							   : "no volatile write cache");
}

struct be_reading be_probe_device_write_cache(const struct be_look *look)
{
	const char *disk = disk_of(look);
	if (be_starts(disk, "nvme"))
		return nvme_write_cache(look);
	be_autofree char *virtio = be_starts(disk, "vd") ? attribute(look, "cache_type") : NULL;
	if (virtio)
		return be_reading_text(virtio);
	be_autofree char *dir = be_strf("/sys/block/%s/device/scsi_disk", disk);
	be_autostrv struct be_strv names = { 0 };
	if (be_root_list(&look->o->root, dir, &names) != 0 || !names.n)
		return be_reading_not_applicable("not a SCSI, SATA, NVMe or virtio disk");
	be_autofree char *path = be_strf("%s/%s/cache_type", dir, names.v[0]);
	be_autofree char *text = be_root_text(&look->o->root, path);
	return text ? be_reading_text(text) : be_reading_absent("no such file %s", path);
}

/* Kernel name -> the directory of the disk's device in the tree of devices. Arrays and ram disks have none: they are no
 * hardware. */
static struct be_node *device_directories(const struct be_observer *o)
{
	const struct be_instances *disks = &o->scopes->of[BE_SCOPE_DISK];
	struct be_node *map = be_node_map();
	for (size_t i = 0; i < disks->n; i++) {
		const char *kernel = disks->v[i].kernel;
		be_autofree char *link = be_strf("/sys/block/%s/device", kernel ? kernel : "");
		be_autofree char *real = be_root_real(&o->root, link);
		if (kernel)
			be_set_str(map, kernel, real);
	}
	return map;
}

static char *device_directory(const struct be_look *look)
{
	const struct be_node *map = be_observe_table(look->o, "devices", device_directories);
	return be_strdup(be_get_str(map, disk_of(look), NULL));
}

/* Cuts @dir down to the directory above it; false at the top of the tree. */
static bool ascend(char *dir)
{
	char *end = strrchr(dir, '/');
	if (!end)
		return false;
	*end = '\0';
	return !be_ends(dir, "/devices");
}

static char *file_in(const struct be_look *look, const char *dir, const char *name)
{
	be_autofree char *path = be_strf("%s/%s", dir, name);
	return be_root_text(&look->o->root, path);
}

/* The node of the nearest ancestor that states one: disks do not, their adapters do. */
struct be_reading be_probe_device_numa_node(const struct be_look *look)
{
	be_autofree char *dir = device_directory(look);
	if (!dir)
		return be_reading_not_applicable("no hardware device of its own");
	do {
		be_autofree char *text = file_in(look, dir, "numa_node");
		if (text)
			return be_reading_value(be_node_int(strtoll(text, NULL, 10)));
	} while (ascend(dir));
	return be_reading_absent("no device above %s states a node", disk_of(look));
}

/* Devices that are part of the root complex have the files, and no link: their width is 0. */
struct be_reading be_probe_device_link(const struct be_look *look)
{
	be_autofree char *dir = device_directory(look);
	if (!dir)
		return be_reading_not_applicable("no hardware device of its own");
	do {
		be_autofree char *speed = file_in(look, dir, "current_link_speed");
		be_autofree char *width = file_in(look, dir, "current_link_width");
		if (speed && width && strtol(width, NULL, 10) > 0)
			return be_reading_value(be_node_strf("%s x%s", speed, width));
	} while (ascend(dir));
	return be_reading_absent("no device above %s has a PCI Express link", disk_of(look));
}
