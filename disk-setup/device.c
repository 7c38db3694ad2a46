#include "device.h"

#include <errno.h>
#include <string.h>

#include "units.h"

void be_device_forget(struct be_device *d)
{
	for (size_t i = 0; i < d->nsignatures; i++) {
		free(d->signatures[i].type);
		free(d->signatures[i].label);
		free(d->signatures[i].uuid);
	}
	free(d->signatures);
	d->signatures = NULL;
	d->nsignatures = 0;
}

static void free_device(struct be_device *d)
{
	free(d->kernel);
	free(d->whole);
	free(d->node);
	free(d->write_cache);
	free(d->model);
	free(d->serial);
	be_device_forget(d);
	be_strv_free(&d->stop);
	free(d->namespace);
	be_strv_free(&d->refusals);
	be_strv_free(&d->remedies);
}

void be_devices_free(struct be_devices *devices)
{
	for (size_t i = 0; i < devices->n; i++)
		free_device(&devices->v[i]);
	free(devices->v);
	*devices = (struct be_devices){ 0 };
}

bool be_device_is_real(const struct be_root *root)
{
	return !root->prefix || !*root->prefix;
}

char *be_device_attr(const struct be_root *root, const char *kernel, const char *attr)
{
	be_autofree char *path = be_strf("/sys/class/block/%s/%s", kernel, attr);
	return be_root_text(root, path);
}

bool be_device_is_hidden(const struct be_root *root, const char *kernel)
{
	be_autofree char *hidden = be_device_attr(root, kernel, "hidden");
	return be_streq(hidden, "1");
}

void be_device_set_value(struct be_node *map, const char *key, const char *text)
{
	int64_t number;
	if (text && *text != '+' && be_parse_int(text, &number)) /* "+8" is a bitmap's place */
		be_set_int(map, key, number);
	else
		be_set_str(map, key, text);
}

void be_device_set_attr(struct be_node *map, const char *key, const struct be_root *root, const char *kernel,
			const char *attr)
{
	be_autofree char *text = be_device_attr(root, kernel, attr);
	be_device_set_value(map, key, text);
}

static bool attr_is(const struct be_root *root, const char *kernel, const char *attr, const char *value)
{
	be_autofree char *text = be_device_attr(root, kernel, attr);
	return be_streq(text, value);
}

int64_t be_device_size(const struct be_root *root, const char *kernel)
{
	be_autofree char *text = be_device_attr(root, kernel, "size");
	char *end;
	if (!text || !*text)
		return -1;
	errno = 0;
	int64_t sectors = strtoll(text, &end, 10); /* sysfs counts 512 bytes whatever the device's block */
	return errno || *end || sectors < 0 || sectors > INT64_MAX / 512 ? -1 : sectors * 512;
}

char *be_device_kernel_name(const struct be_root *root, const char *path, char **node)
{
	if (!path || *path != '/')
		return NULL; /* "none", "tmpfs": what mount tables have in a device's place */
	be_autofree char *real = be_root_real(root, path), *real_dev = be_root_real(root, "/dev");
	if (!real || !real_dev || !be_starts(real, real_dev) || real[strlen(real_dev)] != '/')
		return NULL;
	be_autofree char *name = be_strdup(real + strlen(real_dev) + 1);
	for (char *p = name; *p; p++)
		if (*p == '/')
			*p = '!'; /* sysfs spells /dev/cciss/c0d0 so */
	be_autofree char *sys = be_strf("/sys/class/block/%s", name);
	if (!be_root_exists(root, sys))
		return NULL;
	if (node)
		*node = be_root_path(root, real);
	return be_steal(&name);
}

char *be_device_whole(const struct be_root *root, const char *kernel)
{
	be_autofree char *partition = be_strf("/sys/class/block/%s/partition", kernel);
	if (!be_root_exists(root, partition))
		return be_strdup(kernel);
	/* "../../devices/.../block/sda/sda1" */
	be_autofree char *link = be_strf("/sys/class/block/%s", kernel);
	be_autofree char *target = be_root_link(root, link);
	char *slash = target ? strrchr(target, '/') : NULL;
	if (!slash)
		return be_strdup(kernel);
	*slash = '\0';
	slash = strrchr(target, '/');
	return be_strdup(slash ? slash + 1 : kernel);
}

char *be_device_udev(const struct be_root *root, unsigned major, unsigned minor, const char *key)
{
	be_autofree char *path = be_strf("/run/udev/data/b%u:%u", major, minor);
	be_autofree char *text = be_root_text(root, path);
	be_autofree char *prefix = be_strf("E:%s=", key);
	be_autostrv struct be_strv lines = { 0 };
	if (text)
		be_strv_split(&lines, text, "\n");
	for (size_t i = 0; i < lines.n; i++)
		if (be_starts(lines.v[i], prefix))
			return be_strdup(lines.v[i] + strlen(prefix));
	return NULL;
}

