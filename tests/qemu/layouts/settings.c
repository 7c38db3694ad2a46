/* layout-settings PLAN: makes the settings of a plan that come after its disks, as the guest's PID 1 does. */
#include <stdio.h>

#include "initrd/settings.h"

int main(int argc, char **argv)
{
	struct be_error err = BE_ERROR_INIT;
	struct be_root root = { .prefix = (char[]){ "" } };
	be_autoscopes struct be_scopes scopes = { 0 };
	be_autonode struct be_node *plan = be_node_load_file(argc > 1 ? argv[1] : "", &err);
	be_autonode struct be_node *made = be_node_seq();
	be_autonode struct be_node *deviations = be_node_seq();
	if (!plan) {
		be_error_print(&err, "layout-settings");
		return err.status;
	}
	be_scopes_load(&scopes, &root, plan, NULL, NULL);
	const struct be_settings settings = { &root, plan, &scopes, made, deviations };
	if (be_settings_apply(&settings, "disks", &err) != 0) {
		be_error_print(&err, "layout-settings");
		return err.status;
	}
	for (size_t i = 0; i < deviations->n; i++)
		fprintf(stderr, "layout-settings: %s\n", be_get_str(deviations->items[i], "text", "?"));
	return deviations->n ? BE_DIFFERS : BE_OK;
}
