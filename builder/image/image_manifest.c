/* What is recorded of a finished image. */

#include "builder/image/image_parts.h"
#include "builder/kernel/modules.h"
#include "factor.h"

static void set_clone(struct be_node *map, const char *key, const struct be_node *value)
{
	if (value)
		be_set(map, key, be_node_clone(value));
}

static struct be_node *lock_package(const struct be_package *package)
{
	struct be_node *map = be_node_map();
	be_set_str(map, "name", package->name);
	be_set_str(map, "version", package->version);
	be_set_str(map, "architecture", package->architecture);
	be_set_int(map, "size", package->size);
	be_set_str(map, "sha256", package->sha256);
	return map;
}

/* Those that files come from, and of the others those that the plan names: from these it can be built again. */
static struct be_node *lock_packages(const struct be_build *build)
{
	struct be_node *list = be_node_seq();
	size_t pick = 0;
	for (size_t i = 0; i < build->packages.n; i++) {
		bool picked = pick < build->selection.n && build->selection.picks[pick].package == i;
		pick += picked;
		if (picked || i < build->named)
			be_add(list, lock_package(&build->packages.v[i]));
	}
	return list;
}

/* Of a kernel in a package the package is locked, else the image itself. */
static const char *locked_hash(const struct be_kernel *kernel)
{
	if (kernel->packages.n)
		return kernel->packages.v[0].sha256;
	return be_streq(kernel->source, "package") ? kernel->id : kernel->image.sha256;
}

static struct be_node *lock_kernel(const struct be_kernel *kernel)
{
	struct be_node *map = be_node_map();
	be_set_str(map, "source", kernel->source);
	be_set_str(map, "package", kernel->package);
	be_set_str(map, "version", kernel->version);
	be_set_str(map, "release", kernel->release);
	be_set_str(map, "sha256", locked_hash(kernel));
	be_set_str(map, "config_sha256", kernel->config.path ? kernel->config.sha256 : NULL);
	if (kernel->packages.n < 2)
		return map;
	struct be_node *parts = be_node_seq();
	for (size_t i = 1; i < kernel->packages.n; i++)
		be_add(parts, lock_package(&kernel->packages.v[i]));
	be_set(map, "parts", parts);
	return map;
}

/* Programs whose version decides bytes: those that the members were made by. */
static void lock_tools(const struct be_build *build, struct be_node *map)
{
	struct be_node *compressor = be_node_map();
	be_autofree char *library = be_compressor_library(&build->compressor);
	be_autofree char *depmod = be_depmod_version(&build->cache);
	be_set_str(compressor, "name", build->compressor.name);
	if (library) {
		be_set_int(compressor, "level", build->compressor.level);
		be_set_str(compressor, "library", library);
	}
	be_set(map, "compressor", compressor);
	be_set_str(map, "depmod", depmod);
	if (build->as_locked) {
		const struct be_node *locked = be_get(build->request->lock->manifest, "lock");
		set_clone(map, "compressor", be_get(locked, "compressor"));
		set_clone(map, "depmod", be_get(locked, "depmod"));
	}
}

static struct be_node *lock(const struct be_build *build)
{
	struct be_node *map = be_node_map();
	be_set_str(map, "suite", build->suite.name);
	be_set(map, "packages", lock_packages(build));
	be_set(map, "kernel", lock_kernel(&build->kernel));
	set_clone(map, "guest", build->guest);
	if (build->ucode.packages.n)
		be_set(map, "ucode", lock_package(&build->ucode.packages.v[0]));
	else if (build->ucode.sha256[0])
		be_set_str(map, "ucode", build->ucode.sha256);
	if (build->uki.size)
		be_set(map, "stub", lock_package(build->uki.stub.package));
	if (build->given.n)
		be_set(map, "given", be_givens_lock(&build->given));
	lock_tools(build, map);
	return map;
}

static struct be_node *sized(int64_t size, const char *sha256)
{
	struct be_node *map = be_node_map();
	be_set_int(map, "size", size);
	be_set_str(map, "sha256", sha256);
	return map;
}

static struct be_node *image(const struct be_build *build)
{
	struct be_node *map = be_node_map(), *segments = be_node_seq();
	int64_t offset = 0, unpacked = 0;
	for (size_t i = 0; i < build->n; i++) {
		const struct be_segment *segment = &build->segments[i];
		struct be_node *item = be_node_map();
		be_set_str(item, "name", segment->name);
		be_set_int(item, "offset", offset);
		be_set_int(item, "size", segment->object.size);
		be_set_str(item, "sha256", segment->object.sha256);
		be_add(segments, item);
		offset += segment->object.size;
		unpacked += segment->unpacked;
	}
	be_autofree char *id = be_strndup(build->id, 12), *cmdline = be_strdup(build->cmdline.data);
	struct be_node *initrd = sized(build->initrd_size, build->initrd_sha256);
	be_set_int(initrd, "unpacked", unpacked);
	be_set_str(map, "id", id);
	be_set_str(map, "cmdline", be_trim(cmdline));
	be_set(map, "kernel", sized(build->kernel.image.size, build->kernel.image.sha256));
	be_set(map, "initrd", initrd);
	if (build->uki.size)
		be_set(map, "uki", sized(build->uki.size, build->uki.sha256));
	be_set(map, "segments", segments);
	return map;
}

