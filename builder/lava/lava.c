#include "builder/lava/lava.h"

#include <inttypes.h>
#include <string.h>

#include "plan.h"

#define BOOT_SECONDS 900     /* firmware, network boot and kernel of a slow server */
#define DEPLOY_SECONDS 300   /* and a second for every MB */
#define DELIVERY_SECONDS 600 /* on a serial line of 115200 baud: 4 MB of result */
#define MIN_MEMORY 2048      /* MiB of a QEMU device */

/* Where init's first word and its last stand on the console, and what it says in between (initrd/cases.h). */
#define START "init: plan"
#define END "init: end of the run"
#define PATTERN "init: case (?P<test_case_id>\\S+): (?P<result>\\w+) (?P<measurement>[-+.0-9e]+) (?P<units>\\S+)"

static struct be_node *seconds(int64_t n)
{
	struct be_node *map = be_node_map();
	be_set_int(map, "seconds", n);
	return map;
}

static int64_t run_seconds(const struct be_lava_request *r)
{
	return be_plan_timeout(r->image->plan) + DELIVERY_SECONDS;
}

static int64_t deploy_seconds(const struct be_lava_request *r)
{
	return DEPLOY_SECONDS + r->bytes / 1000000;
}

static bool is_qemu(const struct be_lava_request *r)
{
	return !r->device_type || strcmp(r->device_type, BE_LAVA_QEMU) == 0;
}

static struct be_node *resource(const struct be_lava_request *r, const char *file, const char *part)
{
	struct be_node *map = be_node_map();
	const struct be_node *stated = be_get(be_get(r->image->manifest, "image"), part);
	be_set(map, "url", be_node_strf("%s/%s", r->url, file));
	be_set_str(map, "sha256sum", be_get_str(stated, "sha256", NULL));
	return map;
}

/* LAVA puts the file's name in the place of {kernel} with str.format: other braces are doubled. */
static char *format_escaped(const char *text)
{
	be_autobuf struct be_buf out = { 0 };
	for (; *text; text++) {
		be_buf_addc(&out, *text);
		if (*text == '{' || *text == '}')
			be_buf_addc(&out, *text);
	}
	return be_buf_steal(&out);
}

static struct be_node *deploy_qemu(const struct be_lava_request *r)
{
	struct be_node *deploy = be_node_map(), *images = be_node_map();
	struct be_node *kernel = resource(r, "vmlinuz", "kernel"), *ramdisk = resource(r, "initrd.img", "initrd");
	be_autofree char *cmdline = format_escaped(r->image->cmdline);
	be_set(kernel, "image_arg", be_node_strf("-kernel {kernel} -append \"console=ttyS0 %s\"", cmdline));
	be_set_str(ramdisk, "image_arg", "-initrd {ramdisk}");
	be_set(images, "kernel", kernel);
	be_set(images, "ramdisk", ramdisk);
	be_set(deploy, "timeout", seconds(deploy_seconds(r)));
	be_set_str(deploy, "to", "tmpfs");
	be_set(deploy, "images", images);
	return deploy;
}

/* The ramdisk stays as it is: LAVA would unpack it, add to it and pack it again. */
static struct be_node *deploy_tftp(const struct be_lava_request *r)
{
	struct be_node *deploy = be_node_map(), *ramdisk = resource(r, "initrd.img", "initrd");
	be_set(ramdisk, "install_modules", be_node_bool(false));
	be_set(ramdisk, "install_overlay", be_node_bool(false));
	be_set(deploy, "timeout", seconds(deploy_seconds(r)));
	be_set_str(deploy, "to", "tftp");
	be_set(deploy, "kernel", resource(r, "vmlinuz", "kernel"));
	be_set(deploy, "ramdisk", ramdisk);
	return deploy;
}

static struct be_node *boot(const struct be_lava_request *r)
{
	struct be_node *map = be_node_map();
	be_set(map, "timeout", seconds(BOOT_SECONDS));
	if (is_qemu(r)) {
		be_set_str(map, "method", "qemu");
		be_set_str(map, "media", "tmpfs");
	} else {
		be_set_str(map, "method", r->method);
		be_set_str(map, "commands", "ramdisk");
	}
	return map;
}

/* What the guest calls it, and what LAVA does. */
static struct be_node *results(void)
{
	struct be_node *map = be_node_map();
	be_set_str(map, "done", "pass");
	be_set_str(map, "failed", "fail");
	be_set_str(map, "timeout", "fail");
	be_set_str(map, "refused", "skip");
	return map;
}

