/* Disks of the twin: the buses, models, serials and names that make /dev/disk/by-id resolve as in the lab. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "builder/twin/twin_parts.h"
#include "units.h"

#define AHCI_PORTS 6
#define DISK_SIZE (16 * GIB)         /* at most, of a disk; making a file system writes in proportion */
#define DISKS_TOTAL (96 * GIB)       /* at most, of all disks together */
#define NVME_MODEL "QEMU_NVMe_Ctrl_" /* of every NVMe controller that QEMU 7.2 makes */
/* Characters of a name that mean nothing in a udev rule. */
#define PLAIN "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:+"

/*
 * ata-MODEL_SERIAL: udev joins both with an underscore and turns blanks into underscores, so any split whose halves
 * fit ATA's fields (40 and 20 bytes) gives the same name. The last one that fits keeps the serial a serial. NVMe's
 * fields have the same sizes.
 */
static bool split_name(const char *name, struct be_disk_identity *out)
{
	for (const char *at = name + strlen(name); at > name; at--) {
		if (*at != '_')
			continue;
		size_t model = (size_t)(at - name), serial = strlen(at + 1);
		if (serial == 0 || serial >= sizeof(out->serial) || model >= sizeof(out->model))
			continue;
		snprintf(out->model, sizeof(out->model), "%.*s", (int)model, name);
		snprintf(out->serial, sizeof(out->serial), "%s", at + 1);
		return true;
	}
	return false;
}

static bool parse_hex(const char *text, uint64_t *value)
{
	char *end;
	*value = strtoull(text, &end, 16);
	return *text && !*end && strlen(text) <= 16;
}

static bool take_serial(const char *serial, struct be_disk_identity *out)
{
	snprintf(out->serial, sizeof(out->serial), "%s", serial);
	return *serial && strlen(serial) < sizeof(out->serial);
}

void be_disk_identify(const char *id, struct be_disk_identity *out)
{
	*out = (struct be_disk_identity){ .bus = BE_BUS_ATA };
	if (be_starts(id, "ata-")) {
		out->by_rule = !split_name(id + 4, out);
	} else if (be_starts(id, "wwn-0x")) {
		/* udev believes an ATA disk's number only when it begins as IEEE's registered ones do. */
		out->by_rule = !parse_hex(id + 6, &out->wwn) || out->wwn >> 60 != 5;
	} else if (be_starts(id, "scsi-")) {
		/* scsi-3WWN is the only form that QEMU's disks can be given as a whole. */
		bool wwn = id[5] == '3' && strlen(id + 6) == 16 && parse_hex(id + 6, &out->wwn);
		out->bus = wwn ? BE_BUS_SCSI : BE_BUS_ATA;
		out->by_rule = !wwn;
	} else if (be_starts(id, "virtio-")) {
		out->bus = BE_BUS_VIRTIO;
		if (!take_serial(id + 7, out)) {
			out->bus = BE_BUS_ATA;
			out->by_rule = true;
		}
	} else if (be_starts(id, "nvme-" NVME_MODEL)) {
		out->bus = BE_BUS_NVME;
		out->by_rule = !take_serial(id + 5 + strlen(NVME_MODEL), out);
	} else if (be_starts(id, "nvme-")) {
		/* Neither its model can be set, nor does Linux believe the namespace identifiers of QEMU's NVMe. */
		out->bus = BE_BUS_NVME;
		out->by_rule = true;
		(void)split_name(id + 5, out);
	} else if (be_starts(id, "nvme")) {
		out->bus = BE_BUS_NVME;
	} else if (be_starts(id, "vd")) {
		out->bus = BE_BUS_VIRTIO;
	} else {
		out->by_rule = !be_starts(id, "sd");
	}
	if (out->by_rule && out->bus == BE_BUS_ATA)
		out->model[0] = out->serial[0] = '\0';
}

static bool is_pmem(const struct be_node *disk)
{
	return strcmp(be_get_str(disk, "kind", ""), "pmem") == 0; /* twin_memory.c makes these */
}

static int64_t count_disks(const struct be_node *plan)
{
	const struct be_node *disks = be_get_path(plan, "machine.disks");
	int64_t n = 0;
	for (size_t i = 0; disks && i < disks->n; i++)
		n += !is_pmem(disks->items[i]);
	return n;
}

/* The size of a disk that has @asked bytes on the machine (0: unknown). */
static int64_t disk_size(const struct be_twin_request *request, int64_t asked)
{
	int64_t size = request->disk_size, disks = count_disks(request->plan);
	if (!size) {
		size = disks ? DISKS_TOTAL / disks / GIB * GIB : DISK_SIZE;
		size = size > DISK_SIZE ? DISK_SIZE : size < GIB ? GIB : size;
		if (asked > 0 && asked < size)
			size = asked;
	}
	return (size + MIB - 1) / MIB * MIB;
}

