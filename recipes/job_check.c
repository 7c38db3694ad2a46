/* What is odd in a job: keys that nothing knows, and what an expanded job loses by --compatible. */
#include "job_parts.h"

#include <string.h>

#define MAX_UNKNOWN 100u /* warnings of one document; what comes after is only counted */

struct check {
	const struct be_source *source;
	const char *where; /* of a setting, which has no source */
	const struct be_keys *keys;
	struct be_strv *warnings;
	unsigned unknown;
};

static void warn(struct check *check, const struct be_node *map, size_t i, const char *holder, const char *name,
		 const char *nearest)
{
	if (++check->unknown > MAX_UNKNOWN || !check->warnings)
		return;
	be_autofree char *where = check->where ? be_strdup(check->where) : be_source_key_where(check->source, map, i);
	be_autobuf struct be_buf text = { 0 };
	be_buf_adds(&text, where);
	if (holder)
		be_buf_addf(&text, ": %s has no option \"%.80s\"", holder, name);
	else
		be_buf_addf(&text, ": nothing knows the key \"%.80s\"", name);
	if (nearest)
		be_buf_addf(&text, "; is it \"%s\"?", nearest);
	be_strv_take(check->warnings, be_buf_steal(&text));
}

/* Blocks of a job script: `if role server:`, `while ...:`, `script x:`, `call x`. */
static bool is_block(const char *key)
{
	static const char *const words[] = { "if ", "for ", "while ", "until ", "script ", "function ", "call " };
	for (size_t i = 0; i < BE_ARRAY_LEN(words); i++)
		if (be_starts(key, words[i]))
			return true;
	return false;
}

/* `fsmark.test_size+`: the name that counts is fsmark. */
static char *first_name(const struct check *check, const char *key)
{
	size_t n = strlen(key);
	if (n > 1 && (key[n - 1] == '+' || key[n - 1] == '-'))
		n--;
	char *name = be_strndup(key, n);
	char *dot = be_key_find(check->keys, name) ? NULL : strchr(name, '.');
	if (dot)
		*dot = '\0';
	return name;
}

static void check_map(struct check *check, const struct be_node *map);

static void check_options(struct check *check, const struct be_node *map, const struct be_key *program)
{
	for (size_t i = 0; i < map->n; i++) {
		const struct be_key *key = be_key_find(check->keys, map->keys[i]);
		if (key && be_key_declared_by(key, program->program))
			continue;
		/* A program below another one is run by it, as in `netserver: {netperf: ...}`. */
		if (key && (key->uses & (BE_KEY_PROGRAM | BE_KEY_MONITOR)))
			continue;
		const char *nearest = check->unknown < MAX_UNKNOWN
					      ? be_key_nearest_option(check->keys, map->keys[i], program->program)
					      : NULL;
		warn(check, map, i, program->name, map->keys[i], nearest);
	}
}

/* `fsmark.filesize: 4M`, `cgroup2.memory.high: 1G`: @option is what stands behind the program's name. */
static void check_dotted(struct check *check, const struct be_node *map, size_t i, const struct be_key *program,
			 const char *option)
{
	size_t n = strlen(option);
	be_autofree char *whole = be_strndup(option, n - (n > 1 && strchr("+-", option[n - 1])));
	be_autofree char *first = be_strndup(whole, strcspn(whole, "."));
	const char *const names[] = { whole, first };
	for (size_t k = 0; k < BE_ARRAY_LEN(names); k++) {
		const struct be_key *key = be_key_find(check->keys, names[k]);
		if (key && (be_key_declared_by(key, program->program) || (key->uses & BE_KEY_PROGRAM)))
			return;
	}
	warn(check, map, i, program->name, whole,
	     check->unknown < MAX_UNKNOWN ? be_key_nearest_option(check->keys, whole, program->program) : NULL);
}

