#include "build_test.h"

#include "builder/kernel/modules.h"

#define RELEASE "6.1.0-test"

/*
 * Modules as far as depmod and libkmod look at them: objects with a .modinfo. raid456 depends on md-mod, which is
 * compressed; fancy has a soft dependency on the algorithm "crc"; ext4 is built in; broken depends on nothing that is
 * there.
 */
static const char make_modules[] =
	"R=" RELEASE "; M=mods/lib/modules/$R; CC=${CC:-cc}\n"
	"mkdir -p $M/kernel/drivers/md $M/kernel/crypto $M/kernel/fs $M/kernel/arch/x86/crypto\n"
	"mod() { f=$1; shift; i=0; : > m.c; for t in \"$@\"; do i=$((i+1))\n"
	"  printf '__attribute__((used, section(\".modinfo\"))) static const char v%d[] = \"%s\";\\n' $i \"$t\" >> "
	"m.c; done\n"
	"  $CC -c -o $M/kernel/$f m.c; }\n"
	"mod drivers/md/md-mod.ko license=GPL alias=md\n"
	"mod drivers/md/raid456.ko depends=md-mod alias=raid5 'softdep=pre: absent'\n"
	"mod fs/fancy.ko depends= 'softdep=pre: crc post: crc-other'\n"
	"mod fs/broken.ko depends=nowhere\n"
	"mod crypto/crc_generic.ko alias=crc alias=crypto-crc\n"
	"mod arch/x86/crypto/crc-intel.ko alias=crc alias=crypto-crc\n"
	"mod crypto/other.ko alias=otherwise\n"
	"xz $M/kernel/drivers/md/md-mod.ko; gzip $M/kernel/crypto/other.ko; ln -s / $M/build\n"
	"printf 'kernel/fs/ext4/ext4.ko\\n' > $M/modules.builtin\n"
	"printf 'kernel/drivers/md/md-mod.ko\\nkernel/drivers/md/raid456.ko\\nkernel/fs/fancy.ko\\n' > "
	"$M/modules.order\n";

struct question {
	struct bench b;
	struct be_kernel kernel;
	struct be_strv required, wanted, notes;
	struct be_segment segment;
};

static void ask(struct question *q, const char *required, const char *wanted)
{
	*q = (struct question){ .kernel = { .files = BE_TREE_INIT, .rest = BE_TREE_INIT } };
	bench_open(&q->b);
	bench_sh(&q->b, make_modules, NULL);
	q->kernel.suite = &q->b.suite;
	q->kernel.release = be_strdup(RELEASE);
	q->kernel.modules = be_strf("%s/mods/lib/modules/%s", q->b.dir, RELEASE);
	be_strv_split(&q->required, required, " ");
	be_strv_split(&q->wanted, wanted, " ");
}

static int answer(struct question *q, struct be_error *err)
{
	static const struct be_compressor none = { .name = "none" };
	return be_modules_segment(&q->segment, &q->kernel, &none, &q->required, &q->wanted, &q->notes, err);
}

static char *list(const struct question *q)
{
	return bench_output(&q->b, "cpio -it --quiet < \"$1\" | grep '[.]ko' | sed 's/.*kernel.//' | tr '\\n' ' '",
			    q->segment.object.path);
}

static void done(struct question *q)
{
	be_segment_free(&q->segment);
	be_strv_free(&q->required);
	be_strv_free(&q->wanted);
	be_strv_free(&q->notes);
	be_kernel_free(&q->kernel);
	bench_close(&q->b);
}

Test(modules, with_all_they_depend_on)
{
	static const struct {
		const char *required, *list;
	} cases[] = {
		{ "raid456", "drivers/md/md-mod.ko drivers/md/raid456.ko " },
		{ "fancy", "arch/x86/crypto/crc-intel.ko crypto/crc_generic.ko fs/fancy.ko " },
		{ "md_mod", "drivers/md/md-mod.ko " },
		{ "md-mod", "drivers/md/md-mod.ko " },
		{ "ext4", "" },
		{ "crypto-crc ext4", "arch/x86/crypto/crc-intel.ko crypto/crc_generic.ko " },
	};
	for (size_t i = 0; i < BE_ARRAY_LEN(cases); i++) {
		struct question q;
		struct be_error err = BE_ERROR_INIT;
		ask(&q, cases[i].required, "");
		cr_assert_eq(answer(&q, &err), 0, "%s", err.text);
		be_autofree char *text = *cases[i].list ? list(&q) : be_strdup("");
		cr_expect_str_eq(text, cases[i].list);
		cr_expect_eq(q.notes.n, 0);
		done(&q);
	}
}

