#include "initrd/observe/scopes.h"

#include <string.h>

#include "disk-setup/device.h"

char *be_kernel_name(const struct be_root *root, const char *path)
{
	be_autofree char *real = be_root_real(root, path);
	const char *name = real ? strrchr(real, '/') : NULL;
	return name && name[1] ? be_strdup(name + 1) : NULL;
}

static struct be_instance *add(struct be_instances *list, const char *key)
{
	list->v = be_realloc(list->v, list->n + 1, sizeof(*list->v));
	struct be_instance *at = &list->v[list->n++];
	*at = (struct be_instance){ .key = be_strdup(key) };
	return at;
}

static bool has_kernel(const struct be_instances *list, const char *kernel)
{
	for (size_t i = 0; i < list->n; i++)
		if (be_streq(list->v[i].kernel, kernel))
			return true;
	return false;
}

static char *device_disk(const struct be_root *root, const struct be_node *device, const struct be_node *found)
{
	const char *name = be_get_str(device, "name", "");
	const char *known = be_get_str(be_get(found, name), "kernel", NULL);
	be_autofree char *kernel = known ? be_strdup(known) : be_kernel_name(root, be_get_str(device, "path", ""));
	if (!kernel)
		return NULL;
	return be_device_whole(root, kernel);
}

static void load_disks(struct be_scopes *scopes, const struct be_root *root, const struct be_node *layout,
		       const struct be_node *found)
{
	struct be_instances *disks = &scopes->of[BE_SCOPE_DISK];
	const struct be_node *devices = be_get(layout, "devices");
	for (size_t i = 0; devices && i < devices->n; i++) {
		be_autofree char *disk = device_disk(root, devices->items[i], found);
		if (disk && has_kernel(disks, disk))
			continue;
		struct be_instance *at = add(disks, be_get_str(devices->items[i], "name", "?"));
		at->kind = be_strdup(be_get_str(devices->items[i], "kind", NULL));
		at->kernel = be_steal(&disk);
	}
}

/* Arrays are disks too: a stacked device has queue attributes of its own. */
static void load_arrays(struct be_scopes *scopes, const struct be_root *root, const struct be_node *layout)
{
	const struct be_node *arrays = be_get(layout, "arrays");
	for (size_t i = 0; arrays && i < arrays->n; i++) {
		const char *name = be_get_str(arrays->items[i], "name", "md0");
		be_autofree char *path = be_strf("/dev/%s", name);
		be_autofree char *kernel = be_kernel_name(root, path);
		const enum be_scope both[] = { BE_SCOPE_DISK, BE_SCOPE_MD };
		for (size_t s = 0; s < BE_ARRAY_LEN(both); s++) {
			struct be_instance *at = add(&scopes->of[both[s]], name);
			at->kind = be_strdup("md");
			at->kernel = be_strdup(kernel);
		}
	}
}

/* The UUID under which a mounted btrfs shows in sysfs. */
static char *btrfs_uuid(const struct be_root *root, const char *kernel)
{
	be_autostrv struct be_strv uuids = { 0 };
	if (!kernel || be_root_list(root, "/sys/fs/btrfs", &uuids) != 0)
		return NULL;
	for (size_t i = 0; i < uuids.n; i++) {
		be_autofree char *device = be_strf("/sys/fs/btrfs/%s/devices/%s", uuids.v[i], kernel);
		if (be_root_exists(root, device))
			return be_strdup(uuids.v[i]);
	}
	return NULL;
}

static const struct be_node *read_back(const struct be_node *layout, const char *mount)
{
	const struct be_node *list = be_get(layout, "filesystems");
	for (size_t i = 0; list && list->kind == BE_SEQ && i < list->n; i++)
		if (be_streq(be_get_str(list->items[i], "mount", NULL), mount))
			return list->items[i];
	return NULL;
}

static void load_filesystems(struct be_scopes *scopes, const struct be_root *root, const struct be_node *layout,
			     const struct be_node *back)
{
	const struct be_node *list = be_get(layout, "filesystems");
	for (size_t i = 0; list && i < list->n; i++) {
		const char *mount = be_get_str(list->items[i], "mount", NULL);
		if (!mount)
			continue;
		struct be_instance *at = add(&scopes->of[BE_SCOPE_FS], mount);
		be_autostrv struct be_strv devices = { 0 };
		be_get_strv(list->items[i], "devices", &devices);
		at->kind = be_strdup(be_get_str(list->items[i], "kind", NULL));
		if (devices.n)
			at->kernel = be_kernel_name(root, devices.v[0]);
		if (devices.n && !at->kernel) /* a name that went with the device's old content */
			at->kernel = be_kernel_name(root, be_get_str(read_back(back, mount), "source", ""));
		at->uuid = be_strdup(be_get_str(read_back(back, mount), "uuid", NULL));
		if (!at->uuid)
			at->uuid = btrfs_uuid(root, at->kernel);
	}
}

