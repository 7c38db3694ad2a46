#include "plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "factor.h"
#include "plan_parts.h"
#include "units.h"

#define RUN_TIMEOUT 1800 /* seconds for all that is not the workload: disks, file systems, observation, delivery */

void be_plan_warn(struct be_planner *p, const struct be_node *node, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	be_autofree char *text = be_vstrf(fmt, args);
	va_end(args);
	const char *where = node ? be_where(node) : "";
	be_autofree char *line = be_strf("%s%s%s", where, *where ? ": " : "", text);
	if (!be_strv_has(p->warnings, line))
		be_strv_add(p->warnings, line);
}

const struct be_node *be_plan_factor(const struct be_planner *p, const char *name)
{
	for (size_t i = 0; i < p->factors->n; i++)
		if (strcmp(be_get_str(p->factors->items[i], "name", ""), name) == 0)
			return p->factors->items[i];
	return NULL;
}

const char *be_plan_text_of(const struct be_node *map, const char *key)
{
	return be_get_str(map, key, NULL);
}

static int check_request(const struct be_plan_request *r, struct be_error *err)
{
	if (!r->host) {
		be_fail_usage(err, "%s: no host file: which machine is it?", r->name);
		return be_hint(err, "give --host FILE or NAME (qemu needs no lab), or add tbox_group: NAME to the job");
	}
	if (!r->job || r->job->kind != BE_MAP || r->host->kind != BE_MAP)
		return be_fail_usage(err, "%s: job and host must be maps of keys", r->name);
	return 0;
}

static void plan_rules(struct be_planner *p)
{
	struct be_node *rules = be_node_map();
	be_set_str(rules, "date", p->rules.date);
	be_set_str(rules, "from", p->rules.from);
	be_set(p->plan, "rules", rules);
}

static int plan_expect(struct be_planner *p, struct be_error *err)
{
	const struct be_node *expect = be_get(p->job, "expect");
	const char *text = be_plan_text_of(p->job, "expect");
	if (text && strcmp(text, "warn") != 0 && strcmp(text, "refuse") != 0) {
		be_fail_usage(err, "%s: expect: '%.40s' is neither warn nor refuse", be_where(expect), text);
		return be_hint(err, "a map of factor: value states what the machine must give");
	}
	/* A map may hold the word under `then`, so that values can be demanded as well as wanted. */
	if (expect && expect->kind == BE_MAP)
		text = be_get_str(expect, "then", "warn");
	be_set_str(p->plan, "expect", text ? text : "warn");
	return 0;
}

/* A resync reads every member once: at 20 MB/s, slower than any disk, and an hour where no size is known. */
static int64_t sync_seconds(const struct be_node *layout)
{
	const struct be_node *arrays = be_get(layout, "arrays"), *devices = be_get(layout, "devices");
	int64_t largest = 0;
	for (size_t i = 0; devices && i < devices->n; i++) {
		int64_t size = be_get_int(devices->items[i], "size", 0);
		largest = size > largest ? size : largest;
	}
	for (size_t i = 0; arrays && i < arrays->n; i++)
		if (be_streq(be_get_str(arrays->items[i], "sync", NULL), "wait"))
			return largest ? largest / 20000000 + 600 : 3600;
	return 0;
}

static bool add_seconds(int64_t *total, int64_t seconds)
{
	return !__builtin_add_overflow(*total, seconds, total) && *total <= BE_PLAN_TIMEOUT_MAX;
}

int64_t be_plan_timeout(const struct be_node *plan)
{
	int64_t seconds = be_get_int(plan, "timeout", 0);
	return seconds > 0 && seconds <= BE_PLAN_TIMEOUT_MAX ? seconds : 7200;
}

static int plan_timeout(struct be_planner *p, struct be_error *err)
{
	const struct be_node *steps = be_get_path(p->plan, "workload.steps");
	const struct be_node *layout = be_get(p->plan, "layout");
	int64_t total = RUN_TIMEOUT + sync_seconds(layout);
	bool sane = add_seconds(&total, be_get_int(layout, "wait", 0));
	for (size_t i = 0; steps && i < steps->n; i++)
		sane = sane && add_seconds(&total, be_get_int(steps->items[i], "timeout", 0));
	if (!sane)
		return be_fail_usage(err, "%s: the job's steps may take more than ten years", be_where(p->job));
	be_set_int(p->plan, "timeout", total);
	return 0;
}

static void plan_head(struct be_planner *p)
{
	const char *testcase = be_plan_text_of(p->job, "testcase"), *suite = be_plan_text_of(p->job, "suite");
	be_set_str(p->plan, "mkbenchenv", "plan");
	be_set_int(p->plan, "schema", 1);
	be_set_str(p->plan, "name", p->req->name);
	be_set_str(p->plan, "testcase", testcase ? testcase : suite ? suite : "unknown");
	plan_rules(p);
	be_set(p->plan, "job", be_node_clone(p->job));
}

/* The plan's keys are made in the order of SCHEMA.md; deviations come last but are added to from the start. */
static int make(struct be_planner *p, struct be_error *err)
{
	if (be_rules_pick(p->job, p->req->today, &p->rules, err))
		return -1;
	plan_head(p);
	if (be_plan_machine(p, err) || be_plan_layout(p, err) || be_plan_boot(p, err) || be_plan_workload(p, err) ||
	    be_plan_settings(p, err) || be_plan_image(p, err) || plan_expect(p, err) || be_plan_keys(p, err) ||
	    be_plan_wanted(p, err) || be_plan_after(p, err) || be_plan_firmware(p, err))
		return -1;
	be_plan_built(p);
	be_plan_rule_changes(p);
	return plan_timeout(p, err);
}

/* Puts the plan's keys into the order of the schema. */
static struct be_node *ordered(struct be_node *plan)
{
	static const char *const order[] = { "mkbenchenv", "schema",     "name",    "testcase", "rules",
					     "job",        "machine",    "boot",    "image",    "settings",
					     "layout",     "workload",   "expect",  "wanted",   "factors",
					     "built",      "deviations", "timeout", "after" };
	struct be_node *out = be_node_map();
	for (size_t i = 0; i < BE_ARRAY_LEN(order); i++)
		if (be_get(plan, order[i]))
			be_set(out, order[i], be_node_clone(be_get(plan, order[i])));
	return out;
}

struct be_node *be_plan_make(const struct be_plan_request *request, struct be_strv *warnings, struct be_error *err)
{
	if (check_request(request, err))
		return NULL;
	be_autonode struct be_node *plan = be_node_map(), *factors = be_factors_load(request->data_dir, err);
	if (!factors)
		return NULL;
	struct be_planner p = {
		.req = request,
		.job = request->job,
		.host = request->host,
		.plan = plan,
		.deviations = be_node_seq(),
		.factors = factors,
		.warnings = warnings,
	};
	be_set(plan, "deviations", p.deviations);
	return make(&p, err) ? NULL : ordered(plan);
}
