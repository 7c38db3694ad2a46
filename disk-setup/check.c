#include "check.h"

#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "alike.h"
#include "array.h"
#include "decision.h"
#include "identity.h"
#include "idle.h"
#include "load.h"
#include "look.h"
#include "pmem.h"
#include "signature.h"
#include "use.h"

void be_refuse(struct be_device *d, char *remedy, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	be_strv_take(&d->refusals, be_vstrf(fmt, args));
	va_end(args);
	be_strv_take(&d->remedies, remedy);
}

/* The kinds that layout.load makes: by which module, with which kernel names. */
static const struct made {
	const char *kind, *module, *kernel;
} made[] = {
	{ "brd", "brd", "ram" },
	{ "srd", "scsi_debug", "sd" },
	{ "nullb", "null_blk", "nullb" },
	{ "loop", "loop", "loop" }, /* be_loops_attach takes no device that has a file already */
};

static const struct made *find_made(const char *kind)
{
	for (size_t i = 0; i < BE_ARRAY_LEN(made); i++)
		if (strcmp(made[i].kind, kind) == 0)
			return &made[i];
	return NULL;
}

bool be_device_is_made(const struct be_node *plan, const char *kind)
{
	const struct made *m = find_made(kind);
	return m && be_load_names(plan, m->module);
}

/* Why a device's content is nobody's but ours, whatever it looks like. */
static const char *owner(const struct be_setup *setup, const struct be_node *plan, const struct be_device *d)
{
	const struct made *m = find_made(d->kind);
	if (m && be_starts(d->kernel, m->kernel) && be_load_is_fresh(setup, m->module))
		return "a RAM disk of this run";
	if (be_pmem_is_memory(&setup->root, d->whole))
		return "memory that the kernel command line set aside (memmap=)";
	if (be_streq(be_get_str(be_get(plan, "machine"), "test_disks", NULL), "owned"))
		return "the host file says test_disks: owned";
	return NULL;
}

static int check_use(const struct be_setup *setup, const struct be_node *plan, struct be_device *d,
		     struct be_error *err)
{
	be_autouses struct be_uses uses = { 0 };
	if (be_idle_arrays(setup, plan, d, err) != 0 || be_use_find(&setup->root, d->kernel, &d->stop, &uses, err) != 0)
		return -1;
	if (!uses.n && !d->stop.n && !d->refusals.n && be_device_is_real(&setup->root) &&
	    be_use_exclusive(d->node, &uses, err) != 0)
		return -1;
	for (size_t i = 0; i < uses.n; i++)
		be_refuse(d, be_strdup(uses.v[i].remedy), "%s", uses.v[i].finding);
	return 0;
}

/* Partitions that look empty and are not: what they are for is their type's word. No key of a job or host permits them.
 */
static const struct reserved {
	const char *type, *what;
} reserved[] = {
	{ "c12a7328-f81f-11d2-ba4b-00a0c93ec93b", "an EFI system partition" },
	{ "0xef", "an EFI system partition" },
	{ "21686148-6449-6e6f-744e-656564454649", "a BIOS boot partition" },
	{ "9e1a2d38-c612-4316-aa26-8b49521e5a8b", "a PReP boot partition" },
	{ "0x41", "a PReP boot partition" },
	{ "fe3a2a5d-4f32-41a7-b725-accc3285a309", "a ChromeOS kernel" },
	{ "e3c9e316-0b5c-4db8-817d-f92df00215ae", "reserved by Windows" },
	{ "de94bba4-06d1-4d40-a16a-bfd50179d6ac", "Windows' recovery environment" },
	{ "d3bfe2de-3daf-11df-ba40-e3a556d89593", "an Intel Rapid Start partition" },
};

static void check_partition(const struct be_setup *setup, struct be_device *d)
{
	be_autofree char *type = be_device_udev(&setup->root, d->major, d->minor, "ID_PART_ENTRY_TYPE");
	if (strcmp(d->kernel, d->whole) == 0)
		return;
	if (!type && be_device_is_real(&setup->root))
		type = be_signature_partition_type(d->node);
	for (size_t i = 0; type && i < BE_ARRAY_LEN(reserved); i++)
		if (strcmp(reserved[i].type, type) == 0)
			be_refuse(d,
				  be_strdup("name another partition, or change this one's type (sfdisk --part-type)"),
				  "%s is %s by its type in the partition table", d->kernel, reserved[i].what);
}

static void check_content(const struct be_node *plan, struct be_device *d)
{
	be_autostrv struct be_strv overwrite = { 0 };
	be_get_strv(be_get(plan, "layout"), "overwrite", &overwrite);
	for (size_t i = 0; i < d->nsignatures && !d->owned; i++) {
		const struct be_signature *s = &d->signatures[i];
		be_autofree char *text = be_signature_text(s);
		if (!be_signature_ours(s) && !be_strv_has(&overwrite, s->type))
			be_refuse(d,
				  be_strf("see whose it is; `overwrite: [%s]` in the job, or `test_disks: owned` in "
					  "the host file, permits it; or erase it yourself with wipefs",
					  s->type),
				  "%s carries %s", d->kernel, text);
	}
}

