#include "lab.h"

#include <regex.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/process.h"

static const char *environment(const char *name)
{
	const char *value = getenv(name);
	cr_assert_not_null(value, "%s is not set: run `make test-e2e`", name);
	return value;
}

static char *path_of(const struct lab *lab, const char *name)
{
	return be_strf("%s/%s/%s", environment("E2E_WORK"), lab->name, name);
}

/* The job file of a test: the shipped one, with more lines. */
static char *make_job(const struct lab *lab)
{
	struct be_error err = BE_ERROR_INIT;
	be_autofree char *shipped = be_strf("recipes/jobs/%s.yaml", lab->job ? lab->job : "");
	if (!lab->more)
		return be_steal(&shipped);
	be_autobuf struct be_buf text = { 0 };
	if (lab->job)
		cr_assert_eq(be_read_file(shipped, 1 << 20, &text, &err), 0, "%s", err.text);
	be_buf_addf(&text, "\n%s", lab->more);
	be_autofree char *path = path_of(lab, "job.yaml");
	cr_assert_eq(be_write_file(path, text.data, text.len, 0644, &err), 0, "%s", err.text);
	return be_steal(&path);
}

static void run(const struct lab *lab, const struct be_strv *argv, const char *log, int status)
{
	struct be_error err = BE_ERROR_INIT;
	be_autorun struct be_run process = { .argv = argv->v, .out_limit = 4 << 20 };
	cr_assert_eq(be_run(&process, &err), 0, "%s", err.text);
	be_autofree char *path = path_of(lab, log);
	cr_assert_eq(be_write_file(path, process.errout.data, process.errout.len, 0644, &err), 0, "%s", err.text);
	be_autofree char *command = be_argv_text(argv->v);
	size_t len = process.errout.len;
	cr_assert_eq(process.status, status, "%s\nended with status %d, not %d\n%s", command, process.status, status,
		     process.errout.data + (len > 2000 ? len - 2000 : 0));
	fprintf(stderr, "e2e: %-12s %-5s %4.0f s\n", lab->name, log, process.seconds);
}

static void build(const struct lab *lab, const char *image)
{
	be_autostrv struct be_strv argv = { 0 };
	be_autofree char *job = make_job(lab);
	be_strv_add(&argv, environment("MKBENCHENV"));
	be_strv_add(&argv, job);
	be_strv_add(&argv, "-o");
	be_strv_add(&argv, image);
	if (lab->host) {
		struct be_error err = BE_ERROR_INIT;
		be_autofree char *host = path_of(lab, "host");
		cr_assert_eq(be_write_file(host, lab->host, strlen(lab->host), 0644, &err), 0, "%s", err.text);
		be_strv_add(&argv, "--host");
		be_strv_add(&argv, host);
	}
	for (size_t i = 0; i < BE_ARRAY_LEN(lab->set) && lab->set[i]; i++) {
		be_strv_add(&argv, "--set");
		be_strv_add(&argv, lab->set[i]);
	}
	run(lab, &argv, "build", 0);
}

#define MAIL_BYTES 60000 /* mailing lists cut at 100 KB, and a mail has words too */

static void expect_mailable(const char *manifest)
{
	struct stat st;
	cr_assert_eq(stat(manifest, &st), 0);
	cr_expect_lt(st.st_size, MAIL_BYTES, "%s has %lld bytes", manifest, (long long)st.st_size);
}

/* Every factor of the catalogue is there with a verdict, and none of them says that nothing is known. */
static void expect_whole(const struct lab *lab)
{
	struct be_error err = BE_ERROR_INIT;
	be_autofree char *path = path_of(lab, "image/plan.yaml");
	be_autonode struct be_node *plan = be_node_load_file(path, &err);
	cr_assert_not_null(plan, "%s", err.text);
	const struct be_node *factors = be_get(plan, "factors");
	cr_assert(factors && factors->n > 200);
	for (size_t i = 0; i < factors->n; i++) {
		const char *name = be_get_str(factors->items[i], "name", "");
		const char *verdict = be_get_str(lab_factor(lab, name), "verdict", "");
		cr_expect(*verdict && !strstr(verdict, "unknown") && !strstr(verdict, "did not state"), "%s: \"%s\"",
			  name, verdict);
	}
}

