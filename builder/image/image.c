#include "builder/image/image.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "builder/image/image_parts.h"
#include "builder/image/limits.h"
#include "builder/image/uki.h"
#include "builder/kernel/modules.h"
#include "builder/parallel.h"
#include "builder/rebuild/lock_inputs.h"
#include "base/clock.h"

static void build_free(struct be_build *build)
{
	for (size_t i = 0; build->debs && i < build->packages.n; i++)
		be_deb_free(&build->debs[i]);
	for (size_t i = 0; build->segments && i < build->n; i++)
		be_segment_free(&build->segments[i]);
	free(build->debs);
	free(build->segments);
	be_givens_free(&build->given);
	be_selection_free(&build->selection);
	be_packages_free(&build->packages);
	be_kernel_free(&build->kernel);
	be_suite_close(&build->suite);
	if (!build->request->shared)
		be_cache_close(&build->cache);
	be_node_free(build->guest);
	be_strv_free(&build->notes);
	be_strv_free(&build->limits);
	be_packages_free(&build->ucode.packages);
	be_uki_free(&build->uki);
	be_buf_free(&build->plan);
	be_buf_free(&build->cmdline);
}

static const struct be_node *image_of(const struct be_build *build)
{
	return be_get(build->request->plan, "image");
}

/* The files of the image that are the plan itself. */
static int write_texts(struct be_build *build, struct be_error *err)
{
	be_autostrv struct be_strv words = { 0 };
	if (be_node_yaml(build->request->plan, &build->plan, err) != 0)
		return -1;
	be_get_strv(be_get(build->request->plan, "boot"), "cmdline", &words);
	for (size_t i = 0; i < words.n; i++)
		be_buf_addf(&build->cmdline, "%s%s", i ? " " : "", words.v[i]);
	be_buf_addc(&build->cmdline, '\n');
	return 0;
}

/* The release that the user, else the recipe, wishes; NULL: the newest. */
static const char *wished_suite(const struct be_build *build)
{
	if (build->request->lock)
		return be_lock_suite(build->request->lock);
	return build->request->suite ? build->request->suite : be_get_str(image_of(build), "suite", NULL);
}

static int find_suite(struct be_build *build, struct be_error *err)
{
	be_progress_step(&build->progress, "suite");
	if (be_suite_open(&build->suite, &build->cache, &build->progress, wished_suite(build), err) != 0)
		return -1;
	be_progress_done(&build->progress, "Debian %s%s", build->suite.name,
			 build->suite.fresh ? ", package lists fetched" : "");
	return 0;
}

struct reading {
	struct be_build *build;
	struct be_strv names; /* of the packages in the plan */
	struct be_select_request request;
	bool recalled;
	double kernel, resolved, files; /* seconds */
};

static bool names_kernel(const struct be_build_request *request)
{
	return request->modules || (request->kernel && !be_streq(request->kernel, "debian"));
}

static int find_kernel(struct be_build *build, struct be_error *err)
{
	const struct be_build_request *request = build->request;
	return be_kernel_find(&build->kernel, &build->suite, request->kernel, request->modules, err);
}

static int read_kernel(struct reading *reading, struct be_error *err)
{
	struct be_build *build = reading->build;
	double began = be_monotonic();
	if (!build->kernel.source && find_kernel(build, err) != 0)
		return -1;
	int rc = be_kernel_read(&build->kernel, err);
	reading->kernel = be_monotonic() - began;
	return rc;
}

static int resolve(struct reading *reading, struct be_error *err)
{
	struct be_build *build = reading->build;
	struct be_packages *packages = &build->packages;
	double began = be_monotonic();
	be_autostrv struct be_strv all = { 0 };
	be_strv_add_all(&all, &reading->names);
	be_strv_add_all(&all, &reading->request.firmware);
	if (be_apt_resolve(&build->suite, &all, packages, err) != 0)
		return -1;
	while (build->named < packages->n && be_strv_has(&reading->names, packages->v[build->named].name))
		build->named++;
	reading->resolved = be_monotonic() - began;
	return 0;
}

