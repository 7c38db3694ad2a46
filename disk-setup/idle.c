#include "idle.h"

#include <string.h>

#include "alike.h"
#include "check.h"
#include "signature.h"
#include "use.h"

static bool carries_our_member(const struct be_device *d)
{
	for (size_t i = 0; i < d->nsignatures; i++)
		if (strcmp(d->signatures[i].type, "linux_raid_member") == 0 && be_signature_ours(&d->signatures[i]))
			return true;
	return false;
}

/* The first member of @array that lies on none of the disks that the plan and the host file name; NULL: all do. */
static char *strange_member(const struct be_root *root, const struct be_node *plan, const char *array)
{
	be_autostrv struct be_strv members = { 0 }, wholes = { 0 };
	be_autofree char *path = be_strf("/sys/class/block/%s/slaves", array);
	be_named_disks(root, plan, &wholes);
	if (be_root_list(root, path, &members) != 0 || !members.n)
		return be_strdup("members that the kernel does not tell");
	for (size_t i = 0; i < members.n; i++) {
		be_autofree char *whole = be_device_whole(root, members.v[i]);
		if (!be_strv_has(&wholes, whole))
			return be_strf("the member %s", members.v[i]);
	}
	return NULL;
}

static int consider(const struct be_setup *setup, const struct be_node *plan, const char *array, bool ours,
		    struct be_device *d, struct be_error *err)
{
	be_autouses struct be_uses uses = { 0 };
	be_autofree char *path = be_strf("/dev/%s", array);
	be_autofree char *node = be_root_path(&setup->root, path);
	be_autofree char *strange = ours ? NULL : strange_member(&setup->root, plan, array);
	if (strange) {
		be_refuse(d, be_strf("see whose array it is; mdadm --stop /dev/%s", array),
			  "%s is held by the array %s, which has %s: no disk of the host file", d->kernel, array,
			  strange);
		return 0;
	}
	/* The members' holders above it are what counts; that udev holds nothing open was waited for. */
	if (be_use_find(&setup->root, array, NULL, &uses, err) != 0)
		return -1;
	if (!uses.n && be_device_is_real(&setup->root) && be_use_exclusive(node, &uses, err) != 0)
		return -1;
	for (size_t i = 0; i < uses.n; i++)
		be_refuse(d, be_strdup(uses.v[i].remedy), "%s", uses.v[i].finding);
	if (!uses.n)
		be_strv_add(&d->stop, array);
	return 0;
}

int be_idle_arrays(const struct be_setup *setup, const struct be_node *plan, struct be_device *d, struct be_error *err)
{
	be_autostrv struct be_strv arrays = { 0 }, partitions = { 0 };
	bool ours = carries_our_member(d);
	if (!ours && !d->owned)
		return 0;
	be_use_arrays(&setup->root, d->kernel, &arrays);
	if (d->owned && strcmp(d->kernel, d->whole) == 0)
		be_use_partitions(&setup->root, d->whole, &partitions);
	for (size_t i = 0; i < partitions.n; i++)
		be_use_arrays(&setup->root, partitions.v[i], &arrays);
	be_strv_sort_unique(&arrays);
	for (size_t i = 0; i < arrays.n; i++)
		if (consider(setup, plan, arrays.v[i], ours, d, err) != 0)
			return -1;
	return 0;
}
