/* `boot`: an image in the QEMU machine that looks like its host file. */
#include <getopt.h>
#include <string.h>

#include "base/file.h"
#include "builder/twin/boot.h"
#include "builder/twin/boot_runs.h"
#include "builder/commands.h"
#include "builder/usage.h"
#include "plain.h"
#include "plan.h"
#include "units.h"

#define CPUS_MAX 255 /* of QEMU's q35 without an IOMMU */
#define RUNS_MAX 1000

static const char usage[] = "Usage: mkbenchenv boot IMAGE -o RESULT [OPTION]...\n"
			    "       mkbenchenv boot IMAGE... [--runs N] -o FOLDER [OPTION]...\n"
			    "\n"
			    "Boots the folder IMAGE in QEMU and makes the folder RESULT: manifest, observations,\n"
			    "logs and the workload's output. Several images are booted in turn, A B A B, and the\n"
			    "result of the Nth run of each is FOLDER/IMAGE/N, for `mkbenchenv diff`.\n"
			    "\n"
			    "  -o, --output RESULT  folder to make; an older result there is replaced\n"
			    "  --runs N             number of boots of each image\n"
			    "  --memory SIZE        memory of the machine\n"
			    "  --cpus N             its processors\n"
			    "  --disk-size SIZE     size of each disk and of each persistent memory\n"
			    "  --kvm auto|on|off    KVM when a kernel starts on it (auto), always or never\n"
			    "  --accel auto|kvm|tcg the same in QEMU's words\n"
			    "  --timeout TIME       stop the machine after this time\n"
			    "  --append ARGS        more kernel arguments\n"
			    "  -q, --quiet          no progress\n"
			    "\n"
			    "Exit status: 0 the workload was done and all was delivered, 1 it failed, died or ran\n"
			    "out of time, 3 it was refused because the environment differs. A result is there in\n"
			    "all three cases. Of several runs the worst counts: 1, then 3.\n";

struct boot_options {
	struct be_boot_request boot;
	struct be_strv images;
	int64_t runs; /* 0: not asked for */
};

static bool take_disk_size(void *size, const char *value)
{
	return be_parse_size(value, size) && *(int64_t *)size >= 1 << 20;
}

static bool take_timeout(void *seconds, const char *value)
{
	return be_parse_time(value, seconds) && *(int64_t *)seconds > 0 && *(int64_t *)seconds <= BE_PLAN_TIMEOUT_MAX;
}

static bool take_append(void *append, const char *value)
{
	be_autostrv struct be_strv words = { 0 };
	*(const char **)append = value;
	be_strv_split(&words, value, " \t");
	for (size_t i = 0; i < words.n; i++)
		if (!be_is_line(words.v[i]) || be_is_initrd_word(words.v[i]))
			return false;
	return true;
}

static bool take_accel(void *accel, const char *value)
{
	return be_accel_parse(value, accel);
}

/* One run, or the runs of all images in turn. */
static int boot(const struct boot_options *o, enum be_status *status, struct be_error *err)
{
	struct be_paths paths = { 0 };
	struct be_boot_request request = o->boot;
	struct be_runs_request series = {
		.boot = &request, .images = &o->images, .runs = o->runs ? o->runs : 1, .output = o->boot.output
	};
	request.paths = &paths;
	int rc = be_paths_find(&paths, err);
	if (rc == 0)
		rc = o->runs || o->images.n > 1 ? be_boot_runs(&series, status, err) : be_boot(&request, status, err);
	be_paths_free(&paths);
	return rc;
}

static int run(const struct boot_options *o, const char *command)
{
	struct be_error err = BE_ERROR_INIT;
	enum be_status status = BE_OK;
	return boot(o, &status, &err) == 0 ? (int)status : be_command_failed(command, &err);
}

int be_cmd_boot(int argc, char **argv)
{
	struct boot_options o = { 0 };
	struct be_boot_request *r = &o.boot;
	static const char no_accel[] = "is neither auto nor an accelerator";
	static const char no_append[] = "no control characters, and no initrd= beside the image's own";
	const struct be_option options[] = {
		BE_TEXT("output", 'o', &r->output),
		BE_TAKE("memory", be_take_size, &r->memory, "is no size, as 2G is"),
		BE_COUNT("cpus", &r->cpus, CPUS_MAX),
		BE_TAKE("disk-size", take_disk_size, &r->disk_size, "is no size of at least 1M, as 16G is"),
		BE_TAKE("accel", take_accel, &r->accel, no_accel),
		BE_TAKE("kvm", take_accel, &r->accel, no_accel),
		BE_TAKE("timeout", take_timeout, &r->timeout, "is no time up to ten years, as 300s is"),
		BE_TAKE("append", take_append, &r->append, no_append),
		BE_COUNT("runs", &o.runs, RUNS_MAX),
		BE_FLAG("quiet", 'q', &r->quiet),
		BE_OPTIONS_END,
	};
	int status = be_usage_read(usage, options, argc, argv);
	if (status >= 0)
		return status;
	if (optind == argc)
		return be_usage_error(argv[0], "needs an image folder");
	if (!o.boot.output)
		return be_usage_error(argv[0], "needs -o RESULT, the folder to make");
	o.boot.image = argv[optind];
	for (int i = optind; i < argc; i++)
		be_strv_add(&o.images, argv[i]);
	status = run(&o, argv[0]);
	be_strv_free(&o.images);
	return status;
}
