#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/node.h"
#include "base/process.h"

static struct be_node *load(const char *text, struct be_error *err)
{
	return be_node_load(text, strlen(text), "t.yaml", err);
}

static char *yaml(const struct be_node *node)
{
	struct be_error err = BE_ERROR_INIT;
	struct be_buf b = { 0 };
	cr_assert_eq(be_node_yaml(node, &b, &err), 0, "%s", err.text);
	return be_buf_steal(&b);
}

Test(node, written_as_read)
{
	const char *text = "a: 1\n"
			   "b: \"1\"\n"
			   "c:\n"
			   "- x\n"
			   "- k: v\n"
			   "d: [one, two]\n"
			   "e: null\n"
			   "f: |\n"
			   "  two\n"
			   "  lines\n"
			   "g: \"0x43\"\n"
			   "h: {}\n";
	struct be_error err = BE_ERROR_INIT;
	be_autonode struct be_node *doc = load(text, &err);
	cr_assert_not_null(doc, "%s", err.text);
	be_autofree char *out = yaml(doc);
	cr_expect_str_eq(out, text);
}

Test(node, positions_and_lookups)
{
	struct be_error err = BE_ERROR_INIT;
	be_autonode struct be_node *doc = load("a:\n  b: {c: 7}\n", &err);
	cr_expect_str_eq(be_where(be_get_path(doc, "a.b.c")), "t.yaml:2:10");
	cr_expect_eq(be_get_int(be_get_path(doc, "a.b"), "c", 0), 7);
	cr_expect_null(be_get_path(doc, "a.x.c"));
}

Test(node, refused)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{ "a: 1\na: 2\n", "t.yaml:2:1: the key \"a\" stands twice, first in line 1" },
		{ "a: [1\n", "t.yaml:2:1: did not find expected ',' or ']', while parsing a flow sequence" },
		{ "a: *x\n", "t.yaml:1:4: alias of an anchor that is not complete or not there" },
		{ "? [a]\n: 1\n", "t.yaml:1:3: a key must be a single value" },
		{ "a: \"x\\0y\"\n", "t.yaml:1:4: a NUL byte in a value" },
		{ "a: !ruby/object:File {}\n", "t.yaml:1:4: the tag \"!ruby/object:File\" is not read" },
	};
	for (size_t i = 0; i < BE_ARRAY_LEN(cases); i++) {
		struct be_error err = BE_ERROR_INIT;
		cr_expect_null(load(cases[i].text, &err));
		cr_expect_str_eq(err.text, cases[i].message);
		cr_expect_eq(err.status, BE_USAGE);
	}
}

