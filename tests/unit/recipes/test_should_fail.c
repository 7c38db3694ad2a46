/*
 * Every input of tests/should-fail/job and tests/should-fail/host is refused with exactly the message that stands
 * beside it: NAME.message holds the error and, in the lines after it, the hint.
 */
#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "host.h"
#include "job.h"

static char *refusal(const char *kind, const char *name, const char *data_dir)
{
	struct be_error err = BE_ERROR_INIT;
	be_autostrv struct be_strv warnings = { 0 };
	if (strcmp(kind, "host") == 0) {
		be_autonode struct be_node *host = be_host_load(name, data_dir, &warnings, NULL, NULL, &err);
		cr_expect_null(host, "%s", name);
	} else {
		struct be_job_options options = { .data_dir = data_dir };
		be_autojobs struct be_jobs jobs = { 0 };
		cr_expect_eq(be_jobs_load(name, &options, &jobs, &err), -1, "%s", name);
	}
	cr_expect_eq(err.status, BE_USAGE, "%s: status %d", name, err.status);
	return be_strf("%s\n%s%s", err.text, err.hint, err.hint[0] ? "\n" : "");
}

static void check_folder(const char *kind, unsigned at_least)
{
	be_autofree char *data_dir = realpath("recipes", NULL);
	be_autofree char *folder = be_strf("tests/should-fail/%s", kind);
	cr_assert_not_null(data_dir);
	cr_assert_eq(chdir(folder), 0, "%s", folder);
	struct be_root root = { .prefix = "." };
	be_autostrv struct be_strv names = { 0 };
	cr_assert_eq(be_root_list(&root, "/", &names), 0);
	unsigned n = 0;
	for (size_t i = 0; i < names.n; i++) {
		if (!be_ends(names.v[i], ".yaml"))
			continue;
		be_autofree char *beside = be_strf("%.*s.message", (int)strlen(names.v[i]) - 5, names.v[i]);
		be_autofree char *message = refusal(kind, names.v[i], data_dir);
		be_autobuf struct be_buf wanted = { 0 };
		struct be_error err = BE_ERROR_INIT;
		if (be_read_file(beside, 1 << 16, &wanted, &err) != 0) {
			cr_expect(false, "%s: %s", err.text, message);
			continue;
		}
		cr_expect_str_eq(message, wanted.data, "%s:\n%swanted:\n%s", names.v[i], message, wanted.data);
		n++;
	}
	cr_expect(n >= at_least, "%s: only %u inputs", folder, n);
}

Test(should_fail, jobs, .timeout = 30)
{
	check_folder("job", 40);
}

Test(should_fail, hosts, .timeout = 30)
{
	check_folder("host", 5);
}
