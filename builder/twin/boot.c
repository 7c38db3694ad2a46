#include "builder/twin/boot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "builder/twin/disks.h"
#include "builder/image/image_folder.h"
#include "builder/twin/initrd_extend.h"
#include "builder/progress.h"
#include "builder/twin/qemu.h"
#include "builder/twin/result_folder.h"
#include "builder/twin/twin.h"
#include "builder/kernel/vmlinux.h"
#include "plan.h"

#define BOOT_SECONDS_TCG 300 /* for firmware, kernel and init, beside the plan's own limit */
#define BOOT_SECONDS_KVM 120

/* A run from its start to its result. */
struct boot {
	const struct be_boot_request *request;
	struct be_image_folder image;
	struct be_cache cache;
	bool kvm;
	const char *why_not_kvm;
	struct be_object vmlinux; /* path NULL: the bzImage is booted */
	char *folder;             /* temporary, beside the result */
	char *work;               /* below it: what QEMU works with */
	int control[2];
	struct be_twin twin;
	struct be_qemu qemu;
};

static void free_boot(struct boot *b)
{
	struct be_error ignored = BE_ERROR_INIT;
	be_close_fd(&b->control[0]);
	be_close_fd(&b->control[1]);
	be_twin_free(&b->twin);
	be_object_free(&b->vmlinux);
	be_cache_close(&b->cache);
	be_image_folder_free(&b->image);
	if (b->folder)
		be_remove_tree(b->folder, &ignored);
	free(b->folder);
	free(b->work);
}

/* The kernel file that is started, and by what. */
static int choose_kernel(struct boot *b, struct be_error *err)
{
	const char *sha256 = be_get_str(be_get_path(b->image.manifest, "image.kernel"), "sha256", "");
	struct be_error why = BE_ERROR_INIT;
	const char *start = b->image.kernel;
	if (be_vmlinux_get(&b->cache, b->image.kernel, sha256, &b->vmlinux, &why) == 0)
		start = b->vmlinux.path;
	return be_accel_choose(b->request->accel, &b->cache, start, sha256, &b->kvm, &b->why_not_kvm, err);
}

static int64_t available_memory(void)
{
	struct be_root root = { .prefix = "" };
	be_autofree char *text = be_root_text(&root, "/proc/meminfo");
	const char *line = text ? strstr(text, "MemAvailable:") : NULL;
	return line ? strtoll(line + strlen("MemAvailable:"), NULL, 10) * 1024 : 0;
}

static int describe_twin(struct boot *b, struct be_error *err)
{
	const struct be_boot_request *r = b->request;
	struct be_twin_request twin = {
		.plan = b->image.plan,
		.cmdline = b->image.cmdline,
		.kernel = b->vmlinux.path ? "vmlinux" : "vmlinuz",
		.initrd_unpacked = be_get_int(be_get_path(b->image.manifest, "image.initrd"), "unpacked", 0),
		.kvm = b->kvm,
		.append = r->append,
		.memory = r->memory,
		.disk_size = r->disk_size,
		.cpus = r->cpus,
		.real_cpus = sysconf(_SC_NPROCESSORS_ONLN),
		.real_memory = available_memory(),
		.qmp_fd = b->control[1],
	};
	return be_twin_make(&twin, &b->twin, err);
}

static int make_folder(struct boot *b, struct be_error *err)
{
	b->folder = be_result_work_folder(b->request->output, err);
	if (!b->folder)
		return -1;
	b->work = be_strf("%s/work", b->folder);
	return be_mkdirs(b->work, 0777, err);
}

static int link_file(struct boot *b, const char *target, const char *name, struct be_error *err)
{
	be_autofree char *path = be_strf("%s/%s", b->work, name), *full = realpath(target, NULL);
	if (!full || symlink(full, path) != 0)
		return be_fail_errno(err, errno, "%s: cannot be linked to", target);
	return 0;
}

static int fill_folder(struct boot *b, struct be_error *err)
{
	const struct be_twin *twin = &b->twin;
	for (size_t i = 0; i < twin->n_disks; i++) {
		be_autofree char *path = be_strf("%s/%s", b->work, twin->disks[i].name);
		if (be_disk_make(path, twin->disks[i].size, twin->disks[i].partitions, err) != 0)
			return -1;
	}
	const char *kernel = b->vmlinux.path ? b->vmlinux.path : b->image.kernel;
	if (link_file(b, kernel, b->vmlinux.path ? "vmlinux" : "vmlinuz", err) != 0)
		return -1;
	if (!twin->rules)
		return link_file(b, b->image.initrd, BE_TWIN_INITRD, err);
	be_autofree char *initrd = be_strf("%s/" BE_TWIN_INITRD, b->work);
	return be_initrd_extend(b->image.initrd, twin->rules, initrd, err);
}

