/* Keys that ask for something which no part of the plan gives, and rules of another day. */
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "job_keys.h"
#include "plan_parts.h"
#include "units.h"

/* Set-up programs whose effect is in the plan, or that have none on the machine. */
static bool is_realised(const char *key)
{
	static const char *const keys[] = { "disk",
					    "md",
					    "fs",
					    "fs1",
					    "fs2",
					    "boot_params",
					    "iosched",
					    "block_queue",
					    "swap",
					    "sysctl",
					    "numactl",
					    "taskset",
					    "chrt",
					    "drop_caches",
					    "debug-setup",
					    "dirty_thresh",
					    "numabalance",
					    "intel_pstate",
					    "cpufreq_governor",
					    "transparent_hugepage",
					    "sanity-check",
					    "nvdimm" };
	for (size_t i = 0; i < BE_ARRAY_LEN(keys); i++)
		if (strcmp(keys[i], key) == 0)
			return true;
	return false;
}

/* Options of such set-ups that nothing here follows. */
static void unrealised_options(struct be_planner *p, const char *key, const struct be_node *map)
{
	static const struct {
		const char *key, *option, *instead;
	} options[] = {
		{ "iosched", "iosched_dev", "all test disks are set" },
		{ "block_queue", "block_queue_dev", "all test disks are set" },
		{ "taskset", "pgrp1_pattern", "only the workload is bound" },
		{ "taskset", "pgrp2_pattern", "only the workload is bound" },
	};
	for (size_t i = 0; i < BE_ARRAY_LEN(options); i++)
		if (strcmp(options[i].key, key) == 0 && be_get(map, options[i].option))
			be_deviation(p->deviations, key, "%s asked: %s", options[i].option, options[i].instead);
}

static bool of_workload(const struct be_planner *p, const char *key)
{
	const struct be_node *definition = be_get_path(p->plan, "workload.definition");
	const struct be_node *programs = be_get(definition, "programs");
	for (size_t i = 0; programs && i < programs->n; i++)
		if (be_streq(programs->items[i]->text, key))
			return true;
	return false;
}

/* Keys inside a program of the workload that its definition does not know. */
static void nested_keys(struct be_planner *p, const char *program, const struct be_node *map)
{
	const struct be_node *declared = be_get_path(p->plan, "workload.definition.parameters");
	for (size_t i = 0; map->kind == BE_MAP && i < map->n; i++) {
		const char *key = map->keys[i], *near = NULL;
		if (be_get(declared, key) || key[0] == ':')
			continue;
		for (size_t k = 0; declared && k < declared->n; k++)
			if (be_distance(key, declared->keys[k]) <= 2)
				near = declared->keys[k];
		be_plan_warn(p, map->items[i], "%s: %s is not known to this program's definition%s%s", program, key,
			     near ? "; did you mean " : "", near ? near : "");
		be_deviation(p->deviations, "unknown key", "%s: %s asked, its meaning is not known: without effect",
			     program, key);
	}
}

/*
 * A program's option that stands at the top and that the workload does not read is LKP's way too (options match at any
 * depth), so that only names which are no key at all are called unknown.
 */
static void one_key(struct be_planner *p, const struct be_keys *keys, size_t i, struct be_strv *monitors)
{
	const char *key = p->job->keys[i];
	const struct be_node *value = p->job->items[i];
	if (key[0] == ':' || key[0] == '#')
		return;
	if (be_starts(key, "if ") && value->kind == BE_MAP) {
		for (size_t k = 0; k < value->n; k++)
			if (of_workload(p, value->keys[k]))
				nested_keys(p, value->keys[k], value->items[k]);
	} else if (of_workload(p, key)) {
		nested_keys(p, key, value);
	} else if (is_realised(key)) {
		unrealised_options(p, key, value);
	} else if (be_key_is(keys, key, BE_KEY_MONITOR)) {
		be_strv_add(monitors, key);
	} else if (be_key_is(keys, key, BE_KEY_SETUP)) {
		be_deviation(p->deviations, "set-up", "%s asked: this set-up of the harness is not made", key);
	} else if (be_key_is(keys, key, BE_KEY_PROGRAM)) {
		be_deviation(p->deviations, "program", "%s asked beside the workload: it is not run", key);
	} else if (!be_key_find(keys, key) && !be_get_path(p->plan, "workload.definition.parameters")) {
		return;
	} else if (!be_key_find(keys, key) && !be_get(be_get_path(p->plan, "workload.definition.parameters"), key)) {
		be_deviation(p->deviations, "unknown key", "%s asked, its meaning is not known: kept, without effect",
			     key);
	}
}

