/*
 * libFuzzer target: any bytes as a job file, as a host file and as a setting. Nothing may crash, leak, hang or grow;
 * what is read can be written, what was expanded has a name, and what was planned has a transcript.
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "host.h"
#include "job.h"
#include "plan.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/tmp/be-fuzz-XXXXXX";
static char *data_dir, *job_path;

static void remove_folder(void)
{
	struct be_error err = BE_ERROR_INIT;
	be_remove_tree(folder, &err);
	free(data_dir);
	free(job_path);
}

static void add_file(const char *name, const char *text)
{
	struct be_error err = BE_ERROR_INIT;
	be_autofree char *path = be_strf("%s/jobs/%s", folder, name);
	if (be_write_file(path, text, strlen(text), 0600, &err) != 0)
		abort();
}

/* The input lies among files that it can include. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	struct be_error err = BE_ERROR_INIT;
	be_autofree char *jobs = mkdtemp(folder) ? be_strf("%s/jobs", folder) : NULL;
	if (!jobs || be_mkdirs(jobs, 0700, &err) != 0)
		abort();
	data_dir = realpath("recipes", NULL);
	job_path = be_strf("%s/job.yaml", jobs);
	atexit(remove_folder);
	add_file("base.yaml", "suite: fsmark\nfs: [ext4, xfs]\nfsmark:\n  filesize: 4M\n---\nmd: RAID0\n");
	add_file("part.yaml", "disk: 1HDD\nfs2:\n- nfsv4\n-\n");
	return data_dir ? 0 : -1;
}

static void write_input(const void *data, size_t size)
{
	FILE *f = fopen(job_path, "we");
	if (!f || fwrite(data, 1, size, f) != size || fclose(f) != 0)
		abort();
}

/* Planning reads the shipped data, which takes longer than all the rest: only some inputs come so far. */
static void check_plan(const struct be_node *job)
{
	struct be_error err = BE_ERROR_INIT;
	be_autostrv struct be_strv warnings = { 0 };
	be_autobuf struct be_buf shell = { 0 }, text = { 0 };
	be_autonode struct be_node *host = be_host_of_job(job, data_dir, &warnings, NULL, NULL, &err);
	if (!host)
		host = be_host_load("qemu", data_dir, &warnings, NULL, NULL, &err);
	struct be_plan_request request = { .name = "fuzz",
					   .job = job,
					   .host = host,
					   .host_name = "fuzz",
					   .data_dir = data_dir,
					   .today = "2026-07-30" };
	be_autonode struct be_node *plan = be_plan_make(&request, &warnings, &err);
	if (!plan) {
		assert(err.text[0] && err.status == BE_USAGE);
		return;
	}
	assert(be_plan_shell(plan, &shell, &err) == 0);
	assert(be_plan_text(plan, &text, &err) == 0);
}

static void check_jobs(const struct be_strv *set, bool compatible)
{
	struct be_job_options options = { .data_dir = data_dir, .set = set, .compatible = compatible };
	struct be_error err = BE_ERROR_INIT;
	be_autojobs struct be_jobs jobs = { 0 };
	if (be_jobs_load(job_path, &options, &jobs, &err) != 0) {
		assert(err.text[0] && err.status != BE_OK);
		return;
	}
	for (size_t i = 0; i < jobs.n && i < 4; i++) {
		be_autobuf struct be_buf yaml = { 0 }, json = { 0 };
		assert(jobs.atoms[i].name[0] && !strchr(jobs.atoms[i].name, '/'));
		assert(be_node_yaml(jobs.atoms[i].job, &yaml, &err) == 0);
		assert(be_node_json_text(jobs.atoms[i].job, &json, &err) == 0);
		be_autostrv struct be_strv warnings = { 0 };
		struct be_error host_err = BE_ERROR_INIT;
		be_node_free(be_host_of_job(jobs.atoms[i].job, data_dir, &warnings, NULL, NULL, &host_err));
	}
	if (jobs.n && compatible && strstr(jobs.text, "testcase"))
		check_plan(jobs.atoms[0].job);
}

static void check_host(void)
{
	struct be_error err = BE_ERROR_INIT;
	be_autostrv struct be_strv warnings = { 0 };
	be_autofree char *text = NULL;
	be_autonode struct be_node *host = be_host_load(job_path, data_dir, &warnings, &text, NULL, &err);
	assert(host ? text != NULL : err.text[0] != '\0');
}

/* The first line of the input, when it begins with `#set `, is a setting for the rest. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	be_autostrv struct be_strv set = { 0 };
	const char *end = size > 5 && memcmp(data, "#set ", 5) == 0 ? memchr(data, '\n', size) : NULL;
	if (end)
		be_strv_take(&set, be_strndup((const char *)data + 5, (size_t)(end - (const char *)data) - 5));
	write_input(data, size);
	check_jobs(&set, size % 2);
	check_host();
	return 0;
}
