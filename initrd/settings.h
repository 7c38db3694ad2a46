/* The plan's settings: sysctl, sysfs and cpufreq values, written in order and read back. */
#ifndef BE_SETTINGS_H
#define BE_SETTINGS_H

#include "base/file.h"
#include "base/node.h"
#include "initrd/observe/scopes.h"

struct be_settings {
	const struct be_root *root;
	const struct be_node *plan;
	const struct be_scopes *scopes;
	struct be_node *made;       /* sequence: {kind, path, value, was, is} is added for every file written */
	struct be_node *deviations; /* sequence: what could not be made */
};

/*
 * Applies the settings whose `after:` is @after (NULL: those without). A setting that cannot be made, or that reads
 * back as something else, is a deviation. With `expect: refuse` in the plan a required one is an error of status
 * BE_DIFFERS.
 */
int be_settings_apply(const struct be_settings *settings, const char *after, struct be_error *err) BE_MUST_CHECK;

/* Does what a file of the kernel reads as (@text) say @value? Handles "a [b] c" and numbers written otherwise. */
bool be_setting_is(const char *text, const char *value);

#endif
