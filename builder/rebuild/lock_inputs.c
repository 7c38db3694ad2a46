/* What a build takes from a lock in the place of asking the mirror what is current. */
#include "builder/rebuild/lock_inputs.h"

#include <string.h>

#include "builder/image/ucode.h"
#include "builder/kernel/modules.h"
#include "builder/packages/deb.h"

static const struct be_node *image_of(const struct be_build *build)
{
	return be_get(build->request->plan, "image");
}

static bool is_there(const struct be_build *build, const struct be_package *package)
{
	be_autoobject struct be_object object = { .path = NULL };
	return be_cache_object(&build->cache, package->sha256, &object);
}

/* The kernel was a bare image or came from a build tree: it is known by its hash alone. */
static int stored_kernel(struct be_build *build, struct be_error *err)
{
	struct be_lock *lock = build->request->lock;
	const char *source = be_lock_text(lock, "kernel.source"), *image = be_lock_text(lock, "kernel.sha256");
	const char *config = be_lock_text(lock, "kernel.config_sha256");
	struct be_error why = BE_ERROR_INIT;
	be_autoobject struct be_object archive = { .path = NULL };
	if (!be_hash_is_text(image) || (config && !be_hash_is_text(config)))
		return be_fail_usage(err, "manifest: lock.kernel has no SHA-256");
	if (be_streq(source, "package") && be_lock_archive(lock, &build->cache, image, &archive))
		return be_kernel_find(&build->kernel, &build->suite, archive.path, NULL, err);
	if (!be_streq(source, "package") &&
	    be_kernel_stored(&build->kernel, &build->suite, source, image, config, &why) == 0)
		return 0;
	be_kernel_free(&build->kernel);
	be_strv_addf(&lock->absent, "kernel %s (%s, SHA-256 %.12s) is not in the cache: give it by --kernel %s",
		     be_lock_text(lock, "kernel.release"), source, image,
		     be_streq(source, "package") ? "PACKAGE.deb" : "PATH");
	return 0;
}

static const char *hash_of(const struct be_kernel *kernel)
{
	return be_streq(kernel->source, "package") ? kernel->id : kernel->image.sha256;
}

static int given_kernel(struct be_build *build, struct be_error *err)
{
	const struct be_build_request *request = build->request;
	const char *locked = be_lock_text(request->lock, "kernel.sha256");
	if (be_kernel_find(&build->kernel, &build->suite, request->kernel, request->modules, err) != 0)
		return -1;
	if (!be_streq(locked, hash_of(&build->kernel)))
		be_lock_differs(request->lock, "give that kernel by --kernel, or leave the option out",
				"kernel %s has SHA-256 %.12s, the manifest's has %.12s", request->kernel,
				hash_of(&build->kernel), locked ? locked : "none");
	return 0;
}

/* What the lock states, but no package for what a file was given for. */
static int read_lock(struct be_build *build, const struct be_strv *names, struct be_packages *kernel,
		     struct be_error *err)
{
	const struct be_build_request *request = build->request;
	const struct be_lock *lock = request->lock;
	bool file = request->ucode && !be_ucode_is_package(request->ucode);
	if (be_lock_packages(lock, names, &build->packages, &build->named, err) != 0 ||
	    (!request->kernel && be_lock_kernel(lock, kernel, err) != 0) ||
	    (!file && be_lock_package(lock, "ucode", &build->ucode.packages, err) != 0))
		return -1;
	return be_lock_package(lock, "stub", &build->uki.packages, err);
}

static int fetch_all(struct be_build *build, const struct be_packages *kernel, struct be_error *err)
{
	const struct be_packages *const parts[] = { &build->packages, kernel, &build->ucode.packages,
						    &build->uki.packages };
	size_t n = 0, total = 0;
	for (size_t i = 0; i < BE_ARRAY_LEN(parts); i++)
		total += parts[i]->n;
	be_autofree struct be_package **wanted = be_alloc((total + 1) * sizeof(struct be_package *));
	for (size_t i = 0; i < BE_ARRAY_LEN(parts); i++)
		for (size_t k = 0; k < parts[i]->n; k++)
			wanted[n++] = &parts[i]->v[k];
	return be_lock_fetch(build->request->lock, &build->suite, wanted, n, err);
}

