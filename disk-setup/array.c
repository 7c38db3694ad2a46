#include "array.h"

#include <string.h>

#include "base/clock.h"
#include "action.h"
#include "look.h"
#include "md_layout.h"
#include "note.h"
#include "signature.h"
#include "support.h"
#include "sync.h"
#include "wipe.h"

#define MDADM_TIMEOUT 120.0 /* seconds */
#define NODE_TIMEOUT 30.0   /* seconds until /dev/mdX is there */
#define SETTLE_TIMEOUT "30"

/* Lets udev finish with new devices, where there is udev; bounded, and only waits. */
static void settle(struct be_setup *setup)
{
	if (!be_exists("/run/udev/control"))
		return;
	char *argv[] = { "udevadm", "settle", "--timeout=" SETTLE_TIMEOUT, NULL };
	be_autorun struct be_run run = { .argv = argv, .timeout = NODE_TIMEOUT + 5 };
	struct be_error err = BE_ERROR_INIT;
	double start = be_monotonic();
	if (be_run(&run, &err) != 0 || run.status != 0)
		be_setup_log(setup, "udevadm settle: udev is still busy");
	be_autonode struct be_node *words = be_node_seq();
	for (size_t i = 0; argv[i]; i++)
		be_add_str(words, argv[i]);
	be_action_record(setup, "settle", words, be_monotonic() - start, run.status, "systemd-udev");
}

static int stop(struct be_setup *setup, const char *kernel, struct be_error *err)
{
	be_autostrv struct be_strv argv = { 0 };
	be_strv_add(&argv, "mdadm");
	be_strv_add(&argv, "--stop");
	be_strv_addf(&argv, "/dev/%s", kernel);
	return be_action_run(setup, "stop", &argv, MDADM_TIMEOUT, err);
}

int be_arrays_stop_old(struct be_setup *setup, struct be_devices *devices, struct be_error *err)
{
	be_autostrv struct be_strv names = { 0 };
	for (size_t i = 0; i < devices->n; i++)
		be_strv_add_all(&names, &devices->v[i].stop);
	be_strv_sort_unique(&names);
	for (size_t i = 0; i < names.n; i++)
		if (stop(setup, names.v[i], err) != 0)
			return -1;
	if (names.n)
		settle(setup);
	return 0;
}

void be_array_uuid(const struct be_node *array, char uuid[37])
{
	be_autostrv struct be_strv argv = { 0 };
	be_get_strv(array, "argv", &argv);
	be_signature_uuid(&argv, uuid);
}

/* The plan's command with our mark; mdadm takes options after the devices as well. */
static void array_argv(const struct be_node *array, struct be_strv *argv)
{
	char uuid[37];
	be_array_uuid(array, uuid);
	be_get_strv(array, "argv", argv);
	be_strv_addf(argv, "--uuid=%s", uuid);
}

static char *array_path(const struct be_node *array)
{
	return be_strf("/dev/%s", be_get_str(array, "name", "md0"));
}

char *be_array_find(const struct be_root *root, const struct be_node *array, bool running)
{
	be_autofree char *path = array_path(array);
	be_autofree char *kernel = be_device_kernel_name(root, path, NULL);
	be_autofree char *state = kernel ? be_device_attr(root, kernel, "md/array_state") : NULL;
	if (!state || strcmp(state, "clear") == 0 || (running && strcmp(state, "inactive") == 0))
		return NULL;
	return be_steal(&kernel);
}

int be_array_wait(const struct be_setup *setup, const struct be_node *array, struct be_error *err)
{
	for (double start = be_monotonic(); be_monotonic() - start < NODE_TIMEOUT;) {
		be_autofree char *kernel = be_array_find(&setup->root, array, true);
		if (kernel)
			return 0;
		be_pause(20);
	}
	return be_fail(err, "%s: the array does not run %.0f s after mdadm started it",
		       be_get_str(array, "name", "md0"), NODE_TIMEOUT);
}

/* What shows through from an earlier run is looked for while udev works on the array, and the array is opened for
 * writing, which has udev look again, only where there is something. */
static int erase_old(struct be_setup *setup, const char *path, struct be_error *err)
{
	struct be_device found = { 0 };
	struct be_look look = { .device = &found, .node = path };
	be_look_start(&look);
	settle(setup);
	int rc = be_look_end(&look);
	if (rc != 0)
		*err = look.err;
	else if (found.nsignatures)
		rc = be_wipe_device(setup, path, err);
	be_device_forget(&found);
	return rc;
}

