#include "builder/receive/receive.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "builder/progress.h"
#include "builder/receive/deliveries.h"
#include "builder/twin/result_folder.h"

#define LOG_MAX (1ull << 30)

struct receiving {
	const struct be_receive_request *request;
	struct be_buf log;
	struct be_console_log deliveries;
	struct be_image_folder image;
	char *work; /* temporary folder beside the result */
};

static void free_receiving(struct receiving *r)
{
	struct be_error ignored = BE_ERROR_INIT;
	if (r->work)
		be_remove_tree(r->work, &ignored);
	free(r->work);
	be_image_folder_free(&r->image);
	be_console_log_free(&r->deliveries);
	be_buf_free(&r->log);
}

static void free_reader(struct archive **a)
{
	archive_read_free(*a);
}

/* What a guest left on a labelled disk or stick is the stream itself. */
static bool is_stream(const struct be_buf *file)
{
	be_cleanup(free_reader) struct archive *a = archive_read_new();
	struct archive_entry *entry;
	archive_read_support_format_tar(a);
	return file->len && archive_read_open_memory(a, file->data, file->len) == ARCHIVE_OK &&
	       archive_read_next_header(a, &entry) == ARCHIVE_OK;
}

static int find_deliveries(const char *path, const struct be_buf *log, struct be_console_log *deliveries,
			   struct be_error *err)
{
	be_console_log_read(log->data ? log->data : "", log->len, deliveries);
	if (deliveries->n)
		return 0;
	be_fail(err, "%s: holds no line of a delivery", path);
	return be_hint(err, "A guest delivers on the console only when there is nothing better; the lines begin with "
			    "\"" BE_FRAME_MARK "\". Was the log of the console that console= names kept to its end?");
}

/* The delivery that is meant. Several boots of a machine leave one each. */
static struct be_console_delivery *choose(struct receiving *r, struct be_error *err)
{
	const char *wish = r->request->delivery;
	struct be_console_log *all = &r->deliveries;
	be_autobuf struct be_buf ids = { 0 };
	if (all->n == 1 && !wish)
		return &all->v[0];
	if (be_streq(wish, "last"))
		return &all->v[all->n - 1];
	for (size_t i = 0; i < all->n; i++) {
		if (be_streq(wish, all->v[i].id))
			return &all->v[i];
		be_buf_addf(&ids, "%s%s", i ? ", " : "", all->v[i].id);
	}
	if (wish)
		be_fail_usage(err, "%s: holds no delivery %s", r->request->log, wish);
	else
		be_fail_usage(err, "%s: holds %zu deliveries", r->request->log, all->n);
	be_hint(err, "--delivery takes one of %.800s, or last; --list shows them.", ids.data);
	return NULL;
}

/* Where lines were counted up to: what is asked for mostly comes later and later. */
struct cursor {
	size_t at, lines;
};

static size_t line_of(const struct be_buf *log, size_t at, struct cursor *cursor)
{
	if (at < cursor->at)
		*cursor = (struct cursor){ 0 };
	for (; cursor->at < at; cursor->at++)
		cursor->lines += log->data[cursor->at] == '\n';
	return cursor->lines + 1;
}

static void report_entry(const struct receiving *r, const struct be_console_delivery *d, size_t i,
			 struct cursor *cursor)
{
	const struct be_console_entry *entry = &d->entries[i];
	be_autofree char *name = entry->name ? be_strdup(entry->name) : be_strf("entry %zu", i);
	if (!entry->lines)
		fprintf(stderr, "receive: lost     %s: nothing of it is in the log\n", name);
	else if (entry->missing)
		fprintf(stderr,
			"receive: damaged  %s: %zu of %zu lines are missing, the first behind line %zu of the log\n",
			name, entry->missing, entry->lines, line_of(&r->log, entry->gap, cursor));
	else if (entry->name && strcmp(entry->name, "complete") != 0)
		fprintf(stderr, "receive: whole    %s\n", name);
}

/* What is damaged and what can still be used. */
static void report(const struct receiving *r, const struct be_console_delivery *d)
{
	size_t lines = 0, mended = 0;
	struct cursor cursor = { 0 };
	for (size_t i = 0; i < d->n; i++) {
		lines += d->entries[i].lines - d->entries[i].missing;
		mended += d->entries[i].mended;
	}
	if (!r->request->quiet)
		fprintf(stderr, "receive: delivery %s, %zu lines, %zu of them cut and put together again\n", d->id,
			lines, mended);
	if (r->deliveries.tired)
		fputs("receive: too much of the log is like a cut line or a delivery: not all of it was tried\n",
		      stderr);
	for (size_t i = 0; d->damage && i < d->n; i++)
		report_entry(r, d, i, &cursor);
}

