/*
 * The transcript: what LKP's own reproduce files show, in running order. What a program of ours does in another way (no
 * answer is piped into mdadm, nothing is wiped unasked) is a comment.
 */
#include <string.h>

#include "plan.h"

static void command(struct be_buf *out, const struct be_node *argv)
{
	for (size_t i = 0; argv && i < argv->n; i++) {
		if (i)
			be_buf_addc(out, ' ');
		be_buf_add_shell(out, argv->items[i]->text);
	}
}

static void line(struct be_buf *out, const struct be_node *argv)
{
	command(out, argv);
	be_buf_addc(out, '\n');
}

static void comment(struct be_buf *out, const char *text)
{
	be_buf_adds(out, "# ");
	for (; *text; text++) {
		be_buf_addc(out, *text);
		if (*text == '\n')
			be_buf_adds(out, "# ");
	}
	be_buf_addc(out, '\n');
}

/* Without the words that stand in for LKP's piped answer. */
static void array(struct be_buf *out, const struct be_node *array)
{
	const struct be_node *argv = be_get(array, "argv");
	be_autonode struct be_node *shown = be_node_seq();
	be_autobuf struct be_buf ours = { 0 };
	for (size_t i = 0; i < argv->n; i++) {
		const char *word = argv->items[i]->text;
		if (be_starts(word, "--bitmap=") || strcmp(word, "--run") == 0)
			be_buf_addf(&ours, " %s", word);
		else
			be_add_str(shown, word);
	}
	be_buf_addf(out, "# run with%s in place of LKP's piped answer\n", ours.data);
	line(out, shown);
}

static void swaps(struct be_buf *out, const struct be_node *plan)
{
	const struct be_node *list = be_get_path(plan, "layout.swaps");
	for (size_t i = 0; list && i < list->n; i++) {
		const char *file = be_get_str(list->items[i], "file", NULL);
		if (file)
			be_buf_addf(out, "fallocate -l %s %s\n", be_get_str(list->items[i], "size", "0"), file);
		line(out, be_get(list->items[i], "mkswap"));
		be_buf_adds(out, "swapon ");
		if (be_get(list->items[i], "priority"))
			be_buf_addf(out, "-p %s ", be_get_str(list->items[i], "priority", "0"));
		be_buf_add_shell(out, file ? file : be_get_str(list->items[i], "device", ""));
		be_buf_addc(out, '\n');
	}
}

static void layout(struct be_buf *out, const struct be_node *plan)
{
	const struct be_node *load = be_get_path(plan, "layout.load"), *arrays = be_get_path(plan, "layout.arrays");
	const struct be_node *fs = be_get_path(plan, "layout.filesystems");
	for (size_t i = 0; load && i < load->n; i++)
		line(out, load->items[i]);
	for (size_t i = 0; arrays && i < arrays->n; i++)
		array(out, arrays->items[i]);
	for (size_t i = 0; fs && i < fs->n; i++)
		if (be_get(fs->items[i], "mkfs"))
			line(out, be_get(fs->items[i], "mkfs"));
	for (size_t i = 0; fs && i < fs->n; i++) {
		be_buf_adds(out, "mkdir -p ");
		be_buf_add_shell(out, be_get_str(fs->items[i], "mount", ""));
		be_buf_addc(out, '\n');
		line(out, be_get(fs->items[i], "mount_argv"));
	}
	swaps(out, plan);
}

/* One file, or every file that @path with its placeholders as `*` means: LKP sets all disks and CPUs too. */
static void write_value(struct be_buf *out, const char *path, const char *value)
{
	be_autobuf struct be_buf pattern = { 0 };
	for (const char *p = path; *p; p++) {
		const char *close = *p == '{' ? strchr(p, '}') : NULL;
		be_buf_addc(&pattern, close ? '*' : *p);
		p = close ? close : p;
	}
	bool loop = pattern.data && strchr(pattern.data, '*');
	if (loop)
		be_buf_addf(out, "for file in %s; do ", pattern.data);
	be_buf_adds(out, "echo ");
	be_buf_add_shell(out, value);
	be_buf_adds(out, " > ");
	if (loop)
		be_buf_adds(out, "\"$file\"; done");
	else
		be_buf_add_shell(out, path);
	be_buf_addc(out, '\n');
}

static void setting(struct be_buf *out, const struct be_node *s)
{
	const char *kind = be_get_str(s, "kind", ""), *value = be_get_str(s, "value", "");
	if (strcmp(kind, "cpufreq") == 0) {
		write_value(out, "/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor", value);
	} else if (strcmp(kind, "sysctl") == 0) {
		be_autofree char *path = be_strf("/proc/sys/%s", be_get_str(s, "name", ""));
		for (char *p = path + strlen("/proc/sys/"); *p; p++)
			*p = *p == '.' ? '/' : *p;
		write_value(out, path, value);
	} else {
		write_value(out, be_get_str(s, "path", ""), value);
	}
}

