#include "wipe.h"

#include <blkid/blkid.h>

#include "base/clock.h"
#include "action.h"
#include "note.h"
#include "signature.h"

static int wipe(struct be_setup *setup, const char *path, const char *node, struct be_error *err)
{
	be_autostrv struct be_strv wiped = { 0 };
	double start = be_monotonic();
	int rc = be_signature_wipe(node, &wiped, err);
	if (rc == 0 && !wiped.n)
		return 0;
	const char *library = NULL;
	blkid_get_library_version(&library, NULL);
	be_autofree char *version = be_strf("libblkid %s", library);
	be_autonode struct be_node *argv = be_node_seq();
	be_add_str(argv, "blkid_do_wipe");
	be_add_str(argv, path);
	for (size_t i = 0; i < wiped.n; i++) {
		be_setup_log(setup, "%s: %s erased", path, wiped.v[i]);
		be_add_str(argv, wiped.v[i]);
	}
	be_action_record(setup, "wipe", argv, be_monotonic() - start, rc != 0, version);
	return rc;
}

int be_wipe_device(struct be_setup *setup, const char *path, struct be_error *err)
{
	return wipe(setup, path, path, err);
}

static void add_paths(const struct be_node *stanzas, const char *key, struct be_strv *paths)
{
	for (size_t i = 0; stanzas && i < stanzas->n; i++)
		be_get_strv(stanzas->items[i], key, paths);
}

int be_wipe_all(struct be_setup *setup, const struct be_node *plan, struct be_devices *devices, struct be_error *err)
{
	be_autostrv struct be_strv used = { 0 };
	add_paths(be_get_path(plan, "layout.arrays"), "members", &used);
	add_paths(be_get_path(plan, "layout.filesystems"), "devices", &used);
	add_paths(be_get_path(plan, "layout.swaps"), "device", &used);
	for (size_t i = 0; i < devices->n; i++) {
		const struct be_device *d = &devices->v[i];
		/* What the checks found empty is not opened for writing, which would have udev look at it again. */
		bool empty = !d->nsignatures && !d->namespace;
		if (!empty && be_strv_has(&used, d->path) && wipe(setup, d->path, d->node, err) != 0)
			return be_wrap(err, "%s", d->name);
	}
	return 0;
}
