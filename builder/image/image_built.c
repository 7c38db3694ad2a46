/* Values of the factors that only the builder knows. */
#include <string.h>

#include "builder/image/image_parts.h"
#include "workload.h"

/* HZ=250 KASAN=y: those of the options that are not off. */
static struct be_node *config_options(const struct be_kernel *kernel, const struct be_node *observe)
{
	be_autostrv struct be_strv names = { 0 };
	be_autobuf struct be_buf text = { 0 };
	if (!kernel->config.path)
		return NULL;
	be_get_strv(observe, "field", &names);
	for (size_t i = 0; i < names.n; i++) {
		be_autofree char *value = be_kernel_config_value(kernel, names.v[i]);
		if (value)
			be_buf_addf(&text, "%s%s=%s", text.len ? " " : "", names.v[i], value);
	}
	return be_node_str(text.len ? text.data : "none");
}

static const struct be_package *find_package(const struct be_build *build, const char *name)
{
	for (size_t i = 0; i < build->packages.n; i++)
		if (be_streq(build->packages.v[i].name, name))
			return &build->packages.v[i];
	return NULL;
}

/* A list of the workload: the definition's, or what the job gives in its place. */
static int workload_list(const struct be_build *build, const char *key, struct be_strv *names, struct be_error *err)
{
	const struct be_node *plan = build->request->plan;
	const char *rules = be_get_str(be_get(plan, "rules"), "date", "");
	return be_workload_list(be_get(plan, "workload"), key, rules, names, err);
}

static bool is_picked(const struct be_build *build, const struct be_package *package)
{
	for (size_t i = 0; i < build->selection.n; i++)
		if (&build->packages.v[build->selection.picks[i].package] == package)
			return true;
	return false;
}

/* "PACKAGE VERSION", several with a comma between. A package whose program was given is not in the image. The caller
 * frees. */
static char *package_versions(const struct be_build *build, const struct be_strv *names)
{
	be_autobuf struct be_buf text = { 0 };
	for (size_t i = 0; i < names->n; i++) {
		const struct be_package *package = find_package(build, names->v[i]);
		if (package && (!build->given.n || is_picked(build, package)))
			be_buf_addf(&text, "%s%s %s", text.len ? ", " : "", package->name, package->version);
	}
	return be_buf_steal(&text);
}

/* What was given has no version that we know: its hash stands for it. */
static struct be_node *workload_version(const struct be_build *build, struct be_error *err)
{
	be_autostrv struct be_strv names = { 0 };
	be_autobuf struct be_buf text = { 0 };
	if (workload_list(build, "packages", &names, err) != 0)
		return NULL;
	be_autofree char *packages = package_versions(build, &names);
	be_buf_adds(&text, packages);
	for (size_t i = 0; i < build->given.n; i++)
		be_buf_addf(&text, "%s%s given, SHA-256 %.12s", text.len ? ", " : "", build->given.v[i].name,
			    build->given.v[i].sha256);
	return text.len ? be_node_str(text.data) : NULL;
}

static struct be_node *libc_version(const struct be_build *build)
{
	be_autostrv struct be_strv names = { 0 };
	be_strv_add(&names, "libc6");
	be_autofree char *version = package_versions(build, &names);
	return *version ? be_node_str(version) : NULL;
}

/* The file that @path is, or that it is a link to in the same folder (usr/bin/sh: dash); NULL: neither. */
static const struct be_entry *program_entry(const struct be_deb *deb, const char *path)
{
	const struct be_entry *entry = be_tree_find(&deb->tree, path);
	if (entry && entry->type == BE_ENTRY_SYMLINK && !strchr(entry->target, '/')) {
		be_autofree char *target = be_strf("%.*s/%s", (int)(strrchr(path, '/') - path), path, entry->target);
		entry = be_tree_find(&deb->tree, target);
	}
	return entry && entry->type == BE_ENTRY_FILE ? entry : NULL;
}

