#include "reuse.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "action.h"
#include "array.h"
#include "filesystem.h"
#include "note.h"
#include "signature.h"
#include "support.h"
#include "sync.h"

#define TOOL_TIMEOUT 120.0           /* seconds */
#define LABEL_COMPLETE "benchenv-ok" /* XFS takes 12 bytes */

bool be_reuse_asked(const struct be_node *plan)
{
	return be_streq(be_get_str(be_get(plan, "layout"), "earlier", NULL), "reuse");
}

/* Why a layout is not reused: kept as text, for it is no failure. */
static bool no(char **why, char *text)
{
	free(*why);
	*why = text;
	for (char *p = text; *p; p++) /* what a tool said has lines of its own */
		*p = *p == '\n' ? ' ' : *p;
	return false;
}

static bool carries(const struct be_signature *list, size_t n, const char *type, const char *uuid, const char *label)
{
	for (size_t i = 0; i < n; i++)
		if (be_streq(list[i].type, type) && be_streq(list[i].uuid, uuid) &&
		    (!label || be_streq(list[i].label, label)))
			return true;
	return false;
}

static const struct be_device *find_device(const struct be_devices *devices, const char *path)
{
	for (size_t i = 0; i < devices->n; i++)
		if (be_streq(devices->v[i].path, path))
			return &devices->v[i];
	return NULL;
}

static bool members_are_ours(const struct be_node *array, const struct be_devices *devices, const char *uuid,
			     char **why)
{
	be_autostrv struct be_strv members = { 0 };
	be_get_strv(array, "members", &members);
	for (size_t i = 0; i < members.n; i++) {
		const struct be_device *d = find_device(devices, members.v[i]);
		if (!d || !carries(d->signatures, d->nsignatures, "linux_raid_member", uuid, NULL))
			return no(why, be_strf("%s carries no member of this array", members.v[i]));
	}
	return true;
}

static bool assemble(struct be_setup *setup, const struct be_node *array, const struct be_devices *devices, char **why)
{
	be_autostrv struct be_strv argv = { 0 };
	struct be_error err = BE_ERROR_INIT;
	char uuid[37];
	be_array_uuid(array, uuid);
	if (!members_are_ours(array, devices, uuid, why))
		return false;
	be_support_level(setup, be_get_str(array, "level", ""));
	be_strv_split(&argv, "mdadm -q --assemble", " ");
	be_strv_addf(&argv, "/dev/%s", be_get_str(array, "name", "md0"));
	be_strv_addf(&argv, "--uuid=%s", uuid);
	be_get_strv(array, "members", &argv);
	if (be_action_run(setup, "assemble", &argv, TOOL_TIMEOUT, &err) != 0 || be_array_wait(setup, array, &err) != 0)
		return no(why, be_strdup(err.text));
	return true;
}

static bool filesystem_is_whole(const struct be_root *root, const struct be_node *stanza, char **why)
{
	struct be_devices probed = { .v = be_alloc(sizeof(*probed.v)), .n = 1 };
	be_autostrv struct be_strv paths = { 0 };
	struct be_error err = BE_ERROR_INIT;
	char uuid[37];
	be_get_strv(stanza, "devices", &paths);
	be_filesystem_uuid(stanza, uuid);
	be_autofree char *node = NULL, *kernel = paths.n ? be_device_kernel_name(root, paths.v[0], &node) : NULL;
	bool whole = false;
	if (!kernel)
		no(why, be_strf("%s is not there", paths.n ? paths.v[0] : "a device"));
	else if (be_signature_probe(&probed.v[0], node, &err) != 0)
		no(why, be_strdup(err.text));
	else if (!carries(probed.v[0].signatures, probed.v[0].nsignatures, be_get_str(stanza, "kind", ""), uuid, NULL))
		no(why, be_strf("%s does not carry what this mkfs command makes", paths.v[0]));
	else if (!carries(probed.v[0].signatures, probed.v[0].nsignatures, be_get_str(stanza, "kind", ""), uuid,
			  LABEL_COMPLETE))
		no(why, be_strf("the file system on %s has no mark of having been made to the end", paths.v[0]));
	else if (probed.v[0].nsignatures != 1)
		no(why, be_strf("%s carries something beside its file system", paths.v[0]));
	else
		whole = true;
	be_devices_free(&probed);
	return whole;
}

