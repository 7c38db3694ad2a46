/* What a machine does when its run is over: the job's word, else the host file's. */
#include <criterion/criterion.h>
#include <string.h>

#include "host.h"
#include "plan.h"

/* The plan's `after`, or the error's text. The caller frees. */
static char *after(const char *of_job, const char *of_host)
{
	static const char job_text[] = "testcase: mytest\nlkp_rules: 2023-07-06\nmytest: {argv: [\"true\"]}\n";
	struct be_error err = BE_ERROR_INIT;
	be_autostrv struct be_strv warnings = { 0 };
	be_autonode struct be_node *job = be_node_load(job_text, strlen(job_text), "job", &err);
	be_autonode struct be_node *host = be_host_load("qemu", "recipes", &warnings, NULL, NULL, &err);
	cr_assert(job && host, "%s", err.text);
	be_set_str(job, "after", of_job);
	be_set_str(host, "after", of_host);
	struct be_plan_request request = {
		.name = "t", .job = job, .host = host, .host_name = "qemu", .data_dir = "recipes", .today = "2026-07-30"
	};
	be_autonode struct be_node *plan = be_plan_make(&request, &warnings, &err);
	return be_strdup(plan ? be_get_str(plan, "after", "nothing") : err.text);
}

static void expect(const char *of_job, const char *of_host, const char *wanted)
{
	be_autofree char *found = after(of_job, of_host);
	cr_expect(be_ends(found, wanted), "\"%s\" instead of \"%s\"", found, wanted);
}

Test(plan_after, job_before_host)
{
	expect(NULL, NULL, "nothing");
	expect("reboot", NULL, "reboot");
	expect(NULL, "reboot", "reboot");
	expect("power-off", "reboot", "power-off");
	expect("dance", NULL, "after: 'dance' is neither power-off nor reboot");
}
