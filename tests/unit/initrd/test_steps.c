#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "initrd/document.h"
#include "initrd/observe/facts.h"
#include "initrd/steps.h"
#include "initrd/system.h"
#include "tree.h"

/* A guest with @steps to run, whose state folder is a temporary one. */
static void guest_make(struct be_guest *guest, struct be_root *dir, const char *steps)
{
	*dir = tree_new();
	tree_write(dir, "/workload/.keep", "");
	*guest = (struct be_guest){ .link = -1,
				    .state_dir = dir->prefix,
				    .plan = tree_yaml("workload: {timeout: 20}\nlayout: {testdir: /tmp}\n"),
				    .steps = tree_yaml(steps),
				    .facts = be_node_map(),
				    .settings = be_node_seq(),
				    .deviations = be_node_seq(),
				    .steps_done = be_node_seq(),
				    .outcome = be_node_map() };
	be_setup_init(&guest->setup);
	be_scopes_load(&guest->scopes, &guest->root, guest->plan, NULL, NULL);
	be_sample_init(&guest->sample, &guest->root, &guest->scopes);
}

static void guest_free(struct be_guest *guest, struct be_root *dir)
{
	be_kmsg_free(&guest->log);
	be_steps_stop_daemons(guest);
	be_sample_free(&guest->sample);
	be_scopes_free(&guest->scopes);
	be_setup_free(&guest->setup);
	be_node_free(guest->plan);
	be_node_free(guest->steps);
	be_node_free(guest->facts);
	be_node_free(guest->settings);
	be_node_free(guest->deviations);
	be_node_free(guest->steps_done);
	be_node_free(guest->outcome);
	be_node_free(guest->environment);
	tree_free(dir);
}

static void expect_output(const struct be_root *dir, const char *name, const char *want)
{
	be_autofree char *got = be_root_text(dir, name);
	cr_expect(be_streq(got, want), "%s: %s", name, got ? got : "missing");
}

Test(steps, input_files_environment_and_output)
{
	struct be_root dir;
	struct be_error err = BE_ERROR_INIT;
	struct be_guest guest;
	guest_make(&guest, &dir,
		   "- {name: a, role: prepare, argv: [sh, -c, 'echo laid out']}\n"
		   "- {name: b, role: run, argv: [sh, -c, 'cat; echo $WHO; echo oops >&2'], stdin: \"in\\n\",\n"
		   "   env: {WHO: me}}\n"
		   "- {name: b, role: run, argv: [echo, again]}\n");
	cr_expect_eq(be_steps_before_run(&guest), 1u);
	cr_expect(be_steps_any_run(&guest));
	cr_expect_eq(be_steps_prepare(&guest, &err), 0, "%s", err.text);
	cr_expect_eq(guest.steps_done->n, 1u);
	cr_expect_eq(be_steps_run(&guest, &err), 0, "%s", err.text);
	expect_output(&dir, "/workload/a.out", "laid out");
	expect_output(&dir, "/workload/b.out", "in\nme");
	expect_output(&dir, "/workload/b.err", "oops");
	expect_output(&dir, "/workload/b-2.out", "again");
	cr_expect_str_eq(be_get_str(guest.steps_done->items[2], "stdout", ""), "workload/b-2.out");
	guest_free(&guest, &dir);
}

/* A step behind a server begins when that listens. Here the test does so, from another process a moment later. */
Test(steps, waits_for_the_port_of_a_server)
{
	struct be_root dir;
	struct be_error err = BE_ERROR_INIT;
	struct be_guest guest;
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	cr_assert_eq(bind(fd, (struct sockaddr *)&address, len), 0);
	cr_assert_eq(getsockname(fd, (struct sockaddr *)&address, &len), 0);
	guest_make(&guest, &dir, "- {name: s, role: daemon, argv: [sleep, '30']}\n- {name: a, argv: ['true']}\n");
	be_set_int(guest.steps->items[0], "listens", ntohs(address.sin_port));
	pid_t pid = fork();
	if (pid == 0) {
		usleep(1500000);
		_exit(listen(fd, 1) != 0 || sleep(30));
	}
	double begin = be_monotonic();
	cr_expect_eq(be_steps_prepare(&guest, &err), 0, "%s", err.text);
	cr_expect_eq(be_steps_run(&guest, &err), 0, "%s", err.text);
	cr_expect_geq(be_monotonic() - begin, 1.4);
	cr_expect_eq(guest.steps_done->n, 2u);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(fd);
	guest_free(&guest, &dir);
}

