/* The forms in which a host file says what options its hardware needs. */
#include <criterion/criterion.h>
#include <string.h>

#include "host.h"
#include "plan.h"

static void expect_options(const char *list, const char *wanted)
{
	static const char job_text[] = "testcase: mytest\nlkp_rules: 2023-07-06\nmytest: {argv: [\"true\"]}\n";
	struct be_error err = BE_ERROR_INIT;
	be_autostrv struct be_strv warnings = { 0 }, options = { 0 };
	be_autonode struct be_node *job = be_node_load(job_text, strlen(job_text), "job", &err);
	be_autonode struct be_node *host = be_host_load("qemu", "recipes", &warnings, NULL, NULL, &err);
	cr_assert(job && host, "%s", err.text);
	be_set(host, "need_kconfig_hw", be_node_load(list, strlen(list), "list", &err));
	struct be_plan_request request = {
		.name = "t", .job = job, .host = host, .host_name = "qemu", .data_dir = "recipes", .today = "2026-07-30"
	};
	be_autonode struct be_node *plan = be_plan_make(&request, &warnings, &err);
	cr_assert_not_null(plan, "%s", err.text);
	be_get_strv(be_get(plan, "machine"), "need_kconfig_hw", &options);
	be_autobuf struct be_buf found = { 0 };
	for (size_t i = 0; i < options.n; i++)
		be_buf_addf(&found, "%s ", options.v[i]);
	cr_expect_str_eq(found.data ? found.data : "", wanted);
}

Test(plan_kconfig, forms)
{
	expect_options("[{IGB: y}, SATA_AHCI, {X: 0x10}]", "IGB=y SATA_AHCI X=0x10 ");
	expect_options("[CONFIG_MD=y, 'CONFIG_F2FS_FS=y ~ \"<= v5.0\"', CONFIG_BLK_DEV_MD]",
		       "MD=y F2FS_FS=y BLK_DEV_MD ");
	expect_options("IGB", "IGB ");
	expect_options("[]", "");
}
