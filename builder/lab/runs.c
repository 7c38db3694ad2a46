#include "builder/lab/runs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/node.h"
#include "builder/image/image_folder.h"
#include "builder/lab/collect.h"
#include "builder/twin/result_folder.h"
#include "plan.h"

#define BOOT_SECONDS 1800 /* for firmware, transfer and delivery, beside the plan's own limit */
#define PARTS ".parts"
#define PARTS_MAX 16384 /* of one delivery: empty ones have no bytes to be counted and take room all the same */

static void run_free(struct be_lab_run *run)
{
	free(run->machine);
	free(run->mac);
	free(run->image);
	*run = (struct be_lab_run){ 0 };
}

void be_runs_close(struct be_runs *runs)
{
	for (size_t i = 0; i < runs->n; i++)
		run_free(&runs->v[i]);
	free(runs->v);
	runs->v = NULL;
	runs->n = 0;
}

struct be_lab_run *be_runs_find(const struct be_runs *runs, const char *token)
{
	for (size_t i = 0; i < runs->n; i++)
		if (strcmp(runs->v[i].token, token) == 0)
			return &runs->v[i];
	return NULL;
}

static char *spool_of(const struct be_runs *runs, const char *token)
{
	return be_strf("%s/" BE_LAB_SPOOL "/%s", runs->site->state, token);
}

static char *record_of(const struct be_runs *runs, const char *token, const char *suffix)
{
	return be_strf("%s/" BE_SITE_RUNS "/%s%s", runs->site->state, token, suffix);
}

static void drop(struct be_runs *runs, struct be_lab_run *run)
{
	size_t at = (size_t)(run - runs->v);
	run_free(run);
	memmove(run, run + 1, (runs->n - at - 1) * sizeof(*run));
	runs->n--;
}

static bool is_token(const char *text)
{
	return strlen(text) == BE_TOKEN_LENGTH && strspn(text, "0123456789abcdef") == BE_TOKEN_LENGTH;
}

