/* Limits of loaders, kernels and machines, on both sides of each. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/file.h"
#include "builder/image/limits.h"

#define MIB (1LL << 20)

static struct be_node *plan_of(const char *text)
{
	struct be_error err = BE_ERROR_INIT;
	struct be_node *plan = be_node_load(text, strlen(text), "plan", &err);
	cr_assert_not_null(plan, "%s", err.text);
	return plan;
}

/* The error's text, or the warnings, or "". */
static char *verdict(const struct be_limits *limits)
{
	struct be_error err = BE_ERROR_INIT;
	be_autostrv struct be_strv warnings = { 0 };
	be_autobuf struct be_buf text = { 0 };
	if (be_limits_check(limits, &warnings, &err) != 0) {
		cr_expect_eq(err.status, BE_USAGE);
		cr_expect_neq(err.hint[0], '\0');
		return be_strf("error: %s", err.text);
	}
	for (size_t i = 0; i < warnings.n; i++)
		be_buf_addf(&text, "warning: %s", warnings.v[i]);
	return be_buf_steal(&text);
}

static void expect(const struct be_limits *limits, const char *start)
{
	be_autofree char *found = verdict(limits);
	cr_expect(*start ? be_starts(found, start) : !*found, "\"%s\" instead of \"%s\"", found, start);
}

Test(limits, command_line)
{
	char line[BE_CMDLINE_MAX + 2];
	struct be_limits limits = { .cmdline = line };
	static const struct {
		size_t len;
		const char *wanted;
	} cases[] = {
		{ 0, "" },
		{ BE_CMDLINE_MAX - BE_CMDLINE_PLACE, "" },
		{ BE_CMDLINE_MAX - BE_CMDLINE_PLACE + 1, "warning: the kernel command line has 1728 characters" },
		{ BE_CMDLINE_MAX, "warning: the kernel command line has 2047 characters" },
		{ BE_CMDLINE_MAX + 1, "error: the kernel command line has 2048 characters, more than the 2047" },
	};
	for (size_t i = 0; i < BE_ARRAY_LEN(cases); i++) {
		memset(line, 'a', cases[i].len);
		line[cases[i].len] = '\0';
		expect(&limits, cases[i].wanted);
	}
}

Test(limits, command_line_with_the_words_of_the_place)
{
	char line[BE_CMDLINE_MAX + 1];
	struct be_limits limits = { .cmdline = line, .place = "quiet" };
	memset(line, 'a', sizeof(line));
	line[BE_CMDLINE_MAX - 6] = '\0';
	expect(&limits, "");
	line[BE_CMDLINE_MAX - 6] = 'a';
	line[BE_CMDLINE_MAX - 5] = '\0';
	expect(&limits, "error: the kernel command line has 2048 characters");
}

Test(limits, memory)
{
	be_autonode struct be_node *ramfs = plan_of("machine: {host: h, memory: 1073741824}\n");
	be_autonode struct be_node *tmpfs =
		plan_of("machine: {host: h, memory: 1073741824}\nboot: {rootfs_type: tmpfs}\n");
	be_autonode struct be_node *unknown = plan_of("machine: {host: h}\n");
	int64_t rest = 1024 * MIB - BE_MEMORY_KERNEL - 10 * MIB;
	const struct {
		const struct be_node *plan;
		int64_t unpacked;
		const char *wanted;
	} cases[] = {
		{ ramfs, rest, "" },
		{ ramfs, rest + 1, "error: the initrd's files take " },
		{ tmpfs, 512 * MIB, "" },
		{ tmpfs, 512 * MIB + 1, "error: the initrd's files take 536.9 MB, and a root on tmpfs holds half" },
		{ tmpfs, rest + 1, "error: the initrd's files take " },
		{ unknown, 1LL << 40, "" },
	};
	for (size_t i = 0; i < BE_ARRAY_LEN(cases); i++) {
		struct be_limits limits = {
			.plan = cases[i].plan, .cmdline = "", .initrd = 10 * MIB, .unpacked = cases[i].unpacked
		};
		expect(&limits, cases[i].wanted);
	}
}

Test(limits, loaders)
{
	static const struct {
		int64_t initrd;
		const char *wanted;
	} cases[] = {
		{ BE_TFTP_MAX, "" },
		{ BE_TFTP_MAX + 1, "warning: the initrd has 92.3 MB, more than the 92.3 MB of 65535 TFTP blocks" },
		{ BE_BIOS_MAX, "warning: the initrd has 2147.5 MB, more than the 92.3 MB" },
		{ BE_BIOS_MAX + 1, "warning: the initrd has 2147.5 MB: a BIOS loader" },
	};
	for (size_t i = 0; i < BE_ARRAY_LEN(cases); i++) {
		struct be_limits limits = { .cmdline = "", .initrd = cases[i].initrd };
		expect(&limits, cases[i].wanted);
	}
}