static int read_files(struct reading *reading, struct be_error *err)
{
	struct be_build *build = reading->build;
	struct be_select_request *request = &reading->request;
	if (!build->request->lock && resolve(reading, err) != 0)
		return -1;
	double began = be_monotonic();
	build->debs = be_alloc((build->packages.n + 1) * sizeof(*build->debs));
	for (size_t i = 0; i < build->packages.n; i++)
		build->debs[i] = (struct be_deb){ .package = &build->packages.v[i], .tree = BE_TREE_INIT };
	request->named = build->named;
	request->debs = build->debs;
	reading->recalled = be_givens_recall(&build->given, request, &build->selection);
	int rc = reading->recalled ? 0 : be_givens_select(&build->given, request, &build->selection, err);
	reading->files = be_monotonic() - began;
	return rc;
}

static int read_part(void *data, size_t item, struct be_error *err)
{
	return item == 0 ? read_kernel(data, err) : read_files(data, err);
}

static void report_reading(struct reading *reading)
{
	struct be_build *build = reading->build;
	const struct be_kernel *kernel = &build->kernel;
	size_t n = 0;
	for (size_t i = 0; i < build->selection.n; i++)
		n += build->selection.picks[i].paths.n;
	if (!build->request->lock)
		be_progress_part(&build->progress, "packages", reading->resolved,
				 "%zu named, %zu with all they depend on", build->named, build->packages.n);
	be_progress_part(&build->progress, "kernel", reading->kernel, "%s%s%s", kernel->release,
			 kernel->version ? ", package " : "", kernel->version ? kernel->version : "");
	be_progress_part(&build->progress, "files", reading->files, "%zu of %zu packages", n, build->selection.n);
}

/* The kernel's package takes as long to decompress as apt takes to answer and all the others to be read: both at once.
 */
static int read_inputs(struct be_build *build, struct reading *reading, struct be_error *err)
{
	const struct be_kernel *kernel = &build->kernel;
	be_progress_step(&build->progress, "unpack");
	be_get_strv(image_of(build), "programs", &reading->request.programs);
	be_get_strv(image_of(build), "files", &reading->request.files);
	be_givens_leave_out(&build->given, &reading->request.programs);
	be_givens_packages(&build->given, build->request->plan, &reading->request.firmware);
	if (be_parallel(2, read_part, reading, err) != 0 ||
	    be_givens_settle(&build->given, &reading->request, &build->selection, err) != 0)
		return -1;
	report_reading(reading);
	be_kernel_compressor(kernel, build->request->small, &build->compressor);
	if (build->request->lock)
		be_lock_compressor(build->request->lock, &build->compressor);
	return be_kernel_check(kernel, build->selection.oldest_kernel, err);
}

/* What the user named himself is looked at before minutes are spent on the rest. */
static int find_named(struct be_build *build, struct reading *reading, struct be_error *err)
{
	if (build->request->lock)
		return be_lock_inputs(build, err);
	be_get_strv(image_of(build), "packages", &reading->names);
	if (!reading->names.n)
		return be_fail_usage(err, "plan: image.packages is empty: an image needs at least a shell and udev");
	return names_kernel(build->request) ? find_kernel(build, err) : 0;
}

/* Everything that comes from the mirror. */
static int find_inputs(struct be_build *build, struct be_error *err)
{
	struct reading reading = { .build = build,
				   .request = { .suite = &build->suite, .packages = &build->packages } };
	int rc = find_named(build, &reading, err);
	if (rc == 0)
		rc = read_inputs(build, &reading, err);
	be_strv_free(&reading.names);
	be_strv_free(&reading.request.programs);
	be_strv_free(&reading.request.files);
	be_strv_free(&reading.request.libraries);
	be_strv_free(&reading.request.firmware);
	return rc;
}

/* A mirror drops the archives of superseded versions: lists that are older than that lead nowhere, new ones do. */
static int find_inputs_again(struct be_build *build, struct be_error *err)
{
	struct be_error first = *err;
	for (size_t i = 0; build->debs && i < build->packages.n; i++)
		be_deb_free(&build->debs[i]);
	free(build->debs);
	build->debs = NULL;
	build->named = 0;
	be_packages_free(&build->packages);
	be_selection_free(&build->selection);
	be_kernel_free(&build->kernel);
	if (be_suite_refresh(&build->suite, err) != 0) {
		*err = first;
		return -1;
	}
	be_suite_close(&build->suite);
	return find_suite(build, err) != 0 ? -1 : find_inputs(build, err);
}

