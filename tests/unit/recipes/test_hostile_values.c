/*
 * No value of a job or host file reaches a shell, leaves its place in an argument list or becomes a line of its own in
 * a program's input: it arrives as the text that it is, or is refused with its position.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "base/file.h"
#include "base/process.h"
#include "host.h"
#include "job.h"
#include "plan.h"
#include "workload.h"

#define DATA "recipes"
#define MARK "PWN"
#define NOT_IN_INPUT "$`;'\"\\|&<>()\n "

static const char *const hostile[] = {
	"$(touch /" MARK ")",
	"`touch /" MARK "`",
	"a; touch /" MARK,
	"a|" MARK "&",
	"a'" MARK,
	"a\"" MARK,
	"a\n" MARK "=1",
	"a\r" MARK,
	"../../" MARK,
	"--output=" MARK,
	"-o" MARK,
	"a b " MARK,
	"${" MARK "}",
	"$" MARK,
	"a\\" MARK,
	"a>" MARK,
	"a*" MARK "?",
};

/* In an argument or a variable: whole. */
static void check_word(const char *text, const char *value, const char *what)
{
	if (strstr(text, MARK))
		cr_expect_not_null(strstr(text, value), "%s: '%s' came out as '%s'", what, value, text);
}

/* In what a program reads as lines: whole, and nothing that any of them gives a meaning. */
static void check_input(const char *text, const char *value, const char *what)
{
	for (const char *at = text; (at = strstr(at, MARK)); at++) {
		const char *start = at, *end = at + strcspn(at, "\n");
		while (start > text && start[-1] != '\n')
			start--;
		be_autofree char *line = be_strndup(start, (size_t)(end - start));
		cr_expect_not_null(strstr(line, value), "%s: '%s' came out as '%s'", what, value, line);
		cr_expect_null(strpbrk(value, NOT_IN_INPUT), "%s: '%s' is in a program's input", what, value);
	}
}

static void check_step(const struct be_node *step, const char *value, const char *what)
{
	const struct be_node *argv = be_get(step, "argv"), *files = be_get(step, "files"), *env = be_get(step, "env");
	static const char *const shells[] = { "sh", "bash", "dash", "su", "eval", "/bin/sh" };
	for (size_t i = 0; i < BE_ARRAY_LEN(shells); i++)
		cr_expect_str_neq(argv->items[0]->text, shells[i], "%s runs a shell", what);
	for (size_t i = 0; i < argv->n; i++)
		check_word(argv->items[i]->text, value, what);
	for (size_t i = 0; env && i < env->n; i++)
		check_word(env->items[i]->text, value, what);
	check_word(be_get_str(step, "cwd", ""), value, what);
	check_input(be_get_str(step, "stdin", ""), value, what);
	for (size_t i = 0; files && i < files->n; i++) {
		cr_expect_null(strstr(files->keys[i], MARK), "%s: a file is named %s", what, files->keys[i]);
		check_input(files->items[i]->text, value, what);
	}
}

/* A value for what the definition requires, so that it is the hostile one that decides. */
static const char *harmless(const struct be_node *declared)
{
	const char *unit = be_get_str(declared, "unit", "text");
	return strcmp(unit, "bytes") == 0 ? "1M" : strcmp(unit, "count") == 0 ? "2" : "alpha";
}

static const char storages[] = "[{mount: /fs/a, device: /dev/a}, {mount: /fs/b, device: /dev/b}]";