const char *twin_add_file(struct be_twin *twin, const char *name, int64_t size, int64_t partitions)
{
	twin->disks = be_realloc(twin->disks, twin->n_disks + 1, sizeof(struct be_twin_disk));
	struct be_twin_disk *disk = &twin->disks[twin->n_disks++];
	*disk = (struct be_twin_disk){ .name = be_strf("%s.img", name), .size = size, .partitions = partitions };
	return disk->name;
}

struct placed {
	int ata, scsi, nvme; /* disks so far on each bus */
};

/* Properties that say the same on every bus. */
static void add_common(struct be_buf *b, const struct be_node *disk, enum be_bus bus, size_t index)
{
	const char *cache = be_get_str(disk, "write_cache", NULL);
	be_buf_addf(b, ",drive=disk%zu", index);
	if (cache)
		be_buf_addf(b, ",write-cache=%s", strcmp(cache, "write through") == 0 ? "off" : "on");
	int64_t physical = be_get_int(disk, "physical_block_size", 0);
	if (physical >= 512)
		be_buf_addf(b, ",physical_block_size=%" PRId64, physical);
	/* A full disk below us is an I/O error of the guest; QEMU would stop the machine instead. NVMe does so already.
	 */
	if (bus != BE_BUS_NVME)
		be_buf_adds(b, ",werror=report,rerror=report");
}

static bool is_rotational(const struct be_node *disk)
{
	return be_get_bool(disk, "rotational", strcmp(be_get_str(disk, "kind", ""), "hdd") == 0);
}

static void add_rotation(struct be_buf *b, const struct be_node *disk)
{
	be_buf_addf(b, ",rotation_rate=%d", is_rotational(disk) ? 7200 : 1);
}

static void add_ata(struct be_buf *b, struct be_twin *twin, const struct be_disk_identity *id, struct placed *placed)
{
	int controller = placed->ata / AHCI_PORTS, port = placed->ata % AHCI_PORTS;
	if (controller && port == 0) {
		be_strv_add(&twin->argv, "-device");
		be_strv_addf(&twin->argv, "ich9-ahci,id=ahci%d", controller);
	}
	placed->ata++;
	/* q35 has the first controller built in. */
	if (controller)
		be_buf_addf(b, "ide-hd,bus=ahci%d.%d", controller, port);
	else
		be_buf_addf(b, "ide-hd,bus=ide.%d", port);
	be_autofree char *model = twin_value(id->model);
	be_autofree char *serial = twin_value(id->serial);
	if (*model)
		be_buf_addf(b, ",model=%s", model);
	if (*serial)
		be_buf_addf(b, ",serial=%s", serial);
	if (id->wwn)
		be_buf_addf(b, ",wwn=0x%" PRIx64, id->wwn);
}

static void add_scsi(struct be_buf *b, struct be_twin *twin, const struct be_disk_identity *id, struct placed *placed)
{
	if (placed->scsi == 0) {
		be_strv_add(&twin->argv, "-device");
		be_strv_add(&twin->argv, "virtio-scsi-pci,id=scsi0");
	}
	be_buf_addf(b, "scsi-hd,bus=scsi0.0,scsi-id=%d", placed->scsi++);
	if (id->wwn)
		be_buf_addf(b, ",wwn=0x%" PRIx64, id->wwn);
}

static void add_nvme(struct be_buf *b, const struct be_disk_identity *id, struct placed *placed)
{
	be_autofree char *serial = twin_value(id->serial);
	be_buf_addf(b, "nvme,id=nvme%d,serial=%s", placed->nvme++, serial);
}

static void add_device(struct be_twin *twin, const struct be_node *disk, const struct be_disk_identity *id,
		       size_t index, struct placed *placed)
{
	be_autobuf struct be_buf b = { 0 };
	switch (id->bus) {
	case BE_BUS_ATA:
		add_ata(&b, twin, id, placed);
		add_rotation(&b, disk);
		break;
	case BE_BUS_SCSI:
		add_scsi(&b, twin, id, placed);
		add_rotation(&b, disk);
		break;
	case BE_BUS_NVME:
		add_nvme(&b, id, placed);
		if (strcmp(be_get_str(disk, "write_cache", ""), "write through") == 0)
			be_deviation(twin->deviations, "disk.write_cache",
				     "%s: QEMU's NVMe always says that it has a write cache",
				     be_get_str(disk, "id", ""));
		break;
	case BE_BUS_VIRTIO: {
		be_autofree char *serial = twin_value(id->serial);
		be_buf_adds(&b, "virtio-blk-pci");
		if (*serial)
			be_buf_addf(&b, ",serial=%s", serial);
		if (!is_rotational(disk))
			be_deviation(twin->deviations, "disk.rotational",
				     "%s: a virtio disk always says that it rotates", be_get_str(disk, "id", ""));
		break;
	}
	}
	add_common(&b, disk, id->bus, index);
	be_strv_add(&twin->argv, "-device");
	be_strv_add(&twin->argv, b.data);
}