static struct be_kernel kernel_with(char *config)
{
	return (struct be_kernel){ .release = "6.1.0",
				   .config = { .path = "config" },
				   .config_text = { .data = config, .len = strlen(config) } };
}

Test(limits, compressor_against_kernel)
{
	struct be_kernel gzip = kernel_with("CONFIG_RD_GZIP=y\n# CONFIG_RD_ZSTD is not set\n"), unknown = { 0 };
	struct be_limits limits = { .cmdline = "", .compressor = "zstd", .kernel = &gzip };
	expect(&limits, "error: the initrd is compressed with zstd and the kernel cannot unpack that: CONFIG_RD_ZSTD");
	limits.compressor = "gzip";
	expect(&limits, "");
	limits.compressor = "none";
	expect(&limits, "");
	limits = (struct be_limits){ .cmdline = "", .compressor = "zstd", .kernel = &unknown };
	expect(&limits, "");
}

Test(limits, drivers_of_the_host)
{
	struct be_kernel kernel = kernel_with("CONFIG_IGB=m\nCONFIG_SATA_AHCI=y\n");
	be_autonode struct be_node *plan =
		plan_of("machine: {host: h, need_kconfig_hw: [IGB=y, SATA_AHCI, R8169=y, DRM_I915=n]}\n");
	struct be_limits limits = { .plan = plan, .cmdline = "", .kernel = &kernel };
	expect(&limits, "warning: need_kconfig_hw of h asks for CONFIG_R8169 and the kernel 6.1.0 has no such driver");
}

/* What `serve` looks at again: all of it stands in the image's folder. */
static void expect_folder(const char *plan, const char *initrd, const char *compressor, const char *place,
			  const char *start)
{
	char dir[] = "/tmp/be-limits.XXXXXX";
	struct be_error err = BE_ERROR_INIT;
	cr_assert_not_null(mkdtemp(dir));
	be_autofree char *config = be_strf("%s/kernel.config", dir), *kernel = be_strf("%s/vmlinuz", dir);
	static const char options[] = "CONFIG_IGB=m\nCONFIG_RD_GZIP=y\n";
	cr_assert_eq(be_write_file(config, options, strlen(options), 0644, &err), 0, "%s", err.text);
	be_autofree char *text =
		be_strf("image: {initrd: {%s}}\nlock: {kernel: {release: 6.1.0}, compressor: {name: %s}}\n", initrd,
			compressor);
	be_autonode struct be_node *manifest = plan_of(text), *machine = plan_of(plan);
	const struct be_image_folder folder = {
		.kernel = kernel, .cmdline = (char *)"rw", .plan = machine, .manifest = manifest
	};
	be_autostrv struct be_strv warnings = { 0 };
	int rc = be_limits_check_folder(&folder, place, &warnings, &err);
	const char *said = rc != 0 ? err.text : warnings.n ? warnings.v[0] : "";
	cr_expect(*start ? be_starts(said, start) : !*said, "\"%s\" instead of \"%s\"", said, start);
	cr_expect_eq(be_remove_tree(dir, &err), 0, "%s", err.text);
}

Test(limits, of_an_image_folder)
{
	static const char host[] = "machine: {host: h, memory: 1073741824}\n", small[] = "size: 1000, unpacked: 3000";
	char place[BE_CMDLINE_MAX + 1];
	memset(place, 'a', sizeof(place));
	place[BE_CMDLINE_MAX - 2] = '\0';
	expect_folder(host, small, "gzip", "console=ttyS0", "");
	expect_folder(host, small, "gzip", place, "the kernel command line has 2048 characters");
	expect_folder(host, small, "zstd", NULL,
		      "the initrd is compressed with zstd and the kernel cannot unpack that");
	expect_folder(host, "size: 1000, unpacked: 1073741824", "gzip", NULL, "the initrd's files take 1073.7 MB");
	expect_folder("machine: {host: h, memory: 1073741824}\nboot: {rootfs_type: tmpfs}\n",
		      "size: 1000, unpacked: 536870913", "gzip", NULL,
		      "the initrd's files take 536.9 MB, and a root on");
	expect_folder("machine: {host: h}\n", "size: 92273281, unpacked: 1", "gzip", NULL,
		      "the initrd has 92.3 MB, more than the 92.3 MB of 65535 TFTP blocks");
	expect_folder("machine: {host: h}\n", "size: 2147483648, unpacked: 1", "gzip", NULL,
		      "the initrd has 2147.5 MB: a BIOS loader");
	expect_folder("machine: {host: h, need_kconfig_hw: [IGB=y, R8169=y]}\n", small, "gzip", NULL,
		      "need_kconfig_hw of h asks for CONFIG_R8169 and the kernel 6.1.0 has no such driver");
}
