/* Mounting, unmounting and reading back, all by libmount. */
#include <errno.h>
#include <libmount/libmount.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/clock.h"
#include "action.h"
#include "device.h"
#include "features.h"
#include "filesystem.h"
#include "note.h"
#include "resolve.h"
#include "signature.h"
#include "support.h"
#include "units.h"

/* A table of mounts as the kernel has them now; NULL with err set. */
static struct libmnt_table *mounts(struct be_error *err)
{
	struct libmnt_table *table = mnt_new_table_from_file("/proc/self/mountinfo");
	if (!table)
		be_fail_errno(err, errno ? errno : EIO, "/proc/self/mountinfo cannot be read");
	return table;
}

/* The device that is mounted; NULL for tmpfs. */
static const char *first_device(const struct be_node *stanza)
{
	const struct be_node *devices = be_get(stanza, "devices");
	return devices && devices->n && devices->items[0]->kind == BE_SCALAR ? devices->items[0]->text : NULL;
}

static const char *source_of(const struct be_node *stanza)
{
	const char *device = first_device(stanza);
	return device ? device : "none"; /* LKP's own `mount -t tmpfs none DIR` */
}

static char *options_of(const struct be_node *stanza)
{
	be_autostrv struct be_strv list = { 0 };
	be_autobuf struct be_buf b = { 0 };
	be_get_strv(stanza, "options", &list);
	for (size_t i = 0; i < list.n; i++)
		be_buf_addf(&b, "%s%s", i ? "," : "", list.v[i]);
	return be_buf_steal(&b);
}

static int fail_mount(struct libmnt_context *cxt, int rc, const char *what, const char *target, struct be_error *err)
{
	char text[512] = "";
	mnt_context_get_excode(cxt, rc, text, sizeof(text));
	be_fail(err, "%s: cannot be %s: %s", target, what, *text ? text : strerror(rc < 0 ? -rc : rc));
	return be_hint(err, "the kernel's log may say more");
}

static int mount_context(const struct be_node *stanza, const char *target, struct be_error *err)
{
	be_autofree char *options = options_of(stanza);
	struct libmnt_context *cxt = mnt_new_context();
	if (!cxt)
		return be_fail(err, "%s: libmount has no memory", target);
	mnt_context_disable_mtab(cxt, 1);
	mnt_context_disable_helpers(cxt, 1);
	mnt_context_set_optsmode(cxt, MNT_OMODE_NOTAB); /* the image's fstab, if any, says nothing about this */
	mnt_context_set_fstype(cxt, be_get_str(stanza, "kind", ""));
	mnt_context_set_source(cxt, source_of(stanza));
	mnt_context_set_target(cxt, target);
	if (*options)
		mnt_context_set_options(cxt, options);
	int rc = mnt_context_mount(cxt);
	if (rc != 0)
		rc = fail_mount(cxt, rc, "mounted", target, err);
	mnt_free_context(cxt);
	return rc;
}

static const char *libmount_version(char buf[64])
{
	const char *version = NULL;
	mnt_get_library_version(&version);
	snprintf(buf, 64, "libmount %s", version);
	return buf;
}

static int mount_one(struct be_setup *setup, const struct be_node *stanza, struct be_error *err)
{
	const char *target = be_get_str(stanza, "mount", NULL);
	char version[64];
	if (!target)
		return 0;
	if (be_mkdirs(target, 0755, err) != 0)
		return -1;
	be_support_filesystem(setup, be_get_str(stanza, "kind", ""));
	be_setup_log(setup, "mount %s", target);
	double start = be_monotonic();
	int rc = mount_context(stanza, target, err);
	be_action_record(setup, "mount", be_get(stanza, "mount_argv"), be_monotonic() - start, rc != 0,
			 libmount_version(version));
	return rc;
}

int be_filesystems_mount(struct be_setup *setup, const struct be_node *plan, struct be_error *err)
{
	const struct be_node *stanzas = be_get_path(plan, "layout.filesystems");
	for (size_t i = 0; stanzas && i < stanzas->n; i++)
		if (mount_one(setup, stanzas->items[i], err) != 0)
			return -1;
	return 0;
}