static int run_twin(struct boot *b, struct be_error *err)
{
	const struct be_boot_request *r = b->request;
	int64_t limit = r->timeout;
	if (!limit)
		limit = be_plan_timeout(b->image.plan) + (b->kvm ? BOOT_SECONDS_KVM : BOOT_SECONDS_TCG);
	be_autofree char *console = be_strf("%s/" BE_TWIN_CONSOLE, b->work);
	b->qemu = (struct be_qemu){ .argv = &b->twin.argv,
				    .folder = b->work,
				    .control = b->control[0],
				    .timeout = (double)limit,
				    .console = console,
				    .quiet = r->quiet };
	if (!r->quiet)
		fprintf(stderr, "boot: %s, %lld processors, %lld MiB, at most %lld s%s%s\n", b->kvm ? "KVM" : "TCG",
			(long long)b->twin.cpus, (long long)(b->twin.memory >> 20), (long long)limit,
			b->kvm ? "" : ": ", b->kvm ? "" : b->why_not_kvm);
	if (be_qemu_run(&b->qemu, err) != 0)
		return -1;
	b->qemu.console = NULL; /* it pointed into this function */
	return b->qemu.interrupted ? be_fail(err, "interrupted") : 0;
}

static struct be_node *describe_run(const struct boot *b)
{
	struct be_node *twin = be_node_map();
	be_set_str(twin, "accelerator", b->kvm ? "kvm" : "tcg");
	be_set_str(twin, "kernel", b->vmlinux.path ? "vmlinux, unpacked from the image's vmlinuz" : "vmlinuz");
	be_set_int(twin, "cpus", b->twin.cpus);
	be_set_int(twin, "memory", b->twin.memory);
	be_set_str(twin, "cmdline", b->twin.cmdline);
	be_set(twin, "argv", be_node_strv(&b->twin.argv));
	be_set(twin, "seconds", be_node_real(b->qemu.seconds));
	be_set_str(twin, "ended", b->qemu.ended);
	return twin;
}

static void print_summary(const struct boot *b, const struct be_node *result)
{
	const struct be_node *metrics = be_get(result, "metrics");
	const char *reason = be_get_str(result, "reason", NULL);
	fprintf(stderr, "boot: %s after %.0f s%s%s\n", be_get_str(result, "state", ""), b->qemu.seconds,
		reason ? ": " : "", reason ? reason : "");
	for (size_t i = 0; metrics && i < metrics->n; i++)
		fprintf(stderr, "boot: %s %s\n", metrics->keys[i], metrics->items[i]->text);
}

static int write_result(struct boot *b, enum be_status *status, struct be_error *err)
{
	be_autofree char *delivery = be_strf("%s/" BE_TWIN_DELIVERY, b->work);
	be_autofree char *console = be_strf("%s/" BE_TWIN_CONSOLE, b->work);
	be_autofree char *made = be_strf("%s/result", b->folder);
	be_autonode struct be_node *twin = describe_run(b), *result = NULL;
	struct be_run_source run = { .image = &b->image,
				     .delivery = delivery,
				     .console = console,
				     .ended = b->qemu.ended,
				     .timed_out = b->qemu.timed_out,
				     .twin = twin,
				     .deviations = b->twin.deviations };
	struct stat st;
	if (b->qemu.failed && (stat(delivery, &st) != 0 || st.st_size == 0))
		return be_fail(err, "%s", b->qemu.ended);
	if (be_result_write(&run, made, &result, err) != 0)
		return -1;
	*status = (enum be_status)be_result_status(result);
	if (!b->request->quiet)
		print_summary(b, result);
	return be_result_place(b->folder, made, b->request->output, err);
}

static int boot(struct boot *b, enum be_status *status, struct be_error *err)
{
	if (be_result_check_output(b->request->output, err) != 0 ||
	    be_image_folder_load(b->request->image, &b->image, err) != 0 ||
	    be_cache_open(&b->cache, b->request->paths->cache, err) != 0 || choose_kernel(b, err) != 0 ||
	    be_qemu_channel(b->control, err) != 0 || describe_twin(b, err) != 0 || make_folder(b, err) != 0)
		return -1;
	return fill_folder(b, err) != 0 || run_twin(b, err) != 0 ? -1 : write_result(b, status, err);
}

int be_boot(const struct be_boot_request *request, enum be_status *status, struct be_error *err)
{
	struct boot b = { .request = request, .control = { -1, -1 } };
	be_interrupt_catch();
	int rc = boot(&b, status, err);
	free_boot(&b);
	be_interrupt_release();
	return rc;
}