/* modprobe of the machine works on what the image holds, and the modules are plain. */
Test(modules, indexes_are_of_the_set)
{
	struct question q;
	struct be_error err = BE_ERROR_INIT;
	ask(&q, "raid456", "");
	cr_assert_eq(answer(&q, &err), 0, "%s", err.text);
	be_autofree char *text = bench_output(&q.b,
					      "mkdir x; cd x; cpio -id --quiet < \"$1\"; PATH=$PATH:/usr/sbin:/sbin\n"
					      "modprobe -d $PWD/usr -S " RELEASE " -D raid5 | sed 's/.*kernel.//'\n"
					      "cut -d: -f1 usr/lib/modules/*/modules.dep; head -c 4 "
					      "usr/lib/modules/*/kernel/drivers/md/md-mod.ko | tail -c 3",
					      q.segment.object.path);
	/* depmod goes by symbols, which these modules have none of: raid456 stands alone in its index. */
	cr_expect_str_eq(text, "drivers/md/raid456.ko \nkernel/drivers/md/md-mod.ko\n"
			       "kernel/drivers/md/raid456.ko\nELF");
	done(&q);
}

Test(modules, missing_ones)
{
	struct question q;
	struct be_error err = BE_ERROR_INIT;
	ask(&q, "raid456 btrfs", "");
	cr_expect_eq(answer(&q, &err), -1);
	cr_expect_str_eq(err.text, "kernel " RELEASE " has no btrfs, neither as a module nor built in");
	cr_expect_str_eq(err.hint, "build it with CONFIG_BTRFS_FS=m or =y");
	cr_expect_eq(err.status, BE_USAGE);
	done(&q);
	ask(&q, "raid456", "nvme md-mod");
	cr_assert_eq(answer(&q, &err), 0, "%s", err.text);
	cr_assert_eq(q.notes.n, 1);
	cr_expect_str_eq(q.notes.v[0], "module nvme: kernel " RELEASE " has it neither as a module nor built in");
	done(&q);
	ask(&q, "broken", "");
	cr_expect_eq(answer(&q, &err), -1);
	cr_expect_str_eq(err.text, "module broken depends on nowhere, which this kernel does not have");
	done(&q);
}

/* A kernel without a folder of modules: what its configuration has built in is there. */
Test(modules, none_known)
{
	struct question q;
	struct be_error err = BE_ERROR_INIT;
	ask(&q, "btrfs", "");
	free(q.kernel.modules);
	q.kernel.modules = NULL;
	cr_expect_eq(answer(&q, &err), -1);
	cr_expect(strstr(err.hint, "--modules DIR"), "%s", err.hint);
	q.kernel.config.path = be_strdup("config");
	be_buf_adds(&q.kernel.config_text, "CONFIG_BTRFS_FS=y\n");
	be_segment_free(&q.segment);
	cr_expect_eq(answer(&q, &err), 0, "%s", err.text);
	done(&q);
}