static void monitors_deviation(struct be_planner *p, const struct be_strv *monitors)
{
	be_autobuf struct be_buf text = { 0 };
	for (size_t i = 0; i < monitors->n; i++)
		be_buf_addf(&text, "%s%s", i ? " " : "", monitors->v[i]);
	if (monitors->n)
		be_deviation(p->deviations, "monitors", "the job names %zu monitors, none is run: %s", monitors->n,
			     text.data);
}

static void unstated(struct be_planner *p)
{
	be_autostrv struct be_strv keys = { 0 };
	be_get_strv(p->job, "unstated", &keys);
	for (size_t i = 0; i < keys.n; i++) {
		const char *value = be_plan_text_of(p->job, keys.v[i]);
		be_deviation(p->deviations, keys.v[i], "%s%s%s: unstated by the report%s", keys.v[i], value ? ": " : "",
			     value ? value : "", value ? ", chosen here" : "");
	}
}

/* Bytes that `need_memory:` demands: a size, or a share of as many GB as there are CPUs; 0: none. */
static int64_t needed_memory(const struct be_planner *p)
{
	const char *text = be_plan_text_of(p->job, "need_memory");
	int64_t bytes = 0, share = 0;
	if (!text)
		return 0;
	if (strchr(text, '%'))
		return be_parse_count(text, p->size.nr_cpu, &share) ? share << 30 : 0;
	return be_parse_size(text, &bytes) ? bytes : 0;
}

/* LKP's filters: what keeps it from running a job on a machine. */
static void filters(struct be_planner *p)
{
	int64_t memory = needed_memory(p), cpus = be_get_int(p->job, "need_cpu", 0);
	bool few = cpus > 0 && p->size.nr_cpu < cpus, many = cpus < 0 && p->size.nr_cpu > -cpus;
	if (memory && p->size.memory && memory > p->size.memory)
		be_deviation(p->deviations, "filter", "need_memory: %s asked, %s has less: LKP does not run this job",
			     be_plan_text_of(p->job, "need_memory"), p->req->host_name);
	if (p->size.nr_cpu && (few || many))
		be_deviation(p->deviations, "filter",
			     "need_cpu: %s asked, %s has %" PRId64 ": LKP does not run this job",
			     be_plan_text_of(p->job, "need_cpu"), p->req->host_name, p->size.nr_cpu);
	if (be_get_bool(p->job, "run_on_local_disk", false))
		be_deviation(p->deviations, "rootfs",
			     "run_on_local_disk asked: LKP's root was a snapshot on a disk, here it is the initrd");
}

int be_plan_keys(struct be_planner *p, struct be_error *err)
{
	const struct be_keys *keys = be_keys_of(p->req->data_dir, err);
	be_autostrv struct be_strv monitors = { 0 };
	if (!keys)
		return -1;
	unstated(p);
	filters(p);
	if (be_get_int(p->job, "nr_instances", 1) > 1)
		be_deviation(p->deviations, "nr_instances", "%s instances asked: one is run",
			     be_plan_text_of(p->job, "nr_instances"));
	for (size_t i = 0; i < p->job->n; i++)
		one_key(p, keys, i, &monitors);
	monitors_deviation(p, &monitors);
	const struct be_node *iosched = be_get(p->job, "iosched");
	const char *scheduler = be_plan_text_of(p->job, "iosched");
	if (be_streq(scheduler ? scheduler : be_get_str(iosched, "iosched", NULL), "cfq"))
		be_deviation(p->deviations, "disk.scheduler",
			     "cfq asked: kernels since 5.0 have none; the kernel's own choice stays");
	return 0;
}

static bool applies(const struct be_planner *p, const struct be_rule_change *c)
{
	const char *fs = be_layout_filesystem(p->job), *workload = be_get_str(be_get(p->plan, "workload"), "name", "");
	const struct be_node *md = be_get(p->job, "md");
	const char *level =
		md && md->kind == BE_MAP ? be_get_str(md, "raid_level", NULL) : be_plan_text_of(p->job, "md");
	if (c->workload && strcmp(workload, c->workload) != 0)
		return false;
	if (c->key && !be_get(be_get_path(p->plan, "workload.parameters"), c->key))
		return false;
	if (c->filesystem && !be_streq(fs, c->filesystem))
		return false;
	return !c->level || (level && strncasecmp(level, c->level, strlen(c->level)) == 0 &&
			     (strcmp(c->level, "raid1") != 0 || strlen(level) == 5));
}

/* All that this program knows of, whatever day it is: a dated job has the same plan on every day. */
void be_plan_rule_changes(struct be_planner *p)
{
	size_t n;
	const struct be_rule_change *changes = be_rule_changes(&n);
	for (size_t i = 0; i < n; i++)
		if (!be_rules_since(p->rules.date, changes[i].since) && applies(p, &changes[i]))
			be_deviation(p->deviations, "harness.rules", "since %s (lkp-tests %s): %s", changes[i].since,
				     changes[i].commit, changes[i].text);
}
