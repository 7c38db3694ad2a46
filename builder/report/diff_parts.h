/* Pieces of the comparison; only its own files include this. */
#ifndef BE_DIFF_PARTS_H
#define BE_DIFF_PARTS_H

#include "builder/report/diff.h"

/* Text that stands for a value where there is none. */
#define BE_NOT_OBSERVABLE "not observable"
#define BE_NOT_APPLICABLE "not applicable"
#define BE_NOT_STATED "not stated"

/*
 * The value of factor @name on one side: of its runs, if they agree by @compare, else {varies: [..]}. @booted false
 * takes what was built instead of what was observed. The caller frees.
 */
struct be_node *be_diff_value(const struct be_node *side, const char *name, const char *compare, bool booted);
/* Does it stand for no value at all? */
bool be_diff_is_none(const struct be_node *value);
/* Are the values of two sides the same? Two reasons for having none are. */
bool be_diff_same(const char *compare, const struct be_node *a, const struct be_node *b);

/* How much a kind of evidence says, 0 most; BE_DIFF_NO_RANK: nothing. */
enum { BE_DIFF_MEASURED, BE_DIFF_ARGUED, BE_DIFF_NAMED, BE_DIFF_NO_RANK };
/* The strongest evidence of a factor, NULL: there is none. @effect: the first percentage of its figure, else 0. */
const struct be_node *be_diff_evidence(const struct be_node *factor, unsigned *rank, double *effect);

/* `results:` of the two sides. */
struct be_node *be_diff_results(const struct be_node *a, const struct be_node *b);
/* The robot's table of them. */
void be_diff_results_text(const struct be_node *results, struct be_buf *out);

#endif
