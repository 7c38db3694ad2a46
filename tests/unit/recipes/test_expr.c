#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "expr.h"

static bool lookup(void *data, const char *name, struct be_value *out)
{
	(void)data;
	if (strcmp(name, "fs") == 0)
		*out = be_value_text("btrfs");
	else if (strcmp(name, "aim7.test") == 0)
		*out = be_value_text("disk_rw");
	else if (strcmp(name, "nr") == 0)
		*out = be_value_int(7);
	else if (strcmp(name, "none") == 0)
		*out = be_value_nil();
	else
		return false;
	return true;
}

static const struct be_expr_env env = { .lookup = lookup, .count_base = 72 };

/* The value of @text as `kind:text`, or `error LINE:COL: text`. In a ring of buffers. */
static const char *eval(const char *text)
{
	static char ring[8][4096];
	static unsigned next;
	static const char *const kinds[] = { "nil", "bool", "int", "text" };
	char *buf = ring[next++ % 8];
	struct be_error err = BE_ERROR_INIT;
	be_autovalue struct be_value value = be_value_nil();
	unsigned line, col;
	if (be_expr_eval(text, &env, &value, &line, &col, &err)) {
		snprintf(buf, sizeof(ring[0]), "error %u:%u: %s", line, col, err.text);
		return buf;
	}
	be_autofree char *shown = be_value_str(&value);
	snprintf(buf, sizeof(ring[0]), "%s:%s", kinds[value.kind], shown);
	return buf;
}

#define expect(text, want) cr_expect_str_eq(eval(text), want, "%s gives %s, not %s", text, eval(text), want)

Test(expr, arithmetic)
{
	expect("1 + 2 * 3", "int:7");
	expect("(1 + 2) * 3", "int:9");
	expect("10 - 4 - 3", "int:3");
	expect("7 / 2", "int:3");
	expect("-7 / 2", "int:-4"); /* as in Ruby */
	expect("-7 % 3", "int:2");
	expect("7 % -3", "int:-2");
	expect("- nr + 1", "int:-6");
	expect("9223372036854775807", "int:9223372036854775807");
	expect("'a' + \"b\"", "text:ab");
	expect("1 +\n 2", "int:3");
}

Test(expr, logic)
{
	expect("fs == 'btrfs'", "bool:true");
	expect("nr == '7'", "bool:false");
	expect("none == nil", "bool:true");
	expect("fs == 'f2fs' ? nil : 'disk_src'", "text:disk_src");
	expect("fs == 'btrfs' ? nil : 'disk_src'", "nil:");
	expect("nr > 3 && nr <= 7", "bool:true");
	expect("none || 'x'", "text:x");
	expect("nil && unknown", "nil:");
	expect("not nr == 7", "bool:false");
	expect("nr == 1 or fs == 'btrfs' and true", "bool:true");
	expect("!!fs", "bool:true");
	expect("0 ? 'true' : 'untrue'", "text:true"); /* only nil and false are untrue */
	expect("fs =~ /ext4|xfs/ ? '1000n' : '4000n'", "text:4000n");
	expect("fs =~ /^BTR/i", "bool:true");
	expect("fs !~ /btrfs/", "bool:false");
	expect("none =~ /x/", "bool:false");
	expect("fs =~ /a\\/b/", "bool:false");
	expect("1 < 2 ? 3 > 4 ? 'a' : 'b' : 'c'", "text:b");
	expect("none.nil? ? 1 : 2", "int:1");
}

Test(expr, statements)
{
	expect("if fs == 'btrfs'\n"
	       "  if aim7.test == 'disk_src' || aim7.test == 'disk_rr'\n"
	       "    500\n"
	       "  elsif aim7.test == 'disk_rw'\n"
	       "    100\n"
	       "  else\n"
	       "    1500\n"
	       "  end\n"
	       "else\n"
	       "  3000\n"
	       "end\n",
	       "int:100");
	expect("case fs\nwhen 'ext4' then 1\nwhen 'xfs', 'btrfs' then 2\nelse 3\nend", "int:2");
	expect("case fs\nwhen 'ext4' then 1\nelse 3\nend", "int:3");
	expect("case fs\nwhen 'ext4' then 1\nend", "nil:");
	expect("case fs when /^bt/ then fs == 'x' ? '50M' : '100M' end", "text:100M");
	expect("case nr when /7/ then 1 when 7 then 2 end", "int:2");
	expect("if nr == 1 then 'a' end", "nil:");
	expect("if nr == 7; 'a'; else; 'b'; end", "text:a");
	expect("if true\nelse\n 2\nend", "nil:");
	expect("# why\n nr # seven\n", "int:7");
}