static void deviate(struct be_node *list, const char *topic, struct be_node *text)
{
	struct be_node *item = be_node_map();
	be_set_str(item, "topic", topic);
	be_set(item, "text", text);
	be_add(list, item);
}

static char *kernel_name(const struct be_kernel *kernel)
{
	if (be_streq(kernel->source, "debian"))
		return be_strf("Debian %s", kernel->version);
	return be_strf("%s from --kernel", kernel->release);
}

/* The job's own keys about how its kernel and root were made. With a kernel of the user's own we cannot know whether it
 * is of that commit, and say what is known. */
static void deviations_of_job(const struct be_build *build, struct be_node *list)
{
	const struct be_kernel *kernel = &build->kernel;
	const struct be_node *job = be_get(build->request->plan, "job");
	const char *commit = be_get_str(job, "commit", NULL), *kconfig = be_get_str(job, "kconfig", NULL);
	const char *compiler = be_get_str(job, "compiler", NULL), *rootfs = be_get_str(job, "rootfs", NULL);
	be_autofree char *built = kernel_name(kernel), *with = be_kernel_config_value(kernel, "CC_VERSION_TEXT");
	bool debian = be_streq(kernel->source, "debian");
	if (commit)
		deviate(list, "kernel",
			be_node_strf("commit %s asked, %s %s", commit, built, debian ? "built" : "used"));
	if (kconfig)
		deviate(list, "kconfig",
			be_node_strf("%s asked, %s built", kconfig,
				     debian                ? "Debian's configuration"
				     : kernel->config.path ? "the configuration in kernel.config"
							   : "a configuration that is not known"));
	if (compiler)
		deviate(list, "compiler",
			be_node_strf("%s asked, kernel built by %s", compiler,
				     with ? with : "a compiler that is not known"));
	if (rootfs)
		deviate(list, "rootfs",
			be_node_strf("%s asked, packages of Debian %s built", rootfs, build->suite.name));
}

static struct be_node *deviations(const struct be_build *build)
{
	const struct be_node *planned = be_get(build->request->plan, "deviations");
	struct be_node *list = planned ? be_node_clone(planned) : be_node_seq();
	deviations_of_job(build, list);
	if (!build->kernel.config.path)
		deviate(list, "compression",
			be_node_str("the kernel's configuration is not known: gzip, which all "
				    "kernels unpack by default"));
	for (size_t i = 0; build->request->lock && i < build->request->lock->drifts.n; i++)
		deviate(list, "drift", be_node_str(build->request->lock->drifts.v[i]));
	for (size_t i = 0; i < build->selection.notes.n; i++)
		deviate(list, "image", be_node_str(build->selection.notes.v[i]));
	for (size_t i = 0; i < build->given.notes.n; i++)
		deviate(list, "given", be_node_str(build->given.notes.v[i]));
	for (size_t i = 0; i < build->notes.n; i++)
		deviate(list, "modules", be_node_str(build->notes.v[i]));
	for (size_t i = 0; i < build->limits.n; i++)
		deviate(list, "limits", be_node_str(build->limits.v[i]));
	return list;
}

struct be_node *be_image_manifest(struct be_build *build, struct be_error *err)
{
	const struct be_node *plan = build->request->plan;
	be_autonode struct be_node *built = be_image_built(build, err);
	if (!built)
		return NULL;
	struct be_node *manifest = be_node_map(), *program = be_node_map();
	be_set_str(manifest, "mkbenchenv", "manifest");
	be_set_int(manifest, "schema", 1);
	set_clone(manifest, "name", be_get(plan, "name"));
	set_clone(manifest, "testcase", be_get(plan, "testcase"));
	be_set_str(program, "name", "mkbenchenv");
	be_set_str(program, "version", BE_VERSION);
	be_set(manifest, "program", program);
	set_clone(manifest, "recipe", build->request->recipe);
	set_clone(manifest, "rules", be_get(plan, "rules"));
	be_set(manifest, "lock", lock(build));
	be_set(manifest, "image", image(build));
	be_set(manifest, "environment", be_environment_make(plan, built, NULL, NULL));
	be_set(manifest, "deviations", deviations(build));
	return manifest;
}
