#include "build_test.h"

#include "builder/kernel/kernel.h"

#define RELEASE "6.1.0-test"

/* The header of a bzImage, as Documentation/arch/x86/boot.rst has it, and nothing else. */
static void make_image(const struct bench *b, const char *name, const char *version, unsigned protocol, unsigned flags)
{
	struct be_error err = BE_ERROR_INIT;
	unsigned char image[4096] = { 0 };
	image[0x1fe] = 0x55;
	image[0x1ff] = 0xaa;
	memcpy(image + 0x202, "HdrS", 4);
	image[0x206] = (unsigned char)protocol;
	image[0x207] = (unsigned char)(protocol >> 8);
	image[0x20f] = 0x06; /* 0x600 + 0x200 */
	image[0x236] = (unsigned char)flags;
	memcpy(image + 0x800, version, strlen(version) + 1);
	be_autofree char *path = be_strf("%s/%s", b->dir, name);
	cr_assert_eq(be_write_file(path, image, sizeof(image), 0644, &err), 0);
}

static char *release_of(const struct bench *b, const char *name, struct be_error *err)
{
	be_autofree char *path = be_strf("%s/%s", b->dir, name);
	return be_kernel_release(path, err);
}

Test(kernel, release_in_the_header)
{
	struct bench b;
	struct be_error err = BE_ERROR_INIT;
	bench_open(&b);
	make_image(&b, "new", "6.12.48+deb13-amd64 (debian-kernel@lists) #1 SMP", 0x20f, 1);
	make_image(&b, "old", "2.6.33-rc1 (x@y) #1", 0x20a, 0);
	be_autofree char *new = release_of(&b, "new", &err), *old = release_of(&b, "old", &err);
	cr_expect_str_eq(new, "6.12.48+deb13-amd64");
	cr_expect_str_eq(old, "2.6.33-rc1");
	bench_close(&b);
}

Test(kernel, what_is_no_64_bit_bzimage)
{
	static const struct {
		const char *name, *message;
	} cases[] = {
		{ "narrow", "it is a 32-bit kernel, the image's programs are 64-bit" },
		{ "nameless", "its header names no version" },
		{ "odd", "its header names no version" },
		{ "short", "the boot header is not there" },
		{ "text", "the boot header is not there" },
	};
	struct bench b;
	bench_open(&b);
	make_image(&b, "narrow", RELEASE, 0x20f, 0);
	make_image(&b, "nameless", "", 0x20f, 1);
	make_image(&b, "odd", "../../x (y)", 0x20f, 1);
	make_image(&b, "text", RELEASE, 0x20f, 1);
	bench_sh(&b, "head -c 300 text > short; head -c 5000 /dev/zero > text", NULL);
	for (size_t i = 0; i < BE_ARRAY_LEN(cases); i++) {
		struct be_error err = BE_ERROR_INIT;
		cr_expect_null(release_of(&b, cases[i].name, &err));
		be_autofree char *text =
			be_strf("%s/%s: no x86 kernel image (bzImage): %s", b.dir, cases[i].name, cases[i].message);
		cr_expect_str_eq(err.text, text);
	}
	bench_close(&b);
}

static void configure(struct be_kernel *kernel, const char *config)
{
	be_buf_free(&kernel->config_text);
	kernel->config_text = (struct be_buf){ 0 };
	be_buf_adds(&kernel->config_text, config);
	free(kernel->config.path);
	kernel->config.path = be_strdup("config");
}

Test(kernel, configuration_decides)
{
	struct be_kernel kernel = { .release = be_strdup(RELEASE), .files = BE_TREE_INIT, .rest = BE_TREE_INIT };
	struct be_error err = BE_ERROR_INIT;
	struct be_compressor compressor;
	be_kernel_compressor(&kernel, false, &compressor);
	cr_expect_str_eq(compressor.name, "gzip", "not known: what all kernels have");
	cr_expect_eq(be_kernel_config(&kernel, "RD_GZIP"), BE_CONFIG_UNKNOWN);
	configure(&kernel, "CONFIG_HZ=250\n# CONFIG_KASAN is not set\nCONFIG_BLK_DEV_INITRD=y\nCONFIG_RD_ZSTD=y\n"
			   "CONFIG_RD_GZIP=y\nCONFIG_XFS_FS=m\nCONFIG_CC_VERSION_TEXT=\"gcc 12\"\n");
	be_kernel_compressor(&kernel, false, &compressor);
	cr_expect_str_eq(compressor.name, "zstd");
	be_autofree char *hz = be_kernel_config_value(&kernel, "HZ");
	be_autofree char *cc = be_kernel_config_value(&kernel, "CC_VERSION_TEXT");
	cr_expect_str_eq(hz, "250");
	cr_expect_str_eq(cc, "gcc 12");
	cr_expect_null(be_kernel_config_value(&kernel, "KASAN"));
	cr_expect_eq(be_kernel_config(&kernel, "XFS_FS"), BE_CONFIG_MODULE);
	cr_expect_eq(be_kernel_config(&kernel, "RD_ZST"), BE_CONFIG_NO);
	cr_expect_eq(be_kernel_check(&kernel, "3.2.0", &err), 0, "%s", err.text);
	configure(&kernel, "CONFIG_BLK_DEV_INITRD=y\nCONFIG_RD_GZIP=y\n");
	be_kernel_compressor(&kernel, true, &compressor);
	cr_expect_str_eq(compressor.name, "gzip");
	cr_expect_eq(compressor.level, 9);
	configure(&kernel, "CONFIG_BLK_DEV_INITRD=y\n# CONFIG_RD_GZIP is not set\n");
	be_kernel_compressor(&kernel, false, &compressor);
	cr_expect_str_eq(compressor.name, "none");
	be_kernel_free(&kernel);
}