static void one_value(const struct be_node *definition, const char *name, const char *value, unsigned *taken,
		      unsigned *refused)
{
	struct be_error err = BE_ERROR_INIT;
	const struct be_node *declared = be_get(definition, "parameters");
	be_autonode struct be_node *given = be_node_map(), *workload = be_node_map();
	for (size_t i = 0; i < declared->n; i++)
		if (be_get_bool(declared->items[i], "required", false))
			be_set_str(given, declared->keys[i], harmless(declared->items[i]));
	be_set_str(given, name, value);
	/* Through a file, so that it has a position. */
	be_autobuf struct be_buf yaml = { 0 };
	cr_assert_eq(be_node_yaml(given, &yaml, &err), 0, "%s", err.text);
	struct be_node *parameters = be_node_load(yaml.data, yaml.len, "job.yaml", &err);
	cr_assert_not_null(parameters, "%s", err.text);
	be_set_str(workload, "name", be_get_str(definition, "workload", ""));
	be_set(workload, "definition", be_node_clone(definition));
	be_set(workload, "parameters", parameters);
	be_set(workload, "storages", be_node_load(storages, strlen(storages), "storages", &err));
	const struct be_machine_size size = { .nr_cpu = 4, .nr_node = 2, .memory = INT64_C(8) << 30 };
	struct be_node *steps = NULL, *values = NULL;
	be_autostrv struct be_strv notes = { 0 };
	be_autofree char *what = be_strf("%s: %s", be_get_str(definition, "workload", ""), name);
	if (be_workload_render(workload, "/fs/a", &size, "2026-07-30", &steps, &values, &notes, &err) != 0) {
		cr_expect_eq(err.status, BE_USAGE, "%s: %s", what, err.text);
		cr_expect(be_starts(err.text, "job.yaml:") || strstr(err.text, name), "%s: %s", what, err.text);
		(*refused)++;
		return;
	}
	for (size_t i = 0; i < steps->n; i++)
		check_step(steps->items[i], value, what);
	be_node_free(steps);
	be_node_free(values);
	(*taken)++;
}

Test(hostile_values, parameters_of_every_workload, .timeout = 60)
{
	const struct be_root root = { .prefix = (char *)"" };
	be_autostrv struct be_strv files = { 0 };
	unsigned taken = 0, refused = 0;
	cr_assert_eq(be_root_list(&root, DATA "/workloads", &files), 0);
	for (size_t i = 0; i < files.n; i++) {
		struct be_error err = BE_ERROR_INIT;
		be_autofree char *path = be_strf(DATA "/workloads/%s", files.v[i]);
		be_autonode struct be_node *definition = be_node_load_file(path, &err);
		cr_assert_not_null(definition, "%s", err.text);
		const struct be_node *declared = be_get(definition, "parameters");
		for (size_t k = 0; declared && k < declared->n; k++) {
			const char *unit = be_get_str(declared->items[k], "unit", "text");
			if (strcmp(unit, "list") == 0 || strcmp(unit, "map") == 0)
				continue; /* a vector of the user's own: below */
			for (size_t v = 0; v < BE_ARRAY_LEN(hostile); v++)
				one_value(definition, declared->keys[k], hostile[v], &taken, &refused);
		}
	}
	cr_expect_gt(refused, 1500u, "%u refused, %u taken", refused, taken);
	cr_expect_gt(taken, 100u, "%u refused, %u taken", refused, taken);
}

static struct be_node *plan_text(const char *job_text, const char *host_text, struct be_error *err)
{
	be_autostrv struct be_strv warnings = { 0 };
	be_autonode struct be_node *job = be_node_load(job_text, strlen(job_text), "job.yaml", err);
	be_autonode struct be_node *host = host_text ? be_node_load(host_text, strlen(host_text), "host.yaml", err)
						     : be_host_load("qemu", DATA, &warnings, NULL, NULL, err);
	cr_assert_not_null(job, "%s", err->text);
	cr_assert_not_null(host, "%s", err->text);
	struct be_plan_request request = {
		.name = "test", .job = job, .host = host, .host_name = "test", .data_dir = DATA, .today = "2026-07-30"
	};
	return be_plan_make(&request, &warnings, err);
}

#define FSMARK "testcase: fsmark\nfsmark: {filesize: 4K, test_size: 1M}\nnr_threads: 1\n"
#define SSD FSMARK "disk: 1SSD\nfs: ext4\n"
#define HOST "nr_cpu: 2\nmemory: 2G\nhdd_partitions: "

