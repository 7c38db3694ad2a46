/* A mail as a list of what it reports, each with its commit and machine. */
#include "mail_parts.h"

#include <ctype.h>
#include <string.h>

/*
 * The commit that is reported at line @number, in full: "commit: HASH ("subject")". A mail may cite an earlier report:
 * the one of the subject counts, else the last one above the line, else the first one.
 */
static char *reported_commit(const struct be_mail_lines *lines, const char *subject, int64_t number)
{
	be_autofree char *best = NULL;
	for (size_t i = 0; i < lines->n; i++) {
		const char *rest = be_mail_after(lines->v[i].text, "commit:");
		be_autofree char *commit = rest ? be_mail_commit(rest) : NULL;
		if (!commit || strlen(commit) != 40)
			continue;
		if (subject && be_starts(commit, subject))
			return be_steal(&commit);
		if (!best || lines->v[i].number <= number) {
			free(best);
			best = be_steal(&commit);
		}
	}
	return be_steal(&best);
}

/* "[blk] 8c5035dfbb: fio.read_iops ..." of a subject. */
static char *subject_commit(const struct be_mail_lines *lines)
{
	for (size_t i = 0; i < lines->n; i++) {
		for (const char *p = lines->v[i].text; (p = strchr(p, ']')); p++) {
			const char *hash = p + 1 + strspn(p + 1, " ");
			size_t n = strspn(hash, "0123456789abcdef");
			if (n >= 8 && n <= 40 && hash[n] == ':')
				return be_strndup(hash, n);
		}
	}
	return NULL;
}

/* The one of @columns that is @commit, in the longer of both spellings; NULL: none is. */
static const char *column_of(const struct be_node *columns, const char *commit)
{
	for (size_t i = 0; columns && commit && i < columns->n; i++) {
		const char *one = columns->items[i]->text;
		if (be_starts(one, commit) || be_starts(commit, one))
			return strlen(one) > strlen(commit) ? one : commit;
	}
	return NULL;
}

/*
 * The commit of a table: its own key, else the one of its columns that the mail is about, else the second of the
 * columns, which is the one under test: the first is its base. A table without columns has the mail's commit.
 */
static void set_commit(struct be_node *table, const char *reported, const char *subject)
{
	const struct be_node *columns = be_get(table, "commits");
	const char *commit = column_of(columns, reported);
	if (!commit)
		commit = column_of(columns, subject);
	if (!commit)
		commit = columns && columns->n > 1 ? columns->items[1]->text : reported ? reported : subject;
	if (commit && !be_get(table, "commit"))
		be_set(table, "commit", be_node_str(commit));
	be_unset(table, "commits");
}

/* Host keys that stand alone, as a reply lists a machine: "model: Skylake". */
static void set_host(struct be_node *table, const struct be_mail_lines *lines)
{
	static const char *const keys[] = { "model:", "nr_node:", "nr_cpu:", "memory:", "brand:", "nr_socket:" };
	int64_t number = be_get_int(table, "line", 0);
	be_autonode struct be_node *host = be_node_map();
	size_t at = 0;
	while (at < lines->n && lines->v[at].number < number)
		at++;
	/* At most 12 lines above the head, and not beyond another table's. */
	for (size_t i = at; i-- > 0 && at - i <= 12;) {
		const char *text = lines->v[i].text;
		if (strstr(text, "testcase:") || strchr(text, '%'))
			break;
		for (size_t k = 0; k < BE_ARRAY_LEN(keys); k++) {
			const char *value = be_mail_after(text, keys[k]);
			be_autofree char *key = be_strndup(keys[k], strlen(keys[k]) - 1);
			if (value && *value && !be_get(host, key))
				be_set(host, key, be_mail_value(value));
		}
	}
	if (be_get(host, "nr_cpu") && be_get(host, "memory"))
		be_set(table, "host", be_steal(&host));
}

/*
 * "lkp-snb01: Sandy Bridge-EP" and "Memory: 32G" in two lines, as mails of 2014 and 2015 have them below their table.
 */
static void set_named_host(struct be_node *table, const struct be_mail_lines *lines)
{
	const char *name = be_get_str(table, "tbox_group", NULL);
	for (size_t i = 0; name && i + 1 < lines->n; i++) {
		const char *text = lines->v[i].text, *memory = be_mail_after(lines->v[i + 1].text, "Memory:");
		size_t n = be_mail_key(text);
		if (!memory || n != strlen(name) || strncmp(text, name, n) != 0)
			continue;
		be_autofree char *size = be_strndup(memory, strcspn(memory, " "));
		struct be_node *host = be_node_map();
		be_set_str(host, "model", text + n + 1 + strspn(text + n + 1, " "));
		be_set_str(host, "memory", size);
		be_set(table, "host", host);
		return;
	}
}

