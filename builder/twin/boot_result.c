#include "builder/twin/boot_result.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "builder/report/manifest.h"
#include "builder/twin/metrics.h"
#include "builder/twin/result.h"

#define CONSOLE_LINES 12 /* in the manifest of a run that did not end well; console.log has all */

static struct be_node *describe_twin(const struct be_boot_outcome *o)
{
	struct be_node *twin = be_node_map();
	be_set_str(twin, "accelerator", o->kvm ? "kvm" : "tcg");
	be_set_str(twin, "kernel",
		   strcmp(o->kernel, "vmlinux") == 0 ? "vmlinux, unpacked from the image's vmlinuz" : o->kernel);
	be_set_int(twin, "cpus", o->twin->cpus);
	be_set_int(twin, "memory", o->twin->memory);
	be_set_str(twin, "cmdline", o->twin->cmdline);
	be_set(twin, "argv", be_node_strv(&o->twin->argv));
	be_set(twin, "seconds", be_node_real(o->qemu->seconds));
	be_set_str(twin, "ended", o->qemu->ended);
	return twin;
}

static int write_document(const struct be_node *doc, const char *dir, const char *name, struct be_error *err)
{
	be_autobuf struct be_buf text = { 0 };
	be_autofree char *path = be_strf("%s/%s", dir, name);
	return be_node_yaml(doc, &text, err) != 0 ? -1 : be_write_file(path, text.data, text.len, 0644, err);
}

static int write_text(const struct be_node *manifest, const struct be_node *plan, const char *dir, struct be_error *err)
{
	be_autobuf struct be_buf text = { 0 };
	be_autofree char *path = be_strf("%s/manifest.txt", dir);
	struct be_manifest_view view = { .full = false };
	if (be_manifest_text(manifest, be_get(plan, "factors"), &view, &text, err) != 0)
		return -1;
	return be_write_file(path, text.data, text.len, 0644, err);
}

/* The state, the figures, and what is missing of them. */
static struct be_node *describe_result(const struct be_boot_outcome *o, const struct be_delivered *delivered,
				       const char *dir)
{
	be_autofree char *console = be_strf("%s/" BE_TWIN_CONSOLE, o->work);
	be_autofree char *tail = be_console_tail(console, CONSOLE_LINES), *panic = be_console_panic(console);
	struct be_ending ending = {
		.ended = o->qemu->ended, .timed_out = o->qemu->timed_out, .panic = panic, .tail = tail
	};
	struct be_node *result = be_result_state(delivered, &ending);
	be_autostrv struct be_strv notes = { 0 };
	struct be_node *metrics =
		be_metrics_make(be_get(o->image->plan, "workload"), be_get(result, "steps"), dir, &notes);
	be_result_add_metrics(result, metrics, &notes);
	return result;
}

static void print_summary(const struct be_boot_outcome *o, const struct be_node *result)
{
	const struct be_node *metrics = be_get(result, "metrics");
	const char *reason = be_get_str(result, "reason", NULL);
	fprintf(stderr, "boot: %s after %.0f s%s%s\n", be_get_str(result, "state", ""), o->qemu->seconds,
		reason ? ": " : "", reason ? reason : "");
	for (size_t i = 0; metrics && i < metrics->n; i++)
		fprintf(stderr, "boot: %s %s\n", metrics->keys[i], metrics->items[i]->text);
}

static int keep_console(const struct be_boot_outcome *o, const char *dir, struct be_error *err)
{
	be_autofree char *from = be_strf("%s/" BE_TWIN_CONSOLE, o->work), *to = be_strf("%s/console.log", dir);
	if (rename(from, to) != 0 && errno != ENOENT)
		return be_fail_errno(err, errno, "%s: cannot be kept", from);
	return 0;
}

int be_boot_result(const struct be_boot_outcome *o, const char *dir, enum be_status *status, struct be_error *err)
{
	be_autofree char *tar = be_strf("%s/" BE_TWIN_DELIVERY, o->work);
	be_autodelivered struct be_delivered delivered = { 0 };
	if (be_mkdirs(dir, 0777, err) != 0 || be_result_receive(tar, dir, &delivered, err) != 0)
		return -1;
	if (o->qemu->failed && !delivered.before)
		return be_fail(err, "%s", o->qemu->ended);
	be_autonode struct be_node *result = describe_result(o, &delivered, dir);
	be_autonode struct be_node *twin = describe_twin(o);
	struct be_run_facts facts = { .plan = o->image->plan,
				      .before = delivered.before,
				      .after = delivered.after,
				      .twin = twin,
				      .deviations = o->twin->deviations,
				      .result = result };
	be_autonode struct be_node *manifest = be_manifest_merge(o->image->manifest, &facts);
	if (write_document(manifest, dir, "manifest.yaml", err) != 0 ||
	    write_text(manifest, o->image->plan, dir, err) != 0 || keep_console(o, dir, err) != 0)
		return -1;
	*status = (enum be_status)be_result_status(result);
	if (!o->quiet)
		print_summary(o, result);
	return 0;
}
