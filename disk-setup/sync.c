#include "sync.h"

#include <string.h>

#include "base/clock.h"
#include "action.h"
#include "array.h"
#include "device.h"
#include "note.h"

#define SYNC_MARGIN 600.0    /* seconds on top of what the size takes */
#define SYNC_SLOWEST 5000000 /* bytes a second and member */
#define TELL_EVERY 10.0      /* seconds between two lines of progress */

static bool attr_is(const struct be_root *root, const char *kernel, const char *attr, const char *value)
{
	be_autofree char *text = be_device_attr(root, kernel, attr);
	return be_streq(text, value);
}

/* resync_start is a sector while there is something to do: sync_action says idle before the thread has begun. */
static bool in_sync(const struct be_root *root, const char *kernel)
{
	return attr_is(root, kernel, "md/resync_start", "none") && attr_is(root, kernel, "md/sync_action", "idle") &&
	       attr_is(root, kernel, "md/degraded", "0");
}

static void tell(struct be_setup *setup, const char *name, const char *kernel)
{
	be_autofree char *done = be_device_attr(&setup->root, kernel, "md/sync_completed");
	be_setup_log(setup, "%s: waiting for its resync, sectors %s", name, done ? done : "unknown");
}

static double limit(const struct be_root *root, const char *kernel)
{
	be_autofree char *kib = be_device_attr(root, kernel, "md/component_size");
	double bytes = kib ? strtod(kib, NULL) * 1024 : 0;
	return SYNC_MARGIN + bytes / SYNC_SLOWEST;
}

static int fail_sync(struct be_setup *setup, const char *name, const char *kernel, double seconds, struct be_error *err)
{
	be_autofree char *action = be_device_attr(&setup->root, kernel, "md/sync_action");
	be_autofree char *degraded = be_device_attr(&setup->root, kernel, "md/degraded");
	be_autofree char *start = be_device_attr(&setup->root, kernel, "md/resync_start");
	be_fail(err, "%s is not in sync after %.0f s: sync_action %s, resync_start %s, members missing %s", name,
		seconds, action ? action : "?", start ? start : "?", degraded ? degraded : "?");
	return be_hint(err, "see the kernel's log for a failing member; md/sync_speed_min raises the resync's share");
}

static int wait_for(struct be_setup *setup, const struct be_node *array, struct be_error *err)
{
	const char *name = be_get_str(array, "name", "md0");
	be_autofree char *kernel = be_array_find(&setup->root, array, true);
	if (!kernel)
		return be_fail(err, "%s: no such array is running", name);
	double start = be_monotonic(), told = start, most = limit(&setup->root, kernel);
	while (!in_sync(&setup->root, kernel)) {
		double now = be_monotonic();
		if (now - start > most)
			return fail_sync(setup, name, kernel, most, err);
		if (now - told >= TELL_EVERY) {
			tell(setup, name, kernel);
			told = now;
		}
		be_pause(50);
	}
	be_autonode struct be_node *argv = be_node_seq();
	be_add_str(argv, "wait for md/sync_action idle");
	be_add_str(argv, name);
	be_action_record(setup, "sync", argv, be_monotonic() - start, 0, "the kernel's md");
	return 0;
}

int be_sync_wait(struct be_setup *setup, const struct be_node *plan, struct be_error *err)
{
	const struct be_node *arrays = be_get_path(plan, "layout.arrays");
	for (size_t i = 0; arrays && i < arrays->n; i++)
		if (be_streq(be_get_str(arrays->items[i], "sync", NULL), "wait") &&
		    be_sync_statement(arrays->items[i]) && wait_for(setup, arrays->items[i], err) != 0)
			return -1;
	return 0;
}

const char *be_sync_statement(const struct be_node *array)
{
	if (strcmp(be_get_str(array, "level", ""), "raid0") == 0)
		return NULL;
	if (be_streq(be_get_str(array, "sync", NULL), "wait"))
		return "written: the array was in sync before it was used";
	return be_get_bool(array, "assume_clean", false) ? "not written (mdadm --assume-clean)"
							 : "being written: nothing waits for the resync";
}
