/* The observe kinds of SCHEMA.md, section 3: how to look, as far as it is data. Probes are in probes*.c. */
#include <errno.h>
#include <libmount/libmount.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/process.h"
#include "initrd/observe/observe.h"

#define TOOL_SECONDS 10.0

/* Errors by which the kernel says that there is nothing of this kind (queue/wbt_lat_usec: EINVAL without throttling).
 */
static bool means_absent(int errnum)
{
	return errnum == ENOENT || errnum == ENOTDIR || errnum == EINVAL || errnum == ENODEV || errnum == ENXIO ||
	       errnum == EOPNOTSUPP;
}

static struct be_reading unreadable(const char *path, int errnum)
{
	if (errnum == ENOENT || errnum == ENOTDIR)
		return be_reading_absent("no such file %s", path);
	if (means_absent(errnum))
		return be_reading_absent("%s: %s", path, strerror(errnum));
	return be_reading_not_observable("%s: %s", path, strerror(errnum));
}

/* "1024 kB", "8 sectors", "5 pages" as bytes. */
static struct be_reading with_unit(const struct be_look *look, const char *text)
{
	const char *unit = be_get_str(look->how, "unit", NULL);
	int64_t factor = be_streq(unit, "kB")        ? 1024
			 : be_streq(unit, "sectors") ? 512
			 : be_streq(unit, "pages")   ? sysconf(_SC_PAGESIZE)
						     : 0;
	if (!unit)
		return be_reading_text(text);
	char *end;
	errno = 0;
	long long number = strtoll(text, &end, 10);
	if (end == text || errno || !factor)
		return be_reading_not_observable("\"%s\" is no number of %s", text, unit);
	return be_reading_value(be_node_int(number * factor));
}

/* The text that `match:`, `line:` and `select:` choose. */
static struct be_reading selected(const struct be_look *look, const char *text, const char *from)
{
	const char *pattern = be_get_str(look->how, "match", NULL);
	be_autofree char *chosen = NULL;
	if (pattern)
		chosen = be_match(pattern, text);
	else if (be_streq(be_get_str(look->how, "select", NULL), "bracket"))
		/* A file that offers no choice (queue/scheduler of a pmem disk) holds the word alone. */
		chosen = strchr(text, '[') ? be_match("\\[([^]]*)\\]", text) : be_strdup(text);
	else if (be_get(look->how, "line")) {
		be_autostrv struct be_strv lines = { 0 };
		be_strv_split(&lines, text, "\n");
		int64_t line = be_get_int(look->how, "line", 1);
		chosen = line >= 1 && (size_t)line <= lines.n ? be_strdup(lines.v[line - 1]) : NULL;
	} else {
		chosen = be_strdup(text);
	}
	if (!chosen)
		return be_reading_absent("%s: nothing in it matches", from);
	return with_unit(look, be_trim(chosen));
}

static struct be_reading look_file(const struct be_look *look)
{
	be_autofree char *text = be_observe_text(look->o, look->path);
	return text ? selected(look, text, look->path) : unreadable(look->path, errno);
}

/* The value behind @field in a line "Key: value" or "key value", or NULL. Points into @line. */
static char *field_value(char *line, const char *field)
{
	size_t len = strlen(field);
	char *colon = strchr(line, ':');
	if (!be_starts(line, field))
		return NULL;
	if (!colon)
		return line[len] == ' ' || line[len] == '\t' ? be_trim(line + len) : NULL;
	return line + len + strspn(line + len, " \t") == colon ? be_trim(colon + 1) : NULL;
}

char *be_field(const char *text, const char *field)
{
	be_autofree char *copy = be_strdup(text);
	char *save = NULL;
	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *value = field_value(line, field);
		if (value)
			return be_strdup(value);
	}
	return NULL;
}

static struct be_reading look_file_field(const struct be_look *look)
{
	be_autofree char *text = be_observe_text(look->o, look->path);
	if (!text)
		return unreadable(look->path, errno);
	const char *missing = NULL;
	be_autofree char *field =
		be_scope_expand(look->o->scopes, look->scope, look->at, be_get_str(look->how, "field", ""), &missing);
	be_autofree char *value = field ? be_field(text, field) : NULL;
	if (!value)
		return be_reading_absent("%s has no field %s", look->path, field ? field : missing);
	return with_unit(look, value);
}

/* Reads one file of a directory into @map unless it is a directory itself or not to be read. */
static void add_file(const struct be_look *look, struct be_node *map, const char *key, const char *path)
{
	be_autofree char *full = be_root_path(&look->o->root, path);
	struct stat st;
	if (stat(full, &st) != 0 || !S_ISREG(st.st_mode) || !(st.st_mode & 0444))
		return;
	be_autofree char *text = be_root_text(&look->o->root, path);
	if (text)
		be_set_str(map, key, text);
}

