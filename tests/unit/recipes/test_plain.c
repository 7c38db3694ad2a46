#include <criterion/criterion.h>

#include "plain.h"

Test(plain, device_paths)
{
	static const char *const good[] = { "/dev/sda1", "/dev/disk/by-id/ata-WDC_WD1003+X:0@1-part1", "/dev/nvme0n1p4",
					    "/dev/disk/by-id/scsi-3.5=#x" };
	static const char *const bad[] = { "",           "sda1",      "/etc/passwd", "/dev/",    "/dev/../etc/passwd",
					   "/dev/./sda", "/dev//sda", "/dev/sda/..", "/dev/a b", "/dev/$(x)",
					   "/dev/a;b",   "/dev/a\nb", "/dev/a'b",    "/dev/a,b", "/dev/\xc3\xa4" };
	for (size_t i = 0; i < BE_ARRAY_LEN(good); i++)
		cr_expect(be_is_device_path(good[i]), "%s", good[i]);
	for (size_t i = 0; i < BE_ARRAY_LEN(bad); i++)
		cr_expect_not(be_is_device_path(bad[i]), "%s", bad[i]);
}

Test(plain, lines_words_and_names)
{
	cr_expect(be_is_line("a $(b) c"));
	cr_expect(be_is_line(""));
	cr_expect_not(be_is_line("a\nb"));
	cr_expect_not(be_is_line("a\x1b[0m"));
	cr_expect_not(be_is_line("a\x7f"));
	cr_expect(be_is_word("104G!8G"));
	cr_expect_not(be_is_word(""));
	cr_expect_not(be_is_word("a b"));
	cr_expect_not(be_is_word("a\"b"));
	cr_expect(be_is_boot_word("memmap=104G!8G"));
	cr_expect(be_is_boot_word("a=b;c&&d"));
	cr_expect_not(be_is_boot_word("&&"));
	cr_expect_not(be_is_boot_word(";"));
	cr_expect_not(be_is_boot_word("#1"));
	cr_expect_not(be_is_boot_word("initrd=x"));
	cr_expect_not(be_is_boot_word("\"initrdmem=1,2\""));
	cr_expect(be_is_boot_word("initrd"));
	cr_expect_not(be_is_boot_word("a=${net0/mac}"));
	cr_expect(be_is_name("libc6.1-dev", "-."));
	cr_expect_not(be_is_name("-o", "-."));
	cr_expect_not(be_is_name("", "-."));
	cr_expect_not(be_is_name("a/b", "-."));
}

Test(plain, whole_numbers)
{
	int64_t n = 0;
	cr_expect(be_parse_int("9223372036854775807", &n));
	cr_expect_eq(n, INT64_MAX);
	cr_expect(be_parse_int("-3", &n));
	cr_expect_eq(n, -3);
	cr_expect_not(be_parse_int("9223372036854775808", &n));
	cr_expect_not(be_parse_int("", &n));
	cr_expect_not(be_parse_int("3x", &n));
	cr_expect_eq(n, -3, "a text that is no number leaves the value");
}
