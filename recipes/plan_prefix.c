/* `numactl:`, `taskset:` and `chrt:`: the words in front of the workload, in the job's order. */
#include <string.h>

#include "plain.h"
#include "plan_parts.h"

/* The text of an option, which must look like what the program takes: CPU and node lists, a priority. */
static const char *value_of(const struct be_node *options, const char *program, const char *key, const char *more,
			    struct be_error *err)
{
	const struct be_node *node = be_get(options, key);
	if (node->kind == BE_SCALAR && be_is_name(node->text, more))
		return node->text;
	be_fail_usage(err, "%s: %s: %s: '%.40s' is not what the program takes", be_where(node), program, key,
		      node->kind == BE_SCALAR ? node->text : "(a list or map)");
	return NULL;
}

static int numactl(const struct be_node *options, struct be_strv *prefix, struct be_error *err)
{
	static const struct {
		const char *key, *letter;
		bool value;
	} known[] = {
		{ "all", "-a", false },      { "localalloc", "-l", false }, { "interleave", "-i", true },
		{ "membind", "-m", true },   { "cpunodebind", "-N", true }, { "physcpubind", "-C", true },
		{ "preferred", "-p", true },
	};
	be_strv_free(prefix); /* LKP: numactl replaces what was there, taskset and chrt come before it */
	be_strv_add(prefix, "numactl");
	for (size_t i = 0; i < options->n; i++)
		for (size_t k = 0; k < BE_ARRAY_LEN(known); k++) {
			if (strcmp(options->keys[i], known[k].key) != 0)
				continue;
			be_strv_add(prefix, known[k].letter);
			if (!known[k].value || options->items[i]->kind == BE_NULL)
				continue;
			const char *nodes = value_of(options, "numactl", known[k].key, "-,", err);
			if (!nodes)
				return -1;
			be_strv_add(prefix, nodes);
		}
	return 0;
}

static void before(struct be_strv *prefix, const char *const *words)
{
	be_autostrv struct be_strv all = { 0 };
	for (; *words; words++)
		be_strv_add(&all, *words);
	be_strv_add_all(&all, prefix);
	be_strv_free(prefix);
	*prefix = all;
	all = (struct be_strv){ 0 };
}

static int taskset(const struct be_node *options, struct be_strv *prefix, struct be_error *err)
{
	if (!be_get(options, "test_cpulist"))
		return 0;
	const char *cpus = value_of(options, "taskset", "test_cpulist", "-,:", err);
	if (!cpus)
		return -1;
	before(prefix, (const char *const[]){ "taskset", "-c", cpus, NULL });
	return 0;
}

static int chrt(const struct be_node *options, struct be_strv *prefix, struct be_error *err)
{
	static const char *const policies[] = { "fifo", "rr", "other", "batch", "idle", "deadline" };
	const struct be_node *policy = be_get(options, "sched_policy");
	const char *priority = "0", *text = be_get_str(options, "sched_policy", "");
	size_t i = 0;
	if (!policy)
		return 0;
	while (i < BE_ARRAY_LEN(policies) && strcmp(policies[i], text) != 0)
		i++;
	if (i == BE_ARRAY_LEN(policies)) {
		be_fail_usage(err, "%s: chrt: sched_policy: '%.40s' is no policy", be_where(policy), text);
		return be_hint(err, "known are fifo, rr, other, batch, idle and deadline");
	}
	if (be_get(options, "sched_priority") && !(priority = value_of(options, "chrt", "sched_priority", "", err)))
		return -1;
	be_autofree char *option = be_strf("--%s", text);
	before(prefix, (const char *const[]){ "chrt", option, priority, NULL });
	return 0;
}

int be_plan_prefix(const struct be_planner *p, struct be_strv *prefix, struct be_error *err)
{
	static const struct {
		const char *key;
		int (*add)(const struct be_node *options, struct be_strv *prefix, struct be_error *err);
	} programs[] = { { "numactl", numactl }, { "taskset", taskset }, { "chrt", chrt } };
	for (size_t i = 0; i < p->job->n; i++)
		for (size_t k = 0; k < BE_ARRAY_LEN(programs); k++)
			if (strcmp(p->job->keys[i], programs[k].key) == 0 && p->job->items[i]->kind == BE_MAP &&
			    programs[k].add(p->job->items[i], prefix, err))
				return -1;
	return 0;
}
