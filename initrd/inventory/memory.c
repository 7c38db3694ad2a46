/*
 * Memory. A host file states what is installed: the memory devices of the firmware's tables say so (SMBIOS 3.7, type
 * 17), else the blocks of memory that the kernel has online; what it has left for itself (MemTotal) is always less.
 */
#include <errno.h>
#include <string.h>

#include "initrd/inventory/parts.h"
#include "initrd/observe/observe.h"

#define MIB (INT64_C(1) << 20)

/* Fields of a memory device: a word of MiB (or KiB, when the top bit is set), or a double word of MiB for 32 GiB and
 * more. */
#define DMI_SIZE 0x0c
#define DMI_EXTENDED_SIZE 0x1c
#define DMI_SIZE_UNKNOWN 0xffffu
#define DMI_SIZE_EXTENDED 0x7fffu
#define DMI_SIZE_IN_KIB 0x8000u
#define DMI_TECHNOLOGY 0x28 /* since SMBIOS 3.2 */
#define DMI_TECHNOLOGY_DRAM 0x03

static uint64_t little_endian(const struct be_buf *b, size_t at, size_t bytes)
{
	uint64_t value = 0;
	for (size_t i = bytes; i--;)
		value = value << 8 | (unsigned char)b->data[at + i];
	return value;
}

/* Bytes of one memory device; 0: an empty slot, or persistent memory; -1: not stated. */
static int64_t device_size(const struct be_buf *raw)
{
	if (raw->len < DMI_SIZE + 2)
		return -1;
	size_t length = (unsigned char)raw->data[1]; /* of the formatted part; strings follow it */
	uint64_t size = little_endian(raw, DMI_SIZE, 2);
	if (size == DMI_SIZE_UNKNOWN)
		return -1;
	if (length > DMI_TECHNOLOGY && raw->len > DMI_TECHNOLOGY &&
	    (unsigned char)raw->data[DMI_TECHNOLOGY] > DMI_TECHNOLOGY_DRAM)
		return 0;
	if (size == DMI_SIZE_EXTENDED) {
		if (length < DMI_EXTENDED_SIZE + 4 || raw->len < DMI_EXTENDED_SIZE + 4)
			return -1;
		return (int64_t)(little_endian(raw, DMI_EXTENDED_SIZE, 4) & 0x7fffffffu) * MIB;
	}
	if (size & DMI_SIZE_IN_KIB)
		return (int64_t)(size & ~(uint64_t)DMI_SIZE_IN_KIB) * 1024;
	return (int64_t)size * MIB;
}

/* The sum of all memory devices; 0 when one of them is not known, or none can be read. */
static int64_t installed(const struct be_root *root)
{
	static const char folder[] = "/sys/firmware/dmi/entries";
	be_autostrv struct be_strv entries = { 0 };
	int64_t sum = 0;
	if (be_root_list(root, folder, &entries) != 0)
		return 0;
	for (size_t i = 0; i < entries.n; i++) {
		be_autofree char *path = be_strf("%s/%s/raw", folder, entries.v[i]);
		be_autobuf struct be_buf raw = { 0 };
		struct be_error err = BE_ERROR_INIT;
		if (!be_starts(entries.v[i], "17-"))
			continue;
		int64_t size = be_root_read(root, path, &raw, &err) == 0 ? device_size(&raw) : -1;
		if (size < 0)
			return 0;
		sum += size;
	}
	return sum;
}

/* Bytes of the memory blocks below @folder that are online; 0 when the kernel has none. */
static int64_t online(const struct be_root *root, const char *folder)
{
	be_autofree char *block = be_root_text(root, "/sys/devices/system/memory/block_size_bytes"); /* hexadecimal */
	be_autostrv struct be_strv names = { 0 };
	int64_t bytes = block ? strtoll(block, NULL, 16) : 0, n = 0;
	if (bytes <= 0 || bytes > INT64_C(1) << 40 || be_root_list(root, folder, &names) != 0)
		return 0;
	for (size_t i = 0; i < names.n; i++) {
		be_autofree char *path = be_strf("%s/%s/online", folder, names.v[i]);
		be_autofree char *text = be_starts(names.v[i], "memory") ? be_root_text(root, path) : NULL;
		n += be_streq(text, "1");
	}
	return n < INT64_C(1) << 22 ? n * bytes : 0;
}

static int64_t total(const struct be_root *root)
{
	be_autofree char *meminfo = be_root_text(root, "/proc/meminfo");
	be_autofree char *text = meminfo ? be_field(meminfo, "MemTotal") : NULL;
	int64_t kib = text ? strtoll(text, NULL, 10) : 0;
	return kib > 0 && kib < INT64_MAX / 1024 ? kib * 1024 : 0;
}

/* Of one node that is all there is; of several the shares, which need not be equal. */
static void node_memory(struct be_host_draft *draft)
{
	int64_t nodes = be_get_int(draft->host, "nr_node", 0);
	be_autonode struct be_node *sizes = be_node_seq();
	for (int64_t i = 0; i < nodes; i++) {
		be_autofree char *folder = be_strf("/sys/devices/system/node/node%lld", (long long)i);
		be_autofree char *text = be_inventory_size(online(draft->root, folder));
		be_add_str(sizes, text);
		if (be_streq(text, "0")) {
			if (nodes > 1)
				be_strv_addf(&draft->unknown, "node_memory: %s names no memory that is online", folder);
			return;
		}
	}
	if (nodes > 1)
		be_set(draft->host, "node_memory", be_steal(&sizes));
}

void be_inventory_memory(struct be_host_draft *draft)
{
	int64_t bytes = installed(draft->root);
	if (!bytes) {
		bytes = online(draft->root, "/sys/devices/system/memory");
		if (bytes)
			be_strv_add(&draft->unknown, "memory: what is installed; below is what the kernel has online");
	}
	if (!bytes) {
		bytes = total(draft->root);
		be_strv_add(&draft->unknown, bytes ? "memory: what is installed; below is the kernel's MemTotal"
						   : "memory: /proc/meminfo has no MemTotal");
	}
	be_autofree char *text = be_inventory_size(bytes);
	if (bytes)
		be_set_str(draft->host, "memory", text);
	node_memory(draft);
}
