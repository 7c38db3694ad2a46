#include <archive.h>
#include <archive_entry.h>
#include <criterion/criterion.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "builder/image/hash.h"
#include "builder/twin/result.h"

#define BEFORE "mkbenchenv: observation\nschema: 1\nphase: before\noutcome: {state: running}\n"
#define AFTER(outcome) \
	"mkbenchenv: observation\nschema: 1\nphase: after\noutcome: {" outcome "}\nsteps: [{name: fio}]\n"

static char dir[64], tar[96], out[96];

static void set_up(void)
{
	snprintf(dir, sizeof(dir), "/tmp/be-result.XXXXXX");
	cr_assert_not_null(mkdtemp(dir));
	snprintf(tar, sizeof(tar), "%s/result.tar", dir);
	snprintf(out, sizeof(out), "%s/out", dir);
}

static void tear_down(void)
{
	struct be_error err = BE_ERROR_INIT;
	cr_expect_eq(be_remove_tree(dir, &err), 0);
}

TestSuite(result, .init = set_up, .fini = tear_down);

/* A delivery in the making, as the guest writes it. */
struct stream {
	struct archive *a;
	struct be_buf list;
};

static void begin(struct stream *s)
{
	*s = (struct stream){ .a = archive_write_new() };
	archive_write_set_format_pax(s->a);
	archive_write_set_bytes_in_last_block(s->a, 1);
	cr_assert_eq(archive_write_open_filename(s->a, tar), ARCHIVE_OK);
}

static void add_raw(struct stream *s, const char *name, unsigned type, const char *link, const char *data)
{
	struct archive_entry *e = archive_entry_new();
	archive_entry_set_pathname(e, name);
	archive_entry_set_filetype(e, type);
	archive_entry_set_perm(e, 0644);
	archive_entry_set_size(e, (la_int64_t)strlen(data));
	if (link)
		archive_entry_set_symlink(e, link);
	cr_assert_eq(archive_write_header(s->a, e), ARCHIVE_OK);
	cr_assert_eq(archive_write_data(s->a, data, strlen(data)), (la_ssize_t)strlen(data));
	cr_assert_eq(archive_write_finish_entry(s->a), ARCHIVE_OK);
	archive_entry_free(e);
}

static void add(struct stream *s, const char *name, const char *data)
{
	struct be_hash hash;
	char text[BE_HASH_TEXT];
	be_hash_start(&hash);
	be_hash_add(&hash, data, strlen(data));
	be_hash_end(&hash, text);
	be_buf_addf(&s->list, "%s  %s\n", text, name);
	add_raw(s, name, AE_IFREG, NULL, data);
}

static void end(struct stream *s, bool complete)
{
	if (complete)
		add_raw(s, "complete", AE_IFREG, NULL, s->list.data);
	cr_assert_eq(archive_write_close(s->a), ARCHIVE_OK);
	archive_write_free(s->a);
	be_buf_free(&s->list);
}

static void receive(struct be_delivered *delivered)
{
	struct be_error err = BE_ERROR_INIT;
	cr_assert_eq(be_result_receive(tar, out, delivered, &err), 0, "%s", err.text);
}

static bool there(const char *name)
{
	be_autofree char *path = be_strf("%s/%s", out, name);
	return be_exists(path);
}

static void expect_state(const struct be_delivered *delivered, const struct be_ending *ending, const char *wanted,
			 int status)
{
	be_autonode struct be_node *result = be_result_state(delivered, ending);
	be_autobuf struct be_buf text = { 0 };
	struct be_error err = BE_ERROR_INIT;
	cr_assert_eq(be_node_yaml(result, &text, &err), 0);
	cr_expect_str_eq(text.data, wanted);
	cr_expect_eq(be_result_status(result), status);
}

static const struct be_ending off = { .ended = "the guest powered off", .tail = "last words\n" };

