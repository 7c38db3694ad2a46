#include "host.h"

#include <string.h>

#include "base/file.h"
#include "job_keys.h"
#include "job_source.h"
#include "layout.h"
#include "units.h"

/* A value that was set on the command line has no position. */
static void warn_at(struct be_strv *warnings, const struct be_node *node, const char *fmt, ...) BE_PRINTF(3, 4);
static void warn_at(struct be_strv *warnings, const struct be_node *node, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	be_autofree char *text = be_vstrf(fmt, args);
	va_end(args);
	const char *where = be_where(node);
	be_strv_addf(warnings, "%s: %s", *where ? where : "--set", text);
}

static void check_keys(const struct be_source *source, const struct be_node *host, const struct be_keys *keys,
		       struct be_strv *warnings)
{
	for (size_t i = 0; i < host->n; i++) {
		const char *name = host->keys[i];
		/* A host file may hold any key of a job: it fills the job's gaps. */
		if (be_key_find(keys, name) || be_starts(name, "need_"))
			continue;
		const char *nearest = be_key_nearest(keys, name, BE_KEY_HOST);
		be_autofree char *where = be_source_key_where(source, host, i);
		be_strv_addf(warnings, "%s: nothing knows the key \"%.80s\"%s%s%s", where, name,
			     nearest ? "; is it \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
	}
}

static void check_numbers(const struct be_node *host, struct be_strv *warnings)
{
	static const char *const counts[] = { "nr_cpu", "nr_node", "nr_socket", "nr_hdd_partitions",
					      "nr_ssd_partitions" };
	int64_t bytes;
	for (size_t i = 0; i < BE_ARRAY_LEN(counts); i++) {
		const struct be_node *node = be_get(host, counts[i]);
		if (node && node->kind != BE_NULL && be_get_int(host, counts[i], -1) < 0)
			warn_at(warnings, node, "%s is no number", counts[i]);
	}
	const struct be_node *memory = be_get(host, "memory");
	if (memory && (memory->kind != BE_SCALAR || !be_parse_size(memory->text, &bytes)))
		warn_at(warnings, memory, "memory is no size, such as 16G");
	if (!memory)
		warn_at(warnings, host, "the host file does not state memory");
	if (!be_get(host, "nr_cpu"))
		warn_at(warnings, host, "the host file does not state nr_cpu");
}

static void check_partitions(const struct be_node *host, const char *key, const char *count_key,
			     struct be_strv *warnings)
{
	const struct be_node *node = be_get(host, key);
	be_autostrv struct be_strv listed = { 0 }, paths = { 0 };
	be_get_strv(host, key, &listed);
	for (size_t i = 0; i < listed.n; i++)
		be_strv_split(&paths, listed.v[i], " \t\n");
	bool glob = false;
	for (size_t i = 0; i < paths.n; i++) {
		glob = glob || strpbrk(paths.v[i], "*?[");
		be_autofree char *tag = be_layout_tag_path(paths.v[i]);
		if (*paths.v[i] != '/' && !tag)
			warn_at(warnings, node, "\"%.80s\" is no path of a device", paths.v[i]);
	}
	int64_t count = be_get_int(host, count_key, -1);
	if (glob && count < 0)
		warn_at(warnings, node, "%s has a pattern, and %s does not say how many it means", key, count_key);
	if (!glob && paths.n && count >= 0 && (size_t)count != paths.n)
		warn_at(warnings, node, "%s names %zu, %s says %lld", key, paths.n, count_key, (long long)count);
	if (!paths.n && count > 0)
		warn_at(warnings, be_get(host, count_key), "%s says %lld, and %s names none", count_key,
			(long long)count, key);
}

/* What is odd in a host is said, not refused: old files are what they are. */
static void check_host(const struct be_node *host, struct be_strv *warnings)
{
	check_numbers(host, warnings);
	check_partitions(host, "hdd_partitions", "nr_hdd_partitions", warnings);
	check_partitions(host, "ssd_partitions", "nr_ssd_partitions", warnings);
}

static struct be_node *read_host(const char *path, const char *data_dir, struct be_strv *warnings, char **text,
				 struct be_error *err)
{
	be_autosource struct be_source source = { 0 };
	if (be_source_read(path, NULL, &source, err) != 0)
		return NULL;
	const struct be_keys *keys = be_keys_of(data_dir, err);
	be_autonode struct be_node *docs = keys ? be_source_documents(&source, warnings, err) : NULL;
	if (!docs)
		return NULL;
	if (docs->n != 1 || docs->items[0]->kind != BE_MAP) {
		be_fail_usage(err, "%s:1:1: a host file is one map of keys and values", path);
		return NULL;
	}
	check_keys(&source, docs->items[0], keys, warnings);
	check_host(docs->items[0], warnings);
	if (text)
		*text = be_steal(&source.verbatim);
	return be_steal(&docs->items[0]);
}

/* data_dir/hosts/NAME, with or without .yaml; NULL when there is none. */
static char *shipped_host(const char *name, const char *data_dir)
{
	static const char *const endings[] = { "", ".yaml" };
	if (!*name || strchr(name, '/') || *name == '.')
		return NULL;
	for (size_t i = 0; i < BE_ARRAY_LEN(endings); i++) {
		char *path = be_strf("%s/hosts/%s%s", data_dir, name, endings[i]);
		if (be_exists(path))
			return path;
		free(path);
	}
	return NULL;
}

static int fail_missing(const char *name, const char *data_dir, struct be_error *err)
{
	be_fail_usage(err, "%s: no such host file, and none of this name in %s/hosts", name, data_dir);
	be_autofree char *folder = be_strf("%s/hosts", data_dir);
	struct be_root root = { .prefix = folder };
	be_autostrv struct be_strv names = { 0 };
	const char *best = NULL;
	unsigned distance = 4;
	if (be_root_list(&root, "/", &names) == 0)
		for (size_t i = 0; i < names.n; i++) {
			unsigned d = be_distance(name, names.v[i]);
			if (d < distance) {
				distance = d;
				best = names.v[i];
			}
		}
	if (best)
		return be_hint(err, "is it %s?", best);
	return be_hint(err, "--host names a file, or a machine whose file is shipped");
}

struct be_node *be_host_load(const char *name, const char *data_dir, struct be_strv *warnings, char **text, char **path,
			     struct be_error *err)
{
	if (!*name) {
		be_fail_usage(err, "the name of the host file is empty");
		be_hint(err, "--host names a file, or a machine whose file is shipped");
		return NULL;
	}
	be_autofree char *found = be_exists(name) ? be_strdup(name) : shipped_host(name, data_dir);
	if (!found) {
		fail_missing(name, data_dir, err);
		return NULL;
	}
	struct be_node *host = read_host(found, data_dir, warnings, text, err);
	if (host && path)
		*path = be_steal(&found);
	return host;
}

/* An expanded job carries the keys of its host file. */
static struct be_node *own_host(const struct be_node *job, const struct be_keys *keys)
{
	struct be_node *host = be_node_map();
	host->file = job->file;
	host->line = job->line;
	host->col = job->col;
	for (size_t i = 0; i < job->n; i++)
		if (be_key_is(keys, job->keys[i], BE_KEY_HOST))
			be_set(host, job->keys[i], be_node_clone(job->items[i]));
	return host;
}

/* lkp-skl-d01-2 is the second machine of the group lkp-skl-d01. */
static char *group_of(const char *testbox)
{
	size_t n = strlen(testbox), digits = n;
	while (digits && testbox[digits - 1] >= '0' && testbox[digits - 1] <= '9')
		digits--;
	return be_strndup(testbox, digits < n && digits > 1 && testbox[digits - 1] == '-' ? digits - 1 : n);
}

struct be_node *be_host_of_job(const struct be_node *job, const char *data_dir, struct be_strv *warnings, char **text,
			       char **path, struct be_error *err)
{
	if (be_get(job, "nr_cpu") && be_get(job, "memory")) {
		const struct be_keys *keys = be_keys_of(data_dir, err);
		if (!keys)
			return NULL;
		be_autonode struct be_node *host = own_host(job, keys);
		be_autobuf struct be_buf yaml = { 0 };
		check_host(host, warnings);
		if (text && be_node_yaml(host, &yaml, err) != 0)
			return NULL;
		if (text)
			*text = be_buf_steal(&yaml);
		return be_steal(&host);
	}
	const char *box = be_get_str(job, "tbox_group", be_get_str(job, "testbox", NULL));
	if (!box)
		return NULL;
	be_autofree char *group = group_of(box);
	be_autofree char *found = shipped_host(box, data_dir);
	if (!found)
		found = shipped_host(group, data_dir);
	if (found)
		return be_host_load(found, data_dir, warnings, text, path, err);
	fail_missing(box, data_dir, err);
	return NULL;
}
