#include "shape.h"

#include <string.h>

/* What the stanzas may name: paths of devices and arrays. */
struct names {
	struct be_strv devices, all;
};

static int fail_at(const struct be_node *node, struct be_error *err, const char *text)
{
	const char *where = node ? be_where(node) : "";
	return be_fail_usage(err, "%s%s%s", where, *where ? ": " : "", text);
}

static int check_document(const struct be_node *plan, struct be_error *err)
{
	if (!be_streq(be_get_str(plan, "mkbenchenv", NULL), "plan")) {
		fail_at(plan, err, "this is no plan: it does not begin with `mkbenchenv: plan`");
		return be_hint(err, "mkbenchenv plan JOB prints one");
	}
	if (be_get_int(plan, "schema", 0) != 1)
		return fail_at(plan, err, "the plan's schema is not 1: it is of another mkbenchenv");
	const struct be_node *layout = be_get(plan, "layout");
	if (!layout || layout->kind != BE_MAP)
		return fail_at(plan, err, "the plan has no layout:");
	return 0;
}

/* A list of maps, or nothing at all. */
static int check_list(const struct be_node *layout, const char *key, struct be_error *err)
{
	const struct be_node *list = be_get(layout, key);
	be_autofree char *text = be_strf("layout.%s is no list of maps", key);
	if (!list)
		return 0;
	if (list->kind != BE_SEQ)
		return fail_at(list, err, text);
	for (size_t i = 0; i < list->n; i++)
		if (list->items[i]->kind != BE_MAP)
			return fail_at(list->items[i], err, text);
	return 0;
}

static int check_text(const struct be_node *stanza, const char *key, const char *what, struct be_error *err)
{
	const char *text = be_get_str(stanza, key, NULL);
	be_autofree char *message = be_strf("%s has no %s:", what, key);
	return text && *text ? 0 : fail_at(stanza, err, message);
}

static bool plain_path(const char *path)
{
	return *path == '/' && !strstr(path, "/../") && !be_ends(path, "/..");
}

static int check_devices(const struct be_node *list, struct names *names, struct be_error *err)
{
	be_autostrv struct be_strv seen = { 0 };
	for (size_t i = 0; list && i < list->n; i++) {
		const struct be_node *device = list->items[i];
		if (check_text(device, "name", "a device", err) != 0 ||
		    check_text(device, "kind", "a device", err) != 0 ||
		    check_text(device, "path", "a device", err) != 0)
			return -1;
		const char *name = be_get_str(device, "name", ""), *path = be_get_str(device, "path", "");
		if (be_strv_has(&seen, name))
			return fail_at(device, err, "two devices have this name");
		if (!be_starts(path, "/dev/") || !plain_path(path))
			return fail_at(device, err, "path: is not below /dev");
		const char *file = be_get_str(device, "file", NULL);
		if (file && (!plain_path(file) || be_starts(file, "/dev/") || !be_starts(path, "/dev/loop") ||
			     be_get_int(device, "size", 0) <= 0))
			return fail_at(device, err, "file: is for a loop device with a size:");
		be_strv_add(&seen, name);
		be_strv_add(&names->devices, path);
		be_strv_add(&names->all, path);
	}
	return 0;
}

static int check_names(const struct be_node *stanza, const char *key, const struct be_strv *known, struct be_error *err)
{
	be_autostrv struct be_strv paths = { 0 };
	be_get_strv(stanza, key, &paths);
	for (size_t i = 0; i < paths.n; i++)
		if (!be_strv_has(known, paths.v[i]))
			return be_fail_usage(err, "%s: %s: %s is none of the plan's devices", be_where(stanza), key,
					     paths.v[i]);
	return 0;
}

/* The command is one of @tool's (or TOOL.KIND) and every device file in it is known. */
static int check_command(const struct be_node *stanza, const char *key, const char *tool, const struct be_strv *known,
			 struct be_error *err)
{
	be_autostrv struct be_strv argv = { 0 };
	be_autofree char *prefix = be_strf("%s.", tool);
	be_get_strv(stanza, key, &argv);
	if (argv.n && strcmp(argv.v[0], tool) != 0 && !be_starts(argv.v[0], prefix))
		return be_fail_usage(err, "%s: %s: is run, %s is expected", be_where(stanza), argv.v[0], tool);
	for (size_t i = 1; i < argv.n; i++) {
		const char *at = strstr(argv.v[i], "/dev/");
		if (at && !be_strv_has(known, at))
			return be_fail_usage(err, "%s: %s: %s is none of the plan's devices", be_where(stanza), key,
					     at);
	}
	return 0;
}

