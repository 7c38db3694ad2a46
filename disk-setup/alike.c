#include "alike.h"

#include <string.h>

#include "check.h"
#include "note.h"

static void add_wholes(const struct be_root *root, const struct be_node *stanzas, struct be_strv *wholes)
{
	for (size_t i = 0; stanzas && i < stanzas->n; i++) {
		be_autofree char *kernel =
			be_device_kernel_name(root, be_get_str(stanzas->items[i], "path", NULL), NULL);
		if (kernel)
			be_strv_take(wholes, be_device_whole(root, kernel));
	}
}

void be_named_disks(const struct be_root *root, const struct be_node *plan, struct be_strv *wholes)
{
	add_wholes(root, be_get_path(plan, "machine.disks"), wholes);
	add_wholes(root, be_get_path(plan, "layout.devices"), wholes);
}

/* How the names begin that the driver of the disk @whole gives in the order of finding; NULL: it gives none. */
static const char *driver_prefix(const char *whole)
{
	static const char *const prefixes[] = { "sd", "nvme", "vd", "xvd", "mmcblk" };
	for (size_t i = 0; i < BE_ARRAY_LEN(prefixes); i++)
		if (be_starts(whole, prefixes[i]))
			return prefixes[i];
	return NULL;
}

static bool named_by_order(const struct be_device *d)
{
	return be_starts(d->path, "/dev/") && be_streq(d->path + strlen("/dev/"), d->kernel) && driver_prefix(d->whole);
}

static bool alike(const struct be_root *root, const struct be_device *d, const char *other)
{
	be_autofree char *partition = be_strf("/sys/class/block/%s/partition", other);
	be_autofree char *rotational = be_device_attr(root, other, "queue/rotational");
	return strcmp(other, d->whole) != 0 && be_starts(other, driver_prefix(d->whole)) &&
	       !be_root_exists(root, partition) && !be_device_is_hidden(root, other) &&
	       be_streq(rotational, d->rotational ? "1" : "0") && be_device_size(root, other) == d->disk_size;
}

static void check_order(struct be_setup *setup, const struct be_strv *disks, const struct be_strv *named,
			struct be_device *d)
{
	be_autobuf struct be_buf there = { 0 };
	bool stranger = false;
	for (size_t i = 0; i < disks->n; i++) {
		if (!alike(&setup->root, d, disks->v[i]))
			continue;
		stranger = stranger || !be_strv_has(named, disks->v[i]);
		be_buf_addf(&there, "%s%s", there.len ? ", " : "", disks->v[i]);
	}
	if (stranger)
		be_refuse(d,
			  be_strf("name the disk by what stays with it (ls -l /dev/disk/by-id tells which is %s now)",
				  d->kernel),
			  "%s does not say which disk is meant: it could be %s as well, of the same kind and size",
			  d->path, there.data);
	else if (there.len)
		be_deviation(
			setup->deviations, "disk.identity",
			"%s (%s): %s of the same kind and size may change names with it at the next boot; a name in "
			"/dev/disk/by-id would not",
			d->name, d->path, there.data);
}

void be_check_alike(struct be_setup *setup, const struct be_node *plan, struct be_devices *devices)
{
	be_autostrv struct be_strv disks = { 0 }, named = { 0 };
	bool by_order = false;
	for (size_t i = 0; i < devices->n; i++)
		by_order = by_order || named_by_order(&devices->v[i]);
	if (!by_order || setup->twin || be_root_list(&setup->root, "/sys/class/block", &disks) != 0)
		return;
	be_named_disks(&setup->root, plan, &named);
	for (size_t i = 0; i < devices->n; i++)
		if (named_by_order(&devices->v[i]))
			check_order(setup, &disks, &named, &devices->v[i]);
}