Test(hostile_values, what_is_no_parameter_is_refused_with_its_position)
{
	static const struct {
		const char *job, *host, *message;
	} cases[] = {
		{ SSD "mkfs: \"-F /dev/sda1\"\n", NULL,
		  "job.yaml:6:7: mkfs: '/dev/sda1' is a path, options are expected" },
		{ SSD "mkfs: \"-F\\n-q\"\n", NULL,
		  "job.yaml:6:7: mkfs: holds a line break or another control character" },
		{ SSD "mount: \"-o ro ../../etc\"\n", NULL,
		  "job.yaml:6:8: mount: '../../etc' is a path, options are expected" },
		{ SSD "mount_option: \"dax /etc\"\n", NULL,
		  "job.yaml:6:15: mount_option: 'dax /etc' holds a blank, a quote or a line break" },
		{ FSMARK "disk: 1SSD\nfs: {fs: ext4, mount_option: \"a\\nb\"}\n", NULL,
		  "job.yaml:5:30: mount_option: 'a\nb' holds a blank, a quote or a line break" },
		{ FSMARK "disk: 1HDD\nfs: ext4\n", HOST "/dev/$(reboot)\n",
		  "host.yaml:3:17: '/dev/$(reboot)' is no path of a partition" },
		{ FSMARK "disk: 1HDD\nfs: ext4\n", HOST "/dev/../etc/passwd\n",
		  "host.yaml:3:17: '/dev/../etc/passwd' is no path of a partition" },
		{ FSMARK "disk: 1HDD\nfs: ext4\n", HOST "'/dev/sda1;reboot'\n",
		  "host.yaml:3:17: '/dev/sda1;reboot' is no path of a partition" },
		{ FSMARK "disk: 1HDD\nfs: ext4\n", HOST "/etc/passwd\n",
		  "host.yaml:3:17: '/etc/passwd' is no path of a partition" },
		{ FSMARK "disk: 1HDD\nfs: ext4\n", HOST "-rf\n", "host.yaml:3:17: '-rf' is no path of a partition" },
		{ FSMARK "disk: 1HDD\nfs: ext4 -L x\n", HOST "/dev/sda1\n",
		  "job.yaml:5:5: 'ext4 -L x' is no file system that this program can make" },
		{ SSD "fs2: nfs;reboot\n", NULL, "job.yaml:6:6: fs2: 'nfs;reboot' is no network file system" },
		{ FSMARK "numactl: {membind: \"0 reboot\"}\n", NULL,
		  "job.yaml:4:20: numactl: membind: '0 reboot' is not what the program takes" },
		{ FSMARK "numactl: {membind: -all}\n", NULL,
		  "job.yaml:4:20: numactl: membind: '-all' is not what the program takes" },
		{ FSMARK "taskset: {test_cpulist: $(nproc)}\n", NULL,
		  "job.yaml:4:25: taskset: test_cpulist: '$(nproc)' is not what the program takes" },
		{ FSMARK "chrt: {sched_policy: \"fifo --pid\"}\n", NULL,
		  "job.yaml:4:22: chrt: sched_policy: 'fifo --pid' is no policy" },
		{ FSMARK "chrt: {sched_policy: fifo, sched_priority: --help}\n", NULL,
		  "job.yaml:4:44: chrt: sched_priority: '--help' is not what the program takes" },
		{ FSMARK "sc_core_pattern: \"|/bin/sh -c reboot\"\n", NULL,
		  "job.yaml:4:18: sc_core_pattern: names a program that the kernel would start: not taken from a job" },
		{ FSMARK "sysctl: {sc_modprobe: /tmp/x}\n", NULL,
		  "job.yaml:4:23: sc_modprobe: names a program that the kernel would start: not taken from a job" },
		{ FSMARK "sc_pid_max: \"1\\n2\"\n", NULL,
		  "job.yaml:4:13: sc_pid_max: holds a line break or another control character" },
		{ FSMARK "boot_params: {bp_idle: \"poll init=/bin/sh\"}\n", NULL,
		  "job.yaml:4:24: bp_idle: 'poll init=/bin/sh' holds a blank, a quote or a line break: no kernel "
		  "parameter" },
		{ FSMARK "environment: {cpu.idle_disabled: {\"../../x\": 1}}\n", NULL, NULL },
		{ "testcase: mytest\nmytest: {argv: [x], packages: [\"-oDPkg::Pre-Invoke::=reboot\"]}\n", NULL,
		  "job.yaml:2:32: packages: '-oDPkg::Pre-Invoke::=reboot' is no plain name" },
		{ "testcase: mytest\nmytest: {argv: [x], programs: [../../etc/passwd]}\n", NULL,
		  "job.yaml:2:32: programs: '../../etc/passwd' is no plain name" },
		{ "testcase: mytest\nmytest: {argv: [x], modules: [\"a b\"]}\n", NULL,
		  "job.yaml:2:31: modules: 'a b' is no plain name" },
		{ "testcase: mytest\nmytest: {argv: [x], files: [/etc/../../shadow]}\n", NULL,
		  "job.yaml:2:29: files: '/etc/../../shadow' is no absolute path" },
		{ FSMARK "disk: 1SSD; reboot\nfs: ext4\ntimeout: $(reboot)\n", NULL,
		  "job.yaml:6:10: timeout: not a time such as 600s or 2h" },
	};
	for (size_t i = 0; i < BE_ARRAY_LEN(cases); i++) {
		struct be_error err = BE_ERROR_INIT;
		be_autonode struct be_node *plan = plan_text(cases[i].job, cases[i].host, &err);
		cr_expect_null(plan, "taken: %s", cases[i].job);
		cr_expect_eq(err.status, BE_USAGE, "%s", err.text);
		if (cases[i].message)
			cr_expect_str_eq(err.text, cases[i].message);
		else
			cr_expect(be_starts(err.text, "job.yaml:"), "%s", err.text);
	}
}