Test(kernel, refused_with_the_reason)
{
	struct be_kernel kernel = { .release = be_strdup("2.6.33-rc1"), .files = BE_TREE_INIT, .rest = BE_TREE_INIT };
	struct be_error err = BE_ERROR_INIT;
	cr_expect_eq(be_kernel_check(&kernel, "3.2.0", &err), -1);
	cr_expect_str_eq(err.text,
			 "kernel 2.6.33-rc1 is too old for the image's programs: their C library runs on 3.2.0 "
			 "and later");
	cr_expect_eq(err.status, BE_USAGE);
	cr_expect_eq(be_kernel_check(&kernel, "2.6.32", &err), 0);
	cr_expect_eq(be_kernel_check(&kernel, NULL, &err), 0);
	configure(&kernel, "CONFIG_RD_GZIP=y\n");
	cr_expect_eq(be_kernel_check(&kernel, NULL, &err), -1);
	cr_expect(strstr(err.text, "CONFIG_BLK_DEV_INITRD is not set"), "%s", err.text);
	be_kernel_free(&kernel);
}

/* The forms in which a kernel is given; see also test_modules. */
Test(kernel, forms)
{
	static const struct {
		const char *wish, *modules, *source, *message;
	} cases[] = {
		{ "bare/vmlinuz", NULL, "file", NULL },
		{ "bare/vmlinuz", "mods", "file", NULL },
		{ "bare/vmlinuz", "mods/lib/modules/" RELEASE, "file", NULL },
		{ "robot", NULL, "file", NULL },
		{ "tree", NULL, "tree", NULL },
		{ "tree/arch/x86/boot/bzImage", NULL, "tree", NULL },
		{ "linux-image.deb", NULL, "package", NULL },
		{ "linux-image.deb", "mods", NULL, "--modules does not go with a .deb" },
		{ "bare/vmlinuz", "bare", NULL, "holds no modules of kernel " RELEASE },
		{ "empty", NULL, NULL, "holds neither arch/x86/boot/bzImage nor vmlinuz" },
		{ "absent", NULL, NULL, "absent: No such file or directory" },
		{ "no-kernel.deb", NULL, NULL, "holds no vmlinuz" },
	};
	struct bench b;
	bench_open(&b);
	make_image(&b, "vmlinuz", RELEASE " (x@y) #1", 0x20f, 1);
	bench_sh(&b,
		 "R=" RELEASE
		 "; mkdir -p bare robot tree/arch/x86/boot mods/lib/modules/$R/kernel empty linux-image/boot "
		 "linux-image/lib/modules/$R/kernel linux-image/DEBIAN cgz/lib/modules/$R/kernel no-kernel/DEBIAN\n"
		 "cp vmlinuz bare; cp vmlinuz robot; cp vmlinuz tree/arch/x86/boot/bzImage; cp vmlinuz "
		 "linux-image/boot/vmlinuz-$R\n"
		 "echo CONFIG_RD_ZSTD=y | tee tree/.config robot/config-$R > linux-image/boot/config-$R\n"
		 "(cd cgz; find . | cpio -o --quiet -H newc | gzip > ../robot/modules.cgz)\n"
		 "for p in linux-image no-kernel; do printf 'Package: %s\\nVersion: 1\\nArchitecture: amd64\\n"
		 "Maintainer: T <t@example.org>\\nDescription: test\\n' $p > $p/DEBIAN/control\n"
		 "dpkg-deb --root-owner-group --build $p $p.deb > /dev/null; done\n",
		 NULL);
	for (size_t i = 0; i < BE_ARRAY_LEN(cases); i++) {
		struct be_error err = BE_ERROR_INIT;
		be_autokernel struct be_kernel kernel = { .files = BE_TREE_INIT, .rest = BE_TREE_INIT };
		be_autofree char *wish = be_strf("%s/%s", b.dir, cases[i].wish);
		be_autofree char *modules = cases[i].modules ? be_strf("%s/%s", b.dir, cases[i].modules) : NULL;
		int rc = be_kernel_find(&kernel, &b.suite, wish, modules, &err);
		if (rc == 0)
			rc = be_kernel_read(&kernel, &err);
		if (cases[i].message) {
			cr_expect_eq(rc, -1, "%s", cases[i].wish);
			cr_expect(strstr(err.text, cases[i].message), "%s: %s", cases[i].wish, err.text);
			cr_expect_eq(err.status, BE_USAGE, "%s", cases[i].wish);
			continue;
		}
		cr_assert_eq(rc, 0, "%s: %s", cases[i].wish, err.text);
		cr_expect_str_eq(kernel.source, cases[i].source);
		cr_expect_str_eq(kernel.release, RELEASE);
		cr_expect_eq(kernel.image.size, 4096);
		cr_expect_eq(be_kernel_config(&kernel, "RD_ZSTD"),
			     be_starts(cases[i].wish, "bare") ? BE_CONFIG_UNKNOWN : BE_CONFIG_YES, "%s", cases[i].wish);
	}
	bench_close(&b);
}
