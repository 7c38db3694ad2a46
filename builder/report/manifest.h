/* The manifest: one document of what was requested, built and observed, and its form for a mail. */
#ifndef BE_MANIFEST_H
#define BE_MANIFEST_H

#include "base/node.h"

/* What a run adds to an image's manifest. */
struct be_run_facts {
	const struct be_node *plan;           /* the image's plan */
	const struct be_node *before, *after; /* observations, or NULL */
	const struct be_node *twin;           /* accelerator, argv, ... for `machine.twin:` */
	const struct be_node *deviations;     /* of the twin, or NULL */
	const struct be_node *result;         /* for `result:` */
	const struct be_node *measured; /* factors that the workload's output tells, as in an observation; or NULL */
};

/* The manifest of a run: @image, the image's manifest, with what was observed. The caller frees. */
struct be_node *be_manifest_merge(const struct be_node *image, const struct be_run_facts *facts);

struct be_manifest_view {
	bool full;          /* every factor, not only those that somebody showed to matter or that differ */
	const char *factor; /* only this one, or NULL */
};
/*
 * The form for mail: at most BE_MANIFEST_COLUMNS columns, no serial numbers. @factors is the plan's or the catalogue's
 * list, for evidence; it may be NULL. -1 when the view names a factor that is not there.
 */
#define BE_MANIFEST_COLUMNS 76
int be_manifest_text(const struct be_node *manifest, const struct be_node *factors, const struct be_manifest_view *view,
		     struct be_buf *out, struct be_error *err) BE_MUST_CHECK;

#endif