/* The console of this delivery's boot: from behind the delivery before it to the next one. */
static int write_console(const struct receiving *r, const struct be_console_delivery *d, const char *path,
			 struct be_error *err)
{
	const struct be_console_log *all = &r->deliveries;
	size_t i = (size_t)(d - all->v);
	size_t from = i ? all->v[i - 1].to : 0, to = i + 1 < all->n ? all->v[i + 1].from : r->log.len;
	be_autobuf struct be_buf text = { 0 };
	be_console_text(r->log.data, from, to, &text);
	return be_write_file(path, text.data ? text.data : "", text.len, 0644, err);
}

/* Makes the folder of what is in hand, says what it is, and puts it in its place. */
static int make_folder(struct receiving *r, const struct be_run_source *run, enum be_status *status,
		       struct be_error *err)
{
	be_autofree char *made = be_strf("%s/result", r->work);
	be_autonode struct be_node *result = NULL;
	if (be_result_write(run, made, &result, err) != 0)
		return -1;
	const char *incomplete = be_get_str(result, "incomplete", NULL);
	*status = (enum be_status)be_result_status(result);
	if (!r->request->quiet || incomplete)
		fprintf(stderr, "receive: %s: %s%s%s\n", r->request->output, be_get_str(result, "state", ""),
			incomplete ? ", INCOMPLETE: " : ", complete", incomplete ? incomplete : "");
	return be_result_place(r->work, made, r->request->output, err);
}

static int write_stream(struct receiving *r, enum be_status *status, struct be_error *err)
{
	struct be_run_source run = { .image = r->request->image ? &r->image : NULL,
				     .delivery = r->request->log,
				     .ended = "the machine is known by its delivery only" };
	return make_folder(r, &run, status, err);
}

static int write_delivery(struct receiving *r, const struct be_console_delivery *d, enum be_status *status,
			  struct be_error *err)
{
	be_autofree char *stream = be_strf("%s/delivery.tar", r->work), *console = be_strf("%s/console", r->work);
	be_autofree char *damage = d->damage ? be_strf("the console log lost some of it: %s", d->damage) : NULL;
	struct be_run_source run = { .image = r->request->image ? &r->image : NULL,
				     .delivery = stream,
				     .console = console,
				     .damage = damage,
				     .ended = "the machine is known by its console only" };
	if (be_write_file(stream, d->stream.data ? d->stream.data : "", d->stream.len, 0600, err) != 0 ||
	    write_console(r, d, console, err) != 0)
		return -1;
	return make_folder(r, &run, status, err);
}

static int receive(struct receiving *r, enum be_status *status, struct be_error *err)
{
	const struct be_receive_request *request = r->request;
	const struct be_console_delivery *d = NULL;
	if (be_result_check_output(request->output, err) != 0 ||
	    (request->image && be_image_folder_load(request->image, &r->image, err) != 0) ||
	    be_read_input(request->log, LOG_MAX, &r->log, err) != 0)
		return -1;
	bool stream = is_stream(&r->log);
	if (!stream) {
		if (find_deliveries(request->log, &r->log, &r->deliveries, err) != 0 || !(d = choose(r, err)))
			return -1;
		report(r, d);
	}
	if (be_interrupted(err) != 0)
		return -1;
	r->work = be_result_work_folder(request->output, err);
	if (!r->work)
		return -1;
	return stream ? write_stream(r, status, err) : write_delivery(r, d, status, err);
}

int be_receive(const struct be_receive_request *request, enum be_status *status, struct be_error *err)
{
	struct receiving r = { .request = request };
	be_interrupt_catch(); /* the temporary folder goes before we do */
	int rc = receive(&r, status, err);
	free_receiving(&r);
	be_interrupt_release();
	return rc;
}

int be_receive_list(const char *path, struct be_error *err)
{
	be_autobuf struct be_buf log = { 0 };
	be_autoconsole struct be_console_log deliveries = { 0 };
	struct cursor cursor = { 0 };
	if (be_read_input(path, LOG_MAX, &log, err) != 0 || find_deliveries(path, &log, &deliveries, err) != 0)
		return -1;
	for (size_t i = 0; i < deliveries.n; i++) {
		const struct be_console_delivery *d = &deliveries.v[i];
		printf("%s  from line %zu, %zu entries, %s\n", d->id, line_of(&log, d->from, &cursor), d->n,
		       d->damage  ? d->damage
		       : d->ended ? "whole"
				  : "whole as far as it goes");
	}
	return 0;
}
