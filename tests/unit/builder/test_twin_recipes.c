/*
 * The twin of each shipped recipe's machine against tests/data/twin/RECIPE.txt: QEMU's arguments one a line, then the
 * deviations. The files are written anew by TWIN_WRITE=1; what changed in them then belongs into the commit's message.
 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <string.h>

#include "base/file.h"
#include "builder/twin/twin.h"
#include "host.h"
#include "job.h"
#include "plan.h"

static struct be_node *make_plan(const char *recipe)
{
	struct be_error err = BE_ERROR_INIT;
	be_autostrv struct be_strv warnings = { 0 };
	be_autojobs struct be_jobs jobs = { 0 };
	be_autofree char *path = be_strf("recipes/jobs/%s.yaml", recipe), *host_path = NULL;
	struct be_job_options options = { .data_dir = "recipes" };
	cr_assert_eq(be_jobs_load(path, &options, &jobs, &err), 0, "%s", err.text);
	cr_assert_eq(jobs.n, 1);
	be_autonode struct be_node *host =
		be_host_of_job(jobs.atoms[0].job, "recipes", &warnings, NULL, &host_path, &err);
	cr_assert_not_null(host, "%s", err.text);
	struct be_plan_request request = { .name = jobs.atoms[0].name,
					   .job = jobs.atoms[0].job,
					   .host = host,
					   .host_name = strrchr(host_path, '/') + 1,
					   .data_dir = "recipes",
					   .today = "2024-01-01" };
	struct be_node *plan = be_plan_make(&request, &warnings, &err);
	cr_assert_not_null(plan, "%s", err.text);
	return plan;
}

static char *describe(const struct be_twin *twin)
{
	be_autobuf struct be_buf out = { 0 };
	for (size_t i = 0; i < twin->argv.n; i++)
		be_buf_addf(&out, "%s\n", twin->argv.v[i]);
	for (size_t i = 0; i < twin->deviations->n; i++)
		be_buf_addf(&out, "%s: %s\n", be_get_str(twin->deviations->items[i], "topic", ""),
			    be_get_str(twin->deviations->items[i], "text", ""));
	return be_buf_steal(&out);
}

static char *make_twin(const char *recipe)
{
	struct be_error err = BE_ERROR_INIT;
	be_autonode struct be_node *plan = make_plan(recipe);
	be_autostrv struct be_strv words = { 0 };
	be_get_strv(be_get(plan, "boot"), "cmdline", &words);
	be_autobuf struct be_buf cmdline = { 0 };
	for (size_t i = 0; i < words.n; i++)
		be_buf_addf(&cmdline, "%s%s", i ? " " : "", words.v[i]);
	struct be_twin_request request = { .plan = plan,
					   .cmdline = cmdline.data,
					   .kernel = "vmlinux",
					   .initrd_unpacked = 100 << 20,
					   .real_cpus = 2,
					   .real_memory = 16LL << 30,
					   .qmp_fd = -1 };
	be_autotwin struct be_twin twin = { 0 };
	cr_assert_eq(be_twin_make(&request, &twin, &err), 0, "%s", err.text);
	return describe(&twin);
}

ParameterizedTestParameters(twin_recipes, golden)
{
	static char recipes[][48] = { "fio-basic-1ssd-btrfs-randread", "fio-basic-2pmem-btrfs-randwrite",
				      "stress-ng-io-uring", "fsmark-3hdd-raid5-btrfs", "fio-jbod-mmap-randread" };
	return cr_make_param_array(char[48], recipes, BE_ARRAY_LEN(recipes));
}

ParameterizedTest(char (*recipe)[48], twin_recipes, golden)
{
	struct be_error err = BE_ERROR_INIT;
	be_autofree char *path = be_strf("tests/data/twin/%s.txt", *recipe), *made = make_twin(*recipe);
	be_autobuf struct be_buf wanted = { 0 };
	if (getenv("TWIN_WRITE"))
		cr_assert_eq(be_write_file(path, made, strlen(made), 0644, &err), 0, "%s", err.text);
	cr_assert_eq(be_read_file(path, 1 << 20, &wanted, &err), 0, "%s", err.text);
	cr_expect_str_eq(made, wanted.data, "%s", path);
}