/* "20261130T215501Z-3fa9c1": sorts by time, and two of one second differ. */
static char *run_name(const struct be_lab_run *run)
{
	char when[32];
	struct tm tm;
	time_t begun = (time_t)run->begun;
	if (!gmtime_r(&begun, &tm) || !strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", &tm))
		return be_strdup(run->token);
	return be_strf("%s-%.6s", when, run->token);
}

static int load_image(const struct be_runs *runs, const char *id, struct be_image_folder *image)
{
	struct be_error why = BE_ERROR_INIT;
	be_autofree char *folder = be_strf("%s/" BE_LAB_IMAGES "/%s", runs->site->state, id);
	return be_image_folder_load(folder, image, &why);
}

/*
 * What a machine sends may fit no image, or not the one that it was given: that is a bad result, which is kept without
 * a manifest, and no reason to stop serving the others.
 */
static int write_folder(const struct be_run_source *source, const char *made, struct be_node **result,
			struct be_error *err)
{
	struct be_error why = BE_ERROR_INIT;
	if (be_result_write(source, made, result, &why) == 0)
		return 0;
	if (why.status != BE_USAGE || !source->image) {
		*err = why;
		return -1;
	}
	struct be_run_source bare = *source;
	bare.image = NULL;
	bare.damage = why.text;
	return be_remove_tree(made, err) != 0 ? -1 : be_result_write(&bare, made, result, err);
}

/* The result folder, in @work, from the parts in @parts. */
static int make_result(const struct be_runs *runs, const struct be_lab_run *run, const char *parts, const char *reason,
		       const char *work, struct be_node **result, struct be_error *err)
{
	be_autofree char *tar = be_strf("%s/delivery.tar", work), *made = be_strf("%s/result", work), *damage = NULL;
	if (be_parts_join(parts, tar, &damage, err) != 0)
		return -1;
	struct be_image_folder image = { 0 };
	bool known = load_image(runs, run->image, &image) == 0;
	const struct be_run_source source = { .image = known ? &image : NULL,
					      .delivery = tar,
					      .damage = damage,
					      .ended = reason ? reason : "the machine delivered and ended" };
	int rc = write_folder(&source, made, result, err);
	be_image_folder_free(&image);
	return rc;
}

static void show(const struct be_runs *runs, const struct be_lab_run *run, const struct be_node *result,
		 const char *reason, const char *path)
{
	const char *state = be_get_str(result, "state", ""), *lacks = be_get_str(result, "incomplete", "");
	if (be_get_bool(result, "complete", false))
		be_table_set(runs->table, run->machine, NULL, "result", "%s, %s", state, path);
	else
		be_table_set(runs->table, run->machine, NULL, "incomplete", "%s: %s%s%s", path, reason ? reason : "",
			     reason ? "; " : "", lacks);
}

static int write_result(struct be_runs *runs, const struct be_lab_run *run, const char *parts, const char *reason,
			struct be_error *err)
{
	be_autofree char *host = be_strf("%s/%s", runs->output, run->machine), *name = run_name(run);
	be_autofree char *path = be_strf("%s/%s", host, name), *work = NULL;
	struct be_error ignored = BE_ERROR_INIT;
	be_autonode struct be_node *result = NULL;
	if (be_mkdirs(host, 0755, err) != 0)
		return -1;
	work = be_result_work_folder(path, err);
	if (!work)
		return -1;
	be_autofree char *made = be_strf("%s/result", work);
	int rc = make_result(runs, run, parts, reason, work, &result, err);
	if (rc == 0)
		rc = be_result_place(work, made, path, err);
	be_remove_tree(work, &ignored);
	if (rc != 0)
		return -1;
	enum be_status status = (enum be_status)be_result_status(result);
	if (!reason) {
		runs->results++;
		if (status > runs->worst)
			runs->worst = status;
	}
	show(runs, run, result, reason, path);
	return 0;
}

/*
 * Ends a run. Its token is dead before anything else is done, and what came is kept until the result stands. @reason
 * says why it ends without its delivery's end, else it is NULL.
 */
static int conclude(struct be_runs *runs, struct be_lab_run *run, const char *reason, struct be_error *err)
{
	be_autofree char *spool = spool_of(runs, run->token), *parts = record_of(runs, run->token, PARTS);
	be_autofree char *record = record_of(runs, run->token, ".yaml");
	if (rename(spool, parts) != 0 && errno != ENOENT)
		return be_fail_errno(err, errno, "%s: cannot be taken", spool);
	if (runs->ended && runs->ended(runs->data, run, err) != 0)
		return -1;
	size_t n;
	if (be_parts_size(parts, &n) > 0) {
		if (write_result(runs, run, parts, reason, err) != 0)
			return be_wrap(err, "the delivery of %s stays in %s", run->machine, parts);
	} else {
		be_table_set(runs->table, run->machine, NULL, "no result", "%s",
			     reason ? reason : "nothing was delivered");
	}
	if (be_remove_tree(parts, err) != 0 || (unlink(record) != 0 && errno != ENOENT))
		return be_fail(err, "%s: cannot be removed", record);
	drop(runs, run);
	return 0;
}

static int write_record(const struct be_runs *runs, const struct be_lab_run *run, struct be_error *err)
{
	be_autonode struct be_node *doc = be_node_map();
	be_autobuf struct be_buf text = { 0 };
	be_autofree char *path = record_of(runs, run->token, ".yaml");
	be_set_str(doc, "machine", run->machine);
	be_set_str(doc, "mac", run->mac);
	be_set_str(doc, "image", run->image);
	be_set_int(doc, "turn", run->turn);
	be_set_int(doc, "begun", run->begun);
	be_set_int(doc, "deadline", run->deadline);
	return be_node_yaml(doc, &text, err) != 0 ? -1 : be_write_file(path, text.data, text.len, 0600, err);
}

static struct be_lab_run *add(struct be_runs *runs, const char *token)
{
	runs->v = be_realloc(runs->v, runs->n + 1, sizeof(*runs->v));
	struct be_lab_run *run = &runs->v[runs->n++];
	*run = (struct be_lab_run){ 0 };
	snprintf(run->token, sizeof(run->token), "%s", token);
	return run;
}

/* An earlier run of the same machine gets nothing more: the machine has begun anew. */
static int end_earlier(struct be_runs *runs, const char *mac, struct be_error *err)
{
	for (size_t i = runs->n; i-- > 0;)
		if (strcmp(runs->v[i].mac, mac) == 0 &&
		    conclude(runs, &runs->v[i], "the machine was started anew", err) != 0)
			return -1;
	return 0;
}

static int64_t plan_timeout(const struct be_runs *runs, const char *id)
{
	struct be_error ignored = BE_ERROR_INIT;
	be_autofree char *path = be_strf("%s/" BE_LAB_IMAGES "/%s/plan.yaml", runs->site->state, id);
	be_autonode struct be_node *plan = be_node_load_file(path, &ignored);
	return be_plan_timeout(plan);
}

int be_runs_begin(struct be_runs *runs, const char *token, const struct be_lab_run *asked, struct be_error *err)
{
	if (!is_token(token) || be_runs_find(runs, token))
		return 0;
	if (end_earlier(runs, asked->mac, err) != 0)
		return -1;
	struct be_lab_run *run = add(runs, token);
	run->machine = be_strdup(asked->machine);
	run->mac = be_strdup(asked->mac);
	run->image = be_strdup(asked->image);
	run->turn = asked->turn;
	run->begun = time(NULL);
	run->deadline = run->begun + plan_timeout(runs, run->image) + BOOT_SECONDS;
	be_autofree char *spool = spool_of(runs, token);
	if (write_record(runs, run, err) != 0)
		return -1;
	if (mkdir(spool, 0700) != 0 || chown(spool, runs->site->web_user, runs->site->web_group) != 0)
		return be_fail_errno(err, errno, "%s: cannot be made", spool);
	return 0;
}

int be_runs_part(struct be_runs *runs, const char *token, struct be_error *err)
{
	struct be_lab_run *run = be_runs_find(runs, token);
	if (!run)
		return 0;
	be_autofree char *spool = spool_of(runs, token);
	size_t parts;
	int64_t size = be_parts_size(spool, &parts);
	be_table_set(runs->table, run->machine, NULL, "running", "%" PRId64 " KiB", size >> 10);
	size_t most = PARTS_MAX + (size_t)(runs->limit >> 16);
	if (size <= runs->limit && parts <= most)
		return 0;
	be_autofree char *reason = size > runs->limit
					   ? be_strf("more than %" PRId64 " bytes were delivered", runs->limit)
					   : be_strf("more than %zu parts were delivered", most);
	return conclude(runs, run, reason, err);
}

int be_runs_end(struct be_runs *runs, const char *token, struct be_error *err)
{
	struct be_lab_run *run = be_runs_find(runs, token);
	return run ? conclude(runs, run, NULL, err) : 0;
}

int be_runs_expire(struct be_runs *runs, int64_t now, struct be_error *err)
{
	for (size_t i = runs->n; i-- > 0;)
		if (now > runs->v[i].deadline && conclude(runs, &runs->v[i], "nothing more came in time", err) != 0)
			return -1;
	return 0;
}

/* A record that cannot be read is of no run: without its folder in the spool its token is not good either. */
static void take_up(struct be_runs *runs, const char *token, const char *path)
{
	struct be_error err = BE_ERROR_INIT;
	be_autonode struct be_node *doc = be_node_load_file(path, &err);
	if (!doc) {
		fprintf(stderr, "serve: %s\n", err.text);
		return;
	}
	struct be_lab_run *run = add(runs, token);
	run->machine = be_strdup(be_get_str(doc, "machine", "unknown"));
	run->mac = be_strdup(be_get_str(doc, "mac", ""));
	run->image = be_strdup(be_get_str(doc, "image", ""));
	run->turn = be_get_int(doc, "turn", 0);
	run->begun = be_get_int(doc, "begun", 0);
	run->deadline = be_get_int(doc, "deadline", 0);
	be_table_set(runs->table, run->machine, run->image, "running", "taken up again");
}

int be_runs_open(struct be_runs *runs, struct be_error *err)
{
	const struct be_root root = { .prefix = NULL };
	be_autofree char *folder = be_strf("%s/" BE_SITE_RUNS, runs->site->state);
	be_autostrv struct be_strv names = { 0 };
	if (be_root_list(&root, folder, &names) != 0)
		return be_fail_errno(err, errno, "%s: cannot be read", folder);
	for (size_t i = 0; i < names.n; i++) {
		be_autofree char *path = be_strf("%s/%s", folder, names.v[i]);
		be_autofree char *token = be_strndup(names.v[i], BE_TOKEN_LENGTH);
		if (is_token(token) && strcmp(names.v[i] + BE_TOKEN_LENGTH, ".yaml") == 0)
			take_up(runs, token, path);
	}
	/* What came to its end, or was being made a result, when the server ended. */
	for (size_t i = runs->n; i-- > 0;) {
		be_autofree char *spool = spool_of(runs, runs->v[i].token), *end = be_strf("%s/end", spool);
		be_autofree char *parts = record_of(runs, runs->v[i].token, PARTS), *at = be_strf("%s/end", parts);
		if (be_exists(end) || be_exists(at)) {
			if (conclude(runs, &runs->v[i], NULL, err) != 0)
				return -1;
		} else if (!be_exists(spool) && conclude(runs, &runs->v[i], "its folder is gone", err) != 0) {
			return -1;
		}
	}
	return 0;
}