static int by_number(const void *a, const void *b)
{
	const struct be_instance *x = a, *y = b;
	long m = strtol(x->key, NULL, 10), n = strtol(y->key, NULL, 10);
	return (m > n) - (m < n);
}

/* The directories @word0, @word1, ... in @path. */
static void load_numbered(struct be_instances *list, const struct be_root *root, const char *path, const char *word)
{
	be_autostrv struct be_strv names = { 0 };
	if (be_root_list(root, path, &names) != 0)
		return;
	for (size_t i = 0; i < names.n; i++) {
		const char *number = names.v[i] + strlen(word);
		if (be_starts(names.v[i], word) && *number && strspn(number, "0123456789") == strlen(number))
			add(list, number);
	}
	if (list->n)
		qsort(list->v, list->n, sizeof(*list->v), by_number);
}

void be_scopes_load(struct be_scopes *scopes, const struct be_root *root, const struct be_node *plan,
		    const struct be_node *found, const struct be_node *layout)
{
	const struct be_node *asked = be_get(plan, "layout");
	*scopes = (struct be_scopes){ .testdir = be_strdup(be_get_str(asked, "testdir", "/")) };
	add(&scopes->of[BE_SCOPE_RUN], NULL);
	load_disks(scopes, root, asked, found);
	load_arrays(scopes, root, asked);
	load_filesystems(scopes, root, asked, layout);
	load_numbered(&scopes->of[BE_SCOPE_CPU], root, "/sys/devices/system/cpu", "cpu");
	load_numbered(&scopes->of[BE_SCOPE_NODE], root, "/sys/devices/system/node", "node");
}

void be_scopes_free(struct be_scopes *scopes)
{
	for (size_t s = 0; s < BE_SCOPE_COUNT; s++) {
		for (size_t i = 0; i < scopes->of[s].n; i++) {
			free(scopes->of[s].v[i].key);
			free(scopes->of[s].v[i].kind);
			free(scopes->of[s].v[i].kernel);
			free(scopes->of[s].v[i].uuid);
		}
		free(scopes->of[s].v);
	}
	free(scopes->testdir);
	*scopes = (struct be_scopes){ 0 };
}

bool be_scope_parse(const char *word, enum be_scope *scope)
{
	static const char *const words[BE_SCOPE_COUNT] = { "run", "disk", "md", "fs", "cpu", "node" };
	*scope = BE_SCOPE_RUN;
	if (!word)
		return true;
	for (size_t i = 0; i < BE_SCOPE_COUNT; i++)
		if (be_streq(words[i], word)) {
			*scope = (enum be_scope)i;
			return true;
		}
	return false;
}

/* The text of placeholder @name; NULL when the instance has none. @known: is it a placeholder at all? */
static const char *lookup(const struct be_scopes *scopes, enum be_scope scope, const struct be_instance *at,
			  const char *name, size_t len, bool *known)
{
	const struct {
		const char *name;
		enum be_scope scope;
		const char *text;
	} table[] = {
		{ "testdir", scope, scopes->testdir }, { "disk", BE_SCOPE_DISK, at->kernel },
		{ "md", BE_SCOPE_MD, at->kernel },     { "fs", BE_SCOPE_FS, at->key },
		{ "fsdev", BE_SCOPE_FS, at->kernel },  { "fsuuid", BE_SCOPE_FS, at->uuid },
		{ "cpu", BE_SCOPE_CPU, at->key },      { "node", BE_SCOPE_NODE, at->key },
	};
	for (size_t i = 0; i < BE_ARRAY_LEN(table); i++)
		if (strlen(table[i].name) == len && strncmp(table[i].name, name, len) == 0) {
			*known = true;
			return table[i].scope == scope ? table[i].text : NULL;
		}
	*known = false;
	return NULL;
}

char *be_scope_expand(const struct be_scopes *scopes, enum be_scope scope, const struct be_instance *at,
		      const char *text, const char **missing)
{
	be_autobuf struct be_buf out = { 0 };
	for (const char *p = text; *p;) {
		const char *end = *p == '{' ? strchr(p, '}') : NULL;
		bool known = false;
		const char *value = end ? lookup(scopes, scope, at, p + 1, (size_t)(end - p - 1), &known) : NULL;
		if (known && !value) {
			*missing = p;
			return NULL;
		}
		if (known) {
			be_buf_adds(&out, value);
			p = end + 1;
		} else {
			be_buf_addc(&out, *p++);
		}
	}
	return be_buf_steal(&out);
}
