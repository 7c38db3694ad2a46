/* `diff`: two runs that disagree, or two groups of runs: what was different, and has it mattered before? */
#include <getopt.h>
#include <string.h>

#include "base/file.h"
#include "builder/commands.h"
#include "builder/report/diff.h"
#include "builder/image/image_folder.h"
#include "builder/paths.h"
#include "builder/usage.h"
#include "factor.h"

static const char usage[] = "Usage: mkbenchenv diff [OPTION]... A B\n"
			    "       mkbenchenv diff [OPTION]... A1 A2... -- B1 B2...\n"
			    "\n"
			    "Compares two manifests, results or images, or two groups of runs. Differences that\n"
			    "moved results before come first, with the report that showed it; figures of several\n"
			    "runs stand side by side as in the robot's tables.\n"
			    "\n"
			    "  --full   all differences, and the values that every run has its own of\n"
			    "  --json   the comparison as JSON\n"
			    "\n"
			    "Exit status: 0 same environment, 3 another one.\n";

struct diff_options {
	bool full, json;
};

/* Takes the options of @argv, whose first word is the command's name, and leaves the other words behind optind. */
static int take_options(int argc, char **argv, struct diff_options *o)
{
	const struct be_option options[] = {
		BE_FLAG("full", 0, &o->full),
		BE_FLAG("json", 0, &o->json),
		BE_OPTIONS_END,
	};
	return be_usage_read(usage, options, argc, argv);
}

/* Where "--" stands between two groups of runs; 0: nowhere. */
static int find_middle(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--") == 0)
			return i;
	return 0;
}

static struct be_node *load_side(char **paths, int n, struct be_error *err)
{
	be_autonode struct be_node *side = be_node_seq();
	for (int i = 0; i < n; i++) {
		struct be_node *manifest = be_manifest_load(paths[i], err);
		if (!manifest)
			return NULL;
		struct be_node *run = be_node_map();
		be_set_str(run, "path", paths[i]);
		be_set(run, "manifest", manifest);
		be_add(side, run);
	}
	return be_steal(&side);
}

/* Compares and prints; @same tells whether the environments are. */
static int compare(const struct be_node *a, const struct be_node *b, const struct diff_options *o, bool *same,
		   struct be_error *err)
{
	be_cleanup(be_paths_free) struct be_paths paths = { 0 };
	if (be_paths_find(&paths, err) != 0)
		return -1;
	be_autofree char *file = be_strf("%s/reports.yaml", paths.data);
	be_autonode struct be_node *factors = be_factors_load(paths.data, err);
	be_autonode struct be_node *reports = factors ? be_node_load_file(file, err) : NULL;
	if (!reports)
		return -1;
	struct be_diff_input input = { .a = a, .b = b, .factors = factors, .reports = reports };
	be_autonode struct be_node *diff = be_diff_make(&input);
	be_autobuf struct be_buf out = { 0 };
	if ((o->json ? be_node_json(diff, &out, err) : be_diff_text(diff, o->full, &out, err)) != 0)
		return -1;
	*same = be_get_bool(diff, "same", false);
	return be_write_output(NULL, out.data, out.len, err);
}

static int run(char **a, int n_a, char **b, int n_b, const struct diff_options *o)
{
	struct be_error err = BE_ERROR_INIT;
	be_autonode struct be_node *left = load_side(a, n_a, &err);
	be_autonode struct be_node *right = left ? load_side(b, n_b, &err) : NULL;
	bool same = false;
	if (!right || compare(left, right, o, &same, &err) != 0)
		return be_command_failed("diff", &err);
	return same ? BE_OK : BE_DIFFERS;
}

int be_cmd_diff(int argc, char **argv)
{
	struct diff_options o = { 0 };
	int middle = find_middle(argc, argv), end = middle ? middle : argc;
	int status = take_options(end, argv, &o);
	char **a = argv + optind, **b = a + 1;
	int n_a = end - optind, n_b = 1;
	if (status < 0 && middle) {
		argv[middle] = argv[0]; /* the name in messages */
		status = take_options(argc - middle, argv + middle, &o);
		b = argv + middle + optind;
		n_b = argc - middle - optind;
	} else if (n_a == 2) {
		n_a = 1;
	} else {
		n_a = 0;
	}
	if (status >= 0)
		return status;
	if (n_a < 1 || n_b < 1)
		return be_usage_error(argv[0], "needs A and B, or two groups of runs with -- between them");
	return run(a, n_a, b, n_b, &o);
}