Test(expr, functions)
{
	expect("min(3, nr, 9)", "int:3");
	expect("max(3, nr)", "int:7");
	expect("clamp(nr, 1, 5)", "int:5");
	expect("clamp(0, 1, 5)", "int:1");
	expect("size('4M')", "int:4194304");
	expect("size('130G') / max(size(\"4M\"), 4096) / 64 / 1", "int:520");
	expect("time('10m')", "int:600");
	expect("count('50%')", "int:36");
	expect("count('8t')", "int:8");
	expect("'12fpd'.to_i + 1", "int:13");
	expect("'x'.to_i", "int:0");
	expect("nr.to_s + 'd'", "text:7d");
	expect("min(1,\n 2\n)", "int:1");
}

Test(expr, a_branch_not_taken_is_read_only)
{
	expect("true ? 1 : unknown / 0", "int:1");
	expect("if false then unknown else 1 end", "int:1");
	expect("case 1 when 2 then 1 / 0 else 3 end", "int:3");
	expect("case 1 when 1 then 1 when unknown then 2 end", "int:1");
	expect("true || size('rubbish')", "bool:true");
	expect("true ? 1 : (2", "error 1:14: ) expected, found 'the end'");
}

Test(expr, errors_have_a_position)
{
	expect("", "error 1:1: the expression is empty");
	expect("1 +", "error 1:4: a value expected, found 'the end'");
	expect("1 + * 2", "error 1:5: a value expected, found '*'");
	expect("nr +\n  'a'", "error 1:4: '+' cannot combine a number and text");
	expect("nr\n&& fs", "error 2:1: an operator or the end expected, found '&&'");
	expect("nr & 1", "error 1:4: '&' is not supported in an expression");
	expect("unknown", "error 1:1: there is no 'unknown' here");
	expect("1 / 0", "error 1:3: division by zero");
	expect("9223372036854775807 + 1", "error 1:21: the result does not fit into 64 bits");
	expect("9223372036854775808", "error 1:1: the number does not fit into 64 bits");
	expect("(-9223372036854775807 - 1) / -1", "error 1:28: the result does not fit into 64 bits");
	expect("12x", "error 1:1: only whole decimal numbers are supported; write a size or a share as text, '4M'");
	expect("1.5", "error 1:1: only whole decimal numbers are supported; write a size or a share as text, '4M'");
	expect("'abc", "error 1:1: the text that begins here has no end");
	expect("\"a#{fs}\"", "error 1:1: #{...} in a text is not supported");
	expect("fs =~ 'x'", "error 1:7: a regular expression between slashes expected, found 'x'");
	expect("fs =~ /(/", "error 1:7: regular expression /(/: Unmatched ( or \\(");
	expect("fs =~ /a{1,999}/", "error 1:7: {...} in a regular expression is not supported");
	expect("fs =~ /(b)\\1/", "error 1:7: \\1 in a regular expression is not supported");
	expect("fs =~ /x/m", "error 1:7: of the letters behind a regular expression only i is supported");
	expect("fs < 3", "error 1:4: '<' cannot compare text and a number");
	expect("size('4X')", "error 1:1: '4X' is not a size such as 4M or 100G");
	expect("min()", "error 1:1: min() takes 1 or more arguments, not 0");
	expect("spawn('x')", "error 1:1: there is no function spawn()");
	expect("fs.upcase", "error 1:1: there is no 'fs.upcase' here");
	expect("'x'.upcase", "error 1:4: the method .upcase is not supported");
	expect("`id`", "error 1:1: '`' is not supported in an expression");
	expect("if 1 2 end", "error 1:6: then expected, found 'a number'");
	expect("if 1 then 2", "error 1:12: end expected, found 'the end'");
	expect("1 ? 2", "error 1:6: ':' expected, found 'the end'");
	expect("unless true", "error 1:1: a value expected, found 'unless'");
	expect("case 1 end", "error 1:8: when expected, found 'end'");
}

Test(expr, limits)
{
	char deep[1024];
	memset(deep, '(', 200);
	strcpy(deep + 200, "1");
	expect(deep, "error 1:65: the expression is nested more than 64 levels deep");
	memset(deep, '!', 200);
	expect(deep, "error 1:64: the expression is nested more than 64 levels deep");
	static char huge[BE_EXPR_MAX_BYTES + 2];
	memset(huge, ' ', BE_EXPR_MAX_BYTES + 1);
	expect(huge, "error 1:1: an expression may have 8192 bytes at most");
	char pattern[1024] = "fs =~ /";
	memset(pattern + 7, 'a', 600);
	strcpy(pattern + 607, "/");
	expect(pattern, "error 1:7: a regular expression may have 512 characters at most");
}
