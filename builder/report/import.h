/* From a report mail to a job and a host file. */
#ifndef BE_IMPORT_H
#define BE_IMPORT_H

#include <stdbool.h>

#include "base/node.h"

/*
 * The text of the mail file @path: an mbox, a single mail with MIME parts, or text that was saved from one. Parts are
 * decoded and converted to UTF-8, each mail's subject and date stand before them, attachments that are no text are
 * left out. @job_attached, where not NULL, is set when one of them is the job file itself.
 */
int be_mail_text(const char *path, struct be_buf *out, bool *job_attached, struct be_error *err) BE_MUST_CHECK;
/* The same from memory. */
int be_mail_decode_text(const char *data, size_t len, struct be_buf *out, bool *job_attached,
			struct be_error *err) BE_MUST_CHECK;
/* Does a file that begins so hold a mail rather than a job? */
bool be_is_mail(const char *data, size_t len);

struct be_import {
	struct be_node *tables; /* as be_mail_read gives them */
	size_t number;          /* of the chosen one, from 1 */
	bool job_attached;
	char *job, *host; /* the documents as text; host is NULL when the mail states nothing of the machine */
	struct be_strv job_unstated, host_unstated;
};
/*
 * Reads the mail @path (its bytes are @content, where not NULL) and makes the documents of table number @number; 0: of
 * its only test of its own, and an error that lists them and names @option, which chooses one, when there are several.
 * The caller frees @out, also after a failure.
 */
int be_import(const char *path, const struct be_buf *content, const char *data_dir, size_t number, const char *option,
	      struct be_import *out, struct be_error *err) BE_MUST_CHECK;
void be_import_free(struct be_import *import);
#define be_autoimport be_cleanup(be_import_free)
/* Adds, a line each, what was taken and what the mail does not state. */
void be_import_notes(const struct be_import *import, struct be_strv *notes);

#endif
