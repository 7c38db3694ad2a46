/* Persistent memory: what memmap= on the kernel's command line set aside, or NVDIMMs. */
#include <string.h>

#include "disk-setup/device.h"
#include "disk-setup/pmem.h"
#include "initrd/inventory/parts.h"

static void add_memmap(struct be_node *params, const char *text)
{
	be_autofree char *key = be_strf("bp%zu_memmap", params->n + 1);
	be_set_str(params, key, text);
}

/* memmap=SIZE!START, as it stands. */
static void from_cmdline(const struct be_root *root, struct be_node *params)
{
	be_autofree char *cmdline = be_root_text(root, "/proc/cmdline");
	be_autostrv struct be_strv words = { 0 };
	if (cmdline)
		be_strv_split(&words, cmdline, " \n");
	for (size_t i = 0; i < words.n; i++) {
		be_autostrv struct be_strv ranges = { 0 };
		if (!be_starts(words.v[i], "memmap="))
			continue;
		be_strv_split(&ranges, words.v[i] + strlen("memmap="), ",");
		for (size_t j = 0; j < ranges.n; j++)
			if (strchr(ranges.v[j], '!'))
				add_memmap(params, ranges.v[j]);
	}
}

/* An NVDIMM's size; the START of the form means nothing there. */
static void from_region(const struct be_root *root, const char *region, struct be_node *params)
{
	be_autofree char *path = be_strf("/sys/bus/nd/devices/%s/size", region);
	be_autofree char *size = be_root_text(root, path);
	int64_t bytes = size ? strtoll(size, NULL, 10) : 0;
	be_autofree char *text = be_inventory_size(bytes), *range = be_strf("%s!0", text);
	if (bytes > 0)
		add_memmap(params, range);
}

void be_inventory_pmem(struct be_host_draft *draft)
{
	be_autostrv struct be_strv all = { 0 }, regions = { 0 };
	bool memory = false;
	if (be_root_list(draft->root, "/sys/class/block", &all) != 0)
		return;
	for (size_t i = 0; i < all.n; i++) {
		be_autofree char *whole = be_device_whole(draft->root, all.v[i]);
		be_autonode struct be_node *identity = be_pmem_identity(draft->root, all.v[i]);
		if (!identity || strcmp(whole, all.v[i]) != 0)
			continue;
		if (be_pmem_is_memory(draft->root, all.v[i]))
			memory = true;
		else
			be_strv_add(&regions, be_get_str(identity, "region", ""));
	}
	be_strv_sort_unique(&regions);
	if (memory && regions.n)
		be_strv_add(&draft->unknown, "pmem_origin: there are both NVDIMMs and memory set aside by memmap=");
	if (memory == (regions.n > 0))
		return;
	struct be_node *params = be_node_map();
	if (memory)
		from_cmdline(draft->root, params);
	for (size_t i = 0; i < regions.n; i++)
		from_region(draft->root, regions.v[i], params);
	be_set(draft->host, "boot_params", params);
	be_set_str(draft->host, "pmem_origin", memory ? "memmap" : "nvdimm");
}
