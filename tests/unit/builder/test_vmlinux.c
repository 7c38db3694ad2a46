#include <archive.h>
#include <archive_entry.h>
#include <criterion/criterion.h>
#include <elf.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "builder/twin/accel.h"
#include "builder/kernel/vmlinux.h"

static char dir[64], image[96];
static struct be_cache cache;

static void set_up(void)
{
	struct be_error err = BE_ERROR_INIT;
	snprintf(dir, sizeof(dir), "/tmp/be-vmlinux.XXXXXX");
	cr_assert_not_null(mkdtemp(dir));
	snprintf(image, sizeof(image), "%s/bzImage", dir);
	be_autofree char *store = be_strf("%s/cache", dir);
	cr_assert_eq(be_cache_open(&cache, store, &err), 0, "%s", err.text);
}

static void tear_down(void)
{
	struct be_error err = BE_ERROR_INIT;
	be_cache_close(&cache);
	cr_expect_eq(be_remove_tree(dir, &err), 0);
}

TestSuite(vmlinux, .init = set_up, .fini = tear_down);

/* A kernel of nothing but its ELF notes: one of @type, of the owner Xen. */
struct kernel {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Nhdr note;
	char owner[4];
	uint32_t entry, rest[4096];
};

static void make_kernel(struct kernel *k, uint32_t type)
{
	*k = (struct kernel){ .header = { .e_type = ET_EXEC,
					  .e_machine = EM_X86_64,
					  .e_version = EV_CURRENT,
					  .e_phoff = offsetof(struct kernel, segment),
					  .e_ehsize = sizeof(Elf64_Ehdr),
					  .e_phentsize = sizeof(Elf64_Phdr),
					  .e_phnum = 1 },
			      .segment = { .p_type = PT_NOTE,
					   .p_offset = offsetof(struct kernel, note),
					   .p_filesz = sizeof(Elf64_Nhdr) + 8,
					   .p_memsz = sizeof(Elf64_Nhdr) + 8,
					   .p_align = 4 },
			      .note = { .n_namesz = 4, .n_descsz = 4, .n_type = type },
			      .owner = "Xen",
			      .entry = 0x1000000 };
	memcpy(k->header.e_ident, ELFMAG, SELFMAG);
	k->header.e_ident[EI_CLASS] = ELFCLASS64;
	k->header.e_ident[EI_DATA] = ELFDATA2LSB;
	k->header.e_ident[EI_VERSION] = EV_CURRENT;
}

/* Compressed as @filter does it; the build adds the unpacked size to all but gzip. */
static void compress(struct be_buf *out, const char *filter, const void *data, size_t len)
{
	char *packed = be_alloc(len + 65536);
	size_t used = 0;
	struct archive *a = archive_write_new();
	cr_assert_eq(archive_write_set_format_raw(a), ARCHIVE_OK);
	cr_assert_eq(archive_write_add_filter_by_name(a, filter), ARCHIVE_OK);
	archive_write_set_bytes_in_last_block(a, 1);
	cr_assert_eq(archive_write_open_memory(a, packed, len + 65536, &used), ARCHIVE_OK);
	struct archive_entry *entry = archive_entry_new();
	archive_entry_set_filetype(entry, AE_IFREG);
	cr_assert_eq(archive_write_header(a, entry), ARCHIVE_OK);
	cr_assert_eq(archive_write_data(a, data, len), (la_ssize_t)len);
	cr_assert_eq(archive_write_close(a), ARCHIVE_OK);
	archive_entry_free(entry);
	archive_write_free(a);
	be_buf_add(out, packed, used);
	free(packed);
	if (strcmp(filter, "gzip") != 0) {
		uint32_t size = (uint32_t)len;
		be_buf_add(out, &size, sizeof(size));
	}
}

/* A bzImage as far as its header goes: two setup sectors, the payload 64 bytes behind them. */
static void write_image(const struct be_buf *payload, uint16_t version, uint32_t length)
{
	struct be_error err = BE_ERROR_INIT;
	be_autobuf struct be_buf out = { 0 };
	unsigned char setup[3 * 512 + 64] = { 0 };
	uint32_t offset = 64;
	setup[0x1f1] = 2;
	memcpy(setup + 0x202, "HdrS", 4);
	memcpy(setup + 0x206, &version, sizeof(version));
	memcpy(setup + 0x248, &offset, sizeof(offset));
	memcpy(setup + 0x24c, &length, sizeof(length));
	be_buf_add(&out, setup, sizeof(setup));
	be_buf_add(&out, payload->data, payload->len);
	cr_assert_eq(be_write_file(image, out.data, out.len, 0600, &err), 0, "%s", err.text);
}