/* A btrfs on several devices mounts when the kernel has seen all of them in this boot. */
static bool scan(struct be_setup *setup, const struct be_node *stanza, char **why)
{
	be_autostrv struct be_strv argv = { 0 }, devices = { 0 };
	struct be_error err = BE_ERROR_INIT;
	be_get_strv(stanza, "devices", &devices);
	if (devices.n < 2 || !be_streq(be_get_str(stanza, "kind", NULL), "btrfs"))
		return true;
	be_strv_split(&argv, "btrfs device scan", " ");
	be_strv_add_all(&argv, &devices);
	return be_action_run(setup, "scan", &argv, TOOL_TIMEOUT, &err) == 0 || no(why, be_strdup(err.text));
}

/* What the read-back finds is no deviation of this run when the layout is made anew after all. */
static bool reads_back(struct be_setup *setup, const struct be_node *plan, bool filesystems, char **why)
{
	be_autonode struct be_node *scratch = be_node_seq();
	struct be_error err = BE_ERROR_INIT;
	struct be_node *kept = setup->deviations, *found = be_node_seq();
	setup->deviations = found;
	int rc = filesystems ? be_filesystems_read(setup, plan, scratch, &err)
			     : be_arrays_read(setup, plan, scratch, &err);
	setup->deviations = kept;
	if (rc != 0)
		no(why, be_strdup(err.text));
	else if (found->n)
		no(why, be_strdup(be_get_str(found->items[0], "text", "it differs")));
	bool same = rc == 0 && !found->n;
	be_node_free(found);
	return same;
}

static bool bring_up(struct be_setup *setup, const struct be_node *plan, const struct be_devices *devices, char **why)
{
	const struct be_node *arrays = be_get_path(plan, "layout.arrays");
	const struct be_node *filesystems = be_get_path(plan, "layout.filesystems");
	struct be_error err = BE_ERROR_INIT;
	for (size_t i = 0; arrays && i < arrays->n; i++)
		if (!assemble(setup, arrays->items[i], devices, why))
			return false;
	if (be_sync_wait(setup, plan, &err) != 0)
		return no(why, be_strdup(err.text));
	if (!reads_back(setup, plan, false, why))
		return false;
	for (size_t i = 0; filesystems && i < filesystems->n; i++)
		if (be_get(filesystems->items[i], "devices") &&
		    (!filesystem_is_whole(&setup->root, filesystems->items[i], why) ||
		     !scan(setup, filesystems->items[i], why)))
			return false;
	if (be_filesystems_mount(setup, plan, &err) != 0)
		return no(why, be_strdup(err.text));
	return reads_back(setup, plan, true, why);
}

int be_reuse_try(struct be_setup *setup, const struct be_node *plan, const struct be_devices *devices, bool *reused,
		 struct be_error *err)
{
	be_autofree char *why = NULL;
	*reused = bring_up(setup, plan, devices, &why);
	if (*reused) {
		be_set_str(setup->layout, "earlier", "reused");
		return 0;
	}
	be_setup_log(setup, "made anew: %s", why);
	be_set(setup->layout, "earlier", be_node_strf("made anew: %s", why));
	if (be_filesystems_unmount(setup, plan, err) != 0)
		return -1;
	return be_arrays_stop(setup, plan, err);
}

static int mark(struct be_setup *setup, const char *target, struct be_error *err)
{
	char label[FSLABEL_MAX] = LABEL_COMPLETE;
	be_autofd int fd = open(target, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	double start = be_monotonic();
	if (fd < 0 || syncfs(fd) != 0)
		return be_fail_errno(err, errno, "%s cannot be written to its device", target);
	int rc = ioctl(fd, FS_IOC_SETFSLABEL, label), errnum = errno;
	if (rc == 0 && syncfs(fd) != 0)
		return be_fail_errno(err, errno, "%s cannot be written to its device", target);
	be_autonode struct be_node *argv = be_node_seq();
	be_add_str(argv, "FS_IOC_SETFSLABEL");
	be_add_str(argv, target);
	be_add_str(argv, LABEL_COMPLETE);
	be_action_record(setup, "mark", argv, be_monotonic() - start, rc != 0, "the kernel");
	if (rc != 0)
		be_deviation(setup->deviations, "layout.earlier",
			     "%s takes no mark of having been made to the end (%s): it will not be reused", target,
			     strerror(errnum));
	return 0;
}

int be_reuse_mark(struct be_setup *setup, const struct be_node *plan, struct be_error *err)
{
	const struct be_node *filesystems = be_get_path(plan, "layout.filesystems");
	for (size_t i = 0; filesystems && i < filesystems->n; i++) {
		const char *target = be_get_str(filesystems->items[i], "mount", NULL);
		if (target && be_get(filesystems->items[i], "devices") && mark(setup, target, err) != 0)
			return -1;
	}
	return 0;
}
