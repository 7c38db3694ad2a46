/* Two environments, or two groups of runs of one each, compared: what is different, and has that moved results before?
 */
#ifndef BE_DIFF_H
#define BE_DIFF_H

#include "base/node.h"

struct be_diff_input {
	const struct be_node *a, *b;   /* sequences of {path: TEXT, manifest: DOCUMENT}, one a run; none is empty */
	const struct be_node *factors; /* the catalogue, be_factors_load */
	const struct be_node *reports; /* reports.yaml, for titles of evidence; or NULL */
};

/*
 * The comparison, for --json and as the source of the text:
 *
 *   same: false                        no factor, parameter or package differs
 *   compared: 231                      factors that both sides state
 *   comparable: false                  figures of the two say nothing about each other
 *   reasons: [...], notes: [...]       why not; what else the reader must know
 *   a, b: {runs: [{path, state, id}], values...}
 *   differences:                       strongest published effect first, then by kind of evidence, then as in the
 * catalogue
 *   - {name: disk.scheduler, kind: measured, evidence: {report, title, date, figure, quote}, a: VALUE, b: VALUE,
 *      why: what the catalogue says of the factor}
 *       kind: measured argued named none; recipe: a job's parameter; package: a package's version
 *       a value that differs between the runs of a side is {varies: [..]}, one that changed in a run {before, after}
 *   stated: [{name, a, b}]             values that differ in every run and are no difference of the environment
 *   results: [{metric, a: {mean, stddev, runs}, b: ..., change}]     stddev and change in percent
 *
 * The caller frees.
 */
struct be_node *be_diff_make(const struct be_diff_input *input);

#define BE_DIFF_COLUMNS 100
/* For people, at most BE_DIFF_COLUMNS wide. @full: all differences and stated values. */
int be_diff_text(const struct be_node *diff, bool full, struct be_buf *out, struct be_error *err) BE_MUST_CHECK;

#endif
