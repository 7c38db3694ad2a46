#include "pmem.h"

#include <string.h>

#include "action.h"
#include "check.h"
#include "note.h"

#define NDCTL_TIMEOUT 300.0 /* seconds; large DIMMs need their page map written */

/* The nd device behind a pmem disk: namespace0.0, or pfn0.0 of an fsdax namespace. NULL: no pmem. The caller frees. */
static char *nd_device(const struct be_root *root, const char *whole)
{
	be_autofree char *link = be_strf("/sys/class/block/%s/device", whole);
	be_autofree char *real = be_root_real(root, link);
	if (!real || !be_starts(whole, "pmem"))
		return NULL;
	char *slash = strrchr(real, '/');
	return be_strdup(slash ? slash + 1 : real);
}

/* "region0" of "namespace0.0", "pfn0.1" ... The caller frees. */
static char *region_of(const char *device)
{
	const char *digits = device + strcspn(device, "0123456789");
	return be_strf("region%.*s", (int)strspn(digits, "0123456789"), digits);
}

static char *nd_attr(const struct be_root *root, const char *device, const char *attr)
{
	be_autofree char *path = be_strf("/sys/bus/nd/devices/%s/%s", device, attr);
	return be_root_text(root, path);
}

/* The provider of the bus that a region is on: e820, ACPI.NFIT ... The caller frees. */
static char *provider(const struct be_root *root, const char *region)
{
	be_autofree char *link = be_strf("/sys/bus/nd/devices/%s", region);
	be_autofree char *real = be_root_real(root, link);
	char *slash = real ? strrchr(real, '/') : NULL;
	if (!slash)
		return NULL;
	*slash = '\0';
	be_autofree char *file = be_strf("%s/provider", real);
	return be_root_text(root, file);
}

static bool cmdline_sets_memory_aside(const struct be_root *root)
{
	be_autofree char *cmdline = be_root_text(root, "/proc/cmdline");
	be_autostrv struct be_strv words = { 0 };
	if (cmdline)
		be_strv_split(&words, cmdline, " \n");
	for (size_t i = 0; i < words.n; i++)
		if (be_starts(words.v[i], "memmap=") && strchr(words.v[i], '!'))
			return true;
	return false;
}

bool be_pmem_is_memory(const struct be_root *root, const char *whole)
{
	be_autofree char *device = nd_device(root, whole);
	if (!device || !cmdline_sets_memory_aside(root))
		return false;
	be_autofree char *region = region_of(device);
	be_autofree char *bus = provider(root, region);
	return be_streq(bus, "e820");
}

void be_pmem_check(const struct be_setup *setup, const struct be_node *plan, struct be_device *d)
{
	if (strcmp(d->kind, "pmem") != 0 || d->dax)
		return;
	be_autofree char *device = nd_device(&setup->root, d->whole);
	bool nvdimm = be_streq(be_get_str(be_get(plan, "machine"), "pmem_origin", NULL), "nvdimm") ||
		      setup->twin; /* a twin may have NVDIMMs in place of set-aside memory */
	if (device && nvdimm && be_starts(device, "namespace"))
		d->namespace = be_steal(&device);
	else
		be_deviation(
			setup->deviations, "pmem.mode",
			"%s: %s has no DAX (an NVDIMM in raw mode?); `pmem_origin: nvdimm` makes an fsdax namespace",
			d->name, d->whole);
}

static int make_namespace(struct be_setup *setup, struct be_device *d, struct be_error *err)
{
	be_autostrv struct be_strv argv = { 0 };
	static const char *const head[] = { "ndctl", "create-namespace", "-f", "-m", "fsdax", "-M", "mem", "-e" };
	for (size_t i = 0; i < BE_ARRAY_LEN(head); i++)
		be_strv_add(&argv, head[i]);
	be_strv_add(&argv, d->namespace);
	if (be_action_run(setup, "namespace", &argv, NDCTL_TIMEOUT, err) != 0)
		return be_wrap(err, "%s", d->name);
	be_autofree char *dax = be_device_attr(&setup->root, d->whole, "queue/dax");
	if (!be_streq(dax, "1"))
		return be_fail(err, "%s: %s has no DAX after its namespace was made fsdax", d->name, d->whole);
	d->dax = true;
	d->size = d->disk_size = be_device_size(&setup->root, d->whole); /* smaller by the page map */
	return 0;
}

int be_pmem_make(struct be_setup *setup, struct be_devices *devices, struct be_error *err)
{
	for (size_t i = 0; i < devices->n; i++)
		if (devices->v[i].namespace && make_namespace(setup, &devices->v[i], err) != 0)
			return -1;
	return 0;
}

struct be_node *be_pmem_identity(const struct be_root *root, const char *whole)
{
	be_autofree char *device = nd_device(root, whole);
	if (!device)
		return NULL;
	struct be_node *node = be_node_map();
	be_autofree char *region = region_of(device);
	be_autofree char *bus = provider(root, region);
	be_autofree char *uuid = nd_attr(root, device, "uuid");
	be_autofree char *mode = nd_attr(root, device, "mode");
	be_autofree char *numa = nd_attr(root, region, "numa_node");
	be_set_str(node, "device", device);
	be_set_str(node, "mode", be_starts(device, "pfn") ? "fsdax" : mode);
	if (uuid && *uuid)
		be_set_str(node, "uuid", uuid);
	be_set_str(node, "region", region);
	be_set_str(node, "provider", bus);
	be_device_set_value(node, "numa_node", numa);
	return node;
}
