/* disk-setup: makes a plan's disk layout, or says device by device why not. Runs in the guest, and with --check
 * anywhere. */
#include <getopt.h>
#include <stdio.h>

#include "action.h"
#include "base/clock.h"
#include "base/options.h"
#include "setup.h"

static const char usage[] =
	"usage: disk-setup PLAN            make the layout, mount it, print what was done as YAML\n"
	"       disk-setup --check PLAN    say what would be done with each device; writes nothing\n"
	"       disk-setup --undo PLAN     unmount and stop what was made\n"
	"options:\n"
	"  --twin      an emulated machine: its disks may have other sizes than the plan states\n"
	"  --quiet     no progress on stderr\n"
	"  --help      this text\n"
	"  --version   the version\n"
	"Exit status: 0 done or permitted, 1 refused or failed, 2 usage.\n";

static void progress(const char *line)
{
	fprintf(stderr, "disk-setup: %s\n", line);
}

/* @seconds: of the whole run, beside the actions' own. */
static int print_report(const struct be_setup *setup, double seconds, struct be_error *err)
{
	be_autonode struct be_node *report = be_node_map();
	be_autobuf struct be_buf text = { 0 };
	be_set(report, "found", be_node_clone(setup->found));
	be_set(report, "actions", be_node_clone(setup->actions));
	be_set(report, "layout", be_node_clone(setup->layout));
	be_set(report, "deviations", be_node_clone(setup->deviations));
	be_set(report, "total_seconds", be_node_real(seconds));
	if (be_node_yaml(report, &text, err) != 0)
		return -1;
	return be_write_output(NULL, text.data, text.len, err);
}

struct options {
	bool check, undo, twin, quiet, version;
	const char *plan;
};

/* Returns -1 to go on, else the exit status. */
static int parse(int argc, char **argv, struct options *o)
{
	const struct be_option options[] = {
		BE_FLAG("check", 0, &o->check), BE_FLAG("undo", 0, &o->undo),       BE_FLAG("twin", 0, &o->twin),
		BE_FLAG("quiet", 0, &o->quiet), BE_FLAG("version", 0, &o->version), BE_OPTIONS_END,
	};
	int status = be_options_read("disk-setup", usage, options, argc, argv);
	if (status >= 0)
		return status;
	if (o->version) {
		puts("disk-setup " BE_VERSION);
		return BE_OK;
	}
	if (o->check && o->undo)
		return be_options_wrong("disk-setup", "--check and --undo exclude each other");
	if (argc - optind != 1)
		return be_options_wrong("disk-setup", "needs one plan");
	o->plan = argv[optind];
	return -1;
}

static int run(struct be_setup *setup, const struct options *options, const struct be_node *plan, struct be_error *err)
{
	if (options->check) {
		be_autobuf struct be_buf text = { 0 };
		struct be_error print_err = BE_ERROR_INIT;
		int rc = be_setup_check(setup, plan, err);
		be_decisions_text(setup->found, &text);
		if (text.len && be_write_output(NULL, text.data, text.len, rc == 0 ? err : &print_err) != 0)
			return -1;
		return rc;
	}
	double start = be_monotonic();
	int rc = options->undo ? be_setup_undo(setup, plan, err) : be_setup_run(setup, plan, err);
	double seconds = be_monotonic() - start;
	struct be_error print_err = BE_ERROR_INIT;
	if (print_report(setup, seconds, rc == 0 ? err : &print_err) != 0)
		return -1;
	return rc;
}

int main(int argc, char **argv)
{
	struct options options = { 0 };
	struct be_error err = BE_ERROR_INIT;
	int status = parse(argc, argv, &options);
	if (status >= 0)
		return status;
	be_autonode struct be_node *plan = be_node_load_file(options.plan, &err);
	if (!plan) { /* whatever is wrong with it: it is the file that was named */
		err.status = BE_USAGE;
		be_error_print(&err, "disk-setup");
		return err.status;
	}
	struct be_setup setup;
	be_setup_init(&setup);
	setup.twin = options.twin;
	setup.log = options.quiet ? NULL : progress;
	int rc = run(&setup, &options, plan, &err);
	be_setup_free(&setup);
	if (rc == 0)
		return BE_OK;
	be_error_print(&err, "disk-setup");
	return err.status;
}