static void check_key(struct check *check, const struct be_node *map, size_t i)
{
	const struct be_node *value = map->items[i];
	if (is_block(map->keys[i])) {
		if (value->kind == BE_MAP)
			check_map(check, value);
		return;
	}
	be_autofree char *name = first_name(check, map->keys[i]);
	const struct be_key *key = be_key_find(check->keys, name);
	if (!key && !be_starts(name, "need_"))
		warn(check, map, i, NULL, map->keys[i],
		     check->unknown < MAX_UNKNOWN ? be_key_nearest(check->keys, name, BE_KEY_ANY) : NULL);
	else if (key && (key->uses & BE_KEY_PROGRAM) && value->kind == BE_MAP && strcmp(name, map->keys[i]) == 0)
		check_options(check, value, key);
	else if (key && (key->uses & BE_KEY_PROGRAM) && map->keys[i][strlen(name)] == '.')
		check_dotted(check, map, i, key, map->keys[i] + strlen(name) + 1);
}

static void check_map(struct check *check, const struct be_node *map)
{
	for (size_t i = 0; i < map->n; i++)
		check_key(check, map, i);
}

unsigned be_job_check_keys(const struct be_source *source, const struct be_node *doc, const struct be_keys *keys,
			   struct be_strv *warnings)
{
	struct check check = { .source = source, .keys = keys, .warnings = warnings };
	if (doc->kind == BE_MAP)
		check_map(&check, doc);
	if (check.unknown > MAX_UNKNOWN && warnings)
		be_strv_addf(warnings, "%s: %u more keys that nothing knows", be_where(doc),
			     check.unknown - MAX_UNKNOWN);
	return check.unknown;
}

unsigned be_job_check_setting(const char *where, const struct be_node *setting, const struct be_keys *keys,
			      struct be_strv *warnings)
{
	struct check check = { .where = where, .keys = keys, .warnings = warnings };
	check_map(&check, setting);
	return check.unknown;
}

bool be_job_is_expanded(const struct be_node *job)
{
	static const char *const marks[] = { "result_root", "_rt", "submit_id", "job_file" };
	for (size_t i = 0; i < BE_ARRAY_LEN(marks); i++)
		if (be_get(job, marks[i]))
			return true;
	return false;
}

static const struct be_section *section_of(const struct be_source *source, unsigned line)
{
	size_t low = 0, high = source->n_sections; /* sections before low begin at or before the line */
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (source->sections[middle].line <= line)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &source->sections[low - 1] : NULL;
}

void be_job_keep_own(struct be_node *job, const struct be_source *source, const struct be_keys *keys,
		     struct be_strv *warnings)
{
	bool marked = false;
	for (size_t i = 0; i < source->n_sections; i++)
		marked = marked || be_ends(source->sections[i].title, ".yaml");
	if (!marked) {
		be_strv_addf(warnings, "%s: no section says what came from the job: all keys are kept", be_where(job));
		return;
	}
	be_autobuf struct be_buf dropped = { 0 };
	for (size_t i = job->n; i-- > 0;) {
		const struct be_section *section = section_of(source, job->key_lines ? job->key_lines[i] : 0);
		const struct be_key *key = be_key_find(keys, job->keys[i]);
		bool machine = key && ((key->uses & BE_KEY_PROVENANCE) ||
				       ((key->uses & BE_KEY_HOST) && !(key->uses & BE_KEY_PROGRAM)));
		if (machine || (section && be_ends(section->title, ".yaml")))
			continue;
		/* Only what would change the environment is worth a word. */
		if (key && (key->uses & BE_KEY_PROGRAM))
			be_buf_addf(&dropped, "%s%s (%s)", dropped.len ? ", " : "", job->keys[i],
				    section ? section->title : "no section");
		be_unset(job, job->keys[i]);
	}
	if (dropped.len)
		be_strv_addf(warnings, "%s: --compatible leaves out %s", be_where(job), dropped.data);
}