static int check_arrays(const struct be_node *list, struct names *names, struct be_error *err)
{
	for (size_t i = 0; list && i < list->n; i++) {
		const struct be_node *array = list->items[i], *argv = be_get(array, "argv");
		const char *name = be_get_str(array, "name", "");
		if (check_text(array, "name", "an array", err) != 0 || check_text(array, "level", "an array", err) != 0)
			return -1;
		if (!be_starts(name, "md") || strspn(name + 2, "0123456789") != strlen(name + 2) || !name[2])
			return fail_at(array, err, "an array's name: is md and a number");
		if (!argv || argv->kind != BE_SEQ || !argv->n)
			return fail_at(array, err, "an array has no argv:");
		be_autofree char *path = be_strf("/dev/%s", name);
		be_strv_add(&names->all, path);
		if (check_names(array, "members", &names->devices, err) != 0 ||
		    check_command(array, "argv", "mdadm", &names->all, err) != 0)
			return -1;
	}
	return 0;
}

static int check_filesystems(const struct be_node *list, const struct names *names, struct be_error *err)
{
	for (size_t i = 0; list && i < list->n; i++) {
		const struct be_node *fs = list->items[i], *mount = be_get(fs, "mount");
		if (check_text(fs, "kind", "a file system", err) != 0 ||
		    check_names(fs, "devices", &names->all, err) != 0 ||
		    check_command(fs, "mkfs", "mkfs", &names->all, err) != 0)
			return -1;
		if (mount && (mount->kind != BE_SCALAR || !plain_path(mount->text) || !mount->text[1]))
			return fail_at(fs, err, "mount: is no absolute path below /");
	}
	return 0;
}

/* A swap file lies in one of the plan's own file systems. */
static bool below_a_mount(const struct be_node *layout, const char *path)
{
	const struct be_node *list = be_get(layout, "filesystems");
	for (size_t i = 0; list && i < list->n; i++) {
		const char *mount = be_get_str(list->items[i], "mount", NULL);
		if (mount && be_starts(path, mount) && path[strlen(mount)] == '/')
			return plain_path(path);
	}
	return false;
}

static int check_swaps(const struct be_node *layout, const struct names *names, struct be_error *err)
{
	const struct be_node *list = be_get(layout, "swaps");
	for (size_t i = 0; list && i < list->n; i++) {
		const struct be_node *swap = list->items[i];
		const char *file = be_get_str(swap, "file", NULL);
		be_autostrv struct be_strv argv = { 0 };
		be_get_strv(swap, "mkswap", &argv);
		if ((file != NULL) == (be_get(swap, "device") != NULL))
			return fail_at(swap, err, "a swap has either device: or file:");
		if (file && (!below_a_mount(layout, file) || be_get_int(swap, "size", 0) <= 0))
			return fail_at(swap, err, "file: is not below a mount point of the plan, or has no size:");
		if (!argv.n || strcmp(argv.v[argv.n - 1], file ? file : be_get_str(swap, "device", "")) != 0)
			return fail_at(swap, err, "mkswap: does not end with the device or file");
		if (check_names(swap, "device", &names->all, err) != 0 ||
		    check_command(swap, "mkswap", "mkswap", &names->all, err) != 0)
			return -1;
	}
	return 0;
}

static int check_load(const struct be_node *list, struct be_error *err)
{
	if (list && list->kind != BE_SEQ)
		return fail_at(list, err, "layout.load is no list of commands");
	for (size_t i = 0; list && i < list->n; i++) {
		const struct be_node *argv = list->items[i];
		if (argv->kind != BE_SEQ || !argv->n || !be_streq(argv->items[0]->text, "modprobe"))
			return fail_at(argv, err, "layout.load: a command is a list that begins with modprobe");
	}
	return 0;
}

int be_shape_check(const struct be_node *plan, struct be_error *err)
{
	struct names names = { 0 };
	const struct be_node *layout = be_get(plan, "layout");
	if (check_document(plan, err) != 0 || check_list(layout, "devices", err) != 0 ||
	    check_list(layout, "arrays", err) != 0 || check_list(layout, "filesystems", err) != 0 ||
	    check_list(layout, "swaps", err) != 0 || check_load(be_get(layout, "load"), err) != 0)
		return -1;
	int rc = check_devices(be_get(layout, "devices"), &names, err);
	if (rc == 0)
		rc = check_arrays(be_get(layout, "arrays"), &names, err);
	if (rc == 0)
		rc = check_filesystems(be_get(layout, "filesystems"), &names, err);
	if (rc == 0)
		rc = check_swaps(layout, &names, err);
	be_strv_free(&names.devices);
	be_strv_free(&names.all);
	return rc;
}
