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
		setup.root.recorded = true;
		if (be_root_check(&setup.root, root, err) != 0)
			return -1;
	}
	const struct be_node *devices = be_get_path(plan, "layout.devices");
	if (!devices || !devices->n)
		print_line("The job uses no disk.");
	int rc = be_setup_check(&setup, plan, err);
	be_decisions_text(setup.found, &text);
	if (text.len)
		fputs(text.data, stdout);
	for (size_t i = 0; i < setup.deviations->n; i++)
		printf("note: %s\n", be_get_str(setup.deviations->items[i], "text", ""));
	return rc;
}

static int check(const struct be_recipe_request *request, const char *root, struct be_error *err)
{
	be_autonode struct be_node *plan = be_recipe_plan_only(request, "check", err);
	if (!plan)
		return -1;
	be_autonode struct be_node *now = without_wait(plan);
	return look(now, root, err);
}

int be_cmd_check(int argc, char **argv)
{
	struct be_recipe_request request = { 0 };
	struct be_error err = BE_ERROR_INIT;
	const char *root = NULL;
	const struct be_option options[] = {
		BE_RECIPE_OPTIONS(&request),
		BE_TEXT("root", 0, &root),
		BE_OPTIONS_END,
	};
	int status = be_recipe_command(&request, argc, argv, options, usage);
	if (status < 0)
		status = check(&request, root, &err) == 0 ? BE_OK : be_command_failed(argv[0], &err);
	be_strv_free(&request.set);
	return status;
}
