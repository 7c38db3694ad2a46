/* From a job file to its atomic jobs. */
#include "job.h"

#include <string.h>

#include "job_parts.h"

#define MAX_DOCUMENTS 1000u

struct load {
	const struct be_job_options *options;
	struct be_source source;
	const struct be_keys *keys;
	struct be_node **settings;
	size_t n_settings;
};

static void load_free(struct load *load)
{
	be_source_free(&load->source);
	for (size_t i = 0; i < load->n_settings; i++)
		be_node_free(load->settings[i]);
	free(load->settings);
}

static int parse_settings(struct load *load, struct be_error *err)
{
	const struct be_strv *set = load->options->set;
	for (size_t i = 0; set && i < set->n; i++) {
		struct be_node *setting = be_job_parse_setting(set->v[i], err);
		if (!setting)
			return -1;
		load->settings = be_realloc(load->settings, load->n_settings + 1, sizeof(*load->settings));
		load->settings[load->n_settings++] = setting;
	}
	return 0;
}

/* What comes through a pipe has no name of its own. */
static char *base_name(const char *path, const struct be_node *doc)
{
	if (be_starts(path, "/dev/") || be_starts(path, "/proc/"))
		return be_strdup(be_get_str(doc, "testcase", be_get_str(doc, "suite", "job")));
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	size_t n = strlen(name);
	if (be_ends(name, ".yaml"))
		n -= strlen(".yaml");
	return be_strndup(name, n);
}

static struct be_expansion expansion_of(const struct load *load, const char *base, struct be_jobs *out)
{
	return (struct be_expansion){
		.keys = load->keys,
		.machine = { .host = load->options->host, .data_dir = load->options->data_dir },
		.base = base,
		.out = out,
	};
}

static int apply_settings(const struct load *load, struct be_node *job, struct be_error *err)
{
	for (size_t i = 0; i < load->n_settings; i++)
		if (be_job_set(job, load->settings[i], load->keys, err) != 0)
			return -1;
	return 0;
}

static bool sets_a_list(const struct load *load)
{
	for (size_t i = 0; i < load->n_settings; i++)
		if (load->settings[i]->items[0]->kind == BE_SEQ)
			return true;
	return false;
}

static void add_atom(struct be_node *job, const struct load *load, const char *base, struct be_jobs *out)
{
	static const struct be_strv none;
	be_autofree bool *present = be_job_programs(job, load->keys);
	out->atoms = be_alloc(sizeof(*out->atoms));
	out->atoms[0] = (struct be_atom){ .name = be_job_name(base, job, load->keys, present, &none), .job = job };
	out->n = 1;
}

/* An expanded job is an atom already: what looks like a list or a template in it is none, but a list of a setting is.
 */
static int load_expanded(struct load *load, struct be_node **doc, struct be_jobs *out, struct be_error *err)
{
	be_autonode struct be_node *job = be_steal(doc);
	if (load->options->compatible)
		be_job_keep_own(job, &load->source, load->keys, &out->warnings);
	be_autofree char *file = base_name(load->source.path, NULL);
	be_autofree char *base = be_strdup(be_get_str(job, "testcase", be_get_str(job, "suite", file)));
	if (apply_settings(load, job, err) != 0)
		return -1;
	if (!sets_a_list(load)) {
		add_atom(be_steal(&job), load, base, out);
		return 0;
	}
	struct be_expansion x = expansion_of(load, base, out);
	int rc = be_job_expand(&x, be_steal(&job), err);
	be_node_free(x.machine.own);
	return rc;
}

static int expand_document(struct load *load, struct be_expansion *x, const struct be_node *first,
			   const struct be_node *over, struct be_error *err)
{
	be_autonode struct be_node *job = be_node_map();
	job->file = first->file;
	job->line = first->line;
	job->col = first->col;
	int rc = be_job_merge(job, first, load->keys, err);
	if (rc == 0 && over)
		rc = be_job_merge(job, over, load->keys, err);
	if (rc == 0)
		rc = apply_settings(load, job, err);
	return rc == 0 ? be_job_expand(x, be_steal(&job), err) : -1;
}

static int load_recipe(struct load *load, const struct be_node *docs, struct be_jobs *out, struct be_error *err)
{
	be_autofree char *base = base_name(load->source.path, docs->items[0]);
	struct be_expansion x = expansion_of(load, base, out);
	int rc = expand_document(load, &x, docs->items[0], NULL, err);
	for (size_t i = 1; i < docs->n && rc == 0; i++)
		if (docs->items[i]->kind == BE_MAP)
			rc = expand_document(load, &x, docs->items[0], docs->items[i], err);
	be_node_free(x.machine.own);
	return rc;
}

/* A machine and nothing to run on it: the two files were confused. */
static bool is_host_file(const struct be_node *docs, const struct be_keys *keys)
{
	const struct be_node *doc = docs->items[0];
	if (docs->n != 1 || doc->kind != BE_MAP || !(be_get(doc, "nr_cpu") || be_get(doc, "memory")))
		return false;
	for (size_t i = 0; i < doc->n; i++) {
		const struct be_key *key = be_key_find(keys, doc->keys[i]);
		bool program = key && (key->uses & BE_KEY_PROGRAM) && !(key->uses & BE_KEY_HOST);
		if (program || be_streq(doc->keys[i], "testcase") || be_streq(doc->keys[i], "suite"))
			return false;
	}
	return true;
}

