/* Devices arrive late: what the plan names is waited for, and what does not come is named with what is there. */
#include <string.h>

#include "base/clock.h"
#include "device.h"

#define WAIT_DEFAULT 300 /* seconds; LKP's own limit since 2024-01-25 */
#define LIST_MAX 24      /* names in a message */

static void list_missing(const struct be_root *root, const struct be_node *stanzas, struct be_strv *missing)
{
	for (size_t i = 0; stanzas && i < stanzas->n; i++) {
		const char *path = be_get_str(stanzas->items[i], "path", "");
		be_autofree char *kernel = be_device_kernel_name(root, path, NULL);
		if (!kernel)
			be_strv_addf(missing, "%s %s", be_get_str(stanzas->items[i], "name", "?"), path);
	}
}

static void add_capped(struct be_buf *b, const struct be_strv *list)
{
	for (size_t i = 0; i < list->n && i < LIST_MAX; i++)
		be_buf_addf(b, "%s%s", i ? ", " : "", list->v[i]);
	if (list->n > LIST_MAX)
		be_buf_addf(b, " and %zu more", list->n - LIST_MAX);
}

/* The names of /dev/disk/by-id that stand for disks, and the whole disks with their sizes. */
static void list_present(const struct be_root *root, struct be_strv *ids, struct be_strv *disks)
{
	be_autostrv struct be_strv all = { 0 };
	if (be_root_list(root, "/dev/disk/by-id", ids) != 0)
		be_strv_free(ids);
	if (be_root_list(root, "/sys/class/block", &all) != 0)
		return;
	for (size_t i = 0; i < all.n; i++) {
		be_autofree char *partition = be_strf("/sys/class/block/%s/partition", all.v[i]);
		if (!be_root_exists(root, partition) && be_device_size(root, all.v[i]) > 0)
			be_strv_take(disks, be_device_describe(root, all.v[i]));
	}
}

static int fail_missing(const struct be_root *root, const struct be_strv *missing, int64_t limit, struct be_error *err)
{
	be_autobuf struct be_buf text = { 0 };
	be_autostrv struct be_strv ids = { 0 }, disks = { 0 };
	list_present(root, &ids, &disks);
	add_capped(&text, missing);
	be_buf_addf(&text, " did not appear within %lld s. There is: ", (long long)limit);
	add_capped(&text, &disks);
	if (!disks.n)
		be_buf_adds(&text, "no disk at all");
	if (ids.n) {
		be_buf_adds(&text, "; by-id: ");
		add_capped(&text, &ids);
	}
	be_fail(err, "%s", text.data);
	return be_hint(err,
		       "correct the host file's disk names, or see whether the controller's driver is in the image");
}

static int identify_all(const struct be_root *root, const struct be_node *plan, const struct be_node *stanzas,
			struct be_devices *devices, struct be_error *err)
{
	devices->v = be_realloc(NULL, stanzas->n + 1, sizeof(*devices->v));
	memset(devices->v, 0, (stanzas->n + 1) * sizeof(*devices->v));
	for (size_t i = 0; i < stanzas->n; i++) {
		devices->n = i + 1;
		if (be_device_identify(root, plan, stanzas->items[i], &devices->v[i], err) != 0)
			return -1;
	}
	return 0;
}

int be_devices_wait(const struct be_root *root, const struct be_node *plan, void (*log)(const char *line),
		    struct be_devices *devices, struct be_error *err)
{
	const struct be_node *layout = be_get(plan, "layout");
	const struct be_node *stanzas = be_get(layout, "devices");
	int64_t limit = be_get_int(layout, "wait", WAIT_DEFAULT);
	double start = be_monotonic(), told = start;
	if (!stanzas || stanzas->kind != BE_SEQ)
		return 0;
	for (;;) {
		be_autostrv struct be_strv missing = { 0 };
		list_missing(root, stanzas, &missing);
		if (!missing.n)
			return identify_all(root, plan, stanzas, devices, err);
		if (be_monotonic() - start >= (double)limit)
			return fail_missing(root, &missing, limit, err);
		if (log && be_monotonic() - told >= 10) {
			be_autofree char *line = be_strf("waiting for %s (%zu missing)", missing.v[0], missing.n);
			log(line);
			told = be_monotonic();
		}
		be_pause(50);
	}
}
