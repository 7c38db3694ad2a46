#include "rules.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

bool be_rules_since(const char *date, const char *since)
{
	return strcmp(date, since) >= 0;
}

static bool is_date(const char *text)
{
	for (size_t i = 0; i < 10; i++)
		if (i == 4 || i == 7 ? text[i] != '-' : !isdigit((unsigned char)text[i]))
			return false;
	int month = (text[5] - '0') * 10 + text[6] - '0', day = (text[8] - '0') * 10 + text[9] - '0';
	return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

static bool take_date(const char *text, struct be_rules *out)
{
	if (!text || !is_date(text))
		return false;
	memcpy(out->date, text, 10);
	out->date[10] = '\0';
	return true;
}

/* "/lkp/lkp/.src-20200731-151111:..." and "/db/releases/20230425221759/lkp-src". */
static bool take_version(const char *text, struct be_rules *out)
{
	static const char *const marks[] = { ".src-", "/releases/" };
	for (size_t i = 0; text && i < BE_ARRAY_LEN(marks); i++) {
		const char *at = strstr(text, marks[i]);
		if (!at)
			continue;
		at += strlen(marks[i]);
		char date[16];
		if (strspn(at, "0123456789") < 8)
			continue;
		snprintf(date, sizeof(date), "%.4s-%.2s-%.2s", at, at + 4, at + 6);
		if (take_date(date, out))
			return true;
	}
	return false;
}

int be_rules_pick(const struct be_node *job, const char *today, struct be_rules *out, struct be_error *err)
{
	const struct be_node *asked = be_get(job, "lkp_rules");
	if (asked && asked->kind != BE_NULL) {
		out->from = "lkp_rules";
		if (asked->kind == BE_SCALAR && strlen(asked->text) == 10 && take_date(asked->text, out))
			return 0;
		be_fail_usage(err, "%s: lkp_rules: '%.40s' is no date", be_where(asked),
			      asked->kind == BE_SCALAR ? asked->text : "(a list or map)");
		return be_hint(err, "write it as YYYY-MM-DD, the day whose harness rules shall hold");
	}
	out->from = "enqueue_time";
	if (take_date(be_get_str(job, "enqueue_time", NULL), out))
		return 0;
	out->from = "version";
	if (take_version(be_get_str(job, "version", NULL), out) ||
	    take_version(be_get_str(job, "queuer_version", NULL), out))
		return 0;
	out->from = "today";
	if (take_date(today, out))
		return 0;
	return be_fail(err, "today's date '%s' is not YYYY-MM-DD", today ? today : "");
}

static const struct be_rule_change changes[] = {
	{ "2016-05-17", "776e54c63", "fio layout", "fio-basic", NULL, NULL,
	  "files are laid out by a run of fio with create_only=1 of its own, before by a run of one second", NULL },
	{ BE_RULE_XFS_BARRIER, "0d09c5770", "fs", NULL, "xfs", NULL, "XFS is mounted without nobarrier", NULL },
	{ "2019-10-29", "f26ee91c8", "fio job", "fio-basic", NULL, NULL,
	  "the job sets nr_files=1, filesize=, io_size= and file_service_type=", NULL },
	{ BE_RULE_XFS_FORCE, "2c3249d77", "fs", NULL, "xfs", NULL, "XFS is made with -f", NULL },
	{ BE_RULE_RAID0_LAYOUT, "1e3438e57", "md", NULL, NULL, "raid0", "raid0 is loaded with default_layout=1", NULL },
	{ "2019-11-06", "2ca7aeff4", "stress-ng", "stress-ng", NULL, NULL, "single tests besides whole classes", NULL },
	{ "2019-12-10", "346efb5d5", "fio job", "fio-basic", NULL, NULL, "the job sets random_distribution=random",
	  NULL },
	{ "2020-03-04", "1711383fa", "fio job", "fio-basic", NULL, NULL, "the job sets pre_read=0", NULL },
	{ "2020-04-02", "9835e1d26", "stress-ng", "stress-ng", NULL, NULL,
	  "a class leaves swap out on more than 16 CPUs", NULL },
	{ "2020-04-24", "be0f72628", "fio job", "fio-basic", NULL, NULL,
	  "filesize= is test_size / nr_task, before it was 1G whatever test_size said", NULL },
	{ BE_RULE_BTRFS_RAID_METADATA, "c4f8365c1", "fs", NULL, "btrfs", "braid",
	  "btrfs RAID sets the metadata profile too", NULL },
	{ "2020-08-05", "92bdff2c5", "fio job", "fio-basic", NULL, NULL,
	  "a file system smaller than test_size is refused", NULL },
	{ BE_RULE_XFS_NO_REFLINK, "d209851c9", "fs", NULL, "xfs", NULL, "XFS is made with -mreflink=0", NULL },
	{ "2022-09-08", "67e756513", "fio job", "fio-basic", NULL, NULL, "testfile: y names the file fio_testfile",
	  "testfile" },
	{ "2024-01-16", "892542e0b", "stress-ng", "stress-ng", NULL, NULL, "--metrics in place of --metrics-brief",
	  NULL },
	{ "2024-01-25", "8639c77e9", "stress-ng", "stress-ng", NULL, NULL, "--no-rand-seed", NULL },
	{ "2024-02-18", "434c1afe5", "stress-ng", "stress-ng", NULL, NULL,
	  "works on the disk when fs: is set, before when disk: was set", NULL },
	{ BE_RULE_EXT4_NO_LAZY, "c9bada178", "fs", NULL, "ext4", NULL,
	  "ext4 is made with lazy_itable_init=0,lazy_journal_init=0; before, ext4lazyinit writes during the test",
	  NULL },
	{ "2024-04-16", "eeda272c0", "fio job", "fio-basic", NULL, NULL, "offset_increment is taken from the job",
	  "offset_increment" },
	{ "2024-04-16", "eeda272c0", "fio job", "fio-basic", NULL, NULL, "cpus_allowed is taken from the job",
	  "cpus_allowed" },
	{ BE_RULE_RAID1_NO_CHUNK, "9d282f2e0", "md", NULL, NULL, "raid1", "raid1 gets no --chunk", NULL },
	{ "2025-03-27", "7a6e91585", "fio job", "fio-basic", NULL, NULL,
	  "the job always sets buffered=: without `buffered: 1` fio opens its files with O_DIRECT, whatever direct= "
	  "says",
	  NULL },
	{ BE_RULE_AUTOGROUP, "dd4472961", "stress-ng", "stress-ng", NULL, NULL,
	  "kernel.sched_autogroup_enabled is set to 0", NULL },
	{ "2026-03-05", "d8f4abc89", "stress-ng", "stress-ng", NULL, NULL,
	  "--TEST-method all where the stressor has methods", NULL },

};

const struct be_rule_change *be_rule_changes(size_t *n)
{
	*n = BE_ARRAY_LEN(changes);
	return changes;
}
