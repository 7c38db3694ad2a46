/* Job files written by tests, and what they expand to, as text. */
#ifndef BE_TEST_JOB_HELPERS_H
#define BE_TEST_JOB_HELPERS_H

#include <criterion/criterion.h>
#include <string.h>

#include "base/file.h"
#include "job.h"

#define DATA "recipes"

/* A folder of files that goes with the test. */
struct folder {
	char path[64];
};

static inline void folder_free(struct folder *folder)
{
	struct be_error err = BE_ERROR_INIT;
	be_remove_tree(folder->path, &err);
}
#define be_autofolder be_cleanup(folder_free)

static inline struct folder folder_make(void)
{
	struct folder folder = { "/tmp/be-jobs-XXXXXX" };
	cr_assert_not_null(mkdtemp(folder.path));
	return folder;
}

static inline char *folder_add(const struct folder *folder, const char *name, const char *text)
{
	struct be_error err = BE_ERROR_INIT;
	char *path = be_strf("%s/%s", folder->path, name);
	be_autofree char *parent = be_strndup(path, (size_t)(strrchr(path, '/') - path));
	cr_assert_eq(be_mkdirs(parent, 0755, &err), 0, "%s", err.text);
	cr_assert_eq(be_write_file(path, text, strlen(text), 0644, &err), 0, "%s", err.text);
	return path;
}

/* Warnings as `! TEXT`, without the folder's path. */
static inline char *warnings_text(const struct be_strv *warnings, const char *folder)
{
	be_autobuf struct be_buf out = { 0 };
	size_t n = strlen(folder);
	for (size_t i = 0; i < warnings->n; i++)
		be_buf_addf(&out, "! %s\n",
			    be_starts(warnings->v[i], folder) ? warnings->v[i] + n + 1 : warnings->v[i]);
	return be_buf_steal(&out);
}

/* All atoms as YAML, a line `== NAME` before each, then the warnings. */
static inline char *jobs_text(const struct be_jobs *jobs, const char *folder)
{
	struct be_error err = BE_ERROR_INIT;
	be_autobuf struct be_buf out = { 0 };
	for (size_t i = 0; i < jobs->n; i++) {
		be_buf_addf(&out, "== %s\n", jobs->atoms[i].name);
		cr_assert_eq(be_node_yaml(jobs->atoms[i].job, &out, &err), 0, "%s", err.text);
	}
	be_autofree char *warnings = warnings_text(&jobs->warnings, folder);
	be_buf_adds(&out, warnings);
	return be_buf_steal(&out);
}

/* Expands the text as job.yaml with the settings (NULL-terminated list or NULL). */
static inline char *expand(const char *text, const char *const *set)
{
	be_autofolder struct folder folder = folder_make();
	be_autofree char *path = folder_add(&folder, "job.yaml", text);
	be_autostrv struct be_strv settings = { 0 };
	for (; set && *set; set++)
		be_strv_add(&settings, *set);
	struct be_job_options options = { .data_dir = DATA, .set = &settings };
	struct be_error err = BE_ERROR_INIT;
	be_autojobs struct be_jobs jobs = { 0 };
	cr_assert_eq(be_jobs_load(path, &options, &jobs, &err), 0, "%s", err.text);
	cr_expect_str_eq(jobs.text, text);
	return jobs_text(&jobs, folder.path);
}

#define expect_jobs(text, wanted)                            \
	do {                                                 \
		be_autofree char *got_ = expand(text, NULL); \
		cr_expect_str_eq(got_, wanted);              \
	} while (0)
#define expect_set(text, wanted, ...)                                    \
	do {                                                             \
		static const char *const set_[] = { __VA_ARGS__, NULL }; \
		be_autofree char *got_ = expand(text, set_);             \
		cr_expect_str_eq(got_, wanted);                          \
	} while (0)

#endif