Test(node, alias_bomb_is_limited, .timeout = 5)
{
	be_autobuf struct be_buf b = { 0 };
	be_buf_adds(&b, "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
	for (int i = 1; i < 12; i++) {
		be_buf_addf(&b, "a%d: &a%d [", i, i);
		for (int k = 0; k < 10; k++)
			be_buf_addf(&b, "%s*a%d", k ? ", " : "", i - 1);
		be_buf_adds(&b, "]\n");
	}
	struct be_error err = BE_ERROR_INIT;
	cr_expect_null(load(b.data, &err));
	cr_expect(strstr(err.text, "aliases make the document too large"), "%s", err.text);
}

Test(node, aliases_do_not_nest_without_end)
{
	be_autobuf struct be_buf b = { 0 };
	be_buf_adds(&b, "a0: &a0 x\n");
	for (int i = 1; i < 100; i++)
		be_buf_addf(&b, "a%d: &a%d [*a%d]\n", i, i, i - 1);
	struct be_error err = BE_ERROR_INIT;
	cr_expect_null(load(b.data, &err));
	cr_expect_str_eq(err.text, "t.yaml:65:12: nested too deeply");
}

Test(node, merge_keys)
{
	struct be_error err = BE_ERROR_INIT;
	be_autonode struct be_node *doc = load("a: &a {x: 1, y: 2}\nb:\n  <<: *a\n  y: 3\n", &err);
	cr_assert_not_null(doc, "%s", err.text);
	cr_expect_str_eq(be_get_str(be_get(doc, "b"), "x", ""), "1");
	cr_expect_str_eq(be_get_str(be_get(doc, "b"), "y", ""), "3");
}

Test(node, duplicates_where_they_are_allowed)
{
	static const char text[] = "a: 1\nb: 2\na: 3\nc: 4\na: 5\n";
	be_autostrv struct be_strv warnings = { 0 };
	struct be_node_source source = { .text = text, .len = strlen(text), .name = "h", .duplicates = &warnings };
	struct be_error err = BE_ERROR_INIT;
	be_autonode struct be_node *docs = be_node_read(&source, &err);
	cr_assert_not_null(docs, "%s", err.text);
	be_autofree char *out = yaml(docs->items[0]);
	cr_expect_str_eq(out, "a: 5\nb: 2\nc: 4\n");
	cr_assert_eq(warnings.n, 2);
	cr_expect_str_eq(warnings.v[1], "h:5:1: the key \"a\" stands twice, first in line 1: the last one counts");
}

Test(node, anchors_outlive_what_held_them)
{
	static const char text[] = "m:\n  a: &x [1]\n  a: 2\n  <<: &y {k: v}\nb: *x\nc: *y\n";
	be_autostrv struct be_strv warnings = { 0 };
	struct be_node_source source = { .text = text, .len = strlen(text), .name = "h", .duplicates = &warnings };
	struct be_error err = BE_ERROR_INIT;
	be_autonode struct be_node *docs = be_node_read(&source, &err);
	cr_assert_not_null(docs, "%s", err.text);
	be_autofree char *out = yaml(docs->items[0]);
	cr_expect_str_eq(out, "m:\n  a: 2\n  k: v\nb: [1]\nc:\n  k: v\n");
}

Test(node, positions_of_a_text_from_two_files)
{
	static const char text[] = "a:\n  b: 1\nc: [\n";
	struct be_origin lines[] = { { be_node_intern("x"), 7, 0 },
				     { be_node_intern("y"), 1, 2 },
				     { be_node_intern("x"), 8, 0 } };
	struct be_node_source source = { .text = text, .len = 9, .name = "x", .lines = lines, .n_lines = 3 };
	struct be_error err = BE_ERROR_INIT;
	be_autonode struct be_node *docs = be_node_read(&source, &err);
	cr_assert_not_null(docs, "%s", err.text);
	cr_expect_str_eq(be_where(be_get_path(docs->items[0], "a.b")), "y:1:4");
	source.len = strlen(text);
	cr_expect_null(be_node_read(&source, &err));
	cr_expect(be_starts(err.text, "x:9:1: "), "%s", err.text);
}

Test(node, json)
{
	struct be_error err = BE_ERROR_INIT;
	be_autonode struct be_node *doc = load("{a: 1, b: '1', c: on, d: null, e: 1.5, f: 0x10}", &err);
	be_autobuf struct be_buf b = { 0 };
	cr_assert_eq(be_node_json(doc, &b, &err), 0);
	cr_expect_str_eq(b.data, "{\n  \"a\": 1,\n  \"b\": \"1\",\n  \"c\": true,\n  \"d\": null,\n  \"e\": 1.5,\n"
				 "  \"f\": \"0x10\"\n}\n");
}

Test(node, odd_bytes_become_question_marks)
{
	be_autonode struct be_node *map = be_node_map();
	be_set_str(map, "k",
		   "a\xff"
		   "b\x01\xc3\xa9");
	be_autofree char *out = yaml(map);
	cr_expect_str_eq(out, "k: a?b?\xc3\xa9\n");
}

Test(node, reals)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = {
		{ 1.5, "1.5" }, { -0.25, "-0.25" }, { 2, "2.0" }, { 0.9999999, "1.0" }, { 51234.5678, "51234.5678" }
	};
	for (size_t i = 0; i < BE_ARRAY_LEN(cases); i++) {
		be_autonode struct be_node *node = be_node_real(cases[i].value);
		cr_expect_str_eq(node->text, cases[i].text);
	}
}