Test(result, complete)
{
	struct stream s;
	be_autodelivered struct be_delivered d = { 0 };
	begin(&s);
	add(&s, "before.yaml", BEFORE);
	add(&s, "workload/fio.out", "x");
	add(&s, "kernel.log", "");
	add(&s, "after.yaml", AFTER("state: done"));
	end(&s, true);
	receive(&d);
	cr_expect(d.complete, "%s", d.problem);
	cr_expect(there("before.yaml") && there("after.yaml") && there("kernel.log") && there("workload/fio.out"));
	cr_expect_not(there("complete"));
	expect_state(&d, &off, "state: done\ncomplete: true\nsteps:\n- name: fio\n", BE_OK);
}

Test(result, outcomes_of_the_guest)
{
	static const struct {
		const char *after, *wanted;
		int status;
	} cases[] = {
		{ AFTER("state: failed, step: fio, reason: status 3"),
		  "state: failed\nreason: status 3\nstep: fio\ncomplete: true\nsteps:\n- name: fio\nconsole: |\n"
		  "  last words\n",
		  BE_FAILED },
		{ AFTER("state: refused, reason: 2 CPUs"),
		  "state: refused\nreason: 2 CPUs\ncomplete: true\nsteps:\n- name: fio\nconsole: |\n  last words\n",
		  BE_DIFFERS },
		{ AFTER("state: timeout"),
		  "state: timeout\ncomplete: true\nsteps:\n- name: fio\nconsole: |\n  last words\n", BE_FAILED },
	};
	for (size_t i = 0; i < BE_ARRAY_LEN(cases); i++) {
		struct stream s;
		struct be_error err = BE_ERROR_INIT;
		be_autodelivered struct be_delivered d = { 0 };
		begin(&s);
		add(&s, "before.yaml", BEFORE);
		add(&s, "after.yaml", cases[i].after);
		end(&s, true);
		receive(&d);
		expect_state(&d, &off, cases[i].wanted, cases[i].status);
		cr_expect_eq(be_remove_tree(out, &err), 0);
	}
}

Test(result, nothing_delivered)
{
	be_autodelivered struct be_delivered d = { 0 };
	struct be_ending panic = { .ended = "the guest reset the machine", .panic = "VFS: no root", .tail = "" };
	receive(&d);
	expect_state(&d, &panic,
		     "state: died before the workload\nreason: 'kernel panic: VFS: no root'\ncomplete: false\n"
		     "incomplete: nothing was delivered\n",
		     BE_FAILED);
}

Test(result, died_in_the_workload)
{
	struct stream s;
	be_autodelivered struct be_delivered d = { 0 };
	begin(&s);
	add(&s, "before.yaml", BEFORE);
	end(&s, false);
	receive(&d);
	expect_state(&d, &off,
		     "state: died during the workload\nreason: the guest powered off\ncomplete: false\n"
		     "incomplete: the delivery ends before its last entry\nconsole: |\n  last words\n",
		     BE_FAILED);
	struct be_ending timeout = { .ended = "the machine was stopped after 9 s", .timed_out = true, .tail = "" };
	expect_state(&d, &timeout,
		     "state: timeout\nreason: the machine was stopped after 9 s\ncomplete: false\n"
		     "incomplete: the delivery ends before its last entry\n",
		     BE_FAILED);
}

/* A later statement takes the earlier one's place; one that is cut off does not. */
Test(result, statement_given_twice)
{
	struct stream s;
	be_autodelivered struct be_delivered d = { 0 };
	begin(&s);
	add(&s, "before.yaml", BEFORE);
	be_buf_free(&s.list);
	s.list = (struct be_buf){ 0 };
	add(&s, "before.yaml", BEFORE "environment: {a: {value: 1}}\n");
	end(&s, true);
	receive(&d);
	cr_expect(d.complete, "%s", d.problem);
	cr_expect_str_eq(be_get_str(be_get_path(d.before, "environment.a"), "value", ""), "1");
}

Test(result, cut_off)
{
	struct stream s;
	struct stat st;
	be_autodelivered struct be_delivered d = { 0 };
	begin(&s);
	add(&s, "before.yaml", BEFORE);
	end(&s, false);
	cr_assert_eq(stat(tar, &st), 0);
	begin(&s);
	add(&s, "before.yaml", BEFORE);
	be_autobuf struct be_buf log = { 0 };
	for (int i = 0; i < 2000; i++)
		be_buf_addf(&log, "line %d\n", i);
	add(&s, "workload/fio.out", log.data);
	end(&s, false);
	cr_assert_eq(truncate(tar, 4096), 0);
	receive(&d);
	cr_expect_str_eq(d.problem, "the delivery ends in workload/fio.out");
	cr_expect_not_null(d.before);
	cr_expect(there("workload/fio.out"));
}

