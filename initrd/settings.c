#include "initrd/settings.h"

#include <errno.h>
#include <glob.h>
#include <string.h>

#include "initrd/guest.h"
#include "initrd/observe/observe.h"
#include "initrd/system.h"

bool be_setting_is(const char *text, const char *value)
{
	if (!text)
		return false;
	be_autofree char *chosen = be_match("\\[([^]]*)\\]", text);
	if (be_streq(text, value) || be_streq(chosen, value))
		return true;
	char *end_text, *end_value;
	long long a = strtoll(text, &end_text, 0), b = strtoll(value, &end_value, 0);
	return end_text != text && end_value != value && !*end_text && !*end_value && a == b;
}

/* One setting on its way to the files that it means. */
struct making {
	const struct be_settings *s;
	const struct be_node *setting;
	size_t written, failed;
	char *value, *why; /* of the first file that did not take it */
};

/* What the report calls the setting: the factor, the sysctl, or the job key that asked for it. */
static const char *topic(const struct be_node *setting)
{
	const char *name = be_get_str(setting, "factor", be_get_str(setting, "name", NULL));
	const char *why = be_get_str(setting, "why", "");
	if (name)
		return name;
	if (be_streq(be_get_str(setting, "kind", NULL), "cpufreq"))
		return "cpufreq_governor";
	return *why && !strchr(why, ' ') ? why : be_get_str(setting, "path", "setting");
}

static void record(struct making *m, const char *path, const char *value, const char *was, const char *is)
{
	struct be_node *made = be_node_map();
	be_set_str(made, "kind", be_get_str(m->setting, "kind", "sysfs"));
	be_set_str(made, "path", path);
	be_set_str(made, "value", value);
	be_set_str(made, "was", was);
	be_set_str(made, "is", is);
	be_add(m->s->made, made);
	m->written++;
}

static void write_file(struct making *m, const char *path, const char *value)
{
	be_autofree char *full = be_root_path(m->s->root, path);
	be_autofree char *was = be_root_text(m->s->root, path);
	struct be_error failed = BE_ERROR_INIT;
	int rc = be_write_attr(full, value, &failed), errnum = errno;
	be_autofree char *is = be_root_text(m->s->root, path);
	record(m, path, value, was, is);
	if ((rc == 0 && be_setting_is(is, value)) || m->failed++)
		return;
	m->value = be_strdup(value);
	if (rc != 0 && is && strchr(is, '['))
		m->why = be_strf("%s offers only %s", path, is);
	else if (rc != 0)
		m->why = be_strf("%s does not take it: %s", path, strerror(errnum));
	else
		m->why = be_strf("%s reads back as %s", path, is && *is ? is : "nothing");
}