/* Whether the cache has the very member that the manifest of a lock states, where its content cannot be made again. */
static bool recall_member(struct be_build *build, struct be_segment *segment, const char *name)
{
	const struct be_lock *lock = build->request->lock;
	const char *sha256 = lock ? be_lock_segment(lock, name) : NULL;
	return sha256 && be_segment_recall(segment, &build->cache, name, sha256);
}

/* A kernel that is known by its hash alone has its modules in a member of the cache or nowhere. */
static int recall_modules(struct be_build *build, struct be_segment *segment, struct be_error *err)
{
	if (!recall_member(build, segment, "modules")) {
		be_fail(err, "the modules of kernel %s are not in the cache", build->kernel.release);
		return be_hint(err, "give the kernel by --kernel, with its modules, or build from a bundle");
	}
	be_lock_notes(build->request->lock, "modules", &build->notes);
	return 0;
}

/* Other guest programs than the manifest's: their member, if the cache has it, else a drift. */
static int make_guest(struct be_build *build, struct be_segment *segment, struct be_error *err)
{
	struct be_lock *lock = build->request->lock;
	const char *folder = build->request->paths->guest;
	const struct be_node *locked = lock ? be_get_path(lock->manifest, "lock.guest") : NULL;
	if (be_segment_guest_list(folder, build->guest, err) != 0)
		return -1;
	if (!locked || be_node_equal(locked, build->guest))
		return be_segment_guest(segment, &build->cache, &build->compressor, folder, build->guest, err);
	if (recall_member(build, segment, "guest")) {
		be_node_free(build->guest);
		build->guest = be_node_clone(locked);
		return 0;
	}
	be_lock_guest(lock, build->guest);
	return be_segment_guest(segment, &build->cache, &build->compressor, folder, build->guest, err);
}

static int make_modules(struct be_build *build, struct be_segment *segment, struct be_error *err)
{
	be_autostrv struct be_strv required = { 0 }, wanted = { 0 };
	be_get_strv(image_of(build), "modules", &required);
	be_get_strv(image_of(build), "modules_wanted", &wanted);
	if (build->kernel.stored)
		return recall_modules(build, segment, err);
	return be_modules_segment(segment, &build->kernel, &build->compressor, &required, &wanted, &build->notes, err);
}

/* The order of the members is fixed; the order of the work is not: the modules take longest, so they come first. */
static int make_segment(void *data, size_t item, struct be_error *err)
{
	struct be_build *build = data;
	const struct be_cache *cache = &build->cache;
	const struct be_compressor *compressor = &build->compressor;
	size_t packages = build->selection.n, modules = packages + build->given.n + 1;
	size_t guest = modules + 1, job = modules + 2;
	size_t i = item == 0 ? modules : item <= modules ? item - 1 : item;
	struct be_segment *segment = &build->segments[build->early + i];
	if (i == 0)
		return be_segment_base(segment, cache, compressor, err);
	if (i == modules)
		return make_modules(build, segment, err);
	if (i == guest)
		return make_guest(build, segment, err);
	if (i == job)
		return be_segment_job(segment, cache, compressor, build->plan.data, build->plan.len, err);
	if (i > packages)
		return be_segment_given(segment, cache, compressor, &build->given.v[i - packages - 1], err);
	const struct be_pick *pick = &build->selection.picks[i - 1];
	return be_segment_package(segment, &build->suite, compressor, &build->debs[pick->package], &pick->paths, err);
}

/* Packages whose member is in the cache are not read; of the others the archive must be there. */
static int make_segments(struct be_build *build, struct be_error *err)
{
	be_progress_step(&build->progress, "members");
	struct be_segment early = { 0 };
	if (be_image_early(build, &early, err) != 0)
		return -1;
	build->early = early.name != NULL;
	build->n = build->early + build->selection.n + build->given.n + 4;
	be_progress_note(&build->progress, "packing %zu members", build->n);
	build->segments = be_alloc(build->n * sizeof(*build->segments));
	build->segments[0] = early; /* the base takes its place where there is none */
	build->guest = be_node_seq();
	if (be_parallel(build->n - build->early, make_segment, build, err) != 0)
		return -1;
	int64_t bytes = 0;
	for (size_t i = 0; i < build->n; i++)
		bytes += build->segments[i].unpacked;
	be_progress_done(&build->progress, "%zu members, %.1f MB unpacked, %s", build->n, (double)bytes / 1e6,
			 build->compressor.name);
	return 0;
}

