#include "resolve.h"

bool be_resolve_by_content(const char *path)
{
	return be_starts(path, "/dev/disk/by-label/") || be_starts(path, "/dev/disk/by-uuid/");
}

static void replace(struct be_node *node, const char *path, const char *kernel)
{
	if (node->kind == BE_SCALAR && be_streq(node->text, path)) {
		free(node->text);
		node->text = be_strf("/dev/%s", kernel);
	}
	for (size_t i = 0; i < node->n; i++)
		replace(node->items[i], path, kernel);
}

struct be_node *be_resolve_plan(const struct be_setup *setup, const struct be_node *plan)
{
	struct be_node *resolved = be_node_map();
	if (be_get(plan, "layout"))
		be_set(resolved, "layout", be_node_clone(be_get(plan, "layout")));
	const struct be_node *devices = be_get_path(plan, "layout.devices");
	for (size_t i = 0; devices && i < devices->n; i++) {
		const char *path = be_get_str(devices->items[i], "path", "");
		const struct be_node *found = be_get(setup->found, be_get_str(devices->items[i], "name", ""));
		const char *kernel = be_get_str(found, "kernel", NULL);
		if (kernel && be_resolve_by_content(path))
			replace(be_get(resolved, "layout"), path, kernel);
	}
	return resolved;
}

void be_resolve_devices(const struct be_node *resolved, struct be_devices *devices)
{
	const struct be_node *stanzas = be_get_path(resolved, "layout.devices");
	for (size_t i = 0; stanzas && i < devices->n && i < stanzas->n; i++) {
		devices->v[i].stanza = stanzas->items[i];
		devices->v[i].path = be_get_str(stanzas->items[i], "path", "");
		devices->v[i].name = be_get_str(stanzas->items[i], "name", "?");
		devices->v[i].kind = be_get_str(stanzas->items[i], "kind", "");
	}
}