/* Fills the packages, and the kernel unless it is Debian's and not there. */
static int locked_inputs(struct be_build *build, const struct be_strv *names, struct be_error *err)
{
	be_autopackages struct be_packages kernel = { 0 };
	if (read_lock(build, names, &kernel, err) != 0 || fetch_all(build, &kernel, err) != 0)
		return -1;
	if (build->request->kernel)
		return given_kernel(build, err);
	if (!kernel.n)
		return stored_kernel(build, err);
	for (size_t i = 0; i < kernel.n; i++)
		if (!is_there(build, &kernel.v[i]))
			return 0;
	be_kernel_of_packages(&build->kernel, &build->suite, &kernel);
	return 0;
}

/* Moves the package @name out of @from. */
static bool take_package(const struct be_build *build, struct be_packages *from, const char *name,
			 struct be_package *out)
{
	for (size_t i = 0; i < from->n; i++) {
		if (!be_streq(from->v[i].name, name) || !is_there(build, &from->v[i]))
			continue;
		*out = from->v[i];
		from->v[i] = (struct be_package){ 0 };
		return true;
	}
	return false;
}

static const struct be_package *find_package(const struct be_packages *packages, const char *name)
{
	for (size_t i = 0; i < packages->n; i++)
		if (be_streq(packages->v[i].name, name))
			return &packages->v[i];
	return NULL;
}

static void note_package(struct be_lock *lock, const struct be_package *locked, const struct be_package *current)
{
	if (current)
		be_strv_addf(&lock->drifts, "package %s: %s asked, %s built", locked->name, locked->version,
			     current->version);
	else
		be_strv_addf(&lock->drifts, "package %s: %s asked, the release has none of that name", locked->name,
			     locked->version);
}

/*
 * The nearest image: what apt would install now, but each package that the lock has and that is there as the lock has
 * it.
 */
static int nearest_packages(struct be_build *build, const struct be_strv *names, struct be_error *err)
{
	struct be_lock *lock = build->request->lock;
	be_autopackages struct be_packages locked = build->packages, current = { 0 };
	be_autostrv struct be_strv all = { 0 };
	be_strv_add_all(&all, names);
	be_givens_packages(&build->given, build->request->plan, &all);
	build->packages = (struct be_packages){ 0 };
	build->named = 0;
	if (be_apt_resolve(&build->suite, &all, &current, err) != 0)
		return -1;
	for (size_t i = 0; i < locked.n; i++)
		if (!is_there(build, &locked.v[i]))
			note_package(lock, &locked.v[i], find_package(&current, locked.v[i].name));
	build->packages.v = be_alloc((locked.n + current.n + 1) * sizeof(*build->packages.v));
	for (size_t i = 0; i < current.n; i++) {
		struct be_package *to = &build->packages.v[build->packages.n++];
		if (!take_package(build, &locked, current.v[i].name, to)) {
			*to = current.v[i];
			current.v[i] = (struct be_package){ 0 };
		}
		if (build->named == i && be_strv_has(names, to->name))
			build->named++;
	}
	for (size_t i = 0; i < locked.n; i++)
		if (locked.v[i].name &&
		    take_package(build, &locked, locked.v[i].name, &build->packages.v[build->packages.n]))
			build->packages.n++;
	return 0;
}

static int nearest_kernel(struct be_build *build, struct be_error *err)
{
	struct be_lock *lock = build->request->lock;
	if (build->kernel.source)
		return 0;
	if (be_kernel_find(&build->kernel, &build->suite, NULL, NULL, err) != 0)
		return -1;
	be_strv_addf(&lock->drifts, "kernel: %s %s asked, %s built", be_lock_text(lock, "kernel.release"),
		     be_lock_text(lock, "kernel.version") ? be_lock_text(lock, "kernel.version") : "",
		     build->kernel.packages.v[0].version);
	return 0;
}

/* The package of one part, @what, that cannot be had: without it the suite's is taken. */
static void nearest_package(struct be_build *build, struct be_packages *one, const char *what)
{
	if (!one->n || is_there(build, &one->v[0]))
		return;
	be_strv_addf(&build->request->lock->drifts, "%s: %s %s asked, the suite's built", what, one->v[0].name,
		     one->v[0].version);
	be_packages_free(one);
}

