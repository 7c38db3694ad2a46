#include "builder/image/uki.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/process.h"
#include "builder/lab/boot_files.h"
#include "builder/rebuild/lock.h"

#define STUB "usr/lib/systemd/boot/efi/linuxx64.efi.stub"
#define ALIGN 0x10000u /* of sections; a multiple of every page size and of the stub's own alignment */

void be_uki_free(struct be_uki *uki)
{
	be_deb_free(&uki->stub);
	be_packages_free(&uki->packages);
}

int be_uki_fetch(struct be_build *build, struct be_error *err)
{
	struct be_uki *uki = &build->uki;
	/* Of a manifest that is built again it is known. */
	if (be_apt_fetch_one(&build->suite, BE_UKI_PACKAGE, &uki->packages, err) != 0)
		return be_hint(err,
			       "--uki needs the package " BE_UKI_PACKAGE " of the image's suite; Debian 12 and later "
			       "have it");
	uki->stub = (struct be_deb){ .package = &uki->packages.v[0], .tree = BE_TREE_INIT };
	return be_deb_unpack(&uki->stub, &build->cache, err);
}

static int write_stub(const struct be_uki *uki, const char *path, struct be_error *err)
{
	be_automapping struct be_mapping content = { 0 };
	const struct be_entry *entry = be_tree_find(&uki->stub.tree, STUB);
	if (!entry || entry->type != BE_ENTRY_FILE)
		return be_fail(err, "package %s %s holds no %s", uki->stub.package->name, uki->stub.package->version,
			       STUB);
	if (!be_tree_map(&uki->stub.tree, entry, &content, err))
		return -1;
	return be_write_file(path, content.data, (size_t)entry->size, 0644, err);
}

uint64_t be_objdump_end(const char *text)
{
	be_autostrv struct be_strv lines = { 0 };
	uint64_t end = 0;
	be_strv_split(&lines, text, "\n");
	for (size_t i = 0; i < lines.n; i++) {
		uint64_t size, address;
		if (sscanf(lines.v[i], " %*u %*s %" SCNx64 " %" SCNx64, &size, &address) == 2 && address + size > end)
			end = address + size;
	}
	return end;
}

static int run_binutils(struct be_run *run, struct be_error *err)
{
	if (be_run_interruptible(run, err) == 0)
		return 0;
	return be_hint(err, "--uki needs objcopy and objdump; the package binutils holds them");
}

static int find_end(const char *stub, uint64_t *end, struct be_error *err)
{
	char *argv[] = { "objdump", "-h", (char *)stub, NULL };
	be_autorun struct be_run run = { .argv = argv };
	if (run_binutils(&run, err) != 0)
		return -1;
	*end = be_objdump_end(run.out.data);
	return *end ? 0 : be_fail(err, "%s: objdump finds no section", stub);
}

static int64_t file_size(const char *path)
{
	int64_t size = -1;
	be_autofd int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		size = lseek(fd, 0, SEEK_END);
	return size;
}

/* Adds the file as a section behind all others. */
static int add_section(struct be_strv *argv, const char *name, const char *path, uint64_t *end, struct be_error *err)
{
	int64_t size = file_size(path);
	if (size < 0)
		return be_fail_errno(err, errno, "%s: cannot be read", path);
	*end = (*end + ALIGN - 1) / ALIGN * ALIGN;
	be_strv_add(argv, "--add-section");
	be_strv_addf(argv, "%s=%s", name, path);
	be_strv_add(argv, "--change-section-vma");
	be_strv_addf(argv, "%s=0x%" PRIx64, name, *end);
	*end += (uint64_t)size;
	return 0;
}

/* Nothing behind a unified image could still add the consoles. */
static int write_texts(const struct be_build *build, const char *dir, struct be_error *err)
{
	be_autofree char *osrel = be_strf("%s/.osrel", dir), *cmdline = be_strf("%s/.cmdline", dir);
	be_autofree char *line = be_strndup(build->cmdline.data, strcspn(build->cmdline.data, "\n"));
	be_autofree char *words = be_strf("%s%s" BE_LAB_CONSOLE, line, *line ? " " : "");
	be_autofree char *text = be_strf("ID=mkbenchenv\nNAME=mkbenchenv\nVERSION_ID=%s\n", BE_VERSION);
	return be_write_file(osrel, text, strlen(text), 0644, err) != 0
		       ? -1
		       : be_write_file(cmdline, words, strlen(words), 0644, err);
}