static struct be_node *read_mount(struct libmnt_fs *fs, const char *target, struct be_error *err)
{
	struct be_node *node = be_node_map();
	struct statvfs sv;
	be_set_str(node, "mount", target);
	be_set_str(node, "kind", mnt_fs_get_fstype(fs));
	be_set_str(node, "source", mnt_fs_get_source(fs));
	be_set_str(node, "options", mnt_fs_get_vfs_options(fs));
	be_set_str(node, "super_options", mnt_fs_get_fs_options(fs));
	if (statvfs(target, &sv) != 0) {
		be_node_free(node);
		be_fail_errno(err, errno, "%s cannot be asked for its size", target);
		return NULL;
	}
	be_set_int(node, "size", (int64_t)sv.f_blocks * (int64_t)sv.f_frsize);
	be_set_int(node, "block_size", (int64_t)sv.f_bsize);
	return node;
}

/* The kernel writes values in its own way: size=32m is shown as 32768k, compress=zstd as zstd:3, dax as dax=always. */
static bool same_value(const char *wanted, const char *there)
{
	int64_t a, b;
	size_t len = strlen(wanted);
	if (be_parse_size(wanted, &a) && be_parse_size(there, &b))
		return a == b;
	return be_starts(there, wanted) && (there[len] == '\0' || there[len] == ':');
}

bool be_mount_option_there(const char *options, const char *option)
{
	be_autofree char *name = be_strndup(option, strcspn(option, "="));
	const char *wanted = strchr(option, '=');
	char *value = NULL;
	size_t len = 0;
	if (!options || mnt_optstr_get_option(options, name, &value, &len) != 0)
		return false;
	be_autofree char *there = be_strndup(value ? value : "", len);
	return !wanted || same_value(wanted + 1, there);
}

static bool has_option(struct libmnt_fs *fs, const char *option)
{
	/* What the kernel takes as given and does not show: its defaults. */
	static const char *const silent[] = { "defaults" };
	for (size_t i = 0; i < BE_ARRAY_LEN(silent); i++)
		if (strcmp(option, silent[i]) == 0)
			return true;
	return be_mount_option_there(mnt_fs_get_vfs_options(fs), option) ||
	       be_mount_option_there(mnt_fs_get_fs_options(fs), option);
}

/* Is what is mounted of the stanza's kind and from its first device? */
static bool is_planned(const struct be_root *root, const struct be_node *stanza, struct libmnt_fs *fs)
{
	const char *device = first_device(stanza);
	if (!be_streq(mnt_fs_get_fstype(fs), be_get_str(stanza, "kind", NULL)))
		return false;
	if (!device)
		return true;
	be_autofree char *planned = be_device_kernel_name(root, device, NULL);
	be_autofree char *there = be_device_kernel_name(root, mnt_fs_get_source(fs), NULL);
	if (planned || !there || !be_resolve_by_content(device))
		return planned && be_streq(planned, there);
	/* Its name went with its old content: then it is the plan's if it is of our making. */
	be_autofree char *uuid = NULL;
	struct be_error err = BE_ERROR_INIT;
	return be_signature_filesystem(mnt_fs_get_source(fs), be_get_str(stanza, "kind", ""), &uuid, &err) == 0 &&
	       uuid && be_starts(uuid, BE_UUID_PREFIX);
}

static int compare(struct be_setup *setup, const struct be_node *stanza, struct libmnt_fs *fs, struct be_error *err)
{
	const char *target = be_get_str(stanza, "mount", "");
	be_autostrv struct be_strv options = { 0 };
	if (!is_planned(&setup->root, stanza, fs))
		return be_fail(err, "%s: %s of %s planned, mounted is %s of %s", target,
			       be_get_str(stanza, "kind", "?"), source_of(stanza), mnt_fs_get_fstype(fs),
			       mnt_fs_get_source(fs));
	be_get_strv(stanza, "options", &options);
	for (size_t i = 0; i < options.n; i++)
		if (!has_option(fs, options.v[i]))
			be_deviation(setup->deviations, "fs.mount_options",
				     "%s: option %s planned, the kernel shows %s,%s", target, options.v[i],
				     mnt_fs_get_vfs_options(fs),
				     mnt_fs_get_fs_options(fs) ? mnt_fs_get_fs_options(fs) : "");
	return 0;
}