/* From a folder, a build tree, a package and the robot's archive: the same files. */
Test(modules, all_sources_give_the_same, .timeout = 60)
{
	static const char *const prepare[] = {
		"",
		"mkdir t; cp -r mods/lib/modules/*/kernel/. t; cp mods/lib/modules/*/modules.builtin t; xz -d "
		"t/drivers/md/*.xz\n"
		"printf 'drivers/md/md-mod.o\\nfs/fancy.ko\\nkernel/drivers/md/raid456.ko\\n' > t/modules.order\n",
		"cd mods; find . | cpio -o --quiet -H newc | gzip > ../m.cgz",
	};
	be_autofree char *first = NULL;
	for (size_t i = 0; i < BE_ARRAY_LEN(prepare); i++) {
		struct question q;
		struct be_error err = BE_ERROR_INIT;
		ask(&q, "raid456", "");
		bench_sh(&q.b, prepare[i], NULL);
		if (i > 0) {
			free(q.kernel.modules);
			q.kernel.modules = NULL;
		}
		if (i == 1)
			q.kernel.tree = be_strf("%s/t", q.b.dir);
		if (i == 2) {
			q.kernel.source = be_strdup("file");
			q.kernel.archive = be_strf("%s/m.cgz", q.b.dir);
			cr_assert_eq(be_hash_file(q.kernel.archive, q.kernel.id, NULL, &err), 0);
		}
		cr_assert_eq(answer(&q, &err), 0, "%s", err.text);
		if (first)
			cr_expect_str_eq(q.segment.object.sha256, first, "source %zu", i);
		else
			first = be_strdup(q.segment.object.sha256);
		be_autofree char *left = bench_output(&q.b, "ls -A cache/tmp", NULL);
		cr_expect_str_eq(left, "");
		done(&q);
	}
}

/* What an archive holds is kept; of modules that images hardly want only the names, and they are there all the same. */
Test(modules, from_a_kept_archive)
{
	static const char *const required[] = { "raid456", "sound", "raid456 sound", "md-mod" };
	struct question q;
	ask(&q, "", "");
	bench_sh(&q.b,
		 "cd mods; mkdir -p lib/modules/" RELEASE "/kernel/sound; cp lib/modules/*/kernel/fs/fancy.ko "
		 "lib/modules/" RELEASE "/kernel/sound/sound.ko; find . | cpio -o --quiet -H newc | gzip > ../m.cgz",
		 NULL);
	for (size_t i = 0; i < BE_ARRAY_LEN(required); i++) {
		struct be_error err = BE_ERROR_INIT;
		be_kernel_free(&q.kernel);
		be_segment_free(&q.segment);
		be_strv_free(&q.required);
		q.required = (struct be_strv){ 0 };
		be_strv_split(&q.required, required[i], " ");
		q.kernel.suite = &q.b.suite;
		q.kernel.release = be_strdup(RELEASE);
		q.kernel.source = be_strdup("file");
		q.kernel.archive = be_strf("%s/m.cgz", q.b.dir);
		cr_assert_eq(be_hash_file(q.kernel.archive, q.kernel.id, NULL, &err), 0);
		cr_assert_eq(answer(&q, &err), 0, "%s", err.text);
		be_autofree char *text = list(&q);
		cr_expect_eq(strstr(text, "sound/sound.ko") != NULL, strstr(required[i], "sound") != NULL, "%s", text);
		cr_expect_eq(strstr(text, "md/md-mod.ko") != NULL, i != 1, "%s", text);
		cr_expect_eq(q.kernel.rest.n > 0, strstr(required[i], "sound") != NULL);
		be_autofree char *left = bench_output(&q.b, "ls -A cache/tmp", NULL);
		cr_expect_str_eq(left, "");
	}
	done(&q);
}

/* modules.order, modules.builtin and modules.builtin.modinfo come from the kernel. */
Test(modules, indexes_are_what_depmod_makes)
{
	static const char *const indexes[] = { "modules.dep", "modules.alias.bin", "modules.builtin.bin",
					       "modules.weakdep" };
	static const char *const others[] = { "modules.order", "modules.builtin", "modules.builtin.modinfo",
					      "kernel/fs/xfs.ko" };
	for (size_t i = 0; i < BE_ARRAY_LEN(indexes); i++) {
		be_autofree char *path = be_strf("usr/lib/modules/6.1.0/%s", indexes[i]);
		cr_expect(be_modules_is_index(path), "%s", path);
		path[0] = 'x';
		cr_expect_not(be_modules_is_index(path), "%s", path);
	}
	for (size_t i = 0; i < BE_ARRAY_LEN(others); i++) {
		be_autofree char *path = be_strf("usr/lib/modules/6.1.0/%s", others[i]);
		cr_expect_not(be_modules_is_index(path), "%s", path);
	}
}
