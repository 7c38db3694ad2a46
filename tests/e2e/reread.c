/*
 * Every file-backed factor a second time: a plain shell in the guest reads what the catalogue names, and what it read
 * is compared with what init observed. Where init says that there is nothing to observe, the shell must find nothing
 * either.
 */
#include "lab.h"

#include <regex.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "factor.h"

/* Instances of each scope on the machine of this test, as the plan calls them and as the shell finds them. */
static const struct {
	const char *scope, *instance, *word; /* word: what stands for the placeholder in the shell */
} instances[] = {
	{ "run", "", "" },        { "disk", "disk0", "$d0" }, { "disk", "disk1", "$d1" },
	{ "disk", "md0", "md0" }, { "md", "md0", "md0" },     { "fs", "/fs/md0", "$u" },
	{ "cpu", "0", "0" },      { "cpu", "1", "1" },        { "node", "0", "0" },
};

static const char prologue[] =
	"whole() { d=$(readlink -f /dev/disk/by-id/$1); d=${d##*/}; echo ${d%%[0-9]*}; }\n"
	"d0=$(whole ata-HDD_A-part1); d1=$(whole ata-HDD_B-part1)\n"
	"for u in /sys/fs/btrfs/*-*; do u=${u##*/}; done\n"
	"say() { printf '\\n== %s\\n' \"$1\"; }\n"
	/* one FILE...: the first that exists, or how reading it fails */
	"one() { for f; do if [ -e \"$f\" ]; then cat \"$f\" 2>/dev/null || echo '!unreadable'; return; fi; done; "
	"echo '!missing'; }\n"
	/* all FILE...: NAME=TEXT of each that exists */
	"all() { for f; do [ -f \"$f\" ] && echo \"$f=$(cat \"$f\" 2>/dev/null)\"; done; }\n";

/* The path with the shell's words in place of the catalogue's placeholders. */
static char *shell_path(const char *path, size_t instance)
{
	static const char *const names[] = { "{disk}", "{md}", "{fsuuid}", "{cpu}", "{node}" };
	be_autobuf struct be_buf out = { 0 };
	for (const char *p = path; *p;) {
		size_t n = 0;
		for (size_t i = 0; i < BE_ARRAY_LEN(names) && !n; i++)
			if (be_starts(p, names[i]))
				n = strlen(names[i]);
		if (n)
			be_buf_adds(&out, instances[instance].word);
		else
			be_buf_addc(&out, *p);
		p += n ? n : 1;
	}
	return be_buf_steal(&out);
}

static bool is_kind(const struct be_node *factor, const char *kind)
{
	return strcmp(be_get_str(be_get(factor, "observe"), "kind", ""), kind) == 0;
}

/* What this test reads again; a list of names below a directory or a pattern has no content to compare. */
static bool is_file_backed(const struct be_node *factor)
{
	return is_kind(factor, "file") || is_kind(factor, "file-field") ||
	       (is_kind(factor, "directory") && be_get_bool(be_get(factor, "observe"), "values", false));
}

static void add_command(struct be_buf *script, const struct be_node *factor, size_t instance)
{
	be_autostrv struct be_strv paths = { 0 };
	be_get_strv(be_get(factor, "observe"), "path", &paths);
	be_buf_addf(script, "    say '%s %s'; %s", be_get_str(factor, "name", ""), instances[instance].instance,
		    is_kind(factor, "directory") ? "all" : "one");
	for (size_t i = 0; i < paths.n; i++) {
		be_autofree char *path = shell_path(paths.v[i], instance);
		be_buf_addf(script, " %s%s", path, is_kind(factor, "directory") ? "/*" : "");
	}
	be_buf_addc(script, '\n');
}

static char *make_job(const struct be_node *factors)
{
	be_autobuf struct be_buf job = { 0 };
	be_buf_adds(&job, "testcase: mytest\nlkp_rules: 2023-07-06\ndisk: 3HDD\nmd: RAID5\nfs: btrfs\nmytest:\n"
			  "  packages: [dash, coreutils]\n  argv:\n  - sh\n  - -c\n  - |\n");
	be_autostrv struct be_strv lines = { 0 };
	be_strv_split(&lines, prologue, "\n");
	for (size_t i = 0; i < lines.n; i++)
		be_buf_addf(&job, "    %s\n", lines.v[i]);
	for (size_t i = 0; i < factors->n; i++)
		for (size_t k = 0; k < BE_ARRAY_LEN(instances); k++)
			if (is_file_backed(factors->items[i]) &&
			    strcmp(be_get_str(factors->items[i], "scope", ""), instances[k].scope) == 0)
				add_command(&job, factors->items[i], k);
	return be_buf_steal(&job);
}

