#include "initrd/runner.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/process.h"
#include "initrd/cases.h"
#include "initrd/document.h"
#include "initrd/observe/facts.h"
#include "initrd/guest.h"
#include "initrd/link.h"
#include "initrd/machine.h"
#include "initrd/modules.h"
#include "initrd/settings.h"
#include "initrd/steps.h"
#include "initrd/system.h"
#include "initrd/udev.h"
#include "workload.h"

/* Without SHA-256 (libcrypto has no memory) the statement does not name its plan. */
static void hash_plan(struct be_guest *guest)
{
	struct be_error err = BE_ERROR_INIT;
	be_autobuf struct be_buf text = { 0 }, hex = { 0 };
	unsigned char sum[EVP_MAX_MD_SIZE];
	unsigned len = 0;
	if (be_read_file(BE_PLAN_PATH, BE_NODE_MAX_BYTES, &text, &err) != 0 ||
	    EVP_Digest(text.data, text.len, sum, &len, EVP_sha256(), NULL) != 1)
		return;
	for (unsigned i = 0; i < len; i++)
		be_buf_addf(&hex, "%02x", sum[i]);
	snprintf(guest->plan_sha256, sizeof(guest->plan_sha256), "%s", hex.data);
}

static int load_plan(struct be_guest *guest, struct be_error *err)
{
	if (be_system_complete(&guest->root, err) != 0)
		return -1;
	guest->plan = be_node_load_file(BE_PLAN_PATH, err);
	if (!guest->plan)
		return -1;
	if (!be_streq(be_get_str(guest->plan, "mkbenchenv", NULL), "plan") || be_get_int(guest->plan, "schema", 0) != 1)
		return be_fail(err, BE_PLAN_PATH ": no plan of schema 1");
	hash_plan(guest);
	guest->deadline = be_get_real(guest->plan, "timeout", 0);
	if (guest->deadline <= 0)
		return be_fail(err, BE_PLAN_PATH ": no timeout for the whole run");
	be_link_say(guest->link, BE_LINK_LIMIT "%.0f", guest->deadline);
	be_link_say(guest->link, BE_LINK_AFTER "%s", be_get_str(guest->plan, "after", "power-off"));
	return 0;
}

static int load_needed_modules(const struct be_strv *names, struct be_error *err)
{
	for (size_t i = 0; i < names->n; i++)
		/* Drivers of hardware that this machine lacks answer ENODEV. */
		if (be_module_load(names->v[i], err) != 0 && errno != ENODEV)
			return -1;
	*err = (struct be_error)BE_ERROR_INIT;
	return 0;
}

static int load_modules(struct be_guest *guest, struct be_error *err)
{
	be_autostrv struct be_strv needed = { 0 }, wanted = { 0 };
	struct be_error ignored = BE_ERROR_INIT;
	be_get_strv(be_get(guest->plan, "image"), "modules", &needed);
	be_get_strv(be_get(guest->plan, "image"), "modules_wanted", &wanted);
	if (load_needed_modules(&needed, err) != 0)
		return -1;
	for (size_t i = 0; i < wanted.n; i++)
		if (!be_module_is_driver(wanted.v[i]))
			be_module_load(wanted.v[i], &ignored);
	return 0;
}

static int start_udev(struct be_guest *guest, struct be_error *err)
{
	bool started = be_udev_start(err) == 0;
	be_modules_coldplug(&guest->root);
	if (started && be_udev_settle(err) == 0)
		return 0;
	/* Without udev only plans that name no disk by identity can work; disk-setup says which do not. */
	be_log("%s", err->text);
	*err = (struct be_error)BE_ERROR_INIT;
	return 0;
}

static int settings(struct be_guest *guest, const char *after, struct be_error *err)
{
	be_scopes_free(&guest->scopes);
	be_scopes_load(&guest->scopes, &guest->root, guest->plan, guest->setup.found, guest->setup.layout);
	const struct be_settings s = { .root = &guest->root,
				       .plan = guest->plan,
				       .scopes = &guest->scopes,
				       .made = guest->settings,
				       .deviations = guest->deviations };
	return be_settings_apply(&s, after, err);
}

static int make_settings(struct be_guest *guest, struct be_error *err)
{
	return settings(guest, NULL, err);
}

static int set_up_disks(struct be_guest *guest, struct be_error *err)
{
	if (be_setup_run(&guest->setup, guest->plan, err) != 0)
		return -1;
	guest->set_up = true;
	return 0;
}