/* The words as a real shell reads them back. */
static char *as_read_by_a_shell(const char *line)
{
	struct be_error err = BE_ERROR_INIT;
	be_autofree char *script = be_strf("printf '<%%s>' %s", line);
	char *argv[] = { "sh", "-c", script, NULL };
	be_autorun struct be_run run = { .argv = argv };
	cr_assert_eq(be_run_ok(&run, &err), 0, "%s", err.text);
	return be_buf_steal(&run.out);
}

Test(hostile_values, a_command_of_ones_own_arrives_and_is_shown_as_it_is)
{
	struct be_error err = BE_ERROR_INIT;
	be_autonode struct be_node *job = be_node_map(), *argv = be_node_seq();
	struct be_node *mytest = be_node_map();
	be_autobuf struct be_buf yaml = { 0 }, shell = { 0 }, want = { 0 };
	be_add_str(argv, "printf");
	be_buf_adds(&want, "<printf>");
	for (size_t i = 0; i < BE_ARRAY_LEN(hostile); i++) {
		be_add_str(argv, hostile[i]);
		be_buf_addf(&want, "<%s>", hostile[i]);
	}
	be_set_str(job, "testcase", "mytest");
	be_set(mytest, "argv", be_node_clone(argv));
	be_set(job, "mytest", mytest);
	cr_assert_eq(be_node_yaml(job, &yaml, &err), 0, "%s", err.text);
	be_autonode struct be_node *plan = plan_text(yaml.data, NULL, &err);
	cr_assert_not_null(plan, "%s", err.text);
	const struct be_node *step = be_get_path(plan, "workload.steps")->items[0], *planned = be_get(step, "argv");
	cr_assert_eq(planned->n, argv->n);
	for (size_t i = 0; i < argv->n; i++)
		cr_expect_str_eq(planned->items[i]->text, argv->items[i]->text);
	cr_assert_eq(be_plan_shell(plan, &shell, &err), 0, "%s", err.text);
	const char *line = strstr(shell.data, "printf ");
	cr_assert_not_null(line, "%s", shell.data);
	be_autofree char *read = as_read_by_a_shell(line);
	cr_expect_str_eq(read, want.data);
}
