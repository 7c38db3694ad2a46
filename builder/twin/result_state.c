#include "builder/twin/result.h"

#include <string.h>

/* The outcome that the guest stated last. */
static const struct be_node *last_word(const struct be_delivered *delivered)
{
	const struct be_node *outcome = be_get(delivered->after, "outcome");
	return outcome ? outcome : be_get(delivered->before, "outcome");
}

static void set_state(struct be_node *result, const struct be_delivered *delivered, const struct be_ending *ending)
{
	const struct be_node *outcome = last_word(delivered);
	const char *state = be_get_str(outcome, "state", NULL);
	if (state && strcmp(state, "running") != 0) {
		be_set_str(result, "state", state);
		be_set_str(result, "reason", be_get_str(outcome, "reason", NULL));
		be_set_str(result, "step", be_get_str(outcome, "step", NULL));
		return;
	}
	if (ending->timed_out)
		be_set_str(result, "state", "timeout");
	else
		be_set_str(result, "state",
			   delivered->before ? "died during the workload" : "died before the workload");
	if (ending->panic)
		be_set(result, "reason", be_node_strf("kernel panic: %s", ending->panic));
	else
		be_set_str(result, "reason", ending->ended);
}

struct be_node *be_result_state(const struct be_delivered *delivered, const struct be_ending *ending)
{
	struct be_node *result = be_node_map();
	set_state(result, delivered, ending);
	be_set(result, "complete", be_node_bool(delivered->complete));
	if (!delivered->complete)
		be_set_str(result, "incomplete", delivered->problem);
	const struct be_node *steps = be_get(delivered->after, "steps");
	if (steps)
		be_set(result, "steps", be_node_clone(steps));
	if (ending->tail && *ending->tail && strcmp(be_get_str(result, "state", ""), "done") != 0)
		be_set_str(result, "console", ending->tail);
	return result;
}

void be_result_add_metrics(struct be_node *result, struct be_node *metrics, const struct be_strv *missing)
{
	be_set(result, "metrics", metrics);
	if (!missing->n)
		return;
	be_set(result, "metrics_missing", be_node_strv(missing));
	if (metrics->n || strcmp(be_get_str(result, "state", ""), "done") != 0)
		return;
	be_set_str(result, "state", "failed");
	be_set(result, "reason", be_node_strf("the workload ended without a figure: %s", missing->v[0]));
}

int be_result_status(const struct be_node *result)
{
	const char *state = be_get_str(result, "state", "");
	if (strcmp(state, "refused") == 0)
		return BE_DIFFERS;
	return strcmp(state, "done") == 0 && be_get_bool(result, "complete", false) ? BE_OK : BE_FAILED;
}
