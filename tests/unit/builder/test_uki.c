/* The parts of a unified kernel image that are ours: where sections go, and a header without the time of day. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "builder/image/uki.h"

Test(uki, end_of_the_sections)
{
	cr_expect_eq(be_objdump_end("\nx:     file format pei-x86-64\n\nSections:\n"
				    "Idx Name          Size      VMA               LMA               File off  Algn\n"
				    "  0 .text         0000bff0  0000000000004000  0000000000004000  00000400  2**4\n"
				    "                  CONTENTS, ALLOC, LOAD, READONLY, CODE\n"
				    "  6 .sbat         000000e2  0000000000019000  0000000000019000  00011000  2**2\n"
				    "  1 .reloc        0000000c  0000000000010000  0000000000010000  0000c400  2**2\n"),
		     0x190e2u);
	cr_expect_eq(be_objdump_end(" 0 .text 0000bff0 000000014df91000 000000014df91000 00000400 2**4\n"),
		     0x14df9cff0u);
	cr_expect_eq(be_objdump_end("Sections:\n"), 0u);
	cr_expect_eq(be_objdump_end(""), 0u);
}

static void settle(const char *data, size_t len, int wanted, const char *after)
{
	char path[] = "/tmp/be-uki.XXXXXX";
	struct be_error err = BE_ERROR_INIT;
	be_autobuf struct be_buf found = { 0 };
	be_autofd int fd = mkstemp(path);
	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, data, len), (ssize_t)len);
	cr_expect_eq(be_pe_settle(path, &err), wanted, "%s", err.text);
	cr_assert_eq(be_read_file(path, 4096, &found, &err), 0, "%s", err.text);
	cr_expect(found.len == len && memcmp(found.data, after, len) == 0);
	unlink(path);
}

Test(uki, header_without_the_time)
{
	char pe[256], wanted[256];
	memset(pe, 'x', sizeof(pe));
	memcpy(pe + 0x3c, "\x80\0\0\0", 4);
	memcpy(pe + 0x80, "PE\0\0", 4);
	memcpy(wanted, pe, sizeof(pe));
	memset(wanted + 136, 0, 4); /* time stamp */
	memset(wanted + 216, 0, 4); /* checksum */
	settle(pe, sizeof(pe), 0, wanted);
	settle(pe, 0x20, -1, pe); /* too short to have a header */
	pe[0x80] = 'N';
	settle(pe, sizeof(pe), -1, pe);
	memset(pe + 0x3c, 0xff, 4); /* the header would be far behind the end */
	settle(pe, sizeof(pe), -1, pe);
}
