#include "action.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "note.h"

#define VERSION_TIMEOUT 10.0 /* seconds for TOOL --version */

void be_action_free(struct be_action *action)
{
	be_strv_free(&action->argv);
}

/* The program that does the work: mkfs(8) only starts mkfs.TYPE. The caller frees. */
static char *real_tool(const struct be_strv *argv)
{
	if (argv->n > 2 && strcmp(argv->v[0], "mkfs") == 0 && strcmp(argv->v[1], "-t") == 0)
		return be_strf("mkfs.%s", argv->v[2]);
	return be_strdup(argv->v[0]);
}

static char *first_line(const struct be_run *run)
{
	const char *text = run->out.len ? run->out.data : run->errout.data; /* mdadm and mke2fs tell it on stderr */
	be_autofree char *line = be_strndup(text, strcspn(text, "\n"));
	return be_strdup(be_trim(line));
}

/* Most mkfs programs have only -V; btrfs-progs, mdadm, kmod and ndctl have --version. */
static char *ask_version(const char *tool)
{
	bool short_option = be_starts(tool, "mkfs.") && strcmp(tool, "mkfs.btrfs") != 0;
	char *argv[] = { (char *)(uintptr_t)tool, short_option ? "-V" : "--version", NULL };
	be_autorun struct be_run run = { .argv = argv, .timeout = VERSION_TIMEOUT };
	struct be_error err = BE_ERROR_INIT;
	if (be_run(&run, &err) != 0)
		return be_strdup("unknown");
	return first_line(&run);
}

void be_action_record(struct be_setup *setup, const char *what, const struct be_node *argv, double seconds, int status,
		      const char *version)
{
	struct be_node *node = be_node_map();
	be_set_str(node, "what", what);
	if (argv)
		be_set(node, "argv", be_node_clone(argv));
	be_set(node, "seconds", be_node_real(seconds));
	be_set_int(node, "status", status);
	be_set_str(node, "version", version);
	be_add(setup->actions, node);
}

struct job {
	struct be_action *action;
	struct be_run run;
	struct be_error err;
	int rc;
	pthread_t thread;
	bool started;
	/* The tool's name, and its version where that is asked now, at the same time as the tool works. */
	char *tool, *version;
	pthread_t version_thread;
	bool asking;
};

static void *work(void *data)
{
	struct job *job = data;
	job->rc = be_run_ok(&job->run, &job->err);
	return NULL;
}

static void *ask(void *data)
{
	struct job *job = data;
	job->version = ask_version(job->tool);
	return NULL;
}

static void start_asking(struct be_setup *setup, struct job *job)
{
	job->tool = real_tool(&job->action->argv);
	if (be_get(setup->versions, job->tool))
		return;
	be_set_str(setup->versions, job->tool, "unknown"); /* until finish_asking; the next job need not ask */
	job->asking = pthread_create(&job->version_thread, NULL, ask, job) == 0;
}

static void finish_asking(struct be_setup *setup, struct job *job)
{
	if (job->asking)
		pthread_join(job->version_thread, NULL);
	if (job->version && *job->version)
		be_set_str(setup->versions, job->tool, job->version);
	free(job->version);
}

static void start(struct be_setup *setup, struct job *job)
{
	start_asking(setup, job);
	be_autofree char *text = be_argv_text(job->action->argv.v);
	be_setup_log(setup, "%s", text);
	job->run = (struct be_run){ .argv = job->action->argv.v, .timeout = job->action->timeout };
	job->started = pthread_create(&job->thread, NULL, work, job) == 0;
	if (!job->started)
		work(job); /* no thread to be had: then one after the other */
}

static void finish(struct be_setup *setup, struct job *job)
{
	if (job->started)
		pthread_join(job->thread, NULL);
	finish_asking(setup, job);
	be_autonode struct be_node *argv = be_node_strv(&job->action->argv);
	int status = job->run.status || job->rc == 0 ? job->run.status : 127; /* 127: it could not be started */
	be_action_record(setup, job->action->what, argv, job->run.seconds, status,
			 be_get_str(setup->versions, job->tool, "unknown"));
	free(job->tool);
}

int be_actions_run(struct be_setup *setup, struct be_action *actions, size_t n, struct be_error *err)
{
	if (!n)
		return 0;
	be_autofree struct job *jobs = be_alloc(n * sizeof(*jobs));
	/* be_run ignores SIGPIPE while it runs and puts back what was: with several at once only the outermost may. */
	struct sigaction ignore = { .sa_handler = SIG_IGN }, old;
	sigaction(SIGPIPE, &ignore, &old);
	for (size_t i = 0; i < n; i++) {
		jobs[i].action = &actions[i];
		start(setup, &jobs[i]);
	}
	int rc = 0;
	for (size_t i = 0; i < n; i++) {
		finish(setup, &jobs[i]);
		if (jobs[i].rc != 0 && rc == 0) {
			*err = jobs[i].err;
			rc = -1;
		}
		be_run_free(&jobs[i].run);
	}
	sigaction(SIGPIPE, &old, NULL);
	return rc;
}

int be_action_run(struct be_setup *setup, const char *what, const struct be_strv *argv, double timeout,
		  struct be_error *err)
{
	struct be_action action = { .what = what, .timeout = timeout };
	be_strv_add_all(&action.argv, argv);
	int rc = be_actions_run(setup, &action, 1, err);
	be_action_free(&action);
	return rc;
}