static bool file_has_line(const struct be_root *root, const char *path, const char *line)
{
	be_autofree char *text = be_root_text(root, path);
	be_autostrv struct be_strv lines = { 0 };
	if (text)
		be_strv_split(&lines, text, "\n");
	return be_strv_has(&lines, line);
}

void be_device_claimants(const struct be_root *root, const char *path, struct be_strv *numbers)
{
	be_autostrv struct be_strv records = { 0 };
	if (!be_starts(path, "/dev/disk/") || be_root_list(root, "/run/udev/data", &records) != 0)
		return;
	be_autofree char *line = be_strf("S:%s", path + strlen("/dev/"));
	for (size_t i = 0; i < records.n; i++) {
		be_autofree char *file = be_strf("/run/udev/data/%s", records.v[i]);
		if (records.v[i][0] == 'b' && file_has_line(root, file, line))
			be_strv_add(numbers, records.v[i] + 1);
	}
}

static char *first_of(const struct be_root *root, const char *kernel, const char *a, const char *b)
{
	char *text = be_device_attr(root, kernel, a);
	if (text && *text)
		return text;
	free(text);
	return b ? first_of(root, kernel, b, NULL) : NULL;
}

static int read_number(const struct be_root *root, struct be_device *d, struct be_error *err)
{
	be_autofree char *dev = be_device_attr(root, d->kernel, "dev");
	if (!dev || sscanf(dev, "%u:%u", &d->major, &d->minor) != 2)
		return be_fail(err, "%s (%s): /sys/class/block/%s/dev cannot be read", d->name, d->path, d->kernel);
	return 0;
}

static const struct be_node *disk_stanza(const struct be_node *plan, const char *id)
{
	const struct be_node *disks = be_get_path(plan, "machine.disks");
	for (size_t i = 0; id && disks && i < disks->n; i++)
		if (be_streq(be_get_str(disks->items[i], "id", NULL), id))
			return disks->items[i];
	return NULL;
}

int be_device_identify(const struct be_root *root, const struct be_node *plan, const struct be_node *stanza,
		       struct be_device *d, struct be_error *err)
{
	d->stanza = stanza;
	d->name = be_get_str(stanza, "name", "?");
	d->path = be_get_str(stanza, "path", "");
	d->kind = be_get_str(stanza, "kind", "");
	d->disk = disk_stanza(plan, be_get_str(stanza, "disk", NULL));
	d->kernel = be_device_kernel_name(root, d->path, &d->node);
	if (!d->kernel)
		return be_fail(err, "%s (%s): no such block device", d->name, d->path);
	d->whole = be_device_whole(root, d->kernel);
	if (read_number(root, d, err) != 0)
		return -1;
	d->size = be_device_size(root, d->kernel);
	d->disk_size = be_device_size(root, d->whole);
	d->rotational = attr_is(root, d->whole, "queue/rotational", "1");
	d->dax = attr_is(root, d->whole, "queue/dax", "1");
	d->write_cache = be_device_attr(root, d->whole, "queue/write_cache");
	d->model = be_device_udev(root, d->major, d->minor, "ID_MODEL"); /* sysfs cuts an ATA disk's at 16 bytes */
	if (!d->model)
		d->model = first_of(root, d->whole, "device/model", NULL);
	d->serial = be_device_udev(root, d->major, d->minor, "ID_SERIAL_SHORT");
	if (!d->serial)
		d->serial = first_of(root, d->whole, "device/serial", "serial");
	return 0;
}

struct be_node *be_device_node(const struct be_device *d)
{
	struct be_node *node = be_node_map();
	be_set_str(node, "path", d->path);
	be_set_str(node, "kind", d->kind);
	be_set_str(node, "kernel", d->kernel);
	be_set_str(node, "disk", d->whole);
	be_set_int(node, "size", d->size);
	be_set_int(node, "disk_size", d->disk_size);
	be_set(node, "rotational", be_node_bool(d->rotational));
	be_set_str(node, "write_cache", d->write_cache);
	be_set_str(node, "model", d->model);
	be_set_str(node, "serial", d->serial);
	if (strcmp(d->kind, "pmem") == 0)
		be_set(node, "dax", be_node_bool(d->dax));
	return node;
}

char *be_device_describe(const struct be_root *root, const char *kernel)
{
	char size[32];
	be_autofree char *model = be_device_attr(root, kernel, "device/model");
	int64_t bytes = be_device_size(root, kernel);
	return be_strf("%s (%s%s%s%s)", kernel, bytes < 0 ? "size unknown" : be_size_text(bytes, size),
		       attr_is(root, kernel, "queue/rotational", "1") ? ", rotational" : "",
		       model && *model ? ", " : "", model ? model : "");
}
