#include "builder/twin/boot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "builder/twin/boot_result.h"
#include "builder/twin/disks.h"
#include "builder/image/image_folder.h"
#include "builder/twin/initrd_extend.h"
#include "builder/progress.h"
#include "builder/twin/qemu.h"
#include "builder/twin/twin.h"
#include "builder/kernel/vmlinux.h"

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

/* A manifest of ours and no kernel: other people's folders have a manifest.yaml too, and so has the image itself. */
static bool is_result(const char *path)
{
	struct be_error ignored = BE_ERROR_INIT;
	be_autofree char *kernel = be_strf("%s/vmlinuz", path);
	be_autonode struct be_node *manifest = be_manifest_load(path, &ignored);
	return manifest && !be_exists(kernel);
}

/* A result of ours, or nothing: whatever else stands there is not ours to replace. */
static int check_output(const char *path, struct be_error *err)
{
	struct stat st;
	if (lstat(path, &st) != 0)
		return 0;
	be_autostrv struct be_strv names = { 0 };
	struct be_root root = { .prefix = "" };
	if (S_ISDIR(st.st_mode) && (is_result(path) || (be_root_list(&root, path, &names) == 0 && names.n == 0)))
		return 0;
	be_fail_usage(err, "%s: is there and is no result of mkbenchenv", path);
	return be_hint(err, "Choose another folder with -o.");
}

static int make_folder(struct boot *b, struct be_error *err)
{
	size_t len = strlen(b->request->output);
	while (len > 1 && b->request->output[len - 1] == '/')
		len--;
	be_autofree char *folder = be_strf("%.*s.XXXXXX", (int)len, b->request->output);
	if (!mkdtemp(folder))
		return be_fail_errno(err, errno, "%s: no folder can be made beside it", b->request->output);
	b->folder = be_steal(&folder);
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
		limit = be_get_int(b->image.plan, "timeout", 7200) + (b->kvm ? BOOT_SECONDS_KVM : BOOT_SECONDS_TCG);
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

static int write_result(struct boot *b, enum be_status *status, struct be_error *err)
{
	struct be_boot_outcome outcome = { .image = &b->image,
					   .twin = &b->twin,
					   .qemu = &b->qemu,
					   .kvm = b->kvm,
					   .kernel = b->vmlinux.path ? "vmlinux" : "vmlinuz",
					   .work = b->work,
					   .quiet = b->request->quiet };
	be_autofree char *made = be_strf("%s/result", b->folder);
	if (be_boot_result(&outcome, made, status, err) != 0)
		return -1;
	/* The old result goes only when the new one stands beside it. */
	be_autofree char *old = be_strf("%s/old", b->folder);
	if (rename(b->request->output, old) != 0 && errno != ENOENT)
		return be_fail_errno(err, errno, "%s: cannot be replaced", b->request->output);
	if (rename(made, b->request->output) == 0)
		return 0;
	be_fail_errno(err, errno, "%s: cannot be put in place", b->request->output);
	if (rename(old, b->request->output) != 0 && errno != ENOENT)
		return be_hint(err, "The old result could not be put back either.");
	return -1;
}

static int boot(struct boot *b, enum be_status *status, struct be_error *err)
{
	if (check_output(b->request->output, err) != 0 ||
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