static int make_array(struct be_setup *setup, const struct be_node *array, struct be_error *err)
{
	be_autostrv struct be_strv argv = { 0 };
	be_autofree char *path = array_path(array);
	array_argv(array, &argv);
	be_support_level(setup, be_get_str(array, "level", ""));
	if (be_action_run(setup, "mdadm", &argv, MDADM_TIMEOUT, err) != 0)
		return be_wrap(err, "%s", path);
	if (be_array_wait(setup, array, err) != 0)
		return -1;
	return erase_old(setup, path, err);
}

int be_arrays_make(struct be_setup *setup, const struct be_node *plan, struct be_error *err)
{
	const struct be_node *arrays = be_get_path(plan, "layout.arrays");
	for (size_t i = 0; arrays && i < arrays->n; i++)
		if (make_array(setup, arrays->items[i], err) != 0)
			return -1;
	return 0;
}

/* Members by slot: {device, slot, state, size}. */
static struct be_node *read_members(const struct be_root *root, const char *kernel)
{
	struct be_node *members = be_node_seq();
	be_autostrv struct be_strv names = { 0 };
	be_autofree char *dir = be_strf("/sys/class/block/%s/md", kernel);
	if (be_root_list(root, dir, &names) != 0)
		return members;
	for (size_t i = 0; i < names.n; i++) {
		if (!be_starts(names.v[i], "dev-"))
			continue;
		be_autofree char *slot_attr = be_strf("md/%s/slot", names.v[i]);
		be_autofree char *state_attr = be_strf("md/%s/state", names.v[i]);
		struct be_node *member = be_node_map();
		be_set_str(member, "device", names.v[i] + strlen("dev-"));
		be_device_set_attr(member, "slot", root, kernel, slot_attr);
		be_device_set_attr(member, "state", root, kernel, state_attr);
		be_set_int(member, "size", be_device_size(root, names.v[i] + strlen("dev-")));
		be_add(members, member);
	}
	return members;
}

static struct be_node *read_array(const struct be_root *root, const struct be_node *array, const char *kernel)
{
	static const struct {
		const char *key, *attr;
	} attrs[] = {
		{ "level", "md/level" },
		{ "raid_disks", "md/raid_disks" },
		{ "chunk_size", "md/chunk_size" },
		{ "layout", "md/layout" },
		{ "metadata_version", "md/metadata_version" },
		{ "bitmap", "md/bitmap/location" },
		{ "array_state", "md/array_state" },
		{ "sync_action", "md/sync_action" },
		{ "resync_start", "md/resync_start" },
		{ "degraded", "md/degraded" },
		{ "consistency_policy", "md/consistency_policy" },
		{ "stripe_cache_size", "md/stripe_cache_size" },
		{ "group_thread_cnt", "md/group_thread_cnt" },
		{ "uuid", "md/uuid" },
	};
	struct be_node *node = be_node_map();
	be_set_str(node, "name", be_get_str(array, "name", "md0"));
	be_set_str(node, "kernel", kernel);
	be_set_int(node, "size", be_device_size(root, kernel));
	for (size_t i = 0; i < BE_ARRAY_LEN(attrs); i++)
		be_device_set_attr(node, attrs[i].key, root, kernel, attrs[i].attr);
	be_set_str(node, "parity", be_sync_statement(array));
	be_set(node, "members", read_members(root, kernel));
	return node;
}

/* The kernel's slots in order against the plan's members. */
static int compare_members(const struct be_root *root, const struct be_node *array, const struct be_node *read,
			   struct be_error *err)
{
	be_autostrv struct be_strv members = { 0 };
	const char *name = be_get_str(array, "name", "?");
	const struct be_node *there = be_get(read, "members");
	be_get_strv(array, "members", &members);
	if (there->n != members.n)
		return be_fail(err, "%s: %zu members planned, the kernel has %zu", name, members.n, there->n);
	for (size_t i = 0; i < members.n; i++) {
		be_autofree char *kernel = be_device_kernel_name(root, members.v[i], NULL);
		int64_t slot = -1;
		for (size_t j = 0; j < there->n; j++)
			if (be_streq(be_get_str(there->items[j], "device", NULL), kernel))
				slot = be_get_int(there->items[j], "slot", -1);
		if (slot != (int64_t)i)
			return be_fail(err, "%s: %s (%s) is planned as member %zu, the kernel has it in slot %lld",
				       name, members.v[i], kernel ? kernel : "gone", i, (long long)slot);
	}
	return 0;
}