Test(vmlinux, unpacked_once)
{
	static const char *const filters[] = { "gzip", "xz", "zstd", "bzip2", "lzma" };
	struct kernel kernel;
	make_kernel(&kernel, 18);
	for (size_t i = 0; i < BE_ARRAY_LEN(filters); i++) {
		be_autobuf struct be_buf payload = { 0 }, found = { 0 };
		struct be_error err = BE_ERROR_INIT;
		be_autoobject struct be_object first = { 0 }, again = { 0 };
		compress(&payload, filters[i], &kernel, sizeof(kernel));
		write_image(&payload, 0x20f, (uint32_t)payload.len);
		cr_assert_eq(be_vmlinux_get(&cache, image, filters[i], &first, &err), 0, "%s: %s", filters[i],
			     err.text);
		cr_assert_eq(be_read_file(first.path, 1 << 20, &found, &err), 0);
		cr_expect_eq(found.len, sizeof(kernel));
		cr_expect_eq(memcmp(found.data, &kernel, sizeof(kernel)), 0, "%s", filters[i]);
		/* The second time the image itself is not needed. */
		cr_assert_eq(unlink(image), 0);
		cr_expect_eq(be_vmlinux_get(&cache, image, filters[i], &again, &err), 0, "%s", err.text);
		cr_expect_str_eq(again.path, first.path);
	}
}

static void expect_refused(const char *message)
{
	struct be_error err = BE_ERROR_INIT;
	be_autoobject struct be_object object = { 0 };
	cr_expect_eq(be_vmlinux_get(&cache, image, message, &object, &err), -1);
	cr_expect(strstr(err.text, message), "%s", err.text);
	cr_expect_null(object.path);
}

Test(vmlinux, refused)
{
	struct kernel kernel;
	struct be_error err = BE_ERROR_INIT;
	be_autobuf struct be_buf payload = { 0 }, other = { 0 }, text = { 0 };
	make_kernel(&kernel, 18);
	compress(&payload, "gzip", &kernel, sizeof(kernel));
	expect_refused("cannot be opened");
	cr_assert_eq(be_write_file(image, "short", 5, 0600, &err), 0);
	expect_refused("is no bzImage");
	write_image(&payload, 0x207, (uint32_t)payload.len);
	expect_refused("a kernel too old to say where its payload lies");
	write_image(&payload, 0x20f, (uint32_t)payload.len + 1);
	expect_refused("is cut off");
	compress(&text, "gzip", "no kernel at all", 16);
	write_image(&text, 0x20f, (uint32_t)text.len);
	expect_refused("its payload is no ELF file");
	make_kernel(&kernel, 17);
	compress(&other, "gzip", &kernel, sizeof(kernel));
	write_image(&other, 0x20f, (uint32_t)other.len);
	expect_refused("its kernel has no PVH entry");
}

Test(vmlinux, accelerators)
{
	static const struct {
		const char *text;
		enum be_accel accel;
	} cases[] = { { "auto", BE_ACCEL_AUTO },
		      { "tcg", BE_ACCEL_TCG },
		      { "off", BE_ACCEL_TCG },
		      { "kvm", BE_ACCEL_KVM },
		      { "on", BE_ACCEL_KVM } };
	enum be_accel accel;
	for (size_t i = 0; i < BE_ARRAY_LEN(cases); i++)
		cr_expect(be_accel_parse(cases[i].text, &accel) && accel == cases[i].accel, "%s", cases[i].text);
	cr_expect_not(be_accel_parse("xen", &accel));
	struct be_error err = BE_ERROR_INIT;
	bool kvm = true;
	const char *why = NULL;
	cr_expect_eq(be_accel_choose(BE_ACCEL_TCG, &cache, "/nonexistent", "0", &kvm, &why, &err), 0);
	cr_expect_not(kvm);
	cr_expect_str_eq(why, "asked for");
}