/* The hash of one file of a package, kept in the cache. */
static char *file_hash(struct be_build *build, struct be_deb *deb, const char *path, struct be_error *err)
{
	be_autobuf struct be_buf kept = { 0 };
	be_autohash struct be_hash hash = { 0 };
	char key[BE_HASH_TEXT], sha256[BE_HASH_TEXT];
	be_hash_start(&hash);
	be_hash_adds(&hash, "program, links followed");
	be_hash_adds(&hash, deb->package->sha256);
	be_hash_adds(&hash, path);
	be_hash_end(&hash, key);
	if (be_cache_get_text(&build->cache, "content", key, &kept))
		return be_strdup(kept.data);
	if (be_apt_fetch(&build->suite, &deb->package, 1, err) != 0 || be_deb_unpack(deb, &build->cache, err) != 0)
		return NULL;
	const struct be_entry *entry = program_entry(deb, path);
	if (!entry)
		return be_strdup("");
	be_hash_start(&hash);
	if (be_hash_add_range(&hash, deb->tree.scratch, entry->offset, entry->size, path, err) != 0)
		return NULL;
	be_hash_end(&hash, sha256);
	if (be_cache_set_text(&build->cache, "content", key, sha256, strlen(sha256), err) != 0)
		return NULL;
	return be_strdup(sha256);
}

/* A map program -> hash. A program that is a link into another folder or package has no hash here. */
static int program_hashes(struct be_build *build, struct be_node *map, struct be_error *err)
{
	static const char *const folders[] = { "usr/bin", "usr/sbin" };
	be_autostrv struct be_strv programs = { 0 };
	if (workload_list(build, "needs", &programs, err) != 0)
		return -1;
	for (size_t i = 0; i < build->given.n; i++)
		be_set_str(map, build->given.v[i].name, build->given.v[i].sha256);
	for (size_t i = 0; i < programs.n; i++) {
		for (size_t k = 0; k < build->selection.n * BE_ARRAY_LEN(folders); k++) {
			const struct be_pick *pick = &build->selection.picks[k / BE_ARRAY_LEN(folders)];
			be_autofree char *path = be_strf("%s/%s", folders[k % BE_ARRAY_LEN(folders)], programs.v[i]);
			if (be_get(map, programs.v[i]) || !be_strv_has(&pick->paths, path))
				continue;
			be_autofree char *sha256 = file_hash(build, &build->debs[pick->package], path, err);
			if (!sha256)
				return -1;
			if (*sha256)
				be_set_str(map, programs.v[i], sha256);
		}
	}
	return 0;
}

static struct be_node *value_of(struct be_build *build, const struct be_node *observe, struct be_error *err)
{
	const struct be_kernel *kernel = &build->kernel;
	const char *name = be_get_str(observe, "name", "");
	if (be_streq(name, "rootfs.memory")) {
		int64_t bytes = 0;
		for (size_t i = 0; i < build->n; i++)
			bytes += build->segments[i].unpacked;
		return be_node_int(bytes);
	}
	if (be_streq(name, "rootfs.initrd_size"))
		return be_node_int(build->initrd_size);
	if (be_streq(name, "kernel.image_sha256"))
		return be_node_str(kernel->image.sha256);
	if (be_streq(name, "kernel.config_sha256"))
		return kernel->config.path ? be_node_str(kernel->config.sha256) : NULL;
	if (be_streq(name, "kernel.config_options"))
		return config_options(kernel, observe);
	if (be_streq(name, "workload.version"))
		return workload_version(build, err);
	if (be_streq(name, "workload.libc"))
		return libc_version(build);
	if (be_streq(name, "workload.binary_sha256")) {
		struct be_node *map = be_node_map();
		if (program_hashes(build, map, err) == 0 && map->n)
			return map;
		be_node_free(map);
	}
	return NULL;
}

struct be_node *be_image_built(struct be_build *build, struct be_error *err)
{
	const struct be_node *factors = be_get(build->request->plan, "factors");
	struct be_node *built = be_node_map();
	for (size_t i = 0; factors && i < factors->n; i++) {
		const struct be_node *observe = be_get(factors->items[i], "observe");
		const char *name = be_get_str(factors->items[i], "name", NULL);
		if (!name || !be_streq(be_get_str(observe, "kind", NULL), "builder"))
			continue;
		struct be_node *value = value_of(build, observe, err);
		if (value)
			be_set(built, name, value);
		if (err->text[0]) {
			be_node_free(built);
			return NULL;
		}
	}
	return built;
}
