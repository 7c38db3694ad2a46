/* `build`, the default command: a job file becomes an image folder. */
#include <getopt.h>

#include "builder/commands.h"
#include "base/file.h"
#include "builder/build_matrix.h"
#include "builder/image/image.h"
#include "builder/rebuild/rebuild.h"
#include "builder/recipe.h"
#include "builder/usage.h"

static const char usage[] =
	"Usage: mkbenchenv JOB -o IMAGE [OPTION]...\n"
	"       mkbenchenv MANIFEST|BUNDLE -o IMAGE [OPTION]...\n"
	"\n"
	"Makes the folder IMAGE: kernel, initrd, command line, plan and manifest of a job; of\n"
	"a manifest (also in a folder of an image or a result) or a bundle the same again.\n"
	"\n"
	"  -o, --output IMAGE  folder to make; replaced only when the new one is complete\n" BE_RECIPE_HELP
	"  --all               every atomic job, each in a folder of its own below IMAGE\n"
	"  --suite NAME        Debian release of packages and default kernel\n"
	"  --kernel KERNEL     debian (default), a bzImage, a build tree or a kernel package;\n"
	"                      given several times, one image of each below IMAGE\n"
	"  --modules DIR       the modules of the kernel before it, given as a bare file\n"
	"  --program NAME=PATH a program or folder that the workload needs and Debian does not have\n"
	"  --packages DIR      of a manifest: packages are looked for in DIR too\n"
	"  --mirror URL        of a manifest: and on this mirror or snapshot, not on the machine's\n"
	"  --allow-drift       of a manifest: the nearest image, each difference a deviation\n"
	"  --small             best compression instead of the quickest\n"
	"  --all-modules       every module of the kernel, for hardware that nothing is known of\n"
	"  --ucode FILE        microcode for the early loader: intel-microcode or amd64-microcode\n"
	"                      of the suite, a .deb of these, an early initrd, a vendor's container\n"
	"  --uki               also uki.efi, one file that UEFI firmware starts by itself\n"
	"  -q, --quiet         no progress\n";

struct build_options {
	struct be_recipe_request recipe;
	struct be_build_request image;
	struct be_strv kernels, modules; /* modules.v[i] belongs to kernels.v[i]; "": none */
	struct be_rebuild rebuild;       /* of a manifest; its programs are those of any job too */
	bool all, all_modules;
};

static void free_options(struct build_options *o)
{
	be_strv_free(&o->recipe.set);
	be_strv_free(&o->kernels);
	be_strv_free(&o->modules);
	be_rebuild_close(&o->rebuild);
}

/* `--modules` belongs to the kernel before it, which has none yet; before the only kernel it may stand too. */
static bool take_modules(void *options, const char *dir)
{
	struct build_options *o = options;
	if (o->modules.n > o->kernels.n || (o->modules.n == o->kernels.n && o->modules.n))
		return false;
	be_strv_add(&o->modules, dir);
	return true;
}

/* A kernel gets its place; the one before it that was given no modules has none. */
static bool take_kernel(void *options, const char *kernel)
{
	struct build_options *o = options;
	while (o->modules.n < o->kernels.n)
		be_strv_add(&o->modules, "");
	be_strv_add(&o->kernels, kernel);
	return true;
}

static int build(const struct build_options *o, struct be_error *err)
{
	struct be_matrix matrix = { .recipe = &o->recipe,
				    .image = &o->image,
				    .programs = &o->rebuild.programs,
				    .kernels = &o->kernels,
				    .modules = &o->modules,
				    .all = o->all };
	return be_matrix_build(&matrix, err);
}

/* The options that say where a manifest's packages are. */
static bool has_lock_options(const struct build_options *o)
{
	return o->rebuild.lock.folders.n || o->rebuild.lock.mirrors.n || o->rebuild.lock.allow_drift;
}

static int check_manifest(const struct build_options *o, const char *command)
{
	if (o->all || o->image.suite || o->image.small || o->kernels.n > 1)
		return be_usage_error(command, "--all, --suite, --small and a second --kernel do not go with a "
					       "manifest: it says what the one image is");
	if (o->recipe.host || o->recipe.pick || o->recipe.set.n || o->recipe.compatible)
		return be_usage_error(command, "--host, --set, --pick, --compatible and --all-modules do not go with "
					       "a manifest: it has its recipe");
	return BE_OK;
}

/* Returns -1 to go on, else the exit status. */
static int check_options(const struct build_options *o, int argc, char **argv)
{
	if (argc - optind != 1)
		return be_usage_error(argv[0], argc == optind ? "needs a job file" : "takes one job file");
	if (!o->image.output)
		return be_usage_error(argv[0], "needs -o IMAGE, the folder to make");
	if (o->modules.n > o->kernels.n)
		return be_usage_error(argv[0], "--modules goes with --kernel FILE");
	if (o->all && o->recipe.pick)
		return be_usage_error(argv[0], "--all and --pick exclude each other");
	return -1;
}

static int build_again(struct build_options *o, struct be_error *err)
{
	be_autopaths struct be_paths paths = { 0 };
	if (be_paths_find(&paths, err) != 0 || be_rebuild_open(&o->rebuild, o->recipe.job, paths.cache, err) != 0)
		return -1;
	o->rebuild.lock.command = "build";
	o->image.kernel = o->kernels.n ? o->kernels.v[0] : NULL;
	o->image.modules = o->modules.n && *o->modules.v[0] ? o->modules.v[0] : NULL;
	return be_rebuild_run(&o->rebuild, &o->image, err);
}

static int run(struct build_options *o, const char *command)
{
	struct be_error err = BE_ERROR_INIT;
	bool again = be_rebuild_is_source(o->recipe.job);
	if (!again && has_lock_options(o))
		return be_usage_error(command, "--packages, --mirror and --allow-drift go with a manifest");
	int status = again ? check_manifest(o, command) : BE_OK;
	if (status != BE_OK)
		return status;
	return (again ? build_again(o, &err) : build(o, &err)) == 0 ? BE_OK : be_command_failed(command, &err);
}

int be_cmd_build(int argc, char **argv)
{
	struct build_options o = { 0 };
	struct be_build_request *image = &o.image;
	struct be_lock *lock = &o.rebuild.lock;
	const struct be_option options[] = {
		BE_RECIPE_OPTIONS(&o.recipe),
		BE_TEXT("output", 'o', &image->output),
		BE_FLAG("all", 0, &o.all),
		BE_FLAG("all-modules", 0, &o.all_modules),
		BE_TEXT("suite", 0, &image->suite),
		BE_TAKE("kernel", take_kernel, &o, NULL),
		BE_TAKE("modules", take_modules, &o, "the kernel before it has its modules already"),
		BE_LIST("program", 0, &o.rebuild.programs),
		BE_LIST("packages", 0, &lock->folders),
		BE_LIST("mirror", 0, &lock->mirrors),
		BE_FLAG("allow-drift", 0, &lock->allow_drift),
		BE_FLAG("small", 0, &image->small),
		BE_TEXT("ucode", 0, &image->ucode),
		BE_FLAG("uki", 0, &image->uki),
		BE_FLAG("quiet", 'q', &image->quiet),
		BE_OPTIONS_END,
	};
	int status = be_usage_read(usage, options, argc, argv);
	if (status < 0)
		status = check_options(&o, argc, argv);
	if (status < 0) {
		o.recipe.job = argv[optind];
		if (o.all_modules)
			be_strv_add(&o.recipe.set, "all_modules=true");
		status = run(&o, argv[0]);
	}
	free_options(&o);
	return status;
}
