/* Mails of any kind: decoded, read, and every table made a job and a host file. */
#include <stdint.h>
#include <stdlib.h>

#include "builder/report/import.h"
#include "mail.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct be_mail_rules rules;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	struct be_error err = BE_ERROR_INIT;
	if (be_mail_rules_load("recipes", &rules, &err) != 0)
		abort();
	return 0;
}

static void use(const struct be_node *table)
{
	struct be_error err = BE_ERROR_INIT;
	be_autostrv struct be_strv unstated = { 0 };
	be_autobuf struct be_buf text = { 0 };
	free(be_mail_title(table));
	be_autonode struct be_node *job = be_mail_job(table, &rules, &unstated, &err);
	be_autonode struct be_node *host = be_mail_host(table, &unstated);
	if (!job && err.status == BE_USAGE) /* a test whose name is a key of the job */
		return;
	/* What was made can be written, and what was written can be read. */
	if (!job || be_node_yaml(job, &text, &err) != 0)
		abort();
	be_autonode struct be_node *again = be_node_load(text.data, text.len, "job", &err);
	if (!again || !be_node_equal(job, again))
		abort();
	if (host && be_node_yaml(host, &text, &err) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct be_error err = BE_ERROR_INIT;
	be_autobuf struct be_buf text = { 0 };
	if (be_mail_decode_text((const char *)data, size, &text, NULL, &err) != 0)
		return 0;
	be_autonode struct be_node *tables = be_mail_read(text.data ? text.data : "", text.len, &rules, &err);
	for (size_t i = 0; tables && i < tables->n && i < 4; i++)
		use(tables->items[i]);
	return 0;
}