static int make_disk_settings(struct be_guest *guest, struct be_error *err)
{
	return settings(guest, "disks", err);
}

/* The plan's steps were rendered for the machine of the host file; here they are rendered for the one that is there. */
static int render_workload(struct be_guest *guest, struct be_error *err)
{
	const struct be_node *workload = be_get(guest->plan, "workload");
	const char *testdir = be_get_str(be_get(guest->plan, "layout"), "testdir", "/");
	const char *rules = be_get_str(be_get(guest->plan, "rules"), "date", "");
	be_autostrv struct be_strv notes = { 0 };
	struct be_machine_size size;
	be_machine_size(&guest->root, &size);
	if (be_workload_render(workload, testdir, &size, rules, &guest->steps, &guest->values, &notes, err) != 0)
		return be_wrap(err, "the workload cannot be made for this machine");
	if (!be_steps_any_run(guest))
		return be_fail(err, "the plan's workload has no step of role run");
	be_machine_deviations(be_get(workload, "values"), guest->values, guest->deviations);
	for (size_t i = 0; i < notes.n; i++)
		be_deviation(guest->deviations, "workload", "%s", notes.v[i]);
	return 0;
}

static int prepare_workload(struct be_guest *guest, struct be_error *err)
{
	be_sample_init(&guest->sample, &guest->root, &guest->scopes);
	return be_steps_prepare(guest, err);
}

static int drop_caches(struct be_guest *guest, struct be_error *err)
{
	bool drop = be_get_bool(be_get(guest->plan, "workload"), "drop_caches", false);
	if (!drop)
		return 0;
	be_set_str(guest->facts, "vm.caches_dropped", "yes");
	sync(); /* dirty pages are not dropped */
	return be_write_attr("/proc/sys/vm/drop_caches", "3", err);
}

static int state_before(struct be_guest *guest, struct be_error *err)
{
	struct be_error lost = BE_ERROR_INIT;
	double begin = be_monotonic();
	if (!be_get(guest->facts, "vm.caches_dropped"))
		be_set_str(guest->facts, "vm.caches_dropped", "no");
	be_facts_before(guest);
	if (be_document_write(guest, BE_BEFORE, "before.yaml", err) != 0)
		return -1;
	guest->stating += be_monotonic() - begin;
	if (be_link_ask(guest->link, &lost, BE_LINK_DELIVER "before.yaml") != 0)
		be_deviation(guest->deviations, "image.statement_before", "kept in memory only: %s", lost.text);
	begin = be_monotonic();
	be_document_draft(guest);
	guest->stating += be_monotonic() - begin;
	return 0;
}

/* Lay-out and dropped caches change what the measured steps start from: the statement is delivered anew. */
static int state_laid_out(struct be_guest *guest, struct be_error *err)
{
	bool dropped = be_streq(be_get_str(guest->facts, "vm.caches_dropped", NULL), "yes");
	return dropped || be_steps_before_run(guest) ? state_before(guest, err) : 0;
}

static int check_expectations(struct be_guest *guest, struct be_error *err)
{
	return be_machine_expect(guest->plan, guest->environment, err);
}

static int run_workload(struct be_guest *guest, struct be_error *err)
{
	be_sample_begin(&guest->sample);
	int rc = be_steps_run(guest, err);
	be_sample_end(&guest->sample);
	for (size_t i = 0; i < guest->sample.resyncs.n; i++)
		be_deviation(guest->deviations, "md.sync_action", "%s during the workload", guest->sample.resyncs.v[i]);
	return rc;
}

