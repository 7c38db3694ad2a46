#include "initrd/inventory/names.h"

#include <string.h>

#include "disk-setup/device.h"
#include "layout_parts.h"

#define BY_ID "/dev/disk/by-id"

/* Names of a device itself, those with model and serial number first. Others (dm-, lvm-pv-uuid-) name what lies on it.
 */
static const char *const stems[] = { "ata-",   "nvme-", "virtio-", "scsi-S", "scsi-0", "scsi-1",
				     "scsi-3", "mmc-",  "usb-",    "scsi-",  "wwn-" };

static size_t rank(const char *name)
{
	if (be_starts(name, "nvme-eui.") || be_starts(name, "nvme-uuid.") || be_starts(name, "nvme-nvme."))
		return BE_ARRAY_LEN(stems);
	for (size_t i = 0; i < BE_ARRAY_LEN(stems); i++)
		if (be_starts(name, stems[i]))
			return i;
	return SIZE_MAX;
}

static bool better(const char *a, const char *b)
{
	if (!b || rank(a) != rank(b))
		return !b || rank(a) < rank(b);
	if (strlen(a) != strlen(b))
		return strlen(a) < strlen(b);
	return strcmp(a, b) < 0;
}

/* Does a host file's reader find this disk and this partition in the name? */
static bool reads_right(const char *path, const char *name, int64_t partition)
{
	int64_t read;
	be_autofree char *id = be_layout_disk_id(path, &read);
	be_autofree char *wanted = partition ? be_strf("%s-part%lld", id, (long long)partition) : be_strdup(id);
	return read == partition && strcmp(wanted, name) == 0 && !strpbrk(name, "*?[] \t");
}

char *be_inventory_name(const struct be_root *root, const char *kernel, int64_t partition)
{
	be_autostrv struct be_strv names = { 0 };
	const char *best = NULL;
	if (be_root_list(root, BY_ID, &names) != 0)
		return NULL;
	for (size_t i = 0; i < names.n; i++) {
		be_autofree char *path = be_strf(BY_ID "/%s", names.v[i]);
		be_autofree char *device = be_device_kernel_name(root, path, NULL);
		if (be_streq(device, kernel) && rank(names.v[i]) != SIZE_MAX &&
		    reads_right(path, names.v[i], partition) && better(names.v[i], best))
			best = names.v[i];
	}
	return best ? be_strf(BY_ID "/%s", best) : NULL;
}
