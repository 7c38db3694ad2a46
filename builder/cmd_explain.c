/* `explain`: what a factor is, who showed that it matters, how it is read and set. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "builder/commands.h"
#include "builder/paths.h"
#include "builder/usage.h"
#include "factor.h"

static const char usage[] = "Usage: mkbenchenv explain [--json] [FACTOR]...\n"
			    "\n"
			    "Prints the catalogue's entry of each FACTOR; without one, the names of all factors\n"
			    "with one line each.\n"
			    "\n"
			    "  --json   the entries as JSON\n";

static int print_tree(const struct be_node *tree, bool json, struct be_error *err)
{
	be_autobuf struct be_buf out = { 0 };
	if ((json ? be_node_json(tree, &out, err) : be_node_yaml(tree, &out, err)) != 0)
		return -1;
	return be_write_output(NULL, out.data, out.len, err);
}

static void list_names(const struct be_node *factors)
{
	const char *group = "";
	for (size_t i = 0; i < factors->n; i++) {
		const struct be_node *factor = factors->items[i];
		const char *own = be_get_str(factor, "group", "");
		if (strcmp(own, group) != 0)
			printf("%s%s\n", *group ? "\n" : "", own);
		group = own;
		printf("  %-30s  %s\n", be_get_str(factor, "name", ""), be_get_str(factor, "why", ""));
	}
}

static const struct be_node *find(const struct be_node *factors, const char *name, struct be_error *err)
{
	const char *nearest = NULL;
	unsigned best = 6;
	for (size_t i = 0; i < factors->n; i++) {
		const char *own = be_get_str(factors->items[i], "name", "");
		if (strcmp(own, name) == 0)
			return factors->items[i];
		unsigned distance = be_distance(own, name);
		if (distance < best) {
			best = distance;
			nearest = own;
		}
	}
	be_fail_usage(err, "no factor \"%s\" in the catalogue", name);
	if (nearest)
		be_hint(err, "Did you mean %s? `mkbenchenv explain` lists all.", nearest);
	else
		be_hint(err, "`mkbenchenv explain` lists all.");
	return NULL;
}

static int explain(int n, char **names, bool json, struct be_error *err)
{
	struct be_paths paths = { 0 };
	be_autonode struct be_node *factors = NULL;
	if (be_paths_find(&paths, err) == 0)
		factors = be_factors_load(paths.data, err);
	be_paths_free(&paths);
	if (!factors)
		return -1;
	if (n == 0 && !json)
		list_names(factors);
	else if (n == 0)
		return print_tree(factors, true, err);
	for (int i = 0; i < n; i++) {
		const struct be_node *factor = find(factors, names[i], err);
		if (!factor)
			return -1;
		if (i && !json)
			putchar('\n');
		if (print_tree(factor, json, err) != 0)
			return -1;
	}
	return 0;
}

int be_cmd_explain(int argc, char **argv)
{
	bool json = false;
	const struct be_option options[] = { BE_FLAG("json", 0, &json), BE_OPTIONS_END };
	int status = be_usage_read(usage, options, argc, argv);
	if (status >= 0)
		return status;
	struct be_error err = BE_ERROR_INIT;
	return explain(argc - optind, argv + optind, json, &err) == 0 ? BE_OK : be_command_failed(argv[0], &err);
}
