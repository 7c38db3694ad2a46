/* The figures of a run, taken from the workload's delivered output as its definition says (SCHEMA.md, section 4). */
#ifndef BE_METRICS_H
#define BE_METRICS_H

#include "base/node.h"

/*
 * Returns a map metric -> number. @steps is the observation's `steps:`; their files lie in the directory @dir. A metric
 * whose output is missing or holds no such figure is left out, and @notes say why. The caller frees.
 */
struct be_node *be_metrics_make(const struct be_node *workload, const struct be_node *steps, const char *dir,
				struct be_strv *notes);

/* The figures of one metric by name: a name may come from the output itself. */
struct be_figures {
	struct be_figure {
		char *name;
		double *v;
		size_t n;
	} * list;
	size_t n;
};
void be_figures_free(struct be_figures *figures);
#define be_autofigures be_cleanup(be_figures_free)

/* The figures of @metric in the output of the steps that it is about; -1 when there is none. */
int be_metric_collect(const struct be_node *metric, const struct be_node *steps, const char *dir,
		      struct be_figures *figures, struct be_error *err) BE_MUST_CHECK;

/*
 * Factors of the catalogue that come from the same output: a map factor -> entry as in an observation ({value: ...},
 * {not_applicable: REASON}, {not_observable: REASON}). @metrics is what be_metrics_make gave. The caller frees.
 */
struct be_node *be_metrics_factors(const struct be_node *workload, const struct be_node *steps, const char *dir,
				   const struct be_node *metrics);

/* Adds every figure of @metric in @text (which ends with a NUL). */
int be_metric_read(const struct be_node *metric, const char *text, size_t len, struct be_figures *figures,
		   struct be_error *err) BE_MUST_CHECK;

#endif