/* Nothing between the plan and the program reads them: no shell, no second quoting. */
Test(steps, values_arrive_as_they_are)
{
	static const char *const values[] = {
		"$(touch /tmp/pwned)", "`id`", "a; b", "a|b>c&", "a'b", "a\"b\\", "a\nb", "../../x", "--help",
		"$HOME ${x} *"
	};
	struct be_root dir;
	struct be_error err = BE_ERROR_INIT;
	struct be_guest guest;
	guest_make(&guest, &dir,
		   "- {name: a, argv: [printf, \"<%s>\"]}\n- {name: b, argv: [printenv, V]}\n"
		   "- {name: c, argv: [cat, -, f]}\n");
	be_autobuf struct be_buf want = { 0 }, all = { 0 };
	for (size_t i = 0; i < BE_ARRAY_LEN(values); i++) {
		be_add_str(be_get(guest.steps->items[0], "argv"), values[i]);
		be_buf_addf(&want, "<%s>", values[i]);
		be_buf_addf(&all, "%s%s", i ? "\n" : "", values[i]);
	}
	struct be_node *env = be_node_map(), *files = be_node_map();
	be_set_str(env, "V", all.data);
	be_set(guest.steps->items[1], "env", env);
	be_set_str(files, "f", all.data);
	be_set(guest.steps->items[2], "files", files);
	be_set_str(guest.steps->items[2], "cwd", dir.prefix);
	be_set_str(guest.steps->items[2], "stdin", all.data);
	cr_expect_eq(be_steps_run(&guest, &err), 0, "%s", err.text);
	expect_output(&dir, "/workload/a.out", want.data);
	expect_output(&dir, "/workload/b.out", all.data);
	be_autofree char *twice = be_strf("%s%s", all.data, all.data);
	expect_output(&dir, "/workload/c.out", twice);
	guest_free(&guest, &dir);
}

Test(steps, files_lie_below_the_working_directory)
{
	struct be_root dir;
	struct be_error err = BE_ERROR_INIT;
	struct be_guest guest;
	guest_make(&guest, &dir, "- {name: a, argv: [cat, sub/job], files: {sub/job: \"text\\n\"}}\n");
	be_set_str(guest.steps->items[0], "cwd", dir.prefix);
	cr_expect_eq(be_steps_run(&guest, &err), 0, "%s", err.text);
	expect_output(&dir, "/workload/a.out", "text");
	guest_free(&guest, &dir);
}

static void expect_failure(const char *steps, const char *state, const char *step, const char *reason)
{
	struct be_root dir;
	struct be_error err = BE_ERROR_INIT;
	struct be_guest guest;
	guest_make(&guest, &dir, steps);
	cr_expect_eq(be_steps_run(&guest, &err), -1);
	cr_expect_str_eq(be_get_str(guest.outcome, "state", ""), state);
	cr_expect_str_eq(be_get_str(guest.outcome, "step", ""), step);
	cr_expect_str_eq(be_get_str(guest.outcome, "reason", ""), reason);
	guest_free(&guest, &dir);
}

Test(steps, failures_say_where_and_why)
{
	expect_failure("- {name: a, argv: [sh, -c, 'echo first >&2; echo no such option >&2; exit 7']}\n"
		       "- {name: b, argv: [touch, /nonexistent/never]}\n",
		       "failed", "a", "ended with status 7: no such option");
	expect_failure("- {name: a, argv: [sh, -c, 'kill -SEGV $$']}\n", "failed", "a",
		       "ended by signal 11 (Segmentation fault)");
	expect_failure("- {name: a, argv: [sleep, '100'], timeout: 1}\n", "timeout", "a", "not done after 1 s");
	expect_failure("- {name: a, argv: [/nonexistent/program]}\n", "failed", "a",
		       "/nonexistent/program: cannot be started: No such file or directory");
	expect_failure("- {name: a, copies: 2, argv: [/nonexistent/program]}\n", "failed", "a",
		       "/nonexistent/program: cannot be started: No such file or directory");
	expect_failure("- {name: a, copies: 3, argv: [sh, -c, 'exit 4']}\n", "failed", "a", "ended with status 4");
}

Test(steps, daemon_that_cannot_work_is_a_failure)
{
	struct be_root dir;
	struct be_error err = BE_ERROR_INIT;
	struct be_guest guest;
	guest_make(&guest, &dir, "- {name: d, role: daemon, argv: ['false']}\n- {name: b, argv: ['true']}\n");
	cr_expect_eq(be_steps_prepare(&guest, &err), -1);
	cr_expect_str_eq(be_get_str(guest.outcome, "step", ""), "d");
	cr_expect_str_eq(be_get_str(guest.outcome, "reason", ""), "false: the daemon ended at once with status 1");
	guest_free(&guest, &dir);
}

