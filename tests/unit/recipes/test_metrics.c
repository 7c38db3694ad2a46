#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "metrics.h"

static struct be_node *load(const char *text)
{
	struct be_error err = BE_ERROR_INIT;
	struct be_node *doc = be_node_load(text, strlen(text), "t.yaml", &err);
	cr_assert_not_null(doc, "%s", err.text);
	return doc;
}

/* The values that @metric (YAML) finds in @text, joined; "NAME: values" where the name is not "m". */
static char *read_values(const char *metric, const char *text)
{
	struct be_error err = BE_ERROR_INIT;
	be_autonode struct be_node *node = load(metric);
	be_autofigures struct be_figures figures = { 0 };
	be_autobuf struct be_buf out = { 0 };
	if (be_metric_read(node, text, strlen(text), &figures, &err) != 0)
		return be_strf("error: %s", err.text);
	for (size_t i = 0; i < figures.n; i++) {
		be_buf_addf(&out, "%s%s:", i ? "; " : "", figures.list[i].name);
		for (size_t k = 0; k < figures.list[i].n; k++)
			be_buf_addf(&out, " %g", figures.list[i].v[k]);
	}
	return be_buf_steal(&out);
}

static void expect_values(const char *metric, const char *text, const char *wanted)
{
	be_autofree char *found = read_values(metric, text);
	cr_expect_str_eq(found, wanted, "%s: %s", metric, found);
}

Test(metrics, json_paths)
{
	static const char fio[] = "fio: a remark\n"
				  "{\"jobs\": [{\"read\": {\"iops\": 10.5, \"p\": {\"99.000000\": 7}}},"
				  " {\"read\": {\"iops\": 2}}], \"of\": {\"a\": 1, \"b\": 2}, \"n\": \"text\"}\n"
				  "{\"jobs\": [{\"read\": {\"iops\": 30}}]}\nend of it\n";
	expect_values("{name: m, json: \"jobs[].read.iops\"}", fio, "m: 10.5 2 30");
	expect_values("{name: m, json: \"jobs[1].read.iops\"}", fio, "m: 2");
	expect_values("{name: m, json: 'jobs[].read.p[\"99.000000\"]'}", fio, "m: 7");
	expect_values("{name: m, json: \"of[]\"}", fio, "m: 1 2");
	expect_values("{name: m, json: n}", fio, "");
	expect_values("{name: m, json: \"jobs[].nothing\"}", fio, "");
	expect_values("{name: m, json: \"jobs[x]\"}", fio, "error: \"jobs[x]\" is no path into JSON");
	expect_values("{name: m, json: \"a..b\"}", "{\"a\": {}}", "error: \"a..b\" is no path into JSON");
	expect_values("{name: m, json: x}", "nothing", "error: the output holds no JSON");
	expect_values("{name: m, json: x}",
		      "{\"x\": ", "error: the output holds no JSON: unexpected token near end of file");
}

/* The tables of fs_mark 3.3 and stress-ng 0.19. */
Test(metrics, tables)
{
	static const char fsmark[] = "FSUse%        Count         Size    Files/sec     App Overhead\n"
				     "     2           64      4194304         57.6            12345\n"
				     "     4          128      4194304         51.2            12000\n";
	static const char stress[] =
		"stress-ng: metrc: [162] stressor       bogo ops real time  usr time  sys time   bogo ops/s\n"
		"stress-ng: metrc: [162] io-uring          30844      5.06      0.90      7.98      6100.40      "
		"3474.79\n";
	expect_values("{name: m, match: '^ *[0-9]+ +[0-9]+ +[0-9]+ +([0-9.]+) +[0-9]+ *$'}", fsmark, "m: 57.6 51.2");
	expect_values("{name: 's.{1}.ops', match: ': +\\[[0-9]+\\] +([a-z0-9-]+) +[0-9]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ "
		      "+([0-9.]+)'}",
		      stress, "s.io-uring.ops: 6100.4");
	expect_values("{name: m, match: 'x*'}", "yyy", "");
	expect_values("{name: m, match: '('}", "", "error: \"(\": Unmatched ( or \\(");
	expect_values("{name: m}", "", "error: neither `json:` nor `match:` says where the figure is");
}

static char *make(const char *workload, const char *steps, const char *dir, struct be_strv *notes)
{
	be_autonode struct be_node *w = load(workload), *s = load(steps);
	be_autonode struct be_node *metrics = be_metrics_make(w, s, dir, notes);
	struct be_error err = BE_ERROR_INIT;
	struct be_buf out = { 0 };
	cr_assert_eq(be_node_yaml(metrics, &out, &err), 0);
	return be_buf_steal(&out);
}

Test(metrics, folded_and_scaled)
{
	char dir[] = "/tmp/be-metrics.XXXXXX";
	struct be_error err = BE_ERROR_INIT;
	cr_assert_not_null(mkdtemp(dir));
	be_autofree char *sub = be_strf("%s/workload", dir), *out = be_strf("%s/a.out", sub),
			 *log = be_strf("%s/a.err", sub);
	cr_assert_eq(be_mkdirs(sub, 0700, &err), 0);
	cr_assert_eq(be_write_file(out, "v 1\nv 2\nv 9\n", 12, 0600, &err), 0);
	cr_assert_eq(be_write_file(log, "w 5\n", 4, 0600, &err), 0);
	static const char workload[] = "definition:\n"
				       "  workload: mytest\n"
				       "  metrics:\n"
				       "  - {name: sum, step: a, match: 'v ([0-9]+)', fold: sum, scale: 0.5}\n"
				       "  - {name: mean, step: a, match: 'v ([0-9]+)'}\n"
				       "  - {name: min, step: a, match: 'v ([0-9]+)', fold: min}\n"
				       "  - {name: max, step: a, match: 'v ([0-9]+)', fold: max}\n"
				       "  - {name: first, step: a, match: 'v ([0-9]+)', fold: first}\n"
				       "  - {name: last, step: a, match: 'v ([0-9]+)', fold: last}\n"
				       "  - {name: odd, step: a, match: 'v ([0-9]+)', fold: median}\n"
				       "  - {name: other, step: a, from: stderr, match: 'w ([0-9]+)'}\n"
				       "  - {name: none, step: b, match: 'v ([0-9]+)'}\n"
				       "  - {name: tail, step: b, match: 'v ([0-9]+)', tail: true}\n"
				       "  - {name: outside, step: c, match: '(.)'}\n"
				       "parameters:\n"
				       "  metrics: {own: 'w ([0-9]+)'}\n";
	static const char steps[] = "- {name: a, role: run, stdout: workload/a.out, stderr: workload/a.err}\n"
				    "- {name: c, role: prepare, stdout: workload/../../secret}\n";
	be_autostrv struct be_strv notes = { 0 };
	be_autofree char *text = make(workload, steps, dir, &notes);
	cr_expect_str_eq(text, "sum: 6.0\nmean: 4.0\nmin: 1.0\nmax: 9.0\nfirst: 1.0\nlast: 9.0\nother: 5.0\n"
			       "mytest.own: 5.0\n");
	cr_assert_eq(notes.n, 3);
	cr_expect_str_eq(notes.v[0], "odd: unknown fold \"median\"");
	cr_expect_str_eq(notes.v[1], "none: no such figure on stdout");
	cr_expect_str_eq(notes.v[2], "outside: \"workload/../../secret\" is no file of the workload");
	cr_expect_eq(be_remove_tree(dir, &err), 0);
}