/* "72 threads ... with 256G memory", wherever it stands; NULL when there is none or more than one. The caller frees. */
static char *only_machine(const struct be_mail_lines *lines)
{
	be_autobuf struct be_buf text = { 0 };
	be_autofree char *only = NULL;
	for (size_t i = 0; i < lines->n; i++)
		be_buf_addf(&text, "%s ", lines->v[i].text);
	for (const char *p = text.data; p && (p = strstr(p, " threads ")); p++) {
		const char *end = strstr(p, " memory"), *start = p;
		while (start > text.data && isdigit((unsigned char)start[-1]))
			start--;
		if (start == p || !end || end - p > 160 || !memmem(p, (size_t)(end - p), " with ", 6))
			continue;
		be_autofree char *machine = be_strndup(start, (size_t)(end + strlen(" memory") - start));
		if (only && strcmp(only, machine) != 0)
			return NULL;
		if (!only)
			only = be_steal(&machine);
	}
	return be_steal(&only);
}

static void complete(struct be_node *tables, const struct be_mail_lines *lines)
{
	be_autofree char *machine = be_mail_choices(tables) == 1 ? only_machine(lines) : NULL;
	be_autofree char *subject = subject_commit(lines);
	for (size_t i = 0; i < tables->n; i++) {
		struct be_node *table = tables->items[i];
		be_autofree char *reported = reported_commit(lines, subject, be_get_int(table, "line", 0));
		set_commit(table, reported, subject);
		if (!be_get(table, "machine") && strcmp(be_get_str(table, "form", ""), "header") == 0)
			set_host(table, lines);
		if (!be_get(table, "machine") && !be_get(table, "host"))
			set_named_host(table, lines);
		if (!be_get(table, "machine") && !be_get(table, "host") && i == 0)
			be_set_str(table, "machine", machine);
	}
}

int be_mail_rules_load(const char *data_dir, struct be_mail_rules *out, struct be_error *err)
{
	be_autofree char *mail = be_strf("%s/mail.yaml", data_dir);
	be_autofree char *programs = be_strf("%s/programs.yaml", data_dir);
	*out = (struct be_mail_rules){ 0 };
	out->mail = be_node_load_file(mail, err);
	out->programs = out->mail ? be_node_load_file(programs, err) : NULL;
	return out->programs ? 0 : -1;
}

void be_mail_rules_free(struct be_mail_rules *rules)
{
	be_node_free(rules->mail);
	be_node_free(rules->programs);
	*rules = (struct be_mail_rules){ 0 };
}

static struct be_node *find_tables(const struct be_mail_lines *lines, const struct be_node *rules, struct be_error *err)
{
	be_autonode struct be_node *blocks = be_node_seq(), *headers = be_node_seq();
	be_autonode struct be_node *boxes = be_node_seq(), *paths = be_node_seq();
	be_mail_find_blocks(lines, blocks);
	be_mail_find_headers(lines, headers);
	be_mail_find_paths(lines, paths);
	be_mail_find_boxes(lines, boxes);
	be_autonode struct be_node *tables = be_mail_merge(blocks, headers, paths);
	if (!tables->n && be_mail_find_prose(lines, be_get(rules, "prose"), tables, err) != 0)
		return NULL;
	be_mail_add_boxes(tables, boxes);
	return be_steal(&tables);
}

struct be_node *be_mail_read(const char *text, size_t len, const struct be_mail_rules *rules, struct be_error *err)
{
	if (len > BE_MAIL_MAX_BYTES) {
		be_fail_usage(err, "the mail has %zu bytes; %u are the limit", len, BE_MAIL_MAX_BYTES);
		return NULL;
	}
	be_automaillines struct be_mail_lines lines = { 0 };
	be_mail_lines_cut(text, len, &lines);
	be_autonode struct be_node *tables = find_tables(&lines, rules->mail, err);
	if (!tables)
		return NULL;
	if (!tables->n) {
		be_fail_usage(err, "no parameter block and no table head of the kernel test robot stands in it");
		be_hint(err, "A block begins with \"testcase:\", a head joins keys by slashes and ends in "
			     "\"testcase:\". Write a job file by hand, or give the report's own mail.");
		return NULL;
	}
	complete(tables, &lines);
	return be_steal(&tables);
}

size_t be_mail_choices(const struct be_node *tables)
{
	size_t n = 0;
	for (size_t i = 0; i < tables->n; i++)
		n += strcmp(be_get_str(tables->items[i], "form", ""), "box") != 0;
	return n;
}

char *be_mail_title(const struct be_node *table)
{
	be_autobuf struct be_buf title = { 0 };
	be_buf_adds(&title, be_get_str(table, "testcase", "(no testcase)"));
	const struct be_node *parameters = be_get(table, "parameters");
	for (size_t i = 0; parameters && i < parameters->n; i++)
		be_buf_addf(&title, " %s=%s", parameters->keys[i], parameters->items[i]->text);
	const char *machine = be_get_str(table, "tbox_group", be_get_str(table, "machine", NULL));
	if (machine)
		be_buf_addf(&title, " on %s", machine);
	return be_buf_steal(&title);
}