Test(steps, copies_and_rounds)
{
	struct be_root dir;
	struct be_error err = BE_ERROR_INIT;
	struct be_guest guest;
	guest_make(&guest, &dir,
		   "- {name: a, copies: 3, repeat: 2, argv: [echo, x]}\n"
		   "- {name: b, repeat_for: 1, argv: [sleep, '0.4']}\n"
		   "- {name: c, may_fail: true, argv: ['false']}\n"
		   "- {name: d, accepts: {'3': a skip}, argv: [sh, -c, exit 3]}\n");
	cr_expect_eq(be_steps_run(&guest, &err), 0, "%s", err.text);
	expect_output(&dir, "/workload/a.out", "x\nx\nx\nx\nx\nx");
	double seconds = be_get_real(guest.steps_done->items[1], "seconds", 0);
	cr_expect(seconds >= 1.0 && seconds < 3.0, "%f", seconds);
	cr_assert_eq(guest.deviations->n, 2u);
	cr_expect_str_eq(be_get_str(guest.deviations->items[0], "text", ""), "step c ended with status 1; it may fail");
	cr_expect_str_eq(be_get_str(guest.deviations->items[1], "text", ""), "step d ended with status 3: a skip");
	guest_free(&guest, &dir);
}

Test(steps, daemon_lives_until_the_end)
{
	struct be_root dir;
	struct be_error err = BE_ERROR_INIT;
	struct be_guest guest;
	guest_make(&guest, &dir,
		   "- {name: d, role: daemon, argv: [sh, -c, 'echo $$; exec sleep 100']}\n"
		   "- {name: a, argv: ['true']}\n");
	cr_expect_eq(be_steps_prepare(&guest, &err), 0, "%s", err.text);
	cr_expect_eq(be_steps_run(&guest, &err), 0, "%s", err.text);
	be_autofree char *pid = be_root_text(&dir, "/workload/d.out");
	cr_assert_not_null(pid);
	cr_expect_eq(kill((pid_t)atoi(pid), 0), 0);
	be_steps_stop_daemons(&guest);
	cr_expect_eq(kill((pid_t)atoi(pid), 0), -1);
	guest_free(&guest, &dir);
}

Test(steps, facts_of_the_run)
{
	struct be_root dir;
	struct be_error err = BE_ERROR_INIT;
	struct be_guest guest;
	guest_make(&guest, &dir, "- {name: a, cwd: /tmp, argv: [sleep, '0.5'], stdin: hello}\n");
	be_set(guest.plan, "built", tree_yaml("{workload.runtime: 100}"));
	be_set_path(guest.plan, "workload.parameters", tree_yaml("{nr_task: 3, test_size: 1G}"));
	be_facts_before(&guest);
	be_sample_begin(&guest.sample);
	cr_expect_eq(be_steps_run(&guest, &err), 0, "%s", err.text);
	be_sample_end(&guest.sample);
	be_set_str(guest.outcome, "state", "done");
	be_facts_after(&guest);
	be_autofree char *command = tree_json(be_get(guest.facts, "workload.command"));
	cr_expect_str_eq(command, "[[\"sleep\", \"0.5\"], \"hello\"]");
	cr_expect_str_eq(be_get_str(guest.facts, "workload.cwd", ""), "/tmp");
	cr_expect_str_eq(be_get_str(guest.facts, "workload.nr_task", ""), "3");
	cr_expect_str_eq(be_get_str(guest.facts, "workload.ended_by", ""), "size");
	cr_expect_gt(be_get_real(guest.facts, "workload.elapsed", 0), 0.4);
	cr_expect_gt(be_get_real(guest.facts, "workload.test_size_vs_memory", 0), 0);
	cr_expect_str_eq(be_get_str(guest.facts, "vm.dirty_limit_first_hit", ""), "never reached");
	cr_expect_gt(guest.sample.ticks, 0u, "a step of half a second is looked at");
	guest_free(&guest, &dir);
}

Test(steps, document_states_all)
{
	struct be_root dir;
	struct be_error err = BE_ERROR_INIT;
	struct be_guest guest;
	guest_make(&guest, &dir, "- {name: a, argv: ['true']}\n");
	be_set(guest.plan, "factors", tree_yaml("[{name: x, observe: {kind: none, reason: r}}]"));
	be_set_str(guest.outcome, "state", "running");
	cr_expect_eq(be_document_write(&guest, BE_BEFORE, "before.yaml", &err), 0, "%s", err.text);
	be_document_draft(&guest);
	be_autofree char *before_path = be_root_path(&dir, "/before.yaml"),
			 *after_path = be_root_path(&dir, "/after.yaml");
	be_autonode struct be_node *before = be_node_load_file(before_path, &err);
	be_autonode struct be_node *after = be_node_load_file(after_path, &err);
	cr_assert(before && after, "%s", err.text);
	cr_expect_str_eq(be_get_str(before, "phase", ""), "before");
	cr_expect_str_eq(be_get_str(be_get_path(before, "environment"), "x", "map"), "map");
	cr_expect_str_eq(be_get_str(be_get(be_get(before, "environment"), "x"), "not_observable", ""), "r");
	cr_expect_gt(be_get_int(be_get(before, "machine"), "nr_cpu", 0), 0);
	cr_expect_str_eq(be_get_str(after, "phase", ""), "after");
	cr_expect_not_null(be_get(after, "steps"));
	guest_free(&guest, &dir);
}