/* What the shell printed under "== NAME INSTANCE"; the caller frees. NULL when it printed nothing of the kind. */
static char *section(const char *output, const char *name, const char *instance)
{
	be_autofree char *head = be_strf("== %s %s\n", name, instance);
	const char *start = strstr(output, head);
	if (!start)
		return NULL;
	start += strlen(head);
	const char *end = strstr(start, "\n== ");
	return end ? be_strndup(start, (size_t)(end - start)) : be_strdup(start);
}

/* The value behind `FIELD:` or `FIELD ` in the first line that begins with it. */
static char *field_of(const char *text, const char *field)
{
	be_autostrv struct be_strv lines = { 0 };
	be_strv_split(&lines, text, "\n");
	for (size_t i = 0; i < lines.n; i++) {
		const char *rest = lines.v[i] + strlen(field);
		if (!be_starts(lines.v[i], field) || !strchr(" \t:", *rest) || !*rest)
			continue;
		rest += strspn(rest, " \t:");
		return be_strdup(rest);
	}
	return NULL;
}

static char *bracketed(const char *text)
{
	const char *open = strchr(text, '['), *close = open ? strchr(open, ']') : NULL;
	return close ? be_strndup(open + 1, (size_t)(close - open - 1)) : NULL;
}

static char *matched(const char *text, const char *pattern)
{
	regex_t regex;
	regmatch_t m[2];
	cr_assert_eq(regcomp(&regex, pattern, REG_EXTENDED), 0, "%s", pattern);
	char *group = NULL;
	if (regexec(&regex, text, 2, m, 0) == 0)
		group = be_strndup(text + m[1].rm_so, (size_t)(m[1].rm_eo - m[1].rm_so));
	regfree(&regex);
	return group;
}

static char *in_bytes(const char *text, const char *unit)
{
	long long factor = strcmp(unit, "kB") == 0 ? 1024 : strcmp(unit, "sectors") == 0 ? 512 : 4096;
	return be_strf("%lld", strtoll(text, NULL, 10) * factor);
}

/* What the catalogue makes of the file's text, by its own rules; NULL for nothing. */
static char *interpret(const struct be_node *observe, const char *text, const char *instance)
{
	const char *match = be_get_str(observe, "match", NULL), *unit = be_get_str(observe, "unit", NULL);
	const char *field = be_get_str(observe, "field", NULL), *select = be_get_str(observe, "select", NULL);
	if (be_starts(text, "!missing") || be_starts(text, "!unreadable"))
		return NULL;
	be_autofree char *value = NULL;
	if (field) {
		be_autofree char *node = be_strf("Node %s %s", instance, field + strlen("Node {node} "));
		value = field_of(text, be_starts(field, "Node {node} ") ? node : field);
	} else if (match) {
		value = matched(text, match);
	} else if (select) {
		value = bracketed(text);
	} else {
		value = be_strdup(text);
	}
	if (!value)
		return NULL;
	return unit ? in_bytes(value, unit) : be_strdup(be_trim(value));
}

