/* Disks: listed for tests when they carry nothing and nothing uses them; all others are named with the reason. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "disk-setup/device.h"
#include "disk-setup/signature.h"
#include "disk-setup/use.h"
#include "initrd/inventory/names.h"
#include "initrd/inventory/parts.h"
#include "units.h"

/* Types of partitions that hold data, as udev prints them; others (boot loaders, firmware) may look empty and are not.
 */
static const char *const data_types[] = {
	"0fc63daf-8483-4772-8e79-3d69d8477de4", /* Linux file system */
	"a19d880f-05fc-4d3b-a006-743f0f84911e", /* Linux RAID */
	"ebd0a0a2-b9e5-4433-87c0-68b6b72699c7", /* basic data */
	"0x83",
	"0xfd",
};

/* A disk or partition that could be listed. */
struct candidate {
	const char *kernel;
	const char *whole;
	int64_t partition;  /* 0: a whole disk */
	char *path;         /* by-id, or NULL */
	struct be_strv why; /* not to list it */
};

static void candidate_free(struct candidate *c)
{
	free(c->path);
	be_strv_free(&c->why);
}

static char *udev_of(const struct be_root *root, const char *kernel, const char *key)
{
	be_autofree char *dev = be_device_attr(root, kernel, "dev");
	unsigned major, minor;
	return dev && sscanf(dev, "%u:%u", &major, &minor) == 2 ? be_device_udev(root, major, minor, key) : NULL;
}

static bool udev_knows(const struct be_root *root, const char *kernel)
{
	be_autofree char *dev = be_device_attr(root, kernel, "dev");
	be_autofree char *path = be_strf("/run/udev/data/b%s", dev ? dev : "");
	return be_root_exists(root, path);
}

/* What udev has read of the device: for recorded machines, and for who may not open it. */
static void content_by_udev(const struct be_root *root, struct candidate *c, const char *refused)
{
	be_autofree char *type = udev_of(root, c->kernel, "ID_FS_TYPE");
	be_autofree char *uuid = udev_of(root, c->kernel, "ID_FS_UUID");
	be_autofree char *table = udev_of(root, c->kernel, "ID_PART_TABLE_TYPE");
	if (!udev_knows(root, c->kernel))
		be_strv_addf(&c->why, "what it carries is not known: udev has no record of it%s%s",
			     *refused ? ", and " : "", refused);
	else if (type && !(uuid && be_starts(uuid, BE_UUID_PREFIX)))
		be_strv_addf(&c->why, "carries %s", type);
	else if (table && !c->partition)
		be_strv_addf(&c->why, "carries %s partition table without partitions", table);
}

static void content(const struct be_root *root, struct candidate *c)
{
	be_autofree char *node = be_strf("/dev/%s", c->kernel);
	for (char *p = node + strlen("/dev/"); *p; p++)
		if (*p == '!')
			*p = '/'; /* sysfs spells cciss/c0d0 so */
	be_cleanup(be_device_forget) struct be_device d = { 0 };
	struct be_error err = BE_ERROR_INIT;
	if (!be_device_is_real(root) || be_signature_probe(&d, node, &err) != 0) {
		content_by_udev(root, c, err.text);
		return;
	}
	for (size_t i = 0; i < d.nsignatures; i++)
		if (!be_signature_ours(&d.signatures[i])) {
			be_autofree char *text = be_signature_text(&d.signatures[i]);
			be_strv_addf(&c->why, "carries %s", text);
		}
}

static int uses(const struct be_root *root, struct candidate *c, struct be_error *err)
{
	be_autouses struct be_uses found = { 0 };
	if (!be_root_exists(root, "/proc/self/mountinfo")) {
		be_strv_add(&c->why, "there is no /proc/self/mountinfo that says whether it is mounted");
		return 0;
	}
	if (be_use_find(root, c->kernel, NULL, &found, err) != 0)
		return -1;
	for (size_t i = 0; i < found.n; i++)
		be_strv_add(&c->why, found.v[i].finding);
	return 0;
}

static void partition_type(const struct be_root *root, struct candidate *c)
{
	be_autofree char *type = udev_of(root, c->kernel, "ID_PART_ENTRY_TYPE");
	bool data = false;
	for (size_t i = 0; type && i < BE_ARRAY_LEN(data_types); i++)
		data = data || strcmp(type, data_types[i]) == 0;
	if (!type)
		be_strv_add(&c->why, "udev does not say what type of partition it is");
	else if (!data)
		be_strv_addf(&c->why, "is a partition of type %s", type);
}

static int look(const struct be_root *root, struct candidate *c, struct be_error *err)
{
	be_autofree char *ro = be_device_attr(root, c->kernel, "ro");
	be_autofree char *removable = be_device_attr(root, c->whole, "removable");
	c->path = be_inventory_name(root, c->kernel, c->partition);
	be_autostrv struct be_strv claimants = { 0 };
	if (c->path)
		be_device_claimants(root, c->path, &claimants);
	else
		be_strv_add(&c->why, "has no name in /dev/disk/by-id");
	if (claimants.n > 1)
		be_strv_addf(&c->why, "shares its name with %zu other%s", claimants.n - 1, claimants.n > 2 ? "s" : "");
	if (be_streq(removable, "1"))
		be_strv_add(&c->why, "is removable");
	if (be_streq(ro, "1"))
		be_strv_add(&c->why, "is read-only");
	if (c->partition)
		partition_type(root, c);
	content(root, c);
	return uses(root, c, err);
}

static void set_number(struct be_node *detail, const struct be_root *root, const char *whole, const char *key)
{
	be_autofree char *attr = be_strf("queue/%s", key);
	be_device_set_attr(detail, key, root, whole, attr);
}