/* What cannot be read is refused like what must not be written: the other devices are looked at all the same. */
static void check_readable(struct be_device *d, struct be_look *look)
{
	if (be_look_end(look) != 0)
		be_refuse(d,
			  be_strdup(geteuid() == 0 ? "see what the kernel's log says of this disk"
						   : "look again as root"),
			  "%s", look->err.text);
}

/* Once each, all at the same time. */
static void look_at_all(struct be_devices *devices)
{
	be_autofree struct be_look *looks = be_alloc((devices->n + 1) * sizeof(*looks));
	for (size_t i = 0; i < devices->n; i++) {
		looks[i] = (struct be_look){ .device = &devices->v[i], .node = devices->v[i].node, .unknown = true };
		be_look_start(&looks[i]);
	}
	for (size_t i = 0; i < devices->n; i++)
		check_readable(&devices->v[i], &looks[i]);
}

static int check_device(const struct be_setup *setup, const struct be_node *plan, struct be_device *d,
			struct be_error *err)
{
	be_check_identity(setup, d);
	d->owned = owner(setup, plan, d);
	if (check_use(setup, plan, d, err) != 0)
		return be_wrap(err, "%s (%s)", d->name, d->path);
	check_partition(setup, d);
	check_content(plan, d);
	be_pmem_check(setup, plan, d);
	return 0;
}

/* Mounting over somebody's mount would hide it. */
static int check_targets(const struct be_setup *setup, const struct be_node *plan, struct be_error *err)
{
	const struct be_node *stanzas = be_get_path(plan, "layout.filesystems");
	for (size_t i = 0; stanzas && i < stanzas->n; i++) {
		const char *target = be_get_str(stanzas->items[i], "mount", NULL);
		bool taken = false;
		if (target && be_use_target(&setup->root, target, &taken, err) != 0)
			return -1;
		if (taken) {
			be_fail(err, "%s is a mount point already, nothing was written", target);
			return be_hint(err, "unmount %s (disk-setup --undo, where it was disk-setup's)", target);
		}
	}
	return 0;
}

/* An array that has a planned name and is not one of our own that will be stopped. */
static void check_array_names(const struct be_setup *setup, const struct be_node *plan, struct be_devices *devices)
{
	const struct be_node *arrays = be_get_path(plan, "layout.arrays");
	for (size_t i = 0; arrays && i < arrays->n; i++) {
		be_autofree char *kernel = be_array_find(&setup->root, arrays->items[i], false);
		bool stopped = !kernel;
		for (size_t j = 0; j < devices->n && !stopped; j++)
			stopped = be_strv_has(&devices->v[j].stop, kernel);
		for (size_t j = 0; j < devices->n && !stopped; j++)
			be_refuse(&devices->v[j],
				  be_strf("see what /dev/%s holds; mdadm --stop /dev/%s", kernel, kernel),
				  "another array is there as %s", kernel);
	}
}

int be_check_devices(struct be_setup *setup, const struct be_node *plan, struct be_devices *devices,
		     struct be_error *err)
{
	be_check_overlap(devices);
	look_at_all(devices);
	for (size_t i = 0; i < devices->n; i++)
		if (check_device(setup, plan, &devices->v[i], err) != 0)
			return -1;
	be_check_alike(setup, plan, devices);
	be_check_members(setup, plan, devices);
	check_array_names(setup, plan, devices);
	for (size_t i = 0; i < devices->n; i++)
		be_decision_record(setup, &devices->v[i]);
	if (be_decision_fail(devices, err) != 0)
		return -1;
	return check_targets(setup, plan, err);
}

/* What is not there gets a refusal like the others; be_devices_wait's error says what is there instead. */
static struct be_node *missing(const struct be_node *stanza)
{
	const char *path = be_get_str(stanza, "path", "?");
	struct be_node *node = be_node_map(), *refused = be_node_seq(), *refusal = be_node_map();
	be_set_str(node, "path", path);
	be_set_str(node, "decision", "refused");
	be_set(refusal, "finding", be_node_strf("%s is not there", path));
	be_set_str(refusal, "remedy", "correct the name in the host file, or see whether disk and driver are there");
	be_add(refused, refusal);
	be_set(node, "refused", refused);
	return node;
}

void be_check_present(struct be_setup *setup, const struct be_node *plan)
{
	be_autonode struct be_node *present = be_node_clone(plan);
	struct be_node *stanzas = be_node_seq(), *layout = be_get(present, "layout");
	const struct be_node *all = be_get_path(plan, "layout.devices");
	be_autodevices struct be_devices devices = { 0 };
	struct be_error ignored = BE_ERROR_INIT;
	for (size_t i = 0; i < all->n; i++) {
		be_autofree char *kernel =
			be_device_kernel_name(&setup->root, be_get_str(all->items[i], "path", ""), NULL);
		if (kernel)
			be_add(stanzas, be_node_clone(all->items[i]));
		else
			be_set(setup->found, be_get_str(all->items[i], "name", "?"), missing(all->items[i]));
	}
	be_set(layout, "devices", stanzas);
	be_set_int(layout, "wait", 0);
	if (be_devices_wait(&setup->root, present, NULL, &devices, &ignored) != 0 ||
	    be_check_devices(setup, present, &devices, &ignored) != 0)
		return; /* the caller's error is about the missing ones */
}
