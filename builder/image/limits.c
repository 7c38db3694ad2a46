#include "builder/image/limits.h"

#include <string.h>

#include "base/file.h"

#define CONFIG_MAX (4u << 20)

static double megabytes(int64_t bytes)
{
	return (double)bytes / 1e6;
}

static int check_cmdline(const struct be_limits *image, struct be_strv *warnings, struct be_error *err)
{
	size_t place = image->place ? strlen(image->place) + 1 : 0, len = strlen(image->cmdline) + place;
	if (len > BE_CMDLINE_MAX) {
		be_fail_usage(err,
			      "the kernel command line has %zu characters, more than the %d that an x86 kernel keeps "
			      "(COMMAND_LINE_SIZE 2048): the rest would be cut off unseen",
			      len, BE_CMDLINE_MAX);
		return be_hint(err, "shorten the job's kernel_cmdline, boot_params or environment:%s",
			       place ? ", or --append" : "");
	}
	if (!place && len + BE_CMDLINE_PLACE > BE_CMDLINE_MAX)
		be_strv_addf(
			warnings,
			"the kernel command line has %zu characters; a kernel keeps %d, and console and delivery of "
			"a network boot take about %d: check it there, or shorten kernel_cmdline",
			len, BE_CMDLINE_MAX, BE_CMDLINE_PLACE);
	return 0;
}

static int check_compressor(const struct be_limits *image, struct be_error *err)
{
	const char *symbol = be_streq(image->compressor, "zstd")   ? "RD_ZSTD"
			     : be_streq(image->compressor, "gzip") ? "RD_GZIP"
								   : NULL;
	if (!symbol || !image->kernel || be_kernel_config(image->kernel, symbol) != BE_CONFIG_NO)
		return 0;
	be_fail_usage(err, "the initrd is compressed with %s and the kernel cannot unpack that: CONFIG_%s is not set",
		      image->compressor, symbol);
	return be_hint(err, "build the image again with this kernel, so that the compressor fits, or set CONFIG_%s=y",
		       symbol);
}

/* All of the initrd becomes files in memory, and until that is done the initrd is there too. */
static int check_memory(const struct be_limits *image, struct be_error *err)
{
	const struct be_node *machine = be_get(image->plan, "machine");
	int64_t memory = be_get_int(machine, "memory", 0), needed = image->unpacked + image->initrd + BE_MEMORY_KERNEL;
	const char *type = be_get_str(be_get(image->plan, "boot"), "rootfs_type", "ramfs");
	const char *host = be_get_str(machine, "host", "the host");
	if (!memory)
		return 0;
	if (needed > memory) {
		be_fail_usage(
			err,
			"the initrd's files take %.1f MB, with the initrd and the kernel %.1f MB, and %s has %.1f MB "
			"of memory: it would be unpacked in part",
			megabytes(image->unpacked), megabytes(needed), host, megabytes(memory));
	} else if (strcmp(type, "tmpfs") == 0 && image->unpacked > memory / 2) {
		be_fail_usage(
			err,
			"the initrd's files take %.1f MB, and a root on tmpfs holds half of the memory, on %s %.1f "
			"MB: it would be unpacked in part",
			megabytes(image->unpacked), host, megabytes(memory / 2));
	} else {
		return 0;
	}
	return be_hint(err, "take a machine with more memory, fewer programs%s",
		       strcmp(type, "tmpfs") == 0 ? ", or rootfs_type: ramfs, which has no such limit" : "");
}

static void check_loaders(const struct be_limits *image, struct be_strv *warnings)
{
	if (image->initrd > BE_BIOS_MAX)
		be_strv_addf(
			warnings,
			"the initrd has %.1f MB: a BIOS loader must put it below address 0x7fffffff and cannot; boot "
			"by UEFI, or leave programs out",
			megabytes(image->initrd));
	if (image->initrd > BE_TFTP_MAX)
		be_strv_addf(
			warnings,
			"the initrd has %.1f MB, more than the %.1f MB of 65535 TFTP blocks of 1408 bytes: pxelinux "
			"and GRUB get it only from a server that starts their numbers anew; boot by iPXE over HTTP, or "
			"build with --small",
			megabytes(image->initrd), megabytes(BE_TFTP_MAX));
}

/* `SYMBOL` or `SYMBOL=VALUE` of the plan against the configuration; y, m and no value are as good as each other. */
static void check_option(const struct be_kernel *kernel, const char *host, const char *wish, struct be_strv *warnings)
{
	be_autofree char *symbol = be_strdup(wish);
	char *value = strchr(symbol, '=');
	if (value)
		*value++ = '\0';
	if (value && strcmp(value, "n") == 0)
		return;
	if (be_kernel_config(kernel, symbol) == BE_CONFIG_NO)
		be_strv_addf(
			warnings,
			"need_kconfig_hw of %s asks for CONFIG_%s and the kernel %s has no such driver: that hardware "
			"will not be there; take another --kernel",
			host, symbol, kernel->release ? kernel->release : "of the image");
}

static void check_drivers(const struct be_limits *image, struct be_strv *warnings)
{
	const struct be_node *machine = be_get(image->plan, "machine");
	be_autostrv struct be_strv wishes = { 0 };
	be_get_strv(machine, "need_kconfig_hw", &wishes);
	for (size_t i = 0; image->kernel && i < wishes.n; i++)
		check_option(image->kernel, be_get_str(machine, "host", "the host"), wishes.v[i], warnings);
}

int be_limits_check(const struct be_limits *image, struct be_strv *warnings, struct be_error *err)
{
	if (check_cmdline(image, warnings, err) != 0 || check_compressor(image, err) != 0 ||
	    check_memory(image, err) != 0)
		return -1;
	check_loaders(image, warnings);
	check_drivers(image, warnings);
	return 0;
}

/* The configuration that the image was built with lies beside its kernel. */
static void load_config(const struct be_image_folder *image, struct be_kernel *kernel)
{
	struct be_error ignored = BE_ERROR_INIT;
	size_t folder = (size_t)(strrchr(image->kernel, '/') - image->kernel);
	be_autofree char *path = be_strf("%.*s/kernel.config", (int)folder, image->kernel);
	if (be_read_file(path, CONFIG_MAX, &kernel->config_text, &ignored) == 0 && kernel->config_text.len)
		kernel->config.path = be_steal(&path);
	kernel->release = be_strdup(be_get_str(be_get_path(image->manifest, "lock.kernel"), "release", NULL));
}

int be_limits_check_folder(const struct be_image_folder *image, const char *place, struct be_strv *warnings,
			   struct be_error *err)
{
	be_autokernel struct be_kernel kernel = BE_KERNEL_INIT;
	const struct be_node *compressor = be_get_path(image->manifest, "lock.compressor");
	const struct be_node *initrd = be_get_path(image->manifest, "image.initrd");
	load_config(image, &kernel);
	struct be_limits limits = { .plan = image->plan,
				    .cmdline = image->cmdline,
				    .place = place,
				    .initrd = be_get_int(initrd, "size", 0),
				    .unpacked = be_get_int(initrd, "unpacked", 0),
				    .compressor = be_get_str(compressor, "name", NULL),
				    .kernel = &kernel };
	return be_limits_check(&limits, warnings, err);
}
