/* `boot`: an image in the QEMU machine that looks like its host file. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "builder/twin/boot.h"
#include "builder/twin/boot_runs.h"
#include "builder/commands.h"
#include "builder/usage.h"
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

enum { MEMORY = 256, CPUS, DISK_SIZE, ACCEL, TIMEOUT, APPEND, RUNS };

struct boot_options {
	struct be_boot_request boot;
	struct be_strv images;
	int64_t runs; /* 0: not asked for */
};

static int take_option(void *data, int c, char **argv)
{
	struct boot_options *o = data;
	struct be_boot_request *r = &o->boot;
	switch (c) {
	case 'o':
		r->output = optarg;
		return BE_OK;
	case 'q':
		r->quiet = true;
		return BE_OK;
	case APPEND:
		r->append = optarg;
		return BE_OK;
	case MEMORY:
		if (be_parse_size(optarg, &r->memory) && r->memory > 0)
			return BE_OK;
		return be_usage_error(argv[0], "--memory %s: is no size, as 2G is", optarg);
	case DISK_SIZE:
		if (be_parse_size(optarg, &r->disk_size) && r->disk_size >= 1 << 20)
			return BE_OK;
		return be_usage_error(argv[0], "--disk-size %s: is no size of at least 1M, as 16G is", optarg);
	case CPUS:
		return be_usage_number(argv[0], "--cpus", optarg, CPUS_MAX, &r->cpus);
	case TIMEOUT:
		if (be_parse_time(optarg, &r->timeout) && r->timeout > 0)
			return BE_OK;
		return be_usage_error(argv[0], "--timeout %s: is no time, as 300s is", optarg);
	case RUNS:
		return be_usage_number(argv[0], "--runs", optarg, RUNS_MAX, &o->runs);
	case ACCEL:
		if (be_accel_parse(optarg, &r->accel))
			return BE_OK;
		return be_usage_error(argv[0], "\"%s\" is neither auto nor an accelerator", optarg);
	default:
		return be_usage_option(argv, c);
	}
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
	static const struct option options[] = { { "output", required_argument, NULL, 'o' },
						 { "memory", required_argument, NULL, MEMORY },
						 { "cpus", required_argument, NULL, CPUS },
						 { "disk-size", required_argument, NULL, DISK_SIZE },
						 { "accel", required_argument, NULL, ACCEL },
						 { "kvm", required_argument, NULL, ACCEL },
						 { "timeout", required_argument, NULL, TIMEOUT },
						 { "append", required_argument, NULL, APPEND },
						 { "runs", required_argument, NULL, RUNS },
						 { "quiet", no_argument, NULL, 'q' },
						 { "help", no_argument, NULL, 'h' },
						 { NULL, 0, NULL, 0 } };
	struct boot_options o = { 0 };
	const struct be_command_line line = {
		.usage = usage, .letters = ":ho:q", .options = options, .take = take_option, .data = &o
	};
	int status;
	if (!be_usage_take(&line, argc, argv, &status))
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