/* Documents must be maps; an empty one after the first adds nothing. */
static int check_documents(const struct be_source *source, const struct be_node *docs, struct be_strv *warnings,
			   struct be_error *err)
{
	if (docs->n == 0 || docs->items[0]->kind == BE_NULL)
		return be_fail_usage(err, "%s:1:1: the file holds no job", source->path);
	if (docs->n > MAX_DOCUMENTS)
		return be_fail_usage(err, "%s: more than %u documents", be_where(docs->items[MAX_DOCUMENTS]),
				     MAX_DOCUMENTS);
	for (size_t i = 0; i < docs->n; i++) {
		const struct be_node *doc = docs->items[i];
		if (doc->kind == BE_NULL)
			be_strv_addf(warnings, "%s: an empty document", be_where(doc));
		else if (doc->kind != BE_MAP)
			return be_fail_usage(err, "%s: a job is a map of keys and values", be_where(doc));
		const char *kind = be_get_str(doc, "mkbenchenv", NULL);
		if (kind) {
			be_fail_usage(err, "%s: is a %s of mkbenchenv and no job", be_where(doc), kind);
			return be_hint(err, "give the job file that it was made of");
		}
	}
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	const struct be_atom *const *x = a, *const *y = b;
	int c = strcmp((*x)->name, (*y)->name);
	return c ? c : (*x > *y) - (*x < *y);
}

/* Cuts at 31 characters can give two jobs one name; LKP then keeps only the later one. */
static void warn_of_equal_names(struct be_jobs *jobs, const char *path)
{
	if (jobs->n < 2)
		return;
	be_autofree const struct be_atom **sorted = be_realloc(NULL, jobs->n, sizeof(*sorted));
	for (size_t i = 0; i < jobs->n; i++)
		sorted[i] = &jobs->atoms[i];
	qsort(sorted, jobs->n, sizeof(*sorted), compare_names);
	unsigned equal = 0;
	for (size_t i = 1; i < jobs->n; i++) {
		if (strcmp(sorted[i - 1]->name, sorted[i]->name) != 0 || ++equal > 3)
			continue;
		be_strv_addf(&jobs->warnings, "%s:1:1: jobs %td and %td have the same name, %s", path,
			     sorted[i - 1] - jobs->atoms + 1, sorted[i] - jobs->atoms + 1, sorted[i]->name);
	}
	if (equal > 3)
		be_strv_addf(&jobs->warnings, "%s:1:1: %u more jobs share a name with another", path, equal - 3);
}

static unsigned check_all_keys(const struct load *load, const struct be_node *docs, struct be_strv *warnings)
{
	unsigned unknown = 0;
	for (size_t i = 0; i < docs->n; i++)
		unknown += be_job_check_keys(&load->source, docs->items[i], load->keys, warnings);
	for (size_t i = 0; i < load->n_settings; i++) {
		be_autofree char *where = be_strf("--set \"%s\"", load->options->set->v[i]);
		unknown += be_job_check_setting(where, load->settings[i], load->keys, warnings);
	}
	return unknown;
}

/* Workload definitions are read only when a key asks for it: most jobs name nothing but LKP's programs. */
static int check_keys(struct load *load, const struct be_node *docs, struct be_strv *warnings, struct be_error *err)
{
	if (!check_all_keys(load, docs, NULL))
		return 0;
	load->keys = be_keys_with_workloads(load->options->data_dir, err);
	if (!load->keys)
		return -1;
	check_all_keys(load, docs, warnings);
	return 0;
}

static int load_all(struct load *load, const char *path, struct be_jobs *out, struct be_error *err)
{
	if (be_source_read(path, load->options->content, &load->source, err) != 0)
		return -1;
	out->text = be_strdup(load->source.verbatim);
	load->keys = be_keys_of(load->options->data_dir, err);
	if (!load->keys || parse_settings(load, err) != 0)
		return -1;
	be_autonode struct be_node *docs = be_source_documents(&load->source, &out->warnings, err);
	if (!docs || check_documents(&load->source, docs, &out->warnings, err) != 0)
		return -1;
	if (is_host_file(docs, load->keys)) {
		be_fail_usage(err, "%s: describes a machine and no job", path);
		return be_hint(err, "give it with --host, beside a job file");
	}
	if (check_keys(load, docs, &out->warnings, err) != 0)
		return -1;
	if (docs->n == 1 && be_job_is_expanded(docs->items[0]))
		return load_expanded(load, &docs->items[0], out, err);
	if (load_recipe(load, docs, out, err) != 0)
		return -1;
	warn_of_equal_names(out, path);
	return 0;
}

int be_jobs_load(const char *path, const struct be_job_options *options, struct be_jobs *out, struct be_error *err)
{
	struct load load = { .options = options };
	*out = (struct be_jobs){ 0 };
	int rc = load_all(&load, path, out, err);
	load_free(&load);
	return rc;
}

void be_jobs_free(struct be_jobs *jobs)
{
	free(jobs->text);
	for (size_t i = 0; i < jobs->n; i++) {
		free(jobs->atoms[i].name);
		be_node_free(jobs->atoms[i].job);
	}
	free(jobs->atoms);
	be_strv_free(&jobs->warnings);
	*jobs = (struct be_jobs){ 0 };
}