static int console_shell(struct be_guest *guest, struct be_error *err)
{
	char *argv[] = { "setsid", "--ctty", "--wait", "/bin/sh", "-i", NULL };
	(void)guest;
	be_log("benchenv.shell: a shell instead of the workload; leave it to end the run");
	/* setsid(1) makes the console the shell's controlling terminal. The shell needs it as standard input too. */
	pid_t pid = fork();
	if (pid < 0)
		return be_fail_errno(err, errno, "no shell can be started");
	if (pid == 0) {
		execvp(argv[0], argv);
		execl("/bin/sh", "/bin/sh", "-i", (char *)NULL);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
	return be_fail(err, "benchenv.shell is on the command line: a shell ran instead of the workload");
}

struct stage {
	const char *name;
	int (*run)(struct be_guest *guest, struct be_error *err);
};

static const struct stage set_up_stages[] = {
	{ "plan", load_plan },
	{ "modules", load_modules },
	{ "udev", start_udev },
	{ "settings", make_settings },
	{ "disk-setup", set_up_disks },
	{ "settings of disks", make_disk_settings },
	{ "workload for this machine", render_workload },
};

static const struct stage workload_stages[] = {
	{ "statement", state_before },  { "expectations", check_expectations }, { "lay-out", prepare_workload },
	{ "drop caches", drop_caches }, { "statement", state_laid_out },        { "workload", run_workload },
};

static const struct stage shell_stages[] = {
	{ "statement", state_before },
	{ "shell", console_shell },
};

/* Fills the outcome unless the stage did so itself. */
static void note_failure(struct be_guest *guest, const char *stage, const struct be_error *err)
{
	be_autofree char *reason = err->hint[0] ? be_strf("%s (%s)", err->text, err->hint) : be_strdup(err->text);
	be_log("%s: %s", stage, reason);
	if (!be_streq(be_get_str(guest->outcome, "state", NULL), "running"))
		return;
	be_set_str(guest->outcome, "state", err->status == BE_DIFFERS ? "refused" : "failed");
	be_set_str(guest->outcome, "step", stage);
	be_set_str(guest->outcome, "reason", reason);
}

static int run_stages(struct be_guest *guest, const struct stage *stages, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct be_error err = BE_ERROR_INIT;
		be_log("%s", stages[i].name);
		be_link_say(guest->link, BE_LINK_STAGE "%s", stages[i].name);
		if (stages[i].run(guest, &err) != 0) {
			note_failure(guest, stages[i].name, &err);
			return -1;
		}
	}
	return 0;
}

/* A run that failed before its statement was delivered states what there is to see all the same. */
static void state_failure(struct be_guest *guest)
{
	struct be_error err = BE_ERROR_INIT;
	if (!guest->plan || guest->environment)
		return;
	if (!guest->scopes.testdir)
		be_scopes_load(&guest->scopes, &guest->root, guest->plan, guest->setup.found, guest->setup.layout);
	if (state_before(guest, &err) != 0)
		be_log("%s", err.text);
}

static void conclude(struct be_guest *guest)
{
	struct be_error err = BE_ERROR_INIT;
	if (be_streq(be_get_str(guest->outcome, "state", NULL), "running"))
		be_set_str(guest->outcome, "state", "done");
	be_steps_stop_daemons(guest);
	be_link_say(guest->link, BE_LINK_STAGE "observation after the workload");
	be_facts_after(guest);
	if (!guest->plan)
		be_document_draft(guest);
	else if (be_document_write(guest, BE_AFTER, "after.yaml", &err) != 0)
		be_log("%s", err.text);
	be_cases_log(guest);
	if (be_link_ask(guest->link, &err, BE_LINK_FINISH) != 0)
		be_log("%s", err.text);
	if (guest->set_up && be_setup_undo(&guest->setup, guest->plan, &err) != 0)
		be_log("%s", err.text);
}

static void progress(const char *line)
{
	be_log("disk-setup: %s", line);
}

int be_runner_main(int link)
{
	struct be_guest guest = { .root = { .prefix = NULL },
				  .link = link,
				  .state_dir = BE_STATE_DIR,
				  .facts = be_node_map(),
				  .settings = be_node_seq(),
				  .deviations = be_node_seq(),
				  .steps_done = be_node_seq(),
				  .outcome = be_node_map() };
	be_set_str(guest.outcome, "state", "running");
	be_setup_init(&guest.setup);
	guest.setup.log = progress;
	bool shell = be_cmdline_has(&guest.root, "benchenv.shell");
	int rc = run_stages(&guest, set_up_stages, BE_ARRAY_LEN(set_up_stages));
	if (shell) {
		be_link_say(link, BE_LINK_LIMIT "0");
		rc = run_stages(&guest, shell_stages + (rc != 0), BE_ARRAY_LEN(shell_stages) - (rc != 0));
	} else if (rc == 0) {
		rc = run_stages(&guest, workload_stages, BE_ARRAY_LEN(workload_stages));
	}
	state_failure(&guest);
	conclude(&guest);
	return rc == 0 ? BE_OK : BE_FAILED;
}