static int read_superblock(struct be_setup *setup, const struct be_node *stanza, const char *device,
			   struct be_node *node, struct be_error *err)
{
	be_autofree char *uuid = NULL;
	be_autofree char *kernel = be_device_kernel_name(&setup->root, device, NULL);
	if (be_signature_filesystem(device, be_get_str(stanza, "kind", ""), &uuid, err) != 0)
		return -1;
	be_set_str(node, "uuid", uuid);
	be_features_read(setup, stanza, kernel, uuid, node);
	return 0;
}

static int read_one(struct be_setup *setup, const struct be_node *stanza, struct libmnt_table *table,
		    struct be_node *out, struct be_error *err)
{
	const char *target = be_get_str(stanza, "mount", "");
	struct libmnt_fs *fs = mnt_table_find_target(table, target, MNT_ITER_BACKWARD);
	if (!fs)
		return be_fail(err, "%s: nothing is mounted there", target);
	struct be_node *node = read_mount(fs, target, err);
	if (!node)
		return -1;
	be_add(out, node);
	const char *device = first_device(stanza);
	if (device && read_superblock(setup, stanza, device, node, err) != 0)
		return -1;
	if (compare(setup, stanza, fs, err) != 0)
		return -1;
	if (device)
		be_features_compare(setup, stanza, node);
	return 0;
}

int be_filesystems_read(struct be_setup *setup, const struct be_node *plan, struct be_node *out, struct be_error *err)
{
	const struct be_node *stanzas = be_get_path(plan, "layout.filesystems");
	struct libmnt_table *table = mounts(err);
	if (!table)
		return -1;
	int rc = 0;
	for (size_t i = 0; rc == 0 && stanzas && i < stanzas->n; i++)
		if (be_get(stanzas->items[i], "mount"))
			rc = read_one(setup, stanzas->items[i], table, out, err);
	mnt_unref_table(table);
	return rc;
}

static int unmount(struct be_setup *setup, const char *target, struct be_error *err)
{
	struct libmnt_context *cxt = mnt_new_context();
	if (!cxt)
		return be_fail(err, "%s: libmount has no memory", target);
	char version[64];
	double start = be_monotonic();
	mnt_context_disable_mtab(cxt, 1);
	mnt_context_disable_helpers(cxt, 1);
	mnt_context_set_target(cxt, target);
	int rc = mnt_context_umount(cxt);
	if (rc != 0)
		rc = fail_mount(cxt, rc, "unmounted", target, err);
	mnt_free_context(cxt);
	be_autonode struct be_node *argv = be_node_seq();
	be_add_str(argv, "umount");
	be_add_str(argv, target);
	be_action_record(setup, "umount", argv, be_monotonic() - start, rc != 0, libmount_version(version));
	return rc;
}

int be_filesystems_unmount(struct be_setup *setup, const struct be_node *plan, struct be_error *err)
{
	const struct be_node *stanzas = be_get_path(plan, "layout.filesystems");
	struct libmnt_table *table = mounts(err);
	if (!table)
		return -1;
	int rc = 0;
	for (size_t i = stanzas ? stanzas->n : 0; rc == 0 && i-- > 0;) {
		const char *target = be_get_str(stanzas->items[i], "mount", NULL);
		struct libmnt_fs *fs = target ? mnt_table_find_target(table, target, MNT_ITER_BACKWARD) : NULL;
		if (fs && is_planned(&setup->root, stanzas->items[i], fs))
			rc = unmount(setup, target, err);
	}
	mnt_unref_table(table);
	return rc;
}
