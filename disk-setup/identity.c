#include "identity.h"

#include <string.h>

#include "check.h"
#include "note.h"
#include "units.h"

/* What the kernel calls the devices of a kind, and whether they turn; -1: either. */
static const struct kind {
	const char *name, *kernel;
	int rotational;
} kinds[] = {
	{ "hdd", "", 1 },     { "ssd", "", 0 },    { "nvme", "nvme", 0 },    { "pmem", "pmem", -1 },
	{ "brd", "ram", -1 }, { "srd", "sd", -1 }, { "nullb", "nullb", -1 }, { "loop", "loop", -1 },
};

static const struct kind *find_kind(const char *name)
{
	for (size_t i = 0; i < BE_ARRAY_LEN(kinds); i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	return NULL;
}

/* virtio-blk always says that it rotates; the twin has said so where the disk it stands for does not. */
static bool flag_is_known_wrong(const struct be_setup *setup, const struct be_device *d)
{
	return setup->twin && be_starts(d->whole, "vd");
}

static void check_kind(const struct be_setup *setup, struct be_device *d)
{
	const struct kind *kind = find_kind(d->kind);
	if (!kind) {
		be_refuse(d, be_strdup("use hdd, ssd, nvme, pmem, brd, srd, nullb or loop"), "kind \"%s\" is not known",
			  d->kind);
		return;
	}
	if (!be_starts(d->kernel, kind->kernel))
		be_refuse(d, be_strdup("correct the path or the kind in the host file"), "%s is no %s device",
			  d->kernel, d->kind);
	if (kind->rotational < 0)
		return;
	bool wanted = be_get_bool(d->disk, "rotational", kind->rotational);
	if (d->rotational != wanted && !flag_is_known_wrong(setup, d))
		be_refuse(d,
			  be_strf("correct the host file, or see why /sys/block/%s/queue/rotational is %d", d->whole,
				  d->rotational),
			  "%s is stated as %s (%srotational), but is %srotational", d->whole, d->kind,
			  wanted ? "" : "not ", d->rotational ? "" : "not ");
}

/* Within a hundredth: tools round sizes, and no two models of a kind are so near. */
static bool near(int64_t a, int64_t b)
{
	int64_t diff = a > b ? a - b : b - a;
	return diff <= b / 100;
}

/*
 * A host file may say 3T, which LKP's units read as binary, of a disk that its vendor sells as 3 TB, which is decimal:
 * both readings of a round size are accepted. An fsdax namespace may keep its page map, 64 bytes a page, on the device.
 */
static bool size_matches(int64_t stated, int64_t there, bool pmem)
{
	static const int64_t binary[] = { 1ll << 40, 1ll << 30 };
	static const int64_t decimal[] = { 1000000000000, 1000000000 };
	if (near(there, stated) || (pmem && near(there, stated - stated / 64)))
		return true;
	for (size_t i = 0; i < BE_ARRAY_LEN(binary); i++)
		if (stated % binary[i] == 0)
			return near(there, stated / binary[i] * decimal[i]);
	return false;
}

/* The size that the plan states and the disk does not have; 0: it has it, or none is stated. */
static int64_t other_size(const struct be_device *d)
{
	int64_t stated = be_get_int(d->disk, "size", be_get_int(d->stanza, "size", 0));
	bool pmem = strcmp(d->kind, "pmem") == 0;
	return stated <= 0 || size_matches(stated, d->disk_size, pmem) ? 0 : stated;
}

static void check_size(const struct be_setup *setup, struct be_device *d)
{
	int64_t stated = other_size(d);
	char a[32], b[32];
	if (d->size <= 0)
		be_refuse(d, be_strdup("see whether the medium is there"), "%s has no size", d->kernel);
	else if (stated && !setup->twin)
		be_refuse(d, be_strdup("correct the host file's size, or name the disk that is meant"),
			  "%s is stated with %s (%lld bytes), but has %s (%lld bytes)", d->whole,
			  be_size_text(stated, a), (long long)stated, be_size_text(d->disk_size, b),
			  (long long)d->disk_size);
}

/* udev gives a name to one of the devices that claim it; its database says who else does. */
static void check_claims(const struct be_root *root, struct be_device *d)
{
	be_autostrv struct be_strv claimants = { 0 };
	be_device_claimants(root, d->path, &claimants);
	if (claimants.n > 1)
		be_refuse(d, be_strdup("name the disk by another of its names (wwn-, by-path)"),
			  "%zu devices claim this name (device numbers %s, %s%s)", claimants.n, claimants.v[0],
			  claimants.v[1], claimants.n > 2 ? ", ..." : "");
}

static void check_read_only(const struct be_root *root, struct be_device *d)
{
	be_autofree char *ro = be_device_attr(root, d->kernel, "ro");
	be_autofree char *whole = be_device_attr(root, d->whole, "ro");
	if (be_streq(ro, "1") || be_streq(whole, "1"))
		be_refuse(d, be_strf("see why (a switch, blockdev --setrw /dev/%s)", d->whole), "%s is read-only",
			  d->kernel);
}

void be_check_identity(const struct be_setup *setup, struct be_device *d)
{
	check_kind(setup, d);
	check_size(setup, d);
	check_read_only(&setup->root, d);
	check_claims(&setup->root, d);
}

void be_check_overlap(struct be_devices *devices)
{
	for (size_t i = 0; i < devices->n; i++)
		for (size_t j = 0; j < i; j++) {
			struct be_device *a = &devices->v[i], *b = &devices->v[j];
			if (strcmp(a->whole, b->whole) != 0)
				continue;
			if (strcmp(a->kernel, b->kernel) == 0)
				be_refuse(a, be_strdup("name each device once"), "it is the same device as %s (%s)",
					  b->name, a->kernel);
			else if (strcmp(a->kernel, a->whole) == 0 || strcmp(b->kernel, b->whole) == 0)
				be_refuse(a, be_strdup("name the disk or its partitions, not both"),
					  "%s and %s (%s) overlap", a->kernel, b->kernel, b->name);
		}
}

static struct be_device *find_member(const struct be_devices *devices, const char *path)
{
	for (size_t i = 0; i < devices->n; i++)
		if (be_streq(devices->v[i].path, path))
			return &devices->v[i];
	return NULL;
}

static void check_array(struct be_setup *setup, const struct be_node *array, bool refuse, struct be_devices *devices)
{
	be_autobuf struct be_buf sizes = { 0 };
	be_autostrv struct be_strv members = { 0 };
	int64_t first = -1;
	bool unequal = false;
	be_get_strv(array, "members", &members);
	for (size_t i = 0; i < members.n; i++) {
		const struct be_device *d = find_member(devices, members.v[i]);
		if (!d)
			continue;
		unequal = unequal || (first >= 0 && first != d->size);
		first = d->size;
		be_buf_addf(&sizes, "%s%s %lld", sizes.len ? ", " : "", d->kernel, (long long)d->size);
	}
	if (!unequal)
		return;
	be_deviation(setup->deviations, "md.members", "%s: members of unequal size (bytes): %s",
		     be_get_str(array, "name", "?"), sizes.data);
	for (size_t i = 0; refuse && i < members.n; i++) {
		struct be_device *d = find_member(devices, members.v[i]);
		if (d)
			be_refuse(d, be_strdup("use partitions of one size, or leave `expect: refuse` out"),
				  "the array's members are of unequal size (%s)", sizes.data);
	}
}

void be_check_members(struct be_setup *setup, const struct be_node *plan, struct be_devices *devices)
{
	const struct be_node *arrays = be_get_path(plan, "layout.arrays");
	bool refuse = be_streq(be_get_str(plan, "expect", NULL), "refuse");
	for (size_t i = 0; arrays && i < arrays->n; i++)
		check_array(setup, arrays->items[i], refuse, devices);
}
