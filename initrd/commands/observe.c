/* mkbenchenv observe: the statement of the machine that it runs on, or of a recorded one, and recording one. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/options.h"
#include "factor.h"
#include "initrd/observe/statement.h"
#include "initrd/observe/tree.h"

#define TREE_MAX (16u << 20)

static const char usage[] =
	"Usage: mkbenchenv observe [OPTION]...\n"
	"\n"
	"States the environment of this machine, as the guest of an image does: a manifest that\n"
	"`mkbenchenv show` and `diff` take. Nothing is written to any device; a small file is made\n"
	"and removed in the test directory. Root sees more.\n"
	"\n"
	"  --testdir DIR       where a workload's files would lie (default: the working directory,\n"
	"                      of a recording what was recorded)\n"
	"  --plan PLAN         a plan.yaml: its disks and file systems instead of all\n"
	"  --root DIR|TREE     a recorded machine: a folder with its /proc and /sys, or a recording\n"
	"  --record TREE       writes a recording of what was looked at, \"-\": to standard output;\n"
	"                      it holds serial numbers of disks\n"
	"  -o, --output FILE   the manifest (default: standard output, unless --record is given)\n";

struct options {
	const char *testdir, *plan, *root, *record, *output;
};

/* Returns -1 to go on, else the exit status. */
static int parse(int argc, char **argv, struct options *o)
{
	const struct be_option options[] = {
		BE_TEXT("testdir", 0, &o->testdir), BE_TEXT("plan", 0, &o->plan),       BE_TEXT("root", 0, &o->root),
		BE_TEXT("record", 0, &o->record),   BE_TEXT("output", 'o', &o->output), BE_OPTIONS_END,
	};
	int status = be_options_read(argv[0], usage, options, argc, argv);
	if (status >= 0)
		return status;
	if (optind < argc)
		return be_options_wrong(argv[0], "takes no argument such as \"%s\"; --root names a recorded machine",
					argv[optind]);
	if (o->root && o->record)
		return be_options_wrong(argv[0], "--record and --root exclude each other");
	if (be_same_file(o->record, o->output))
		return be_options_wrong(argv[0], "--record and -o both name %s: give two files", o->output);
	return -1;
}

static int put(const char *path, const struct be_buf *text, struct be_error *err)
{
	return be_write_output(be_streq(path, "-") ? NULL : path, text->data, text->len, err);
}

static struct be_node *load_plan(const char *path, struct be_error *err)
{
	be_autonode struct be_node *plan = be_node_load_file(path, err);
	if (!plan) {
		err->status = BE_USAGE; /* it is the file that was named, whatever is wrong with it */
		return NULL;
	}
	if (strcmp(be_get_str(plan, "mkbenchenv", ""), "plan") == 0)
		return be_steal(&plan);
	be_fail_usage(err, "%s: is no plan of mkbenchenv", path);
	return NULL;
}

/* The plan that is given, that of the recording, or one of the machine as it is. */
static struct be_node *find_plan(const struct options *o, const struct be_root *root, const struct be_node *recorded,
				 struct be_error *err)
{
	const char *data = getenv("MKBENCHENV_DATA");
	if (o->plan)
		return load_plan(o->plan, err);
	if (!data) {
		be_fail(err, "the catalogue of factors is not found");
		be_hint(err, "start it as `mkbenchenv observe`, or set MKBENCHENV_DATA");
		return NULL;
	}
	be_autonode struct be_node *factors = be_factors_load(data, err);
	if (!factors)
		return NULL;
	be_autofree char *here = o->root ? NULL : getcwd(NULL, 0);
	struct be_node *plan = be_statement_plan(root, o->testdir ? o->testdir : here ? here : "/", factors);
	if (be_get(recorded, "layout") && !o->testdir) {
		be_set(plan, "layout", be_node_clone(be_get(recorded, "layout")));
		be_set_str(plan, "testcase", be_get_str(recorded, "testcase", "none"));
	}
	return plan;
}

/* Unpacks a recording that is a file; a folder is taken as it is. @made: a temporary folder. */
static int open_root(const char *path, char **prefix, char **made, struct be_error *err)
{
	struct stat st;
	be_autobuf struct be_buf text = { 0 };
	if (stat(path, &st) != 0) {
		be_fail_errno(err, errno, "--root %s", path);
		err->status = BE_USAGE;
		return -1;
	}
	if (S_ISDIR(st.st_mode)) {
		*prefix = be_root_prefix(path);
		return 0;
	}
	const char *tmp = getenv("TMPDIR");
	be_autofree char *dir = be_strf("%s/mkbenchenv-observe-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (be_read_input(path, TREE_MAX, &text, err) != 0)
		return -1;
	if (!mkdtemp(dir))
		return be_fail_errno(err, errno, "%s", dir);
	*prefix = be_strdup(dir);
	*made = be_steal(&dir);
	return be_tree_unpack(text.data, path, *made, err);
}

static int check_testdir(const char *path, struct be_error *err)
{
	struct stat st;
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return 0;
	return be_fail_usage(err, "--testdir %s: is no folder", path);
}

static struct be_node *load_observed(const struct be_root *root, struct be_error *err)
{
	be_autofree char *path = be_root_path(root, BE_TREE_OBSERVED);
	return be_exists(path) ? be_node_load_file(path, err) : be_node_map();
}

static int state(const struct options *o, const struct be_root *root, struct be_error *err)
{
	be_autonode struct be_node *recorded = o->root ? load_observed(root, err) : NULL, *none = be_node_map();
	if (o->root && !recorded)
		return -1;
	be_autonode struct be_node *plan = find_plan(o, root, recorded, err), *observed = NULL;
	if (!plan)
		return -1;
	const struct be_node *readings = be_get(recorded, "environment");
	be_autonode struct be_node *manifest =
		be_statement_make(root, plan, o->root && !readings ? none : readings, &observed);
	be_autobuf struct be_buf text = { 0 }, tree = { 0 };
	if (be_node_yaml(manifest, &text, err) != 0)
		return -1;
	if (o->record &&
	    (be_tree_record(root, root->seen, observed, &tree, err) != 0 || put(o->record, &tree, err) != 0))
		return -1;
	return !o->record || o->output ? put(o->output, &text, err) : 0;
}

static int run(const struct options *o, struct be_error *err)
{
	be_autofree char *prefix = NULL, *made = NULL;
	be_autostrv struct be_strv seen = { 0 };
	struct be_error ignored = BE_ERROR_INIT;
	int rc = o->root ? open_root(o->root, &prefix, &made, err) : 0;
	struct be_root root = { .prefix = prefix, .seen = o->record ? &seen : NULL, .recorded = o->root };
	if (rc == 0 && o->root && !be_root_exists(&root, BE_TREE_OBSERVED))
		rc = be_root_check(&root, o->root, err);
	else if (rc == 0 && o->testdir)
		rc = check_testdir(o->testdir, err);
	if (rc == 0)
		rc = state(o, &root, err);
	if (made)
		be_remove_tree(made, &ignored);
	return rc;
}

int main(int argc, char **argv)
{
	struct options options = { 0 };
	struct be_error err = BE_ERROR_INIT;
	int status = parse(argc, argv, &options);
	if (status >= 0)
		return status;
	if (run(&options, &err) == 0)
		return BE_OK;
	be_error_print(&err, argv[0]);
	return err.status;
}
