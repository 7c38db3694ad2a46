#include <criterion/criterion.h>

#include "units.h"

static int64_t size(const char *text)
{
	int64_t v = -1;
	return be_parse_size(text, &v) ? v : -1;
}

static int64_t seconds(const char *text)
{
	int64_t v = -1;
	return be_parse_time(text, &v) ? v : -1;
}

static int64_t count(const char *text, int64_t base)
{
	int64_t v = -1;
	return be_parse_count(text, base, &v) ? v : -1;
}

Test(units, sizes)
{
	cr_expect_eq(size("9B"), 9);
	cr_expect_eq(size("4k"), 4096);
	cr_expect_eq(size("4KB"), 4096);
	cr_expect_eq(size("256g"), INT64_C(256) << 30);
	cr_expect_eq(size("3T"), INT64_C(3) << 40);
	cr_expect_eq(size("8388608"), 8388608);
	cr_expect_eq(size("1.5T"), -1);
	cr_expect_eq(size(""), -1);
	cr_expect_eq(size("G"), -1);
	cr_expect_eq(size("-1G"), -1);
	cr_expect_eq(size(" 1G"), -1);
	cr_expect_eq(size("1Gx"), -1);
	cr_expect_eq(size("1GBB"), -1);
	cr_expect_eq(size("9999999P"), -1, "more than 64 bits");
	cr_expect_eq(size("99999999999999999999"), -1);
}

Test(units, times)
{
	cr_expect_eq(seconds("300s"), 300);
	cr_expect_eq(seconds("300"), 300);
	cr_expect_eq(seconds("10m"), 600);
	cr_expect_eq(seconds("1h"), 3600);
	cr_expect_eq(seconds("2d"), 172800);
	cr_expect_eq(seconds("1w"), 604800);
	cr_expect_eq(seconds("1x"), -1);
	cr_expect_eq(seconds("1mm"), -1);
	cr_expect_eq(seconds("s"), -1);
}

Test(units, counts_are_truncated)
{
	cr_expect_eq(count("50%", 72), 36);
	cr_expect_eq(count("10%", 96), 9);
	cr_expect_eq(count("1%", 64), 0, "the caller says what 0 means");
	cr_expect_eq(count("12.5%", 64), 8);
	cr_expect_eq(count("200%", 4), 8);
	cr_expect_eq(count("8t", 1), 8);
	cr_expect_eq(count("64thread", 1), 64);
	cr_expect_eq(count("4x", 1), 4);
	cr_expect_eq(count("256fpd", 1), 256);
	cr_expect_eq(count("17", 1), 17);
	cr_expect_eq(count("8T", 1), -1);
	cr_expect_eq(count("50.%", 1), -1);
	cr_expect_eq(count("50%%", 1), -1);
	cr_expect_eq(count("%", 1), -1);
	cr_expect_eq(count("", 1), -1);
	cr_expect_eq(count("0.00000000000000000001%", 64), -1);
}

Test(units, for_people)
{
	char buf[32];
	cr_expect_str_eq(be_size_text(0, buf), "0 bytes");
	cr_expect_str_eq(be_size_text(512 << 20, buf), "512 MiB");
	cr_expect_str_eq(be_size_text(3000592982016, buf), "2.7 TiB");
	cr_expect_str_eq(be_size_text(INT64_C(256) << 30, buf), "256 GiB");
}