void lab_run(struct lab *lab)
{
	struct be_error err = BE_ERROR_INIT;
	be_autofree char *folder = path_of(lab, ""), *image = path_of(lab, "image");
	cr_assert_eq(be_remove_tree(folder, &err), 0, "%s", err.text);
	cr_assert_eq(be_mkdirs(folder, 0755, &err), 0, "%s", err.text);
	build(lab, image);
	lab->result = path_of(lab, "result");
	be_autostrv struct be_strv argv = { 0 };
	be_strv_add(&argv, environment("MKBENCHENV"));
	be_strv_add(&argv, "boot");
	be_strv_add(&argv, image);
	be_strv_add(&argv, "-o");
	be_strv_add(&argv, lab->result);
	be_strv_add(&argv, "--kvm");
	be_strv_add(&argv, "off");
	for (size_t i = 0; i < BE_ARRAY_LEN(lab->boot) && lab->boot[i]; i++)
		be_strv_add(&argv, lab->boot[i]);
	run(lab, &argv, "boot", lab->status);
	be_autofree char *manifest = be_strf("%s/manifest.yaml", lab->result);
	lab->manifest = be_node_load_file(manifest, &err);
	cr_assert_not_null(lab->manifest, "%s", err.text);
	if (lab->job) /* a test's own job may be as long as it likes, and stands in its manifest */
		expect_mailable(manifest);
	expect_whole(lab);
}

void lab_done(struct lab *lab)
{
	struct be_error err = BE_ERROR_INIT;
	be_autofree char *folder = path_of(lab, "");
	be_node_free(lab->manifest);
	free(lab->result);
	cr_expect_eq(be_remove_tree(folder, &err), 0, "%s", err.text);
}

const struct be_node *lab_factor(const struct lab *lab, const char *name)
{
	const struct be_node *entry = be_get(be_get(lab->manifest, "environment"), name);
	cr_assert_not_null(entry, "the manifest has no factor %s", name);
	return entry;
}

static char *value_text(const struct be_node *value)
{
	struct be_error err = BE_ERROR_INIT;
	be_autobuf struct be_buf text = { 0 };
	if (!value)
		return be_strdup("nothing");
	if (value->kind == BE_SCALAR)
		return be_strdup(value->text);
	cr_assert_eq(be_node_yaml(value, &text, &err), 0, "%s", err.text);
	return be_buf_steal(&text);
}

void lab_expect_verdict(const struct lab *lab, const char *factor, const char *verdict)
{
	const char *found = be_get_str(lab_factor(lab, factor), "verdict", "");
	cr_expect_str_eq(found, verdict, "%s: verdict \"%s\", not \"%s\"", factor, found, verdict);
}

void lab_expect(const struct lab *lab, const char *factor, const char *observed, const char *verdict)
{
	be_autofree char *found = value_text(be_get(lab_factor(lab, factor), "observed"));
	cr_expect_str_eq(found, observed, "%s: observed \"%s\", not \"%s\"", factor, found, observed);
	lab_expect_verdict(lab, factor, verdict);
}

void lab_expect_metric(const struct lab *lab, const char *name)
{
	const struct be_node *metrics = be_get_path(lab->manifest, "result.metrics");
	cr_expect_gt(be_get_real(metrics, name, -1), 0, "%s: %s", name, be_get_str(metrics, name, "no such figure"));
}

void lab_expect_deviation(const struct lab *lab, const char *text)
{
	const struct be_node *list = be_get(lab->manifest, "deviations");
	for (size_t i = 0; list && i < list->n; i++)
		if (strstr(be_get_str(list->items[i], "text", ""), text))
			return;
	cr_expect_fail("no deviation says \"%s\"", text);
}

void lab_expect_shown(const struct lab *lab, const char *pattern)
{
	struct be_error err = BE_ERROR_INIT;
	char *argv[] = { (char *)(uintptr_t)environment("MKBENCHENV"), "show", lab->result, NULL };
	be_autorun struct be_run process = { .argv = argv, .out_limit = 1 << 20 };
	regex_t regex;
	cr_assert_eq(be_run_ok(&process, &err), 0, "%s", err.text);
	cr_assert_eq(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
	cr_expect_eq(regexec(&regex, process.out.data, 0, NULL, 0), 0, "no \"%s\" in\n%s", pattern, process.out.data);
	regfree(&regex);
}

void lab_expect_state(const struct lab *lab, const char *state)
{
	const struct be_node *result = be_get(lab->manifest, "result");
	const char *found = be_get_str(result, "state", "");
	cr_expect_str_eq(found, state, "state \"%s\" (%s), not \"%s\"", found, be_get_str(result, "reason", ""), state);
}