static struct be_reading look_directory(const struct be_look *look)
{
	be_autostrv struct be_strv names = { 0 };
	if (be_root_list(&look->o->root, look->path, &names) != 0)
		return unreadable(look->path, errno);
	const struct be_node *values = be_get(look->how, "values");
	if (!values)
		return be_reading_value(be_node_strv(&names));
	if (values->kind == BE_SEQ) {
		be_strv_free(&names);
		names = (struct be_strv){ 0 };
		be_get_strv(look->how, "values", &names);
	}
	struct be_node *map = be_node_map();
	for (size_t i = 0; i < names.n; i++) {
		be_autofree char *path = be_strf("%s/%s", look->path, names.v[i]);
		add_file(look, map, names.v[i], path);
	}
	if (map->n)
		return be_reading_value(map);
	be_node_free(map);
	return be_reading_absent("%s holds no such file", look->path);
}

/* What the star of @pattern stands for in @name, or NULL. */
static char *star(const char *name, const char *before, size_t before_len, const char *after)
{
	size_t len = strlen(name), after_len = strlen(after);
	if (len <= before_len + after_len || strncmp(name, before, before_len) != 0 || !be_ends(name, after))
		return NULL;
	return be_strndup(name + before_len, len - before_len - after_len);
}

/* Fills @map with what the one star in @path stands for -> the file's text, or nothing where only the names count. */
static bool glob_files(const struct be_look *look, bool only_names, struct be_node *map)
{
	const char *at = strchr(look->path, '*');
	if (!at)
		return false;
	const char *slash = at;
	while (slash > look->path && slash[-1] != '/')
		slash--;
	const char *rest = strchr(at, '/');
	be_autofree char *dir = be_strndup(look->path, (size_t)(slash - look->path));
	be_autofree char *after = rest ? be_strndup(at + 1, (size_t)(rest - at - 1)) : be_strdup(at + 1);
	be_autostrv struct be_strv names = { 0 };
	if (be_root_list(&look->o->root, dir, &names) != 0)
		return false;
	for (size_t i = 0; i < names.n; i++) {
		be_autofree char *key = star(names.v[i], slash, (size_t)(at - slash), after);
		be_autofree char *path = be_strf("%s%s%s", dir, names.v[i], rest ? rest : "");
		if (key && !only_names)
			add_file(look, map, key, path);
		else if (key && be_root_exists(&look->o->root, path))
			be_set_str(map, key, "");
	}
	return true;
}

static struct be_reading look_glob(const struct be_look *look)
{
	be_autonode struct be_node *map = be_node_map();
	bool count = be_get_bool(look->how, "count", false), names = be_get_bool(look->how, "names", false);
	if (!glob_files(look, count || names, map) || !map->n)
		return be_reading_absent("no such file %s", look->path);
	if (count)
		return be_reading_value(be_node_int((int64_t)map->n));
	if (names) {
		struct be_node *list = be_node_seq();
		for (size_t i = 0; i < map->n; i++)
			be_add_str(list, map->keys[i]);
		return be_reading_value(list);
	}
	return be_reading_value(be_steal(&map));
}

static struct be_reading look_statfs(const struct be_look *look)
{
	be_autofree char *full = be_root_path(&look->o->root, look->path);
	struct statfs st;
	if (statfs(full, &st) != 0)
		return unreadable(look->path, errno);
	be_autofree char *name = be_fs_name((unsigned long)st.f_type);
	return be_reading_text(name);
}

/* The mount that @path lies on: the nearest directory above it that is a mount point; the last mount there counts. */
static struct libmnt_fs *mount_of(struct libmnt_table *table, const char *path)
{
	be_autofree char *at = be_strdup(path);
	for (;;) {
		struct libmnt_fs *fs = mnt_table_find_target(table, *at ? at : "/", MNT_ITER_BACKWARD);
		char *slash = strrchr(at, '/');
		if (fs || !slash || !*at)
			return fs;
		*slash = '\0';
	}
}

static struct be_reading look_mount(const struct be_look *look)
{
	if (!look->o->mounts)
		return be_reading_not_observable("/proc/self/mountinfo cannot be read");
	struct libmnt_fs *fs = mount_of(look->o->mounts, look->path);
	if (!fs)
		return be_reading_absent("nothing is mounted on %s", look->path);
	const char *field = be_get_str(look->how, "field", "source");
	const char *text = be_streq(field, "source")          ? mnt_fs_get_source(fs)
			   : be_streq(field, "fstype")        ? mnt_fs_get_fstype(fs)
			   : be_streq(field, "options")       ? mnt_fs_get_vfs_options(fs)
			   : be_streq(field, "super_options") ? mnt_fs_get_fs_options(fs)
							      : NULL;
	if (!text)
		return be_reading_not_observable("/proc/self/mountinfo states no %s of %s", field, look->path);
	return selected(look, text, look->path);
}