/* Before anything is written: an image that cannot boot is none. */
static int check_limits(struct be_build *build, struct be_error *err)
{
	be_autofree char *cmdline = be_strndup(build->cmdline.data, strcspn(build->cmdline.data, "\n"));
	struct be_limits limits = { .plan = build->request->plan,
				    .cmdline = cmdline,
				    .compressor = build->compressor.name,
				    .kernel = &build->kernel };
	for (size_t i = 0; i < build->n; i++) {
		limits.initrd += build->segments[i].object.size;
		limits.unpacked += build->segments[i].unpacked;
	}
	if (be_limits_check(&limits, &build->limits, err) != 0)
		return -1;
	for (size_t i = 0; i < build->limits.n; i++)
		fprintf(stderr, "mkbenchenv build: warning: %s\n", build->limits.v[i]);
	return 0;
}

/* The most that was in use at any time; apt and depmod are programs of their own. */
static void report_memory(struct be_build *build)
{
	struct rusage own, children;
	if (getrusage(RUSAGE_SELF, &own) != 0 || getrusage(RUSAGE_CHILDREN, &children) != 0)
		return;
	if (children.ru_maxrss)
		be_progress_part(&build->progress, "memory", be_monotonic() - build->began,
				 "%ld MB; apt and depmod %ld MB", own.ru_maxrss / 1024, children.ru_maxrss / 1024);
	else
		be_progress_part(&build->progress, "memory", be_monotonic() - build->began, "%ld MB",
				 own.ru_maxrss / 1024);
}

static int open_cache(struct be_build *build, struct be_error *err)
{
	if (!build->request->shared)
		return be_cache_open(&build->cache, build->request->paths->cache, err);
	build->cache = build->request->shared->cache;
	return 0;
}

static int build_image(struct be_build *build, struct be_error *err)
{
	const struct be_build_request *request = build->request;
	if (be_image_check_output(request->output, err) != 0 ||
	    be_segment_check_guest(request->paths->guest, err) != 0 || write_texts(build, err) != 0 ||
	    open_cache(build, err) != 0 || be_givens_open(&build->given, request->plan, request->programs, err) != 0)
		return -1;
	if (!request->lock && find_suite(build, err) != 0)
		return -1;
	if (be_image_is_current(build)) {
		be_progress_step(&build->progress, "image");
		be_progress_done(&build->progress, "%s is this image already", request->output);
		return 0;
	}
	if (find_inputs(build, err) != 0 &&
	    (request->lock || !build->suite.gone || build->suite.fresh || find_inputs_again(build, err) != 0))
		return -1;
	if (make_segments(build, err) != 0 || (request->lock && be_lock_take_members(build, err) != 0) ||
	    check_limits(build, err) != 0 || (request->lock && be_lock_compare(build, err) != 0))
		return -1;
	be_progress_step(&build->progress, "image");
	if ((request->uki && be_uki_fetch(build, err) != 0) || be_image_write(build, err) != 0)
		return -1;
	be_progress_done(&build->progress, "%s, %.1f MB, id %.12s", request->output,
			 (double)(build->initrd_size + build->kernel.image.size) / 1e6, build->id);
	be_image_record(build);
	report_memory(build);
	return 0;
}

int be_image_build(const struct be_build_request *request, struct be_error *err)
{
	struct be_build build = { .request = request,
				  .kernel = BE_KERNEL_INIT,
				  .uki = { .stub = { .tree = BE_TREE_INIT } } };
	be_progress_start(&build.progress, request->quiet);
	build.began = be_monotonic();
	if (!request->shared) /* who builds several at once catches for all */
		be_interrupt_catch();
	int rc = build_image(&build, err);
	be_progress_clear(&build.progress);
	build_free(&build);
	if (!request->shared)
		be_interrupt_release();
	return rc;
}
