#include "load.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "action.h"
#include "device.h"
#include "note.h"

#define LOAD_TIMEOUT 60.0       /* seconds for one command */
#define SCSI_DEBUG_TIMEOUT 10.0 /* seconds until its disks are there */
#define SCSI_DEBUG_LINK "/dev/disk/by-id/scsi-scsi_debug-"

/* What the kernel made of `modprobe MODULE KEY=VALUE`: nothing, when it is built in or was there already. */
static void compare_parameter(struct be_setup *setup, const char *module, const char *word)
{
	const char *equals = strchr(word, '=');
	if (!equals || be_starts(word, "add_host=")) /* scsi_debug: an order, its value reads as something else */
		return;
	be_autofree char *path = be_strf("/sys/module/%s/parameters/%.*s", module, (int)(equals - word), word);
	be_autofree char *there = be_root_text(&setup->root, path);
	bool truth = be_streq(there, "Y") || be_streq(there, "N"); /* how the kernel shows one that was set by 1 or 0 */
	const char *wanted = !truth ? equals + 1 : strcmp(equals + 1, "1") == 0 ? "Y" : "N";
	if (there && strcmp(there, wanted) != 0)
		be_deviation(setup->deviations, "layout.load", "module %s: %s asked, the kernel has %s", module, word,
			     there);
}

static void run_one(struct be_setup *setup, const struct be_strv *argv)
{
	struct be_error err = BE_ERROR_INIT;
	if (be_action_run(setup, "load", argv, LOAD_TIMEOUT, &err) != 0) {
		be_deviation(setup->deviations, "layout.load", "%s", err.text);
		return;
	}
	for (size_t i = 2; i < argv->n && strcmp(argv->v[0], "modprobe") == 0; i++)
		compare_parameter(setup, argv->v[1], argv->v[i]);
}

void be_load_run(struct be_setup *setup, const struct be_node *plan)
{
	const struct be_node *commands = be_get_path(plan, "layout.load");
	for (size_t i = 0; commands && i < commands->n; i++) {
		be_autostrv struct be_strv argv = { 0 };
		for (size_t j = 0; j < commands->items[i]->n; j++)
			if (commands->items[i]->items[j]->kind == BE_SCALAR)
				be_strv_add(&argv, commands->items[i]->items[j]->text);
		if (argv.n)
			run_one(setup, &argv);
	}
}

static bool names(const struct be_node *argv, const char *module)
{
	for (size_t i = 1; argv && i < argv->n; i++)
		if (be_streq(argv->items[i]->text, module))
			return true;
	return false;
}

bool be_load_names(const struct be_node *plan, const char *module)
{
	const struct be_node *commands = be_get_path(plan, "layout.load");
	for (size_t i = 0; commands && i < commands->n; i++)
		if (names(commands->items[i], module))
			return true;
	return false;
}

bool be_load_is_fresh(const struct be_setup *setup, const char *module)
{
	bool loaded = false;
	for (size_t i = 0; i < setup->actions->n; i++) {
		const struct be_node *action = setup->actions->items[i];
		if (!be_streq(be_get_str(action, "what", NULL), "load") || !names(be_get(action, "argv"), module))
			continue;
		if (be_get_int(action, "status", -1) != 0)
			return false;
		loaded = true;
	}
	return loaded;
}

/* Kernel names of scsi_debug's disks in the order of their SCSI addresses (H:C:T:L, T counts). */
static void list_scsi_debug(const struct be_root *root, struct be_strv *kernels)
{
	be_autostrv struct be_strv all = { 0 }, ordered = { 0 };
	if (be_root_list(root, "/sys/class/scsi_disk", &all) != 0)
		return;
	for (size_t i = 0; i < all.n; i++) {
		unsigned host, channel, target, lun;
		be_autofree char *path = be_strf("/sys/class/scsi_disk/%s/device/model", all.v[i]);
		be_autofree char *model = be_root_text(root, path);
		if (be_streq(model, "scsi_debug") &&
		    sscanf(all.v[i], "%u:%u:%u:%u", &host, &channel, &target, &lun) == 4)
			be_strv_addf(&ordered, "%08u %08u %08u %08u %s", host, channel, target, lun, all.v[i]);
	}
	be_strv_sort_unique(&ordered);
	for (size_t i = 0; i < ordered.n; i++) {
		be_autostrv struct be_strv block = { 0 };
		be_autofree char *path =
			be_strf("/sys/class/scsi_disk/%s/device/block", strrchr(ordered.v[i], ' ') + 1);
		if (be_root_list(root, path, &block) == 0 && block.n)
			be_strv_add(kernels, block.v[0]);
	}
}

static size_t count_planned(const struct be_node *plan)
{
	const struct be_node *devices = be_get_path(plan, "layout.devices");
	size_t n = 0;
	for (size_t i = 0; devices && i < devices->n; i++)
		n += be_starts(be_get_str(devices->items[i], "path", ""), SCSI_DEBUG_LINK);
	return n;
}

void be_load_link_scsi_debug(struct be_setup *setup, const struct be_node *plan)
{
	be_autostrv struct be_strv kernels = { 0 };
	struct be_error err = BE_ERROR_INIT;
	size_t planned = count_planned(plan);
	if (!planned)
		return;
	for (double start = be_monotonic(); be_monotonic() - start < SCSI_DEBUG_TIMEOUT;) {
		be_strv_free(&kernels);
		list_scsi_debug(&setup->root, &kernels);
		if (kernels.n >= planned)
			break;
		be_pause(50);
	}
	if (be_mkdirs("/dev/disk/by-id", 0755, &err) != 0)
		be_setup_log(setup, "%s", err.text);
	for (size_t i = 0; i < kernels.n && i < planned; i++) {
		be_autofree char *link = be_strf(SCSI_DEBUG_LINK "%zu", i);
		be_autofree char *target = be_strf("../../%s", kernels.v[i]);
		if (symlink(target, link) != 0 && errno != EEXIST)
			be_setup_log(setup, "%s: %s", link, strerror(errno));
	}
}