static int nearest(struct be_build *build, const struct be_strv *names, struct be_error *err)
{
	struct be_lock *lock = build->request->lock;
	be_autofree char *name = be_steal(&build->suite.name);
	be_suite_close(&build->suite);
	if (be_suite_open(&build->suite, &build->cache, &build->progress, name, err) != 0)
		return -1;
	be_strv_free(&lock->absent);
	nearest_package(build, &build->uki.packages, "stub of the unified image");
	nearest_package(build, &build->ucode.packages, "microcode");
	return nearest_packages(build, names, err) != 0 ? -1 : nearest_kernel(build, err);
}

/* Files of these packages were given to the manifest's image, so that its lock does not have the packages. */
static void name_given(struct be_build *build)
{
	be_autostrv struct be_strv names = { 0 };
	be_givens_packages(&build->given, build->request->plan, &names);
	for (size_t i = 0; i < names.n; i++)
		if (!find_package(&build->packages, names.v[i]))
			be_strv_addf(&build->request->lock->absent,
				     "package %s is not in the manifest's lock: its files were given, give them by "
				     "--program firmware=DIR",
				     names.v[i]);
}

/* Dependencies decide in which order packages are looked into; a lock does not state them, the archives do. */
static int read_depends(struct be_build *build, struct be_error *err)
{
	for (size_t i = 0; i < build->packages.n; i++) {
		struct be_package *package = &build->packages.v[i];
		be_autoobject struct be_object object = { .path = NULL };
		if (!package->depends.n && be_cache_object(&build->cache, package->sha256, &object) &&
		    be_deb_depends(package, &build->cache, err) != 0)
			return -1;
	}
	return 0;
}

int be_lock_inputs(struct be_build *build, struct be_error *err)
{
	struct be_lock *lock = build->request->lock;
	be_autostrv struct be_strv names = { 0 };
	const char *suite = be_lock_suite(lock);
	be_progress_step(&build->progress, "lock");
	be_get_strv(image_of(build), "packages", &names);
	if (!suite || !be_suite_name_is_sane(suite))
		return be_fail_usage(err, "manifest: lock.suite names no Debian release");
	be_suite_locked(&build->suite, &build->cache, &build->progress, suite);
	if (locked_inputs(build, &names, err) != 0)
		return -1;
	name_given(build);
	if (lock->absent.n && lock->allow_drift && nearest(build, &names, err) != 0)
		return -1;
	if (be_lock_check(lock, err) != 0 || read_depends(build, err) != 0)
		return -1;
	be_progress_done(&build->progress, "Debian %s, %zu packages, %zu of them named", suite, build->packages.n,
			 build->named);
	return 0;
}

static const struct be_node *stated_segment(const struct be_lock *lock, const char *name)
{
	const struct be_node *list = be_get_path(lock->manifest, "image.segments");
	for (size_t i = 0; list && list->kind == BE_SEQ && i < list->n; i++)
		if (be_streq(be_get_str(list->items[i], "name", NULL), name))
			return list->items[i];
	return NULL;
}

const char *be_lock_segment(const struct be_lock *lock, const char *name)
{
	const char *sha256 = be_get_str(stated_segment(lock, name), "sha256", NULL);
	return be_hash_is_text(sha256) ? sha256 : NULL;
}

/* Tools whose version decides bytes, and how many members came out otherwise: one line each, however many those are. */
static bool compare_tools(struct be_build *build, size_t differ, const char *help)
{
	struct be_lock *lock = build->request->lock;
	const char *locked_library = be_lock_text(lock, "compressor.library"), *locked = be_lock_text(lock, "depmod");
	be_autofree char *library = be_compressor_library(&build->compressor);
	be_autofree char *depmod = be_depmod_version(&build->cache);
	bool other = differ && library && !be_streq(library, locked_library);
	if (other)
		be_lock_differs(
			lock, help, "compressor %s: library %s asked, %s here: %zu of %zu members have other bytes",
			build->compressor.name, locked_library ? locked_library : "unknown", library, differ, build->n);
	if (differ && !be_streq(depmod, locked))
		be_lock_differs(lock, help, "depmod: version %s asked, %s here: the modules' indexes may be others",
				locked ? locked : "unknown", depmod ? depmod : "none");
	return other;
}

static const char *given_hash(const struct be_node *list, const struct be_node *item)
{
	for (size_t i = 0; list && list->kind == BE_SEQ && i < list->n; i++)
		if (be_streq(be_get_str(list->items[i], "path", NULL), be_get_str(item, "path", NULL)))
			return be_get_str(list->items[i], "sha256", NULL);
	return NULL;
}

