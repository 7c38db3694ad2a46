#include "build_test.h"

#include "builder/packages/elf.h"

/* A program and a library made by the compiler of the machine. */
static void make(const struct bench *b, const char *name, const char *flags, struct be_buf *out)
{
	struct be_error err = BE_ERROR_INIT;
	const char *const args[] = { name, flags, NULL };
	bench_sh(b, "echo 'int main(void) { return 0; }' > x.c; ${CC:-cc} $2 -o $1 x.c", args);
	be_autofree char *path = be_strf("%s/%s", b->dir, name);
	cr_assert_eq(be_read_file(path, 16u << 20, out, &err), 0, "%s", err.text);
}

Test(elf, what_a_program_needs)
{
	struct bench b;
	be_autobuf struct be_buf file = { 0 };
	struct be_elf elf = { 0 };
	bench_open(&b);
	make(&b, "x", "-Wl,-rpath,$ORIGIN/../lib -Wl,--enable-new-dtags -Wl,--no-as-needed -lm", &file);
	cr_assert(be_elf_read(file.data, file.len, &elf));
	cr_expect_str_eq(elf.interpreter, "/lib64/ld-linux-x86-64.so.2");
	cr_expect(be_strv_has(&elf.needed, "libc.so.6"));
	cr_expect(be_strv_has(&elf.needed, "libm.so.6"));
	cr_expect_str_eq(elf.runpath, "$ORIGIN/../lib");
	cr_expect_str_eq(elf.oldest_kernel, "3.2.0");
	be_elf_free(&elf);
	bench_close(&b);
}

/* systemd's note about libraries that are opened by dlopen. */
Test(elf, libraries_opened_later)
{
	static const char source[] =
		"#define JSON "
		"\"[{\\\"feature\\\":\\\"a\\\",\\\"priority\\\":\\\"recommended\\\",\\\"soname\\\":[\\\"libkmod."
		"so.2\\\"]},{\\\"priority\\\":\\\"suggested\\\",\\\"soname\\\":[\\\"libno.so\\\"]}]\"\n"
		"__attribute__((used, section(\".note.dlopen\"), aligned(4))) static const struct {\n"
		"	unsigned name, len, type; char owner[4]; char json[sizeof(JSON)];\n"
		"} note = { 4, sizeof(JSON), 0x407c0c0a, \"FDO\", JSON };\n"
		"int main(void) { return 0; }\n";
	struct bench b;
	struct be_error err = BE_ERROR_INIT;
	be_autobuf struct be_buf file = { 0 };
	struct be_elf elf = { 0 };
	bench_open(&b);
	be_autofree char *path = be_strf("%s/n.c", b.dir), *program = be_strf("%s/n", b.dir);
	cr_assert_eq(be_write_file(path, source, strlen(source), 0644, &err), 0);
	bench_sh(&b, "${CC:-cc} -o n n.c", NULL);
	cr_assert_eq(be_read_file(program, 16u << 20, &file, &err), 0);
	cr_assert(be_elf_read(file.data, file.len, &elf));
	cr_expect_eq(elf.wanted.n, 1);
	cr_expect(be_strv_has(&elf.wanted, "libkmod.so.2"));
	be_elf_free(&elf);
	bench_close(&b);
}

Test(elf, other_files_are_none)
{
	struct bench b;
	be_autobuf struct be_buf file = { 0 };
	struct be_elf elf = { 0 };
	bench_open(&b);
	cr_expect_not(be_elf_read("#!/bin/sh\n", 10, &elf));
	cr_expect_not(be_elf_read("\177ELF", 4, &elf));
	make(&b, "x.o", "-c", &file);
	cr_expect_not(be_elf_read(file.data, file.len, &elf), "an object file is no program");
	bench_close(&b);
}

/* Cut or changed anywhere, a file is read or refused, never more. */
Test(elf, damaged_files, .timeout = 60)
{
	struct bench b;
	be_autobuf struct be_buf file = { 0 };
	bench_open(&b);
	make(&b, "x", "-O1", &file);
	for (size_t len = 0; len < file.len; len += 1 + len / 37) {
		struct be_elf elf = { 0 };
		be_autofree char *copy = be_alloc(len + 1);
		memcpy(copy, file.data, len);
		be_elf_read(copy, len, &elf);
		be_elf_free(&elf);
	}
	unsigned seed = 1;
	for (int i = 0; i < 3000; i++) {
		struct be_elf elf = { 0 };
		be_autofree char *copy = be_alloc(file.len);
		memcpy(copy, file.data, file.len);
		for (int k = 0; k < 8; k++) {
			seed = seed * 1103515245u + 12345u;
			copy[(seed >> 8) % (k < 4 ? 1024u : file.len)] = (char)(seed >> 3);
		}
		be_elf_read(copy, file.len, &elf);
		be_elf_free(&elf);
	}
	bench_close(&b);
}