/* Figures that go on changing between the two readings. */
static bool changes_by_itself(const char *name)
{
	static const char *const names[] = { "memory.available_at_start",     "memory.cache_per_node",
					     "memory.free_per_node",          "rootfs.node_placement",
					     "run.first_boot_seconds",        "vm.dirty_at_start",
					     "vm.dirty_background_threshold", "vm.dirty_threshold",
					     "vm.writeback_at_start" };
	for (size_t i = 0; i < BE_ARRAY_LEN(names); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* Both are whole numbers; large ones agree within a factor of two, which tells bytes from pages and kilobytes. */
static void compare_changing(const char *name, const char *observed, const char *read)
{
	char *end_observed, *end_read;
	double a = strtod(observed, &end_observed), b = strtod(read, &end_read);
	bool large = a > 1 << 26 || b > 1 << 26;
	cr_expect(*observed && !*end_observed && *read && !*end_read && a >= 0 && b >= 0 &&
			  (!large || (a < 2 * b && b < 2 * a)),
		  "%s: \"%s\", the shell \"%s\"", name, observed, read);
}

static const struct be_node *of_instance(const struct be_node *observed, const char *instance)
{
	const struct be_node *own = be_get(observed, instance);
	return own ? own : observed;
}

/* A directory's values: NAME=TEXT lines of the shell against the observed map. */
static void compare_map(const char *name, const struct be_node *observed, const char *text)
{
	be_autostrv struct be_strv lines = { 0 };
	be_strv_split(&lines, text, "\n");
	for (size_t i = 0; i < lines.n; i++) {
		char *equals = strchr(lines.v[i], '=');
		if (!equals)
			continue;
		*equals = '\0';
		const char *slash = strrchr(lines.v[i], '/'), *key = slash ? slash + 1 : lines.v[i];
		const char *found = be_get_str(observed, key, "nothing");
		cr_expect_str_eq(found, equals + 1, "%s %s: \"%s\", the shell \"%s\"", name, key, found, equals + 1);
	}
}

/* Compares one factor of one instance. Returns whether a value was compared with a value. */
static bool compare(const struct lab *lab, const struct be_node *factor, size_t k, const char *output)
{
	const char *name = be_get_str(factor, "name", ""), *instance = instances[k].instance;
	const struct be_node *entry = lab_factor(lab, name), *observe = be_get(factor, "observe");
	const char *verdict = be_get_str(entry, "verdict", ""), *absent = be_get_str(observe, "absent", NULL);
	const struct be_node *value = of_instance(be_get(entry, "observed"), instance);
	be_autofree char *text = section(output, name, instance);
	cr_assert_not_null(text, "the shell read no %s %s", name, instance);
	if (is_kind(factor, "directory")) {
		compare_map(name, value, text);
		return value != NULL;
	}
	be_autofree char *read = interpret(observe, text, instance);
	if (!value || value->kind != BE_SCALAR || be_starts(value->text, "not observable: ")) {
		/* `only:` makes a factor not applicable where the files are there all the same. */
		if (!be_get(observe, "only") && !be_get(factor, "only"))
			cr_expect_null(read, "%s %s: %s, and the shell reads \"%s\"", name, instance, verdict, read);
		return false;
	}
	if (!read) {
		cr_expect(absent && strcmp(value->text, absent) == 0, "%s %s: \"%s\", and the shell reads nothing: %s",
			  name, instance, value->text, text);
		return false;
	}
	if (changes_by_itself(name))
		compare_changing(name, value->text, read);
	else
		cr_expect_str_eq(value->text, read, "%s %s: \"%s\", the shell \"%s\"", name, instance, value->text,
				 read);
	return true;
}

#define HDDS                                                                                  \
	"nr_cpu: 2\nmemory: 2G\nnr_node: 1\nnr_hdd_partitions: 3\n"                           \
	"hdd_partitions: [/dev/disk/by-id/ata-HDD_A-part1, /dev/disk/by-id/ata-HDD_B-part1, " \
	"/dev/disk/by-id/ata-HDD_C-part1]\n"                                                  \
	"disks:\n"                                                                            \
	"  ata-HDD_A: {size: 1G, rotational: true}\n"                                         \
	"  ata-HDD_B: {size: 1G, rotational: true}\n"                                         \
	"  ata-HDD_C: {size: 1G, rotational: true}\n"

Test(e2e, reread)
{
	struct be_error err = BE_ERROR_INIT;
	be_autonode struct be_node *factors = be_factors_load("recipes", &err);
	cr_assert_not_null(factors, "%s", err.text);
	be_autofree char *job = make_job(factors);
	struct lab lab = { .name = "reread", .more = job, .host = HDDS };
	lab_run(&lab);
	lab_expect_state(&lab, "done");
	be_autofree char *path = be_strf("%s/workload/mytest.out", lab.result);
	be_autobuf struct be_buf output = { 0 };
	cr_assert_eq(be_read_file(path, 4 << 20, &output, &err), 0, "%s", err.text);
	int compared = 0;
	for (size_t i = 0; i < factors->n; i++)
		for (size_t k = 0; k < BE_ARRAY_LEN(instances); k++)
			if (is_file_backed(factors->items[i]) &&
			    strcmp(be_get_str(factors->items[i], "scope", ""), instances[k].scope) == 0)
				compared += compare(&lab, factors->items[i], k, output.data);
	fprintf(stderr, "e2e: reread: %d values were read twice\n", compared);
	cr_expect_gt(compared, 100);
	lab_done(&lab);
}
