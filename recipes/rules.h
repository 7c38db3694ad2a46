/*
 * Dated rules of the harness: lkp-tests' scripts gave another environment on another day. Dates and commits are those
 * of lkp-tests' history. ISO dates compare as text.
 */
#ifndef BE_RULES_H
#define BE_RULES_H

#include "base/node.h"

struct be_rules {
	char date[11];    /* YYYY-MM-DD */
	const char *from; /* lkp_rules, enqueue_time, version or today */
};

/*
 * The rules of @job: its `lkp_rules:`, else the day it was queued, else the day in its `version:` or `queuer_version:`,
 * else @today.
 */
int be_rules_pick(const struct be_node *job, const char *today, struct be_rules *out,
		  struct be_error *err) BE_MUST_CHECK;
/* Is @date (YYYY-MM-DD) @since or later? */
bool be_rules_since(const char *date, const char *since);

/* Days on which the set-up of disks and file systems changed (lkp-tests' commit behind each). */
#define BE_RULE_BRD_NO_PART_SHOW "2016-09-29"
#define BE_RULE_XFS_BARRIER "2018-09-19"         /* 0d09c5770 */
#define BE_RULE_XFS_FORCE "2019-10-30"           /* 2c3249d77 */
#define BE_RULE_RAID0_LAYOUT "2019-11-06"        /* 1e3438e57 */
#define BE_RULE_BTRFS_RAID_METADATA "2020-05-11" /* c4f8365c1 */
#define BE_RULE_XFS_NO_REFLINK "2022-05-20"      /* d209851c9 */
#define BE_RULE_WAIT_180 "2023-08-11"
#define BE_RULE_WAIT_300 "2024-01-25"
#define BE_RULE_EXT4_NO_LAZY "2024-04-16"   /* c9bada178 */
#define BE_RULE_RAID1_NO_CHUNK "2024-04-29" /* 9d282f2e0 */
#define BE_RULE_AUTOGROUP "2026-02-17"      /* dd4472961 */
#define BE_RULE_NOKASLR "2019-10-01"        /* absent in July, there in October 2019 */

/* What a rule younger than a plan's date would do differently, for its `deviations:`. */
struct be_rule_change {
	const char *since, *commit, *topic;
	const char *workload;   /* applies to this workload only, or NULL */
	const char *filesystem; /* applies to this file system only, or NULL */
	const char *level;      /* applies to this md level only, or NULL */
	const char *text;
	const char *key; /* changes something only where the workload is given this parameter, or NULL */
};
/* All of them, in the order of their dates. */
const struct be_rule_change *be_rule_changes(size_t *n);

#endif
