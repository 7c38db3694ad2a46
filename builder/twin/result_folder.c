#include "builder/twin/result_folder.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "builder/report/manifest.h"
#include "builder/report/manifest_file.h"
#include "builder/report/scrub.h"
#include "builder/twin/qemu.h"
#include "metrics.h"

#define CONSOLE_LINES 12 /* in the manifest of a run that did not end well; console.log has all */

static int write_text(const struct be_node *manifest, const struct be_node *plan, const char *dir, struct be_error *err)
{
	be_autobuf struct be_buf text = { 0 };
	be_autofree char *path = be_strf("%s/manifest.txt", dir);
	struct be_manifest_view view = { .full = false };
	if (be_manifest_text(manifest, be_get(plan, "factors"), &view, &text, err) != 0)
		return -1;
	return be_write_file(path, text.data, text.len, 0644, err);
}

/* The state, the figures, and what is missing of them. The figures need the image's plan. */
static struct be_node *describe_result(const struct be_run_source *run, const struct be_delivered *delivered,
				       const char *dir)
{
	be_autofree char *tail = run->console ? be_console_tail(run->console, CONSOLE_LINES) : NULL;
	be_autofree char *panic = run->console ? be_console_panic(run->console) : NULL;
	struct be_ending ending = { .ended = run->ended, .timed_out = run->timed_out, .panic = panic, .tail = tail };
	struct be_node *result = be_result_state(delivered, &ending);
	if (!run->image)
		return result;
	be_autostrv struct be_strv notes = { 0 };
	struct be_node *metrics =
		be_metrics_make(be_get(run->image->plan, "workload"), be_get(result, "steps"), dir, &notes);
	be_result_add_metrics(result, metrics, &notes);
	return result;
}

static int write_manifest(const struct be_run_source *run, const struct be_delivered *delivered,
			  const struct be_node *result, const char *dir, struct be_error *err)
{
	be_autonode struct be_node *measured = be_metrics_factors(
		be_get(run->image->plan, "workload"), be_get(result, "steps"), dir, be_get(result, "metrics"));
	struct be_run_facts facts = { .plan = run->image->plan,
				      .before = delivered->before,
				      .after = delivered->after,
				      .twin = run->twin,
				      .deviations = run->deviations,
				      .result = result,
				      .measured = measured };
	be_autonode struct be_node *whole = be_manifest_merge(run->image->manifest, &facts);
	be_autonode struct be_node *manifest = be_scrub(whole); /* results are what people publish */
	if (be_manifest_write(manifest, dir, err) != 0)
		return -1;
	return write_text(manifest, run->image->plan, dir, err);
}

static int keep_console(const struct be_run_source *run, const char *dir, struct be_error *err)
{
	be_autofree char *to = be_strf("%s/console.log", dir);
	if (run->console && rename(run->console, to) != 0 && errno != ENOENT)
		return be_fail_errno(err, errno, "%s: cannot be kept", run->console);
	return 0;
}

/* The guest says of which plan it is: results of two images must not be mixed up. */
static int check_image(const struct be_run_source *run, const struct be_delivered *delivered, struct be_error *err)
{
	const char *before = be_get_str(delivered->before, "plan_sha256", NULL);
	const char *stated = before ? before : be_get_str(delivered->after, "plan_sha256", NULL);
	if (!run->image || !stated || be_streq(stated, run->image->plan_sha256))
		return 0;
	be_fail_usage(err, "the result is of another image: its plan.yaml has SHA-256 %.12s, this image's %.12s",
		      stated, run->image->plan_sha256);
	return be_hint(err, "Give the image that the machine booted.");
}

int be_result_write(const struct be_run_source *run, const char *dir, struct be_node **result, struct be_error *err)
{
	be_autodelivered struct be_delivered delivered = { 0 };
	if (be_mkdirs(dir, 0777, err) != 0 || be_result_receive(run->delivery, dir, &delivered, err) != 0)
		return -1;
	if (check_image(run, &delivered, err) != 0)
		return -1;
	if (run->damage) {
		delivered.complete = false;
		snprintf(delivered.problem, sizeof(delivered.problem), "%s", run->damage);
	}
	be_autonode struct be_node *made = describe_result(run, &delivered, dir);
	if (run->image && write_manifest(run, &delivered, made, dir, err) != 0)
		return -1;
	if (keep_console(run, dir, err) != 0)
		return -1;
	*result = be_steal(&made);
	return 0;
}

/* An observation of ours: what a result without its image has instead of a manifest. */
static bool has_observation(const char *path)
{
	struct be_error ignored = BE_ERROR_INIT;
	be_autofree char *before = be_strf("%s/before.yaml", path);
	be_autonode struct be_node *doc = be_node_load_file(before, &ignored);
	return be_streq(be_get_str(doc, "mkbenchenv", NULL), "observation");
}

/* A manifest of ours and no kernel: other people's folders have a manifest.yaml too, and so has the image itself. */
static bool is_result(const char *path)
{
	struct be_error ignored = BE_ERROR_INIT;
	be_autofree char *kernel = be_strf("%s/vmlinuz", path);
	be_autonode struct be_node *manifest = be_manifest_load(path, &ignored);
	return (manifest || has_observation(path)) && !be_exists(kernel);
}

int be_result_check_output(const char *path, struct be_error *err)
{
	struct stat st;
	if (!*path)
		return be_fail_usage(err, "the name of the result's folder is empty");
	if (lstat(path, &st) != 0)
		return 0;
	be_autostrv struct be_strv names = { 0 };
	struct be_root root = { .prefix = "" };
	if (S_ISDIR(st.st_mode) && (is_result(path) || (be_root_list(&root, path, &names) == 0 && names.n == 0)))
		return 0;
	be_fail_usage(err, "%s: is there and is no result of mkbenchenv", path);
	return be_hint(err, "Choose another folder with -o.");
}

char *be_result_work_folder(const char *path, struct be_error *err)
{
	size_t len = strlen(path);
	while (len > 1 && path[len - 1] == '/')
		len--;
	be_autofree char *folder = be_strf("%.*s.XXXXXX", (int)len, path);
	if (mkdtemp(folder))
		return be_steal(&folder);
	be_fail_errno(err, errno, "%s: no folder can be made beside it", path);
	return NULL;
}

int be_result_place(const char *work, const char *made, const char *path, struct be_error *err)
{
	be_autofree char *old = be_strf("%s/old", work);
	if (rename(path, old) != 0 && errno != ENOENT)
		return be_fail_errno(err, errno, "%s: cannot be replaced", path);
	if (rename(made, path) == 0)
		return 0;
	be_fail_errno(err, errno, "%s: cannot be put in place", path);
	if (rename(old, path) != 0 && errno != ENOENT)
		return be_hint(err, "The old result could not be put back either.");
	return -1;
}