static int join(const char *dir, const char *stub, const char *out, struct be_error *err)
{
	static const char *const sections[][2] = {
		{ ".osrel", ".osrel" }, { ".cmdline", ".cmdline" }, { ".linux", "vmlinuz" }, { ".initrd", "initrd.img" }
	};
	be_autostrv struct be_strv argv = { 0 };
	uint64_t end;
	if (find_end(stub, &end, err) != 0)
		return -1;
	be_strv_add(&argv, "objcopy");
	for (size_t i = 0; i < BE_ARRAY_LEN(sections); i++) {
		be_autofree char *path = be_strf("%s/%s", dir, sections[i][1]);
		if (add_section(&argv, sections[i][0], path, &end, err) != 0)
			return -1;
	}
	be_strv_add(&argv, stub);
	be_strv_add(&argv, out);
	be_autorun struct be_run run = { .argv = argv.v };
	return run_binutils(&run, err);
}

/* Offsets of the PE format: the header's place, in it the time stamp and the optional header's checksum. */
#define PE_PLACE 0x3c
#define PE_TIME 8
#define PE_CHECKSUM (24 + 64)

int be_pe_settle(const char *path, struct be_error *err)
{
	static const uint32_t zero;
	be_autofd int fd = open(path, O_RDWR | O_CLOEXEC);
	uint32_t place;
	char mark[4];
	if (fd < 0)
		return be_fail_errno(err, errno, "%s: cannot be opened", path);
	if (pread(fd, &place, sizeof(place), PE_PLACE) != sizeof(place) ||
	    pread(fd, mark, sizeof(mark), place) != sizeof(mark) || memcmp(mark, "PE\0\0", sizeof(mark)) != 0)
		return be_fail(err, "%s: is no PE file", path);
	if (pwrite(fd, &zero, sizeof(zero), (off_t)place + PE_TIME) != sizeof(zero) ||
	    pwrite(fd, &zero, sizeof(zero), (off_t)place + PE_CHECKSUM) != sizeof(zero))
		return be_fail_errno(err, errno, "%s: cannot be written", path);
	return 0;
}

static void remove_parts(const char *dir)
{
	static const char *const names[] = { ".osrel", ".cmdline", ".stub" };
	for (size_t i = 0; i < BE_ARRAY_LEN(names); i++) {
		be_autofree char *path = be_strf("%s/%s", dir, names[i]);
		unlink(path);
	}
}

/* Another objcopy may join the same parts to another file. */
static int compare(const struct be_build *build, struct be_error *err)
{
	struct be_lock *lock = build->request->lock;
	const char *stated = lock ? be_get_str(be_get_path(lock->manifest, "image.uki"), "sha256", NULL) : NULL;
	if (!stated || strcmp(stated, build->uki.sha256) == 0)
		return 0;
	be_lock_differs(lock, "its parts are the same: build with the binutils of then",
			BE_UKI_NAME ": SHA-256 %.12s, the manifest's is %.12s", build->uki.sha256, stated);
	return be_lock_check(lock, err);
}

int be_uki_write(struct be_build *build, const char *dir, struct be_error *err)
{
	struct be_uki *uki = &build->uki;
	be_autofree char *stub = be_strf("%s/.stub", dir), *out = be_strf("%s/" BE_UKI_NAME, dir);
	int rc = -1;
	if (write_stub(uki, stub, err) == 0 && write_texts(build, dir, err) == 0 && join(dir, stub, out, err) == 0 &&
	    be_pe_settle(out, err) == 0)
		rc = be_hash_file(out, uki->sha256, &uki->size, err) != 0 ? -1 : compare(build, err);
	remove_parts(dir);
	if (rc == 0 && chmod(out, 0644) != 0)
		rc = be_fail_errno(err, errno, "%s", out);
	return rc;
}