/* Programs of --program, and what came with them. */
static void compare_given(struct be_build *build)
{
	struct be_lock *lock = build->request->lock;
	const struct be_node *locked = be_get_path(lock->manifest, "lock.given");
	be_autonode struct be_node *list = be_givens_lock(&build->given);
	for (size_t i = 0; locked && locked->kind == BE_SEQ && i < locked->n; i++) {
		const char *name = be_get_str(locked->items[i], "name", ""), *now = given_hash(list, locked->items[i]);
		be_autofree char *help = be_strf("give it by --program %s=PATH", name);
		if (!be_streq(now, be_get_str(locked->items[i], "sha256", NULL)))
			be_lock_differs(lock, help, "program %s: SHA-256 %.12s asked, %.12s here", name,
					be_get_str(locked->items[i], "sha256", ""), now ? now : "none");
	}
	for (size_t i = 0; list && i < list->n; i++)
		if (!given_hash(locked, list->items[i]))
			be_lock_differs(lock, "leave the option out", "program %s: given, the manifest's was not",
					be_get_str(list->items[i], "name", ""));
}

/* A mail's manifest may have its list of members in another file: then the initrd as a whole is compared. */
static int compare_whole(struct be_build *build, const char *help, struct be_error *err)
{
	struct be_lock *lock = build->request->lock;
	const char *stated = be_get_str(be_get_path(lock->manifest, "image.initrd"), "sha256", "");
	be_autohash struct be_hash hash = { 0 };
	char sha256[BE_HASH_TEXT];
	be_hash_start(&hash);
	for (size_t i = 0; i < build->n; i++)
		if (be_hash_add_file(&hash, build->segments[i].object.path, err) != 0)
			return -1;
	be_hash_end(&hash, sha256);
	if (be_streq(stated, sha256))
		return 0;
	compare_tools(build, build->n, help);
	be_lock_differs(lock, help, "initrd.img: SHA-256 %.12s asked, %.12s built", stated, sha256);
	return 0;
}

size_t be_lock_others(const struct be_build *build)
{
	size_t n = 0;
	for (size_t i = 0; i < build->n; i++)
		n += !be_streq(be_lock_segment(build->request->lock, build->segments[i].name),
			       build->segments[i].object.sha256);
	return n;
}

static void compare_members(struct be_build *build, const struct be_node *list, const char *help)
{
	struct be_lock *lock = build->request->lock;
	bool explained = compare_tools(build, be_lock_others(build), help) || lock->drifts.n > 0;
	for (size_t i = 0; i < build->n; i++) {
		const struct be_segment *segment = &build->segments[i];
		const char *sha256 = be_lock_segment(lock, segment->name);
		/* Where something else differs only what that cannot explain is worth a line. */
		if (!be_streq(sha256, segment->object.sha256) && !(explained && sha256))
			be_lock_differs(lock, help, "member %s is not the manifest's: %s", segment->name,
					!sha256 ? "it has none of that name"
					: be_streq(segment->name, "job")
						? "another plan of the same recipe"
						: "other content or another version of mkbenchenv");
	}
	if (list->n > build->n)
		be_lock_differs(lock, help, "the manifest's image has %zu members, this one %zu", list->n, build->n);
}

int be_lock_compare(struct be_build *build, struct be_error *err)
{
	struct be_lock *lock = build->request->lock;
	const struct be_node *list = be_get_path(lock->manifest, "image.segments");
	const char *help = "`mkbenchenv verify --rebuild` shows the files; build with the program, libraries and "
			   "guest programs of the manifest, or from a bundle";
	compare_given(build);
	if (list && list->kind == BE_SEQ)
		compare_members(build, list, help);
	else if (compare_whole(build, help, err) != 0)
		return -1;
	const char *cmdline = be_get_str(be_get(lock->manifest, "image"), "cmdline", "");
	be_autofree char *built = be_strndup(build->cmdline.data, build->cmdline.len);
	if (!be_streq(cmdline, be_trim(built)))
		be_lock_differs(lock, help, "the kernel's command line is not the manifest's");
	return be_lock_check(lock, err);
}

void be_lock_compressor(const struct be_lock *lock, struct be_compressor *compressor)
{
	const struct be_node *locked = be_get_path(lock->manifest, "lock.compressor");
	int64_t level = be_get_int(locked, "level", 0);
	if (be_streq(be_get_str(locked, "name", NULL), compressor->name) && level >= 1 && level <= 22)
		compressor->level = (int)level;
}
