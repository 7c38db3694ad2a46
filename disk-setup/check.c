#include "check.h"

#include <stdarg.h>
#include <string.h>

#include "array.h"
#include "identity.h"
#include "load.h"
#include "pmem.h"
#include "signature.h"
#include "use.h"

void be_refuse(struct be_device *d, char *remedy, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	be_strv_take(&d->refusals, be_vstrf(fmt, args));
	va_end(args);
	if (d->remedy)
		free(remedy);
	else
		d->remedy = remedy;
}

/* The kinds that layout.load makes: by which module, with which kernel names. */
static const struct made {
	const char *kind, *module, *kernel;
} made[] = {
	{ "brd", "brd", "ram" },
	{ "srd", "scsi_debug", "sd" },
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

static void check_uses(struct be_device *d, const struct be_uses *uses)
{
	for (size_t i = 0; i < uses->n; i++)
		be_refuse(d, be_strdup(uses->v[i].remedy), "%s", uses->v[i].finding);
}

static bool carries_our_member(const struct be_device *d)
{
	for (size_t i = 0; i < d->nsignatures; i++)
		if (strcmp(d->signatures[i].type, "linux_raid_member") == 0 && be_signature_ours(&d->signatures[i]))
			return true;
	return false;
}

/*
 * An array of an earlier run of ours, brought up again by udev's rules, and used by nobody: it may be stopped.
 * Everything else that holds the device stays a refusal.
 */
static int find_idle_arrays(const struct be_setup *setup, struct be_device *d, struct be_error *err)
{
	be_autostrv struct be_strv arrays = { 0 };
	if (!carries_our_member(d))
		return 0;
	be_use_arrays(&setup->root, d->kernel, &arrays);
	for (size_t i = 0; i < arrays.n; i++) {
		be_autouses struct be_uses uses = { 0 };
		be_autofree char *path = be_strf("/dev/%s", arrays.v[i]);
		be_autofree char *node = be_root_path(&setup->root, path);
		if (be_use_find(&setup->root, arrays.v[i], NULL, &uses, err) != 0)
			return -1;
		if (!uses.n && be_device_is_real(&setup->root) && be_use_exclusive(node, &uses, err) != 0)
			return -1;
		if (!uses.n)
			be_strv_add(&d->stop, arrays.v[i]);
		check_uses(d, &uses);
	}
	return 0;
}

static int check_use(const struct be_setup *setup, struct be_device *d, struct be_error *err)
{
	be_autouses struct be_uses uses = { 0 };
	if (find_idle_arrays(setup, d, err) != 0 || be_use_find(&setup->root, d->kernel, &d->stop, &uses, err) != 0)
		return -1;
	if (!uses.n && !d->stop.n && be_device_is_real(&setup->root) && be_use_exclusive(d->node, &uses, err) != 0)
		return -1;
	check_uses(d, &uses);
	return 0;
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

static int check_device(const struct be_setup *setup, const struct be_node *plan, struct be_device *d,
			struct be_error *err)
{
	be_check_identity(setup, d);
	d->owned = owner(setup, plan, d);
	if (be_signature_probe(d, d->node, err) != 0 || check_use(setup, d, err) != 0)
		return be_wrap(err, "%s (%s)", d->name, d->path);
	check_content(plan, d);
	be_pmem_check(setup, plan, d);
	return 0;
}

static struct be_node *decision(const struct be_device *d)
{
	if (d->refusals.n)
		return be_node_str("refused");
	be_autobuf struct be_buf b = { 0 };
	be_buf_adds(&b, "may be written: ");
	if (!d->nsignatures)
		be_buf_adds(&b, "carries nothing");
	for (size_t i = 0; i < d->nsignatures; i++) {
		be_autofree char *text = be_signature_text(&d->signatures[i]);
		be_buf_addf(&b, "%s%s", i ? ", " : "", text);
	}
	if (d->owned)
		be_buf_addf(&b, "; %s", d->owned);
	for (size_t i = 0; i < d->stop.n; i++)
		be_buf_addf(&b, "; our idle array %s is stopped first", d->stop.v[i]);
	if (d->namespace)
		be_buf_addf(&b, "; %s becomes an fsdax namespace", d->namespace);
	return be_node_str(b.data);
}

static void record(struct be_setup *setup, const struct be_device *d)
{
	struct be_node *node = be_device_node(d);
	struct be_node *carries = be_node_seq();
	for (size_t i = 0; i < d->nsignatures; i++) {
		be_autofree char *text = be_signature_text(&d->signatures[i]);
		be_add_str(carries, text);
	}
	be_set(node, "carries", carries);
	be_set(node, "decision", decision(d));
	if (d->refusals.n)
		be_set(node, "refused", be_node_strv(&d->refusals));
	be_set_str(node, "remedy", d->remedy);
	be_set(setup->found, d->name, node);
}

static int fail_refused(const struct be_devices *devices, struct be_error *err)
{
	be_autobuf struct be_buf b = { 0 };
	const char *remedy = NULL;
	size_t refused = 0;
	for (size_t i = 0; i < devices->n; i++) {
		const struct be_device *d = &devices->v[i];
		if (!d->refusals.n)
			continue;
		refused++;
		if (!remedy)
			remedy = d->remedy;
		be_buf_addf(&b, "%s%s (%s): ", b.len ? "; " : "", d->name, d->path);
		for (size_t j = 0; j < d->refusals.n; j++)
			be_buf_addf(&b, "%s%s", j ? ", " : "", d->refusals.v[j]);
	}
	if (!refused)
		return 0;
	be_fail(err, "%zu of %zu devices refused, nothing was written: %s", refused, devices->n, b.data);
	return be_hint(err, "%s", remedy);
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
	for (size_t i = 0; i < devices->n; i++)
		if (check_device(setup, plan, &devices->v[i], err) != 0)
			return -1;
	be_check_members(setup, plan, devices);
	check_array_names(setup, plan, devices);
	for (size_t i = 0; i < devices->n; i++)
		record(setup, &devices->v[i]);
	if (fail_refused(devices, err) != 0)
		return -1;
	return check_targets(setup, plan, err);
}