/* The entry of `disks:` for what @path names. */
static void add_detail(struct be_host_draft *draft, const struct candidate *c, bool rotational)
{
	struct be_node *disks = be_get(draft->host, "disks"), *detail;
	const char *name = strrchr(c->path, '/') + 1;
	const char *end = c->partition ? strstr(name, "-part") : NULL;
	for (const char *next = end; next; next = strstr(next + 1, "-part"))
		end = next;
	be_autofree char *id = end ? be_strndup(name, (size_t)(end - name)) : be_strdup(name);
	if (be_get(disks, id))
		return;
	detail = be_node_map();
	be_set_int(detail, "size", be_device_size(draft->root, c->whole));
	be_set(detail, "rotational", be_node_bool(rotational));
	be_autofree char *cache = be_device_attr(draft->root, c->whole, "queue/write_cache");
	be_set_str(detail, "write_cache", cache);
	set_number(detail, draft->root, c->whole, "logical_block_size");
	set_number(detail, draft->root, c->whole, "physical_block_size");
	be_set(disks, id, detail);
}

static void list(struct be_host_draft *draft, const struct candidate *c)
{
	be_autofree char *rotational = be_device_attr(draft->root, c->whole, "queue/rotational");
	bool hdd = be_streq(rotational, "1");
	be_add_str(be_get(draft->host, hdd ? "hdd_partitions" : "ssd_partitions"), c->path);
	add_detail(draft, c, hdd);
}

static void leave_out(struct be_host_draft *draft, const struct candidate *c)
{
	char size[32];
	be_autobuf struct be_buf line = { 0 };
	be_autofree char *rotational = be_device_attr(draft->root, c->whole, "queue/rotational");
	be_buf_addf(&line, "%s (%s%s, %s): ", c->path ? c->path : c->kernel, c->path ? c->kernel : "no by-id name",
		    be_streq(rotational, "1") ? ", rotational" : "",
		    be_size_text(be_device_size(draft->root, c->kernel), size));
	for (size_t i = 0; i < c->why.n; i++)
		be_buf_addf(&line, "%s%s", i ? ", " : "", c->why.v[i]);
	be_strv_add(&draft->unlisted, line.data);
}

static int consider(struct be_host_draft *draft, const char *kernel, const char *whole, struct be_error *err)
{
	be_autofree char *number = be_device_attr(draft->root, kernel, "partition");
	be_cleanup(candidate_free) struct candidate c = { .kernel = kernel,
							  .whole = whole,
							  .partition = number ? strtoll(number, NULL, 10) : 0 };
	if (be_device_size(draft->root, kernel) <= 1024)
		return 0; /* an extended partition's own entry, or a slot without a medium */
	if (look(draft->root, &c, err) != 0)
		return -1;
	if (c.why.n)
		leave_out(draft, &c);
	else
		list(draft, &c);
	return 0;
}

/* Disks of hardware: not loop, ram, md and dm devices, nor persistent memory; NVMe with several paths is "virtual" too.
 */
static bool is_disk(const struct be_root *root, const char *kernel)
{
	be_autofree char *path = be_strf("/sys/class/block/%s", kernel), *partition = be_strf("%s/partition", path);
	be_autofree char *real = be_root_real(root, path);
	if (!real || be_root_exists(root, partition) || be_starts(kernel, "pmem"))
		return false;
	if (be_device_is_hidden(root, kernel))
		return false;
	return !strstr(real, "/devices/virtual/") || be_starts(kernel, "nvme");
}

static int consider_disk(struct be_host_draft *draft, const char *whole, struct be_error *err)
{
	be_autostrv struct be_strv partitions = { 0 };
	be_use_partitions(draft->root, whole, &partitions);
	if (!partitions.n)
		return consider(draft, whole, whole, err);
	for (size_t i = 0; i < partitions.n; i++)
		if (consider(draft, partitions.v[i], whole, err) != 0)
			return -1;
	return 0;
}

/* By name: the kernel's order is that of their discovery. LKP's keys stand before the lists that they count. */
static void finish(struct be_host_draft *draft, const char *count, const char *key)
{
	be_autostrv struct be_strv paths = { 0 };
	be_get_strv(draft->host, key, &paths);
	be_strv_sort_unique(&paths);
	if (paths.n) {
		be_set_int(draft->host, count, (int64_t)paths.n);
		be_set(draft->host, key, be_node_strv(&paths));
	} else {
		be_unset(draft->host, count);
		be_unset(draft->host, key);
	}
}

int be_inventory_disks(struct be_host_draft *draft, struct be_error *err)
{
	be_autostrv struct be_strv all = { 0 };
	be_set_int(draft->host, "nr_hdd_partitions", 0);
	be_set(draft->host, "hdd_partitions", be_node_seq());
	be_set_int(draft->host, "nr_ssd_partitions", 0);
	be_set(draft->host, "ssd_partitions", be_node_seq());
	be_set(draft->host, "disks", be_node_map());
	if (be_root_list(draft->root, "/sys/class/block", &all) != 0)
		be_strv_add(&draft->unknown, "disks: there is no /sys/class/block");
	for (size_t i = 0; i < all.n; i++)
		if (is_disk(draft->root, all.v[i]) && consider_disk(draft, all.v[i], err) != 0)
			return -1;
	finish(draft, "nr_hdd_partitions", "hdd_partitions");
	finish(draft, "nr_ssd_partitions", "ssd_partitions");
	if (!be_get(draft->host, "disks")->n)
		be_unset(draft->host, "disks");
	be_strv_sort_unique(&draft->unlisted);
	return 0;
}