static void deviate_size(struct be_twin *twin, int64_t asked, int64_t given, int64_t count)
{
	char a[32], b[32];
	if (count)
		be_deviation(twin->deviations, "disk.size", "%" PRId64 " disk%s of %s on the machine, %s in the twin",
			     count, count == 1 ? "" : "s", be_size_text(asked, a), be_size_text(given, b));
}

/* One line for every size, not for every disk. */
static void deviate_sizes(const struct be_twin_request *request, const struct be_node *disks, struct be_twin *twin)
{
	be_autostrv struct be_strv seen = { 0 };
	for (size_t i = 0; i < disks->n; i++) {
		int64_t asked = be_get_int(disks->items[i], "size", 0), count = 0;
		int64_t given = disk_size(request, asked);
		be_autofree char *size = be_strf("%" PRId64, asked);
		if (asked == 0 || asked == given || is_pmem(disks->items[i]) || be_strv_has(&seen, size))
			continue;
		be_strv_add(&seen, size);
		for (size_t k = i; k < disks->n; k++) {
			const struct be_node *other = disks->items[k];
			count += !is_pmem(other) && be_get_int(other, "size", 0) == asked;
		}
		deviate_size(twin, asked, given, count);
	}
}

/*
 * The link that the host file names, for the disk and its partitions, found by the serial. udev's own rules, which run
 * before, set ID_SERIAL_SHORT and hand it down to partitions.
 */
static void add_rule(struct be_buf *rules, const struct be_node *disk, const char *serial)
{
	const char *path = be_get_str(disk, "path", "");
	be_autofree char *by_id = be_strf("disk/by-id/%s", be_get_str(disk, "id", ""));
	const char *link = be_starts(path, "/dev/disk/") ? path + strlen("/dev/") : by_id;
	static const char *const kinds[][2] = { { "disk", "" }, { "partition", "-part%n" } };
	for (size_t i = 0; i < BE_ARRAY_LEN(kinds); i++)
		be_buf_addf(rules,
			    "SUBSYSTEM==\"block\", ENV{DEVTYPE}==\"%s\", ENV{ID_SERIAL_SHORT}==\"%s\", "
			    "SYMLINK+=\"%s%s\"\n",
			    kinds[i][0], serial, link, kinds[i][1]);
}

/* A disk whose name does not tell a serial gets one when its bus or a rule needs it. */
static void complete_identity(struct be_disk_identity *id, size_t index)
{
	if (!*id->serial && (id->by_rule || id->bus == BE_BUS_NVME))
		snprintf(id->serial, sizeof(id->serial), "TWIN%04u", (unsigned)index);
}

int twin_add_disks(const struct be_twin_request *request, struct be_twin *twin, struct be_error *err)
{
	const struct be_node *disks = be_get_path(request->plan, "machine.disks");
	struct placed placed = { 0 };
	be_autobuf struct be_buf rules = { 0 };
	for (size_t i = 0; disks && i < disks->n; i++) {
		const struct be_node *disk = disks->items[i];
		const char *name = be_get_str(disk, "id", NULL);
		if (is_pmem(disk))
			continue;
		if (!name)
			return be_fail(err, "the plan's machine has a disk without `id:`");
		struct be_disk_identity id;
		be_disk_identify(name, &id);
		complete_identity(&id, i);
		if (id.by_rule && strspn(name, PLAIN) != strlen(name))
			return be_fail(err, "%s: no name for a disk", name);
		if (id.by_rule)
			add_rule(&rules, disk, id.serial);
		int64_t size = disk_size(request, be_get_int(disk, "size", 0));
		be_autofree char *file = be_strf("disk%zu", i);
		const char *path = twin_add_file(twin, file, size, be_get_int(disk, "partitions", 0));
		be_strv_add(&twin->argv, "-blockdev");
		be_strv_addf(&twin->argv, "driver=raw,node-name=%s,discard=unmap,file.driver=file,file.filename=%s",
			     file, path);
		add_device(twin, disk, &id, i, &placed);
	}
	if (rules.len) {
		twin->rules = be_buf_steal(&rules);
		be_deviation(twin->deviations, "disk.identity",
			     "disks that QEMU cannot name get their names by a udev rule that the "
			     "twin adds to the initrd; their model is QEMU's");
	}
	if (disks)
		deviate_sizes(request, disks, twin);
	return 0;
}