Test(strv, sorts_and_keeps_growing)
{
	be_autostrv struct be_strv s = { 0 };
	for (int i = 0; i < 9; i++)
		be_strv_addf(&s, "%d", i % 3);
	be_strv_sort_unique(&s);
	cr_assert_eq(s.n, 3);
	for (int i = 0; i < 40; i++)
		be_strv_addf(&s, "%d", i);
	cr_expect_eq(s.n, 43);
	cr_expect_null(s.v[43]);
}

Test(shell, quotes_only_where_needed)
{
	static const char *const argv[] = { "fio", "--a=b", "it's", "", "a b", "$(x)", NULL };
	be_autofree char *text = be_argv_text((char *const *)argv);
	cr_expect_str_eq(text, "fio --a=b 'it'\\''s' '' 'a b' '$(x)'");
}

Test(process, captures_and_feeds)
{
	static char *argv[] = { "sh", "-c", "cat; echo no >&2; exit 3", NULL };
	be_autorun struct be_run run = { .argv = argv, .stdin_data = "yes", .stdin_len = 3 };
	struct be_error err = BE_ERROR_INIT;
	cr_assert_eq(be_run(&run, &err), 0, "%s", err.text);
	cr_expect_str_eq(run.out.data, "yes");
	cr_expect_str_eq(run.errout.data, "no\n");
	cr_expect_eq(run.status, 3);
}

Test(process, timeout_ends_the_whole_group, .timeout = 10)
{
	static char *argv[] = { "sh", "-c", "sleep 100 & sleep 100", NULL };
	be_autorun struct be_run run = { .argv = argv, .timeout = 0.2 };
	struct be_error err = BE_ERROR_INIT;
	cr_assert_eq(be_run(&run, &err), 0);
	cr_expect(run.timed_out);
	cr_expect(run.seconds < 5);
}

Test(process, missing_program_is_an_error)
{
	static char *argv[] = { "no-such-program-here", NULL };
	be_autorun struct be_run run = { .argv = argv };
	struct be_error err = BE_ERROR_INIT;
	cr_expect_eq(be_run(&run, &err), -1);
	cr_expect_str_eq(err.text, "no-such-program-here: cannot be started: No such file or directory");
}

Test(process, background_child_does_not_hold_us, .timeout = 10)
{
	static char *argv[] = { "sh", "-c", "sleep 5 & echo done", NULL };
	be_autorun struct be_run run = { .argv = argv };
	struct be_error err = BE_ERROR_INIT;
	cr_assert_eq(be_run(&run, &err), 0);
	cr_expect_str_eq(run.out.data, "done\n");
	cr_expect(run.seconds < 2);
}

Test(file, write_is_whole_or_not)
{
	struct be_error err = BE_ERROR_INIT;
	cr_expect_eq(be_write_file("/nonexistent/x", "a", 1, 0644, &err), -1);
	cr_expect_str_eq(err.text, "/nonexistent/x: cannot be created: No such file or directory");
	char dir[] = "/tmp/be-test-XXXXXX";
	cr_assert_not_null(mkdtemp(dir));
	be_autofree char *sub = be_strf("%s/a/b", dir), *path = be_strf("%s/f", sub);
	cr_assert_eq(be_mkdirs(sub, 0755, &err), 0);
	cr_assert_eq(be_write_file(path, "text\n", 5, 0644, &err), 0, "%s", err.text);
	struct be_root root = { .prefix = sub };
	be_autofree char *text = be_root_text(&root, "/f");
	cr_expect_str_eq(text, "text");
	cr_expect_eq(be_remove_tree(dir, &err), 0, "%s", err.text);
	cr_expect_not(be_exists(dir));
}