/* Writes to every file that the pattern stands for. */
static void write_glob(struct making *m, const char *pattern, const char *value)
{
	be_autofree char *full = be_root_path(m->s->root, pattern);
	size_t skip = strlen(full) - strlen(pattern);
	glob_t found = { 0 };
	if (glob(full, 0, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++)
			write_file(m, found.gl_pathv[i] + skip, value);
	globfree(&found);
}

/* A value that is a map is written key by key: {name} in the path is the key. */
static void write_values(struct making *m, const char *pattern)
{
	const struct be_node *value = be_get(m->setting, "value");
	const char *name = strstr(pattern, "{name}");
	if (!value || value->kind != BE_MAP) {
		write_glob(m, pattern, be_get_str(m->setting, "value", ""));
		return;
	}
	for (size_t i = 0; name && i < value->n; i++) {
		be_autofree char *path =
			be_strf("%.*s%s%s", (int)(name - pattern), pattern, value->keys[i], name + strlen("{name}"));
		write_glob(m, path, be_get_str(value, value->keys[i], ""));
	}
}

/* The scope whose placeholder @path holds. */
static enum be_scope scope_of(const char *path)
{
	static const struct {
		const char *placeholder;
		enum be_scope scope;
	} table[] = {
		{ "{disk}", BE_SCOPE_DISK }, { "{md}", BE_SCOPE_MD },     { "{fs", BE_SCOPE_FS },
		{ "{cpu}", BE_SCOPE_CPU },   { "{node}", BE_SCOPE_NODE },
	};
	for (size_t i = 0; i < BE_ARRAY_LEN(table); i++)
		if (strstr(path, table[i].placeholder))
			return table[i].scope;
	return BE_SCOPE_RUN;
}

static void write_instances(struct making *m, const char *path)
{
	enum be_scope scope = scope_of(path);
	const struct be_instances *list = &m->s->scopes->of[scope];
	for (size_t i = 0; i < list->n; i++) {
		const char *missing = NULL;
		be_autofree char *pattern = be_scope_expand(m->s->scopes, scope, &list->v[i], path, &missing);
		if (pattern)
			write_values(m, pattern);
	}
}

/* sysctl: kernel.sched_autogroup_enabled is /proc/sys/kernel/sched_autogroup_enabled; a slash stays one. */
static char *sysctl_path(const char *name)
{
	char *path = be_strf("/proc/sys/%s", name);
	if (!strchr(name, '/'))
		for (char *p = path + strlen("/proc/sys/"); *p; p++)
			if (*p == '.')
				*p = '/';
	return path;
}

static void setting_paths(const struct be_node *setting, struct be_strv *paths)
{
	const char *kind = be_get_str(setting, "kind", "");
	if (be_streq(kind, "sysctl"))
		be_strv_take(paths, sysctl_path(be_get_str(setting, "name", "")));
	else if (be_streq(kind, "cpufreq"))
		be_strv_add(paths, "/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor");
	else
		be_get_strv(setting, "path", paths);
}

/* Why the setting was not made everywhere, or NULL. The caller frees. */
static char *problem(const struct making *m, const struct be_strv *paths)
{
	if (m->failed > 1)
		return be_strf("%s; and %zu more like it", m->why, m->failed - 1);
	if (m->failed)
		return be_strdup(m->why);
	if (m->written)
		return NULL;
	if (be_streq(be_get_str(m->setting, "kind", ""), "cpufreq"))
		return be_strdup("this machine has no cpufreq");
	return be_strf("this kernel has no %s", paths->n ? paths->v[0] : "such setting");
}

/* Notes a setting that could not be made; an error only where the plan refuses to go on without it. */
static int differs(const struct making *m, const char *why, struct be_error *err)
{
	const char *value = m->value ? m->value : be_get_str(m->setting, "value", "a value");
	be_log("%s: %s asked, %s", topic(m->setting), value, why);
	be_deviation(m->s->deviations, topic(m->setting), "%s asked, %s", value, why);
	if (!be_get_bool(m->setting, "required", false) || !be_streq(be_get_str(m->s->plan, "expect", NULL), "refuse"))
		return 0;
	be_fail(err, "%s: %s asked, %s", topic(m->setting), value, why);
	err->status = BE_DIFFERS;
	return -1;
}

static int apply(const struct be_settings *s, const struct be_node *setting, struct be_error *err)
{
	struct making m = { .s = s, .setting = setting };
	be_autostrv struct be_strv paths = { 0 };
	setting_paths(setting, &paths);
	/* Of several paths the first that exists counts: kernels differ in where a switch lies. */
	for (size_t i = 0; i < paths.n && !m.written; i++)
		write_instances(&m, paths.v[i]);
	be_autofree char *why = problem(&m, &paths);
	int rc = why ? differs(&m, why, err) : 0;
	free(m.value);
	free(m.why);
	return rc;
}

int be_settings_apply(const struct be_settings *s, const char *after, struct be_error *err)
{
	const struct be_node *list = be_get(s->plan, "settings");
	for (size_t i = 0; list && i < list->n; i++)
		if (be_streq(be_get_str(list->items[i], "after", NULL), after) && apply(s, list->items[i], err) != 0)
			return -1;
	return 0;
}
