/* A report mail in the place of a job file: it is imported, and the documents live as long as the recipe. */
#include "builder/recipe.h"

#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "builder/report/import.h"
#include "mail.h"

#define SNIFFED (256u << 10) /* a mail's header ends within that */

static bool begins_as_mail(const struct be_buf *content)
{
	return content->len && be_is_mail(content->data, content->len < SNIFFED ? content->len : SNIFFED);
}

static int make_folder(struct be_recipe *out, struct be_error *err)
{
	const char *tmp = getenv("TMPDIR");
	out->mail_dir = be_strf("%s/mkbenchenv-mail-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (mkdtemp(out->mail_dir))
		return 0;
	int errnum = errno;
	be_fail_errno(err, errnum, "%s", out->mail_dir);
	free(out->mail_dir);
	out->mail_dir = NULL;
	return -1;
}

/* A name that may stand in a path. */
static const char *safe(const char *name, const char *fallback)
{
	return name && *name && *name != '.' && !strchr(name, '/') ? name : fallback;
}

static int write_documents(struct be_import *import, struct be_recipe *out, struct be_error *err)
{
	const struct be_node *table = import->tables->items[import->number - 1];
	const char *tbox = safe(be_get_str(table, "tbox_group", NULL), "host");
	be_autofree char *shipped = be_strf("%s/hosts/%s", out->paths.data, tbox);
	if (be_exists(shipped)) /* says more than any mail does */
		be_strv_free(&import->host_unstated);
	be_import_notes(import, &out->warnings);
	if (make_folder(out, err) != 0)
		return -1;
	out->mail_job = be_strf("%s/%s.yaml", out->mail_dir, safe(be_get_str(table, "testcase", NULL), "job"));
	if (be_write_file(out->mail_job, import->job, strlen(import->job), 0600, err) != 0)
		return -1;
	if (!import->host || be_exists(shipped))
		return 0;
	out->mail_host = be_strf("%s/%s", out->mail_dir, tbox);
	return be_write_file(out->mail_host, import->host, strlen(import->host), 0600, err);
}

/* The number that --pick gives; 0: none. */
static size_t picked(const char *pick)
{
	int64_t n;
	return pick && be_parse_int(pick, &n) && n > 0 && n < 10000 ? (size_t)n : 0;
}

int be_recipe_mail(const struct be_recipe_request *request, bool certain, struct be_recipe *out, struct be_error *err)
{
	be_autoimport struct be_import import = { 0 };
	if (certain ? !begins_as_mail(&out->content) : be_ends(request->job, ".yaml") || be_ends(request->job, ".yml"))
		return 0;
	if (be_import(request->job, &out->content, out->paths.data, picked(request->pick), "--pick", &import, err) != 0)
		return -1;
	/* A job with a slip in it has a testcase too; a report has parameters. */
	if (!certain && !be_get(import.tables->items[import.number - 1], "parameters"))
		return 0;
	return write_documents(&import, out, err);
}