Test(result, changed_on_the_way)
{
	struct stream s;
	be_autodelivered struct be_delivered d = { 0 };
	begin(&s);
	add(&s, "before.yaml", BEFORE);
	memset(s.list.data, '0', 64);
	end(&s, true);
	receive(&d);
	cr_expect(strstr(d.problem, "the delivery's list does not fit what arrived: 000000"), "%s", d.problem);
}

Test(result, hostile_names)
{
	static const struct {
		const char *name, *link;
	} cases[] = {
		{ "/etc/passwd", NULL },
		{ "../escaped", NULL },
		{ "workload/../../escaped", NULL },
		{ "workload/", NULL },
		{ "workload/.hidden", NULL },
		{ "workload/a/b", NULL },
		{ "manifest.yaml", NULL },
		{ "workload/new\nline", NULL },
		{ "before.yaml", "/etc/passwd" },
		{ "workload/link", "/etc/passwd" },
		{ "Before.yaml", NULL },
	};
	for (size_t i = 0; i < BE_ARRAY_LEN(cases); i++) {
		struct stream s;
		struct be_error err = BE_ERROR_INIT;
		be_autodelivered struct be_delivered d = { 0 };
		begin(&s);
		add_raw(&s, cases[i].name, cases[i].link ? AE_IFLNK : AE_IFREG, cases[i].link, "");
		end(&s, false);
		receive(&d);
		cr_expect_str_eq(d.problem, "the delivery holds an entry that no guest of ours sends", "%s",
				 cases[i].name);
		be_autostrv struct be_strv names = { 0 }, below = { 0 };
		struct be_root root = { .prefix = out };
		cr_expect_eq(be_root_list(&root, "", &names), 0);
		cr_expect(names.n == 1 && strcmp(names.v[0], "workload") == 0, "%s", cases[i].name);
		cr_expect_eq(be_root_list(&root, "/workload", &below), 0);
		cr_expect_eq(below.n, 0, "%s", cases[i].name);
		cr_expect_eq(be_remove_tree(out, &err), 0);
	}
}

Test(result, not_a_tar)
{
	be_autodelivered struct be_delivered d = { 0 };
	struct be_error err = BE_ERROR_INIT;
	cr_assert_eq(be_write_file(tar, "garbage garbage", 15, 0600, &err), 0);
	receive(&d);
	cr_expect_str_eq(d.problem, "the delivery is no tar stream");
}

Test(result, no_observation)
{
	struct stream s;
	be_autodelivered struct be_delivered d = { 0 };
	begin(&s);
	add(&s, "before.yaml", "a: [\n");
	end(&s, true);
	receive(&d);
	cr_expect_null(d.before);
	cr_expect_str_eq(d.problem, "before.yaml is no observation document of schema 1");
}

static void expect_figures(const char *state, bool figure, bool missing, const char *wanted, int status)
{
	be_autonode struct be_node *result = be_node_map();
	struct be_node *metrics = be_node_map();
	be_autostrv struct be_strv notes = { 0 };
	be_set_str(result, "state", state);
	be_set(result, "complete", be_node_bool(true));
	if (figure)
		be_set(metrics, "a.ops", be_node_real(1.5));
	if (missing)
		be_strv_add(&notes, "a.rate: no such figure on stdout");
	be_result_add_metrics(result, metrics, &notes);
	cr_expect_str_eq(be_get_str(result, "state", ""), wanted);
	cr_expect_eq(be_result_status(result), status);
}

/* An exit status that the workload's definition accepts must not hide that nothing was measured. */
Test(result, a_run_without_any_figure_failed)
{
	expect_figures("done", true, false, "done", BE_OK);
	expect_figures("done", true, true, "done", BE_OK);
	expect_figures("done", false, false, "done", BE_OK); /* none was to be had */
	expect_figures("done", false, true, "failed", BE_FAILED);
	expect_figures("refused", false, true, "refused", BE_DIFFERS);
}