/* Things that shape every request: another value is another benchmark, so it is an error. */
static int compare_shape(const struct be_node *array, const struct be_node *read, struct be_error *err)
{
	const char *name = be_get_str(array, "name", "?");
	const char *level = be_get_str(array, "level", ""), *there = be_get_str(read, "level", "");
	int64_t chunk = be_get_int(array, "chunk_kib", 0) * 1024, chunk_there = be_get_int(read, "chunk_size", 0);
	if (strcmp(level, there) != 0)
		return be_fail(err, "%s: level %s planned, the kernel says \"%s\"", name, level, there);
	if (chunk && chunk != chunk_there)
		return be_fail(err, "%s: chunk of %lld bytes planned, the kernel says %lld", name, (long long)chunk,
			       (long long)chunk_there);
	const char *layout = be_get_str(array, "layout", NULL);
	int64_t layout_there = be_get_int(read, "layout", -1);
	if (layout && be_md_layout_number(level, layout) != layout_there)
		return be_fail(err, "%s: layout %s (%d) planned, the kernel says %lld", name, layout,
			       be_md_layout_number(level, layout), (long long)layout_there);
	return 0;
}

/* md tells a bitmap's place: "none", "file", or the offset of an internal one ("+8"). */
static const char *bitmap_kind(const char *location)
{
	if (!location || strcmp(location, "none") == 0)
		return "none";
	return *location == '+' || *location == '-' ? "internal" : location;
}

static void note_differences(struct be_setup *setup, const struct be_node *array, const struct be_node *read)
{
	const char *name = be_get_str(array, "name", "?");
	const char *bitmap = be_get_str(array, "bitmap", NULL);
	const char *there = bitmap_kind(be_get_str(read, "bitmap", NULL));
	const char *metadata = be_get_str(array, "metadata", NULL);
	const char *metadata_there = be_get_str(read, "metadata_version", "?");
	const char *sync = be_get_str(read, "sync_action", "idle");
	if (bitmap && strcmp(bitmap, there) != 0)
		be_deviation(setup->deviations, "md.bitmap", "%s: bitmap %s planned, here %s", name, bitmap, there);
	if (metadata && strcmp(metadata, metadata_there) != 0)
		be_deviation(setup->deviations, "md.metadata_version", "%s: metadata %s planned, here %s", name,
			     metadata, metadata_there);
	if (strcmp(sync, "idle") != 0)
		be_deviation(setup->deviations, "md.sync_action", "%s: %s is running", name, sync);
	if (be_get_int(read, "degraded", 0))
		be_deviation(setup->deviations, "md.degraded", "%s: %s members are missing", name,
			     be_get_str(read, "degraded", "?"));
}

int be_arrays_read(struct be_setup *setup, const struct be_node *plan, struct be_node *out, struct be_error *err)
{
	const struct be_node *arrays = be_get_path(plan, "layout.arrays");
	for (size_t i = 0; arrays && i < arrays->n; i++) {
		const struct be_node *array = arrays->items[i];
		const char *name = be_get_str(array, "name", "md0");
		be_autofree char *kernel = be_array_find(&setup->root, array, true);
		if (!kernel)
			return be_fail(err, "%s: no such array is running", name);
		struct be_node *read = read_array(&setup->root, array, kernel);
		be_add(out, read);
		if (compare_shape(array, read, err) != 0 || compare_members(&setup->root, array, read, err) != 0)
			return -1;
		note_differences(setup, array, read);
	}
	return 0;
}

/* Made by the plan's own command: an array whose members came out otherwise than planned is still ours. */
static bool is_ours(const struct be_node *array, const struct be_node *read)
{
	char uuid[37];
	be_array_uuid(array, uuid);
	return be_streq(be_get_str(read, "uuid", NULL), uuid);
}

int be_arrays_stop(struct be_setup *setup, const struct be_node *plan, struct be_error *err)
{
	const struct be_node *arrays = be_get_path(plan, "layout.arrays");
	for (size_t i = arrays ? arrays->n : 0; i-- > 0;) {
		const struct be_node *array = arrays->items[i];
		be_autofree char *kernel = be_array_find(&setup->root, array, true);
		if (!kernel)
			continue;
		be_autonode struct be_node *read = read_array(&setup->root, array, kernel);
		struct be_error other = BE_ERROR_INIT;
		if (!is_ours(array, read) && compare_members(&setup->root, array, read, &other) != 0)
			be_setup_log(setup, "left running: %s", other.text);
		else if (stop(setup, kernel, err) != 0)
			return -1;
	}
	return 0;
}
