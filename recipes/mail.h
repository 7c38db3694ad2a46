/*
 * Report mails of the kernel test robot, read as what they state about an environment: the parameter block, the table
 * whose head joins keys and values by slashes, the boxes of "in addition to that", and the prose of the years before
 * LKP. What stands nowhere is left out, never guessed. Forms: 2009 to 2026, quoted, wrapped, flattened to one line.
 */
#ifndef BE_MAIL_H
#define BE_MAIL_H

#include "base/node.h"

#define BE_MAIL_MAX_BYTES (8u << 20)

/* How keys of reports become keys of jobs: mail.yaml and programs.yaml of a data folder. */
struct be_mail_rules {
	struct be_node *mail, *programs;
};
int be_mail_rules_load(const char *data_dir, struct be_mail_rules *out, struct be_error *err) BE_MUST_CHECK;
void be_mail_rules_free(struct be_mail_rules *rules);
#define be_automailrules be_cleanup(be_mail_rules_free)

/*
 * Reads the text of a mail after its MIME parts were decoded; several mails may follow each other. Bytes that are no
 * ASCII never reach a value. Returns a sequence of what can be imported, numbered from 1 by the caller, each a map:
 *
 *   form: block        block, header, path, prose: a test of its own; box: "in addition to that"
 *   line: 31           where it stands
 *   testcase, tbox_group, kconfig, compiler, rootfs, commit, version: as the mail has them
 *   date: 2022-10-08   day of the report: of the mail, or of the quoted mail that holds it
 *   date_from: quote   mail, quote, or thread: only another mail of the thread has a date
 *   parameters: {runtime: 300s, ...}       in the order of the mail
 *   sorted: true       that order is alphabetical, not the job's
 *   machine: "192 threads 4 sockets ..."   verbatim
 *   host: {nr_node: 2, ...}                host keys that the mail gives one by one
 *   path_params: 2M-performance-...        values whose keys the mail does not name
 *
 * NULL with a usage error when nothing of this stands in it.
 */
struct be_node *be_mail_read(const char *text, size_t len, const struct be_mail_rules *rules, struct be_error *err);

/* How many of @tables are tests of their own; with more than one the reader has to choose. */
size_t be_mail_choices(const struct be_node *tables);
/* One line for people: testcase, machine and what tells it apart; the caller frees. */
char *be_mail_title(const struct be_node *table);

/*
 * The job of a table, with LKP's nesting of options below their programs . @unstated gets the
 * keys that such a job needs and the mail does not state; they are also the job's `unstated:`.
 */
struct be_node *be_mail_job(const struct be_node *table, const struct be_mail_rules *rules, struct be_strv *unstated,
			    struct be_error *err);
/* The host file of a table, NULL when it states nothing of the machine. @unstated as above. */
struct be_node *be_mail_host(const struct be_node *table, struct be_strv *unstated);

#endif