/* The argument vector for this instance; false when it has no name for a placeholder. */
static bool tool_argv(const struct be_look *look, struct be_strv *argv)
{
	be_autostrv struct be_strv asked = { 0 };
	be_get_strv(look->how, "argv", &asked);
	for (size_t i = 0; i < asked.n; i++) {
		const char *missing = NULL;
		char *word = be_scope_expand(look->o->scopes, look->scope, look->at, asked.v[i], &missing);
		if (!word)
			return false;
		be_strv_take(argv, word);
	}
	return argv->n > 0;
}

/* Runs the tool and keeps what came of it: several factors are read from one output. */
static const struct be_node *tool_output(const struct be_look *look, const struct be_strv *argv)
{
	be_autofree char *command = be_argv_text(argv->v);
	const struct be_node *known = be_get(look->o->tools, command);
	if (known)
		return known;
	be_autorun struct be_run run = { .argv = argv->v, .timeout = TOOL_SECONDS };
	struct be_error err = BE_ERROR_INIT;
	struct be_node *result = be_node_map();
	if (be_run_ok(&run, &err) == 0) {
		be_set_str(result, "text", be_trim(run.out.len ? run.out.data : run.errout.data));
	} else {
		err.text[strcspn(err.text, "\n")] = '\0';
		be_set_str(result, "error", err.text);
	}
	be_set(look->o->tools, command, result);
	return result;
}

static struct be_reading look_tool(const struct be_look *look)
{
	be_autostrv struct be_strv argv = { 0 };
	if (!tool_argv(look, &argv))
		return be_reading_not_observable("%s was not found", look->at->key ? look->at->key : "the program");
	const struct be_node *output = tool_output(look, &argv);
	const char *error = be_get_str(output, "error", NULL);
	if (error)
		return be_reading_not_observable("%s", error);
	be_autofree char *text = be_strdup(be_get_str(output, "text", ""));
	if (!be_get(look->how, "match"))
		text[strcspn(text, "\n")] = '\0';
	return selected(look, text, argv.v[0]);
}

#define NOT_APPLICABLE "not applicable: " /* how the plan and the runner state that, with the reason behind it */

/* A value that somebody else stated: for a scope of several instances it may be a map by instance. */
static struct be_reading stated(const struct be_look *look, const struct be_node *values, const char *who)
{
	const char *name = be_get_str(look->how, "name", "");
	const struct be_node *value = be_get(values, name);
	if (value && value->kind == BE_MAP && look->at->key)
		value = be_get(value, look->at->key);
	if (!value)
		return be_reading_absent("%s states no %s", who, name);
	const char *text = value->kind == BE_SCALAR ? value->text : "";
	if (be_streq(text, "not applicable"))
		return be_reading_not_applicable("as %s states", who);
	if (be_starts(text, NOT_APPLICABLE))
		return be_reading_not_applicable("%s", text + strlen(NOT_APPLICABLE));
	return be_reading_value(be_node_clone(value));
}

static struct be_reading look_run(const struct be_look *look)
{
	return stated(look, look->o->facts, "the run");
}

static struct be_reading look_plan(const struct be_look *look)
{
	struct be_reading r = stated(look, be_get(look->o->plan, "built"), "the plan");
	if (r.state == BE_ABSENT) /* the planner states all that there is to state */
		r.state = BE_NOT_APPLICABLE;
	return r;
}

static struct be_reading look_none(const struct be_look *look)
{
	return be_reading_not_observable("%s", be_get_str(look->how, "reason", "the catalogue gives no reason"));
}

static struct be_reading look_probe(const struct be_look *look)
{
	const char *name = be_get_str(look->how, "name", "");
	be_look_fn probe = be_probe(name);
	return probe ? probe(look) : be_reading_not_observable("this init has no probe %s", name);
}

be_look_fn be_observe_kind(const char *kind)
{
	static const struct {
		const char *kind;
		be_look_fn look;
	} kinds[] = {
		{ "file", look_file },     { "file-field", look_file_field },
		{ "glob", look_glob },     { "directory", look_directory },
		{ "statfs", look_statfs }, { "mount", look_mount },
		{ "probe", look_probe },   { "tool", look_tool },
		{ "run", look_run },       { "plan", look_plan },
		{ "none", look_none },
	};
	for (size_t i = 0; i < BE_ARRAY_LEN(kinds); i++)
		if (be_streq(kinds[i].kind, kind))
			return kinds[i].look;
	return NULL;
}