static struct be_node *test(const struct be_lava_request *r)
{
	struct be_node *map = be_node_map(), *monitors = be_node_seq(), *monitor = be_node_map();
	be_set_str(monitor, "name", "mkbenchenv");
	be_set_str(monitor, "start", START);
	be_set_str(monitor, "end", END);
	be_set_str(monitor, "pattern", PATTERN);
	be_set(monitor, "fixupdict", results());
	be_add(monitors, monitor);
	be_set(map, "timeout", seconds(run_seconds(r)));
	be_set(map, "monitors", monitors);
	return map;
}

static void add_action(struct be_node *actions, const char *kind, struct be_node *action)
{
	struct be_node *map = be_node_map();
	be_set(map, kind, action);
	be_add(actions, map);
}

static struct be_node *context(const struct be_lava_request *r)
{
	struct be_node *map = be_node_map();
	int64_t unpacked = be_get_int(be_get_path(r->image->manifest, "image.initrd"), "unpacked", 0) >> 20;
	if (is_qemu(r)) {
		be_set_str(map, "arch", "amd64");
		be_set_int(map, "memory", MIN_MEMORY + 2 * unpacked);
	} else {
		be_set_str(map, "extra_kernel_args", r->image->cmdline);
	}
	return map;
}

static struct be_node *timeouts(const struct be_lava_request *r)
{
	struct be_node *map = be_node_map();
	be_set(map, "job", seconds(deploy_seconds(r) + BOOT_SECONDS + run_seconds(r)));
	be_set(map, "action", seconds(BOOT_SECONDS));
	be_set(map, "connection", seconds(BOOT_SECONDS));
	return map;
}

static struct be_node *metadata(const struct be_lava_request *r)
{
	struct be_node *map = be_node_map();
	be_set_str(map, "mkbenchenv.image", be_get_str(be_get(r->image->manifest, "image"), "id", NULL));
	be_set_str(map, "mkbenchenv.host", be_get_str(be_get(r->image->plan, "machine"), "host", NULL));
	return map;
}

/* The command line goes into a text between double quotes that LAVA's shell reads. */
static int check_cmdline(const char *cmdline, struct be_error *err)
{
	const char *bad = strpbrk(cmdline, "\"`$\\");
	if (!bad)
		return 0;
	be_fail(err, "the command line holds %c, which LAVA's command for QEMU cannot: %s", *bad, cmdline);
	return be_hint(err, "Take it out of the job's kernel_cmdline or boot_params.");
}

static void note_lacks(const struct be_lava_request *r, struct be_strv *notes)
{
	const struct be_node *disks = be_get(be_get(r->image->plan, "layout"), "devices");
	if (is_qemu(r) && disks && disks->n)
		be_strv_addf(notes,
			     "the plan uses %zu disks, and a QEMU device of LAVA has none by itself: the run will be "
			     "refused "
			     "unless the device's own options add them (--device-type names another type)",
			     disks->n);
	if (be_starts(r->url, "file:"))
		be_strv_add(notes,
			    "the files are fetched from this machine's own folder: only a dispatcher that runs here "
			    "finds them (--url BASE names a server)");
}

struct be_node *be_lava_job(const struct be_lava_request *r, struct be_strv *notes, struct be_error *err)
{
	if (is_qemu(r) && check_cmdline(r->image->cmdline, err) != 0)
		return NULL;
	struct be_node *job = be_node_map(), *actions = be_node_seq();
	be_set(job, "job_name",
	       be_node_strf("mkbenchenv %s %s", be_get_str(r->image->plan, "name", "image"),
			    be_get_str(be_get(r->image->manifest, "image"), "id", "")));
	be_set_str(job, "device_type", r->device_type ? r->device_type : BE_LAVA_QEMU);
	be_set_str(job, "visibility", "public");
	be_set_str(job, "priority", "medium");
	be_set(job, "context", context(r));
	be_set(job, "metadata", metadata(r));
	be_set(job, "timeouts", timeouts(r));
	add_action(actions, "deploy", is_qemu(r) ? deploy_qemu(r) : deploy_tftp(r));
	add_action(actions, "boot", boot(r));
	add_action(actions, "test", test(r));
	be_set(job, "actions", actions);
	note_lacks(r, notes);
	return job;
}
