/* LAVA job definitions as documents; LAVA's own schema and dispatcher look at them in tests/fleet. */
#include <criterion/criterion.h>
#include <string.h>

#include "builder/lava/lava.h"

static struct be_node *document(const char *text)
{
	struct be_error err = BE_ERROR_INIT;
	struct be_node *doc = be_node_load(text, strlen(text), "document", &err);
	cr_assert_not_null(doc, "%s", err.text);
	return doc;
}

#define PLAN "name: fio\ntimeout: 3600\nmachine: {host: h}\nlayout: {devices: [{name: disk0}, {name: disk1}]}\n"
#define MANIFEST "image: {id: 0123456789ab, kernel: {size: 8, sha256: aa}, initrd: {sha256: bb, unpacked: 104857600}}\n"

/* The definition of an image with that command line; the error's text stands in @err, the notes in @notes. */
static struct be_node *job_of(const char *cmdline, const char *device_type, struct be_strv *notes, struct be_error *err)
{
	be_autonode struct be_node *plan = document(PLAN), *manifest = document(MANIFEST);
	struct be_image_folder image = { .cmdline = (char *)cmdline, .plan = plan, .manifest = manifest };
	struct be_lava_request request = { .image = &image,
					   .url = "http://server/image",
					   .device_type = device_type,
					   .method = "grub",
					   .bytes = 100000000 };
	return be_lava_job(&request, notes, err);
}

static const struct be_node *action(const struct be_node *job, size_t i, const char *kind)
{
	const struct be_node *actions = be_get(job, "actions");
	cr_assert(actions && actions->n == 3);
	const struct be_node *found = be_get(actions->items[i], kind);
	cr_assert_not_null(found, "%s", kind);
	return found;
}

Test(lava, qemu)
{
	struct be_error err = BE_ERROR_INIT;
	be_autostrv struct be_strv notes = { 0 };
	be_autonode struct be_node *job = job_of("quiet x={1}", NULL, &notes, &err);
	cr_assert_not_null(job, "%s", err.text);
	cr_expect_str_eq(be_get_str(job, "device_type", ""), "qemu");
	const struct be_node *kernel = be_get_path(action(job, 0, "deploy"), "images.kernel");
	cr_expect_str_eq(be_get_str(kernel, "url", ""), "http://server/image/vmlinuz");
	cr_expect_str_eq(be_get_str(kernel, "sha256sum", ""), "aa");
	cr_expect_str_eq(be_get_str(kernel, "image_arg", ""),
			 "-kernel {kernel} -append \"console=ttyS0 quiet x={{1}}\"");
	cr_expect_str_eq(be_get_str(action(job, 1, "boot"), "method", ""), "qemu");
	cr_expect_gt(be_get_int(be_get(action(job, 2, "test"), "timeout"), "seconds", 0), 3600);
	cr_expect_gt(be_get_int(be_get_path(job, "timeouts.job"), "seconds", 0),
		     be_get_int(be_get(action(job, 2, "test"), "timeout"), "seconds", 0));
	cr_assert_eq(notes.n, 1u);
	cr_expect_not_null(strstr(notes.v[0], "the plan uses 2 disks"));
}

/* LAVA hands the bytes on as they are: it would unpack the ramdisk and pack it again. */
Test(lava, other_device_types)
{
	struct be_error err = BE_ERROR_INIT;
	be_autostrv struct be_strv notes = { 0 };
	be_autonode struct be_node *job = job_of("quiet", "x86-lab", &notes, &err);
	cr_assert_not_null(job, "%s", err.text);
	const struct be_node *deploy = action(job, 0, "deploy"), *ramdisk = be_get(deploy, "ramdisk");
	cr_expect_str_eq(be_get_str(deploy, "to", ""), "tftp");
	cr_expect_not(be_get_bool(ramdisk, "install_modules", true));
	cr_expect_not(be_get_bool(ramdisk, "install_overlay", true));
	cr_expect_str_eq(be_get_str(action(job, 1, "boot"), "method", ""), "grub");
	cr_expect_str_eq(be_get_str(be_get(job, "context"), "extra_kernel_args", ""), "quiet");
	cr_expect_eq(notes.n, 0u);
}

Test(lava, command_line_that_no_shell_word_can_hold)
{
	static const char *const bad[] = { "a=\"b c\"", "a=$HOME", "a=`x`", "a=b\\c" };
	for (size_t i = 0; i < BE_ARRAY_LEN(bad); i++) {
		struct be_error err = BE_ERROR_INIT;
		be_autostrv struct be_strv notes = { 0 };
		be_autonode struct be_node *job = job_of(bad[i], "qemu", &notes, &err);
		cr_expect_null(job, "%s", bad[i]);
		cr_expect_not_null(strstr(err.text, "the command line holds"), "%s", err.text);
	}
}
