/* What a host file says its hardware needs: kernel options in LKP's forms, and firmware. */
#include <criterion/criterion.h>
#include <string.h>

#include "host.h"
#include "plan.h"

/* The plan of a job on the host `qemu` with one more key. */
static struct be_node *try_plan(const char *job_text, const char *key, const char *value, struct be_error *why)
{
	struct be_error err = BE_ERROR_INIT;
	be_autostrv struct be_strv warnings = { 0 };
	be_autonode struct be_node *job = be_node_load(job_text, strlen(job_text), "job", &err);
	be_autonode struct be_node *host = be_host_load("qemu", "recipes", &warnings, NULL, NULL, &err);
	cr_assert(job && host, "%s", err.text);
	be_set(host, key, be_node_load(value, strlen(value), "value", &err));
	struct be_plan_request request = {
		.name = "t", .job = job, .host = host, .host_name = "qemu", .data_dir = "recipes", .today = "2026-07-30"
	};
	return be_plan_make(&request, &warnings, why);
}

static struct be_node *plan_of(const char *job_text, const char *key, const char *value)
{
	struct be_error err = BE_ERROR_INIT;
	struct be_node *plan = try_plan(job_text, key, value, &err);
	cr_assert_not_null(plan, "%s", err.text);
	return plan;
}

static struct be_node *plan_with(const char *key, const char *value)
{
	return plan_of("testcase: mytest\nlkp_rules: 2023-07-06\nmytest: {argv: [\"true\"]}\n", key, value);
}

static void expect_options(const char *list, const char *wanted)
{
	be_autonode struct be_node *plan = plan_with("need_kconfig_hw", list);
	be_autostrv struct be_strv options = { 0 };
	be_autobuf struct be_buf found = { 0 };
	be_get_strv(be_get(plan, "machine"), "need_kconfig_hw", &options);
	for (size_t i = 0; i < options.n; i++)
		be_buf_addf(&found, "%s ", options.v[i]);
	cr_expect_str_eq(found.data ? found.data : "", wanted);
}

Test(plan_hardware, kernel_options)
{
	expect_options("[{IGB: y}, SATA_AHCI, {X: 0x10}]", "IGB=y SATA_AHCI X=0x10 ");
	expect_options("[CONFIG_MD=y, 'CONFIG_F2FS_FS=y ~ \"<= v5.0\"', CONFIG_BLK_DEV_MD]",
		       "MD=y F2FS_FS=y BLK_DEV_MD ");
	expect_options("IGB", "IGB ");
	expect_options("[]", "");
}

Test(plan_hardware, firmware_is_given)
{
	be_autonode struct be_node *plan = plan_with("firmware", "[firmware-realtek, firmware-bnx2]");
	const struct be_node *given = be_get_path(plan, "image.given");
	cr_assert(given && given->n == 1);
	cr_expect_str_eq(be_get_str(given->items[0], "name", ""), "firmware");
	cr_expect_str_eq(be_get_str(given->items[0], "path", ""), "/usr/lib/firmware");
	cr_expect(be_ends(be_get_str(given->items[0], "what", ""), "of firmware-realtek, firmware-bnx2"));
	be_autostrv struct be_strv packages = { 0 };
	be_get_strv(given->items[0], "packages", &packages);
	cr_expect(packages.n == 2 && be_streq(packages.v[1], "firmware-bnx2"));
	be_autonode struct be_node *none = plan_with("firmware", "[]");
	cr_expect_null(be_get_path(none, "image.given"));
}

Test(plan_hardware, firmware_is_a_list_of_names)
{
	static const char *const wrong[] = { "[[firmware-bnx2]]", "{a: b}", "[{a: b}]", "[../x]" };
	for (size_t i = 0; i < BE_ARRAY_LEN(wrong); i++) {
		struct be_error err = BE_ERROR_INIT;
		be_autonode struct be_node *plan = try_plan("testcase: inventory\n", "firmware", wrong[i], &err);
		cr_expect_null(plan, "%s", wrong[i]);
		cr_expect(strstr(err.text, "is no name of a Debian package"), "%s", err.text);
		cr_expect_eq(err.status, BE_USAGE);
	}
}

/* What is found on a machine that nothing is known of needs all the drivers of a kind. */
Test(plan_hardware, inventory_takes_folders_of_drivers)
{
	be_autonode struct be_node *plan = plan_of("testcase: inventory\n", "nr_cpu", "1");
	be_autostrv struct be_strv wanted = { 0 };
	be_get_strv(be_get(plan, "image"), "modules_wanted", &wanted);
	cr_expect(be_strv_has(&wanted, "kernel/drivers/ata/"));
}

Test(plan_hardware, all_modules)
{
	be_autonode struct be_node *plan = plan_with("all_modules", "true");
	be_autostrv struct be_strv wanted = { 0 };
	be_get_strv(be_get(plan, "image"), "modules_wanted", &wanted);
	cr_expect(be_strv_has(&wanted, "kernel/"));
	be_autonode struct be_node *none = plan_with("all_modules", "no");
	be_autostrv struct be_strv fewer = { 0 };
	be_get_strv(be_get(none, "image"), "modules_wanted", &fewer);
	cr_expect(!be_strv_has(&fewer, "kernel/"));
}

/* A machine of QEMU's has only what QEMU makes; the same image for hardware has the drivers of all common cards. */
Test(plan_hardware, emulated_machines_need_few_drivers)
{
	static const char *const models[] = { "qemu-system-x86_64", "Ice Lake" };
	for (size_t i = 0; i < BE_ARRAY_LEN(models); i++) {
		be_autonode struct be_node *plan = plan_with("model", models[i]);
		be_autostrv struct be_strv wanted = { 0 };
		be_get_strv(be_get(plan, "image"), "modules_wanted", &wanted);
		cr_expect(be_strv_has(&wanted, "virtio_net"));
		cr_expect_eq(be_strv_has(&wanted, "mlx5_core"), i == 1);
	}
}
