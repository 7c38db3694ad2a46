#include <criterion/criterion.h>
#include <string.h>

#include "factor.h"

static bool same(const char *compare, const char *a, const char *b)
{
	struct be_error err = BE_ERROR_INIT;
	be_autonode struct be_node *x = be_node_load(a, strlen(a), "a", &err);
	be_autonode struct be_node *y = be_node_load(b, strlen(b), "b", &err);
	cr_assert(x && y, "%s", err.text);
	cr_expect_eq(be_values_same(compare, x, y), be_values_same(compare, y, x), "either way: %s, %s", a, b);
	return be_values_same(compare, x, y);
}

Test(factor_same, texts_and_numbers)
{
	cr_expect(same("exact", "write back", "write back"));
	cr_expect_not(same("exact", "write back", "write through"));
	cr_expect_not(same("exact", "1", "1.0"));
	cr_expect(same("number", "1", "1.0"));
	cr_expect(same("bytes", "4K", "4096"));
	cr_expect_not(same("bytes", "4K", "4097"));
	cr_expect(same("capacity", "2G", "2063597568"));
	cr_expect_not(same("capacity", "2G", "1G"));
	/* `prefix` is for what a recipe asks; two machines have the same compiler only when all of it is. */
	cr_expect_not(same("prefix", "gcc-12", "gcc-12 (Debian 12.2)"));
}

Test(factor_same, words_have_no_order)
{
	cr_expect(same("word", "rw ssd noatime", "noatime rw ssd"));
	cr_expect(same("set", "a,b", "b a"));
	cr_expect_not(same("word", "rw ssd", "rw ssd noatime"), "one word more is another value");
	cr_expect(same("set", "[a, b]", "[b, a]"));
	cr_expect_not(same("exact", "[a, b]", "[b, a]"));
}

Test(factor_same, instances)
{
	cr_expect(same("number", "{disk0: 1, disk1: 2}", "{disk1: 2.0, disk0: 1}"));
	cr_expect_not(same("number", "{disk0: 1, disk1: 2}", "{disk0: 1, disk1: 3}"));
	cr_expect_not(same("exact", "{disk0: 1}", "{disk0: 1, disk1: 1}"));
	cr_expect(same("exact", "1", "{disk0: 1, disk1: 1}"), "one value for all");
	cr_expect_not(same("exact", "1", "{disk0: 1, disk1: 2}"));
	cr_expect_not(same("exact", "1", "{}"));
}
