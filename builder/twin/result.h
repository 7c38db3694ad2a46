/* What a guest delivered: one tar stream, of which nothing is believed that was not checked. */
#ifndef BE_RESULT_H
#define BE_RESULT_H

#include "base/node.h"

struct be_delivered {
	struct be_node *before, *after; /* observation documents, or NULL */
	bool complete;                  /* all that the guest listed arrived unchanged */
	char problem[256];              /* why it is not complete, or "" */
};
void be_delivered_free(struct be_delivered *delivered);
#define be_autodelivered be_cleanup(be_delivered_free)

/*
 * Unpacks the stream @tar into the directory @dir, which exists: before.yaml, after.yaml, kernel.log and workload/NAME
 * of sane sizes, nothing else and nothing elsewhere. A stream that ends early or is damaged is kept as far as it is
 * good and `problem` says what is wrong; -1 only when @dir cannot be written.
 */
int be_result_receive(const char *tar, const char *dir, struct be_delivered *out, struct be_error *err) BE_MUST_CHECK;

/* How a run ended, from what arrived and why the machine is off. */
struct be_ending {
	const char *ended; /* why the machine is off, for people */
	bool timed_out;    /* it was stopped from outside */
	const char *panic; /* what the kernel said when it panicked, or NULL */
	const char *tail;  /* last lines of the console, or "" */
};
/* The manifest's `result:` without metrics: state, reason, complete, step, steps, console. The caller frees. */
struct be_node *be_result_state(const struct be_delivered *delivered, const struct be_ending *ending);
/*
 * Adds the figures (takes ownership of @metrics) and what is @missing of them. A run that should have had figures and
 * has none at all is failed, whatever its exit status was.
 */
void be_result_add_metrics(struct be_node *result, struct be_node *metrics, const struct be_strv *missing);
/* Exit status that goes with the state. */
int be_result_status(const struct be_node *result);

#endif