Test(error, context_and_hint)
{
	struct be_error err = BE_ERROR_INIT;
	be_fail_errno(&err, 2, "file %s", "x");
	be_wrap(&err, "while %s", "reading");
	be_hint(&err, "look");
	be_hint(&err, "again");
	cr_expect_str_eq(err.text, "while reading: file x: No such file or directory");
	cr_expect_str_eq(err.hint, "look");
}

Test(file, one_file_by_two_names)
{
	struct be_error err = BE_ERROR_INIT;
	char dir[] = "/tmp/base.XXXXXX";
	cr_assert_not_null(mkdtemp(dir));
	be_autofree char *file = be_strf("%s/file", dir), *new = be_strf("%s/new", dir);
	be_autofree char *hard = be_strf("%s/hard", dir), *around = be_strf("%s/../%s/new", dir, strrchr(dir, '/'));
	cr_assert_eq(be_write_file(file, "a", 1, 0644, &err), 0, "%s", err.text);
	cr_assert_eq(link(file, hard), 0);
	cr_expect(be_same_file("/nonexistent/x", "/nonexistent/x"));
	cr_expect(be_same_file(file, hard));
	cr_expect(be_same_file(new, around));
	cr_expect_not(be_same_file(file, new));
	cr_expect_not(be_same_file(new, NULL));
	cr_expect_eq(be_remove_tree(dir, &err), 0, "%s", err.text);
}

Test(base, a_device_is_no_place_for_a_file)
{
	char dir[] = "/tmp/base.XXXXXX";
	cr_assert_not_null(mkdtemp(dir));
	be_autofree char *pipe = be_strf("%s/pipe", dir), *file = be_strf("%s/file", dir);
	be_autofree char *link = be_strf("%s/link", dir);
	struct be_error err = BE_ERROR_INIT;
	struct stat st;
	cr_assert_eq(mkfifo(pipe, 0600), 0);
	cr_expect_eq(be_write_file(pipe, "a", 1, 0644, &err), -1);
	cr_expect(lstat(pipe, &st) == 0 && S_ISFIFO(st.st_mode));
	/* Of a link the target is written. */
	cr_assert_eq(be_write_file(file, "a", 1, 0644, &err), 0, "%s", err.text);
	cr_assert_eq(symlink("file", link), 0);
	cr_assert_eq(be_write_file(link, "bc", 2, 0644, &err), 0, "%s", err.text);
	cr_expect(lstat(link, &st) == 0 && S_ISLNK(st.st_mode));
	cr_expect(lstat(file, &st) == 0 && st.st_size == 2);
	be_autobuf struct be_buf buf = { 0 };
	cr_expect_eq(be_read_file(pipe, 10, &buf, &err), 0, "a pipe without a writer is empty, not a hang");
	cr_expect_eq(buf.len, 0);
	cr_assert_eq(be_remove_tree(dir, &err), 0, "%s", err.text);
}

Test(file, what_a_command_writes_is_for_all_to_read_and_for_its_owner_to_write)
{
	struct be_error err = BE_ERROR_INIT;
	struct stat st;
	char path[] = "/tmp/be-output-XXXXXX";
	int fd = mkstemp(path);
	cr_assert_geq(fd, 0);
	close(fd);
	cr_assert_eq(be_write_output(path, "text", 4, &err), 0, "%s", err.text);
	cr_assert_eq(stat(path, &st), 0);
	cr_expect_eq(st.st_mode & 0777, 0644);
	cr_expect_eq(st.st_size, 4);
	unlink(path);
}

Test(file, prefixes)
{
	static const struct {
		const char *dir, *prefix;
	} cases[] = { { NULL, "" }, { "/", "" }, { "/a/b//", "/a/b" }, { "a", "a" } };
	for (size_t i = 0; i < BE_ARRAY_LEN(cases); i++) {
		be_autofree char *prefix = be_root_prefix(cases[i].dir);
		cr_expect_str_eq(prefix, cases[i].prefix);
	}
}