static void settings(struct be_buf *out, const struct be_node *plan, bool after_disks)
{
	const struct be_node *list = be_get(plan, "settings");
	for (size_t i = 0; list && i < list->n; i++)
		if (after_disks == be_streq(be_get_str(list->items[i], "after", NULL), "disks"))
			setting(out, list->items[i]);
}

static bool listed(const struct be_node *list, const char *name)
{
	for (size_t i = 0; list && i < list->n; i++)
		if (be_streq(list->items[i]->text, name))
			return true;
	return false;
}

/* Echoed line by line, or as a here-document; with a word as its end that no line of it is. */
static void file(struct be_buf *out, const char *name, const char *text, bool echoed)
{
	be_autostrv struct be_strv lines = { 0 };
	be_strv_split(&lines, text, "\n");
	for (size_t i = 0; echoed && i < lines.n; i++) {
		be_buf_adds(out, "echo ");
		be_buf_add_shell(out, lines.v[i]);
		be_buf_adds(out, i ? " >> " : " > ");
		be_buf_add_shell(out, name);
		be_buf_addc(out, '\n');
	}
	if (echoed)
		return;
	be_autofree char *end = be_strdup("EOF");
	while (be_strv_has(&lines, end)) {
		char *longer = be_strf("%sF", end);
		free(end);
		end = longer;
	}
	be_buf_adds(out, "cat > ");
	be_buf_add_shell(out, name);
	be_buf_addf(out, " <<'%s'\n%s%s%s\n", end, text, be_ends(text, "\n") || !*text ? "" : "\n", end);
}

static void input(struct be_buf *out, const char *text, bool by_lines)
{
	if (!by_lines) {
		size_t n = strlen(text);
		while (n && text[n - 1] == '\n')
			n--;
		be_autofree char *body = be_strndup(text, n);
		be_buf_adds(out, "echo ");
		be_buf_add_shell(out, body);
		be_buf_adds(out, " | ");
		return;
	}
	be_autostrv struct be_strv lines = { 0 };
	be_strv_split(&lines, text, "\n");
	be_buf_adds(out, " ( "); /* set off, as the robot prints it */
	for (size_t i = 0; i < lines.n; i++) {
		be_buf_adds(out, i ? "; echo " : "echo ");
		be_buf_add_shell(out, lines.v[i]);
	}
	be_buf_adds(out, " ) | ");
}

/* @dir is the directory that the commands before left the shell in. */
static void step(struct be_buf *out, const struct be_node *s, const char **dir)
{
	const struct be_node *style = be_get(s, "transcript"), *files = be_get(s, "files"), *env = be_get(s, "env");
	const char *hidden = be_get_str(style, "hidden", NULL), *text = be_get_str(s, "stdin", NULL);
	const char *cwd = be_get_str(s, "cwd", "/");
	if (hidden) {
		comment(out, hidden);
		return;
	}
	if (strcmp(cwd, *dir) != 0) {
		be_buf_adds(out, "cd ");
		be_buf_add_shell(out, cwd);
		be_buf_addc(out, '\n');
		*dir = cwd;
	}
	for (size_t i = 0; files && i < files->n; i++) {
		const char *name = files->keys[i];
		size_t n = strlen(cwd);
		if (n > 1 && be_starts(name, cwd) && name[n] == '/')
			name += n + 1;
		file(out, name, files->items[i]->text, listed(be_get(style, "echo"), name));
	}
	bool background = strcmp(be_get_str(s, "role", "run"), "daemon") == 0 || be_get_int(s, "copies", 1) > 1;
	for (int64_t i = 0; i < be_get_int(s, "copies", 1); i++) {
		if (text)
			input(out, text, be_streq(be_get_str(style, "stdin", NULL), "lines"));
		for (size_t k = 0; env && k < env->n; k++) {
			be_buf_addf(out, "%s=", env->keys[k]);
			be_buf_add_shell(out, env->items[k]->text);
			be_buf_addc(out, ' ');
		}
		command(out, be_get(s, "argv"));
		be_buf_adds(out, background ? " &\n" : "\n");
	}
	if (be_get_int(s, "copies", 1) > 1)
		be_buf_adds(out, "wait\n");
}

int be_plan_shell(const struct be_node *plan, struct be_buf *out, struct be_error *err)
{
	const struct be_node *steps = be_get_path(plan, "workload.steps");
	if (!be_get(plan, "layout") || !be_get(plan, "workload"))
		return be_fail(err, "this is no plan: it has no layout and workload");
	settings(out, plan, false);
	layout(out, plan);
	settings(out, plan, true);
	if (be_get_bool(be_get(plan, "workload"), "drop_caches", false))
		be_buf_adds(out, "sync\necho 3 > /proc/sys/vm/drop_caches\n");
	const char *dir = "/";
	for (size_t i = 0; steps && i < steps->n; i++)
		step(out, steps->items[i], &dir);
	return 0;
}
