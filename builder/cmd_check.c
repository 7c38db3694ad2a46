/* `check`: would this machine's disks do for a job, and may they be written? A look before anything is booted. */
#include <stdio.h>

#include "builder/commands.h"
#include "builder/recipe.h"
#include "builder/usage.h"
#include "disk-setup/setup.h"

static const char usage[] =
	"Usage: mkbenchenv check JOB [OPTION]...\n"
	"\n"
	"Looks at the disks that a job would use on this machine, as disk-setup does before it\n"
	"writes: what they carry, who uses them, whether they are what the host file states.\n"
	"Writes nothing. Exits with 0 when all may be written, 1 when one is refused.\n"
	"\n" BE_RECIPE_HELP "  --root DIR          a recorded machine: a folder with its /proc, /sys, /dev and /run\n";

static void print_line(const char *line)
{
	printf("%s\n", line);
}

/* Nobody sits through a lab's wait for late devices: what is there is there. */
static struct be_node *without_wait(const struct be_node *plan)
{
	struct be_node *copy = be_node_clone(plan);
	be_set_int(be_get(copy, "layout"), "wait", 0);
	return copy;
}

static int look(const struct be_node *plan, const char *root, struct be_error *err)
{
	be_cleanup(be_setup_free) struct be_setup setup = { 0 };
	be_autobuf struct be_buf text = { 0 };
	be_setup_init(&setup);
	setup.log = print_line;
	if (root) {
		free(setup.root.prefix);
		setup.root.prefix = be_root_prefix(root);
	}
	const struct be_node *devices = be_get_path(plan, "layout.devices");
	if (!devices || !devices->n)
		print_line("The job uses no disk.");
	int rc = be_setup_check(&setup, plan, err);
	be_decisions_text(setup.found, &text);
	if (text.len)
		fwrite(text.data, 1, text.len, stdout);
	for (size_t i = 0; i < setup.deviations->n; i++)
		printf("note: %s\n", be_get_str(setup.deviations->items[i], "text", ""));
	return rc;
}

static int check(const struct be_recipe_request *request, const char *root, struct be_error *err)
{
	be_autorecipe struct be_recipe recipe = { 0 };
	if (be_recipe_load(request, false, &recipe, err) != 0)
		return -1;
	be_autonode struct be_node *plan = be_recipe_plan(&recipe, request, recipe.first, NULL, err);
	be_recipe_warn(&recipe, "check");
	if (!plan)
		return -1;
	be_autonode struct be_node *now = without_wait(plan);
	return look(now, root, err);
}

int be_cmd_check(int argc, char **argv)
{
	enum { ROOT = 256 };
	static const struct option options[] = { BE_RECIPE_OPTIONS,
						 { "root", required_argument, NULL, ROOT },
						 { "help", no_argument, NULL, 'h' },
						 { NULL, 0, NULL, 0 } };
	struct be_recipe_request request = { 0 };
	const char *root = NULL;
	int status = BE_OK;
	opterr = 0;
	for (int c; status == BE_OK && (c = getopt_long(argc, argv, ":hs:", options, NULL)) != -1;) {
		if (c == 'h') {
			be_strv_free(&request.set);
			fputs(usage, stdout);
			return BE_OK;
		}
		if (c == ROOT)
			root = optarg;
		else if (!be_recipe_option(&request, c, optarg))
			status = be_usage_option(argv, c);
	}
	if (status == BE_OK && argc - optind != 1)
		status = be_usage_error(argv[0], "needs one job file");
	if (status == BE_OK) {
		struct be_error err = BE_ERROR_INIT;
		request.job = argv[optind];
		if (check(&request, root, &err) != 0)
			status = be_command_failed(argv[0], &err);
	}
	be_strv_free(&request.set);
	return status;
}
