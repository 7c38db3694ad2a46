#include "setup.h"

#include "action.h"
#include "array.h"
#include "check.h"
#include "filesystem.h"
#include "load.h"
#include "loop.h"
#include "note.h"
#include "pmem.h"
#include "resolve.h"
#include "reuse.h"
#include "shape.h"
#include "swap.h"
#include "sync.h"
#include "wipe.h"

static bool in_twin(const struct be_root *root)
{
	be_autostrv struct be_strv ports = { 0 };
	if (be_root_list(root, "/sys/class/virtio-ports", &ports) != 0)
		return false;
	for (size_t i = 0; i < ports.n; i++) {
		be_autofree char *path = be_strf("/sys/class/virtio-ports/%s/name", ports.v[i]);
		be_autofree char *name = be_root_text(root, path);
		if (be_streq(name, BE_TWIN_PORT_NAME))
			return true;
	}
	return false;
}

void be_setup_init(struct be_setup *setup)
{
	*setup = (struct be_setup){
		.root.prefix = be_strdup(""),
		.actions = be_node_seq(),
		.found = be_node_map(),
		.layout = be_node_map(),
		.deviations = be_node_seq(),
		.versions = be_node_map(),
	};
	setup->twin = in_twin(&setup->root);
}

void be_setup_free(struct be_setup *setup)
{
	free(setup->root.prefix);
	be_node_free(setup->actions);
	be_node_free(setup->found);
	be_node_free(setup->layout);
	be_node_free(setup->deviations);
	be_node_free(setup->versions);
	*setup = (struct be_setup){ 0 };
}

static bool makes_devices(const struct be_node *plan)
{
	const struct be_node *devices = be_get_path(plan, "layout.devices");
	for (size_t i = 0; devices && i < devices->n; i++)
		if (be_device_is_made(plan, be_get_str(devices->items[i], "kind", "")))
			return true;
	return false;
}

int be_setup_check(struct be_setup *setup, const struct be_node *plan, struct be_error *err)
{
	be_autodevices struct be_devices devices = { 0 };
	if (be_shape_check(plan, err) != 0)
		return -1;
	if (makes_devices(plan)) {
		be_setup_log(setup, "the plan makes its devices itself (layout.load): there is nothing to check yet");
		return 0;
	}
	if (be_devices_wait(&setup->root, plan, setup->log, &devices, err) == 0)
		return be_check_devices(setup, plan, &devices, err);
	be_check_present(setup, plan);
	return -1;
}

static int make_directories(const struct be_node *plan, struct be_error *err)
{
	be_autostrv struct be_strv dirs = { 0 };
	be_get_strv(be_get(plan, "layout"), "testdir", &dirs);
	be_get_strv(be_get(plan, "layout"), "testdirs", &dirs);
	for (size_t i = 0; i < dirs.n; i++)
		if (be_mkdirs(dirs.v[i], 0755, err) != 0)
			return -1;
	return 0;
}

static int read_back(struct be_setup *setup, const struct be_node *plan, const struct be_devices *devices,
		     struct be_error *err)
{
	struct be_node *list = be_node_map(), *arrays = be_node_seq(), *filesystems = be_node_seq();
	be_set(setup->layout, "devices", list);
	be_set(setup->layout, "arrays", arrays);
	be_set(setup->layout, "filesystems", filesystems);
	for (size_t i = 0; i < devices->n; i++) {
		struct be_node *node = be_device_node(&devices->v[i]);
		struct be_node *pmem = be_pmem_identity(&setup->root, devices->v[i].whole);
		if (pmem)
			be_set(node, "pmem", pmem);
		be_set(list, devices->v[i].name, node);
	}
	if (be_arrays_read(setup, plan, arrays, err) != 0)
		return be_wrap(err, "read back");
	if (be_filesystems_read(setup, plan, filesystems, err) != 0)
		return be_wrap(err, "read back");
	struct be_node *swaps = be_node_seq();
	int rc = be_swaps_read(setup, plan, swaps, err);
	if (swaps->n)
		be_set(setup->layout, "swaps", swaps);
	else
		be_node_free(swaps);
	if (rc != 0)
		return be_wrap(err, "read back");
	return 0;
}

static int make_anew(struct be_setup *setup, const struct be_node *plan, struct be_devices *devices,
		     struct be_error *err)
{
	if (be_wipe_all(setup, plan, devices, err) != 0 || be_arrays_make(setup, plan, err) != 0)
		return -1;
	if (be_sync_wait(setup, plan, err) != 0 || be_filesystems_make(setup, plan, err) != 0)
		return -1;
	return be_filesystems_mount(setup, plan, err);
}

/* From here on devices are written. */
static int make(struct be_setup *setup, const struct be_node *plan, struct be_devices *devices, struct be_error *err)
{
	bool reused = false;
	if (be_pmem_make(setup, devices, err) != 0 || be_arrays_stop_old(setup, devices, err) != 0)
		return -1;
	if (be_reuse_asked(plan) && be_reuse_try(setup, plan, devices, &reused, err) != 0)
		return -1;
	if (!reused && make_anew(setup, plan, devices, err) != 0)
		return -1;
	if (make_directories(plan, err) != 0 || be_swaps_make(setup, plan, err) != 0 ||
	    read_back(setup, plan, devices, err) != 0)
		return -1;
	return be_reuse_asked(plan) && !reused ? be_reuse_mark(setup, plan, err) : 0;
}

/* Loop devices are the only ones that have to be taken down when others are refused. */
static int find_and_check(struct be_setup *setup, const struct be_node *plan, struct be_devices *devices,
			  struct be_error *err)
{
	if (be_loops_attach(setup, plan, err) == 0 &&
	    be_devices_wait(&setup->root, plan, setup->log, devices, err) == 0 &&
	    be_check_devices(setup, plan, devices, err) == 0)
		return 0;
	struct be_error ignored = BE_ERROR_INIT;
	if (be_loops_detach(setup, plan, &ignored) != 0)
		be_setup_log(setup, "undo: %s", ignored.text);
	return -1;
}

int be_setup_run(struct be_setup *setup, const struct be_node *plan, struct be_error *err)
{
	be_autodevices struct be_devices devices = { 0 };
	if (!be_device_is_real(&setup->root))
		return be_fail_usage(err, "%s: a recorded system cannot be set up, only checked", setup->root.prefix);
	if (be_shape_check(plan, err) != 0)
		return -1;
	be_load_run(setup, plan);
	be_load_link_scsi_debug(setup, plan);
	if (find_and_check(setup, plan, &devices, err) != 0)
		return -1;
	be_autonode struct be_node *resolved = be_resolve_plan(setup, plan);
	be_resolve_devices(resolved, &devices);
	if (make(setup, resolved, &devices, err) == 0)
		return 0;
	/* Half a layout helps nobody: what was mounted and assembled is taken down, and the first error stands. */
	struct be_error ignored = BE_ERROR_INIT;
	if (be_setup_undo(setup, plan, &ignored) != 0)
		be_setup_log(setup, "undo: %s", ignored.text);
	return -1;
}

int be_setup_undo(struct be_setup *setup, const struct be_node *plan, struct be_error *err)
{
	if (be_shape_check(plan, err) != 0)
		return -1;
	be_autonode struct be_node *resolved = be_resolve_plan(setup, plan);
	if (be_swaps_off(setup, resolved, err) != 0 || be_filesystems_unmount(setup, resolved, err) != 0 ||
	    be_arrays_stop(setup, resolved, err) != 0)
		return -1;
	return be_loops_detach(setup, resolved, err);
}
