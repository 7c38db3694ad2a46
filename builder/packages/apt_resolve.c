/* Which packages, in which versions: apt's answer, kept in the cache as the stanzas of its index. */
#include <string.h>

#include "base/file.h"
#include "builder/packages/apt.h"

#define RULES "resolve-2" /* changes when the same question may get another answer */

static void package_free(struct be_package *package)
{
	free(package->name);
	free(package->version);
	free(package->architecture);
	free(package->sha256);
	be_strv_free(&package->depends);
	be_strv_free(&package->provides);
}

void be_packages_free(struct be_packages *packages)
{
	for (size_t i = 0; i < packages->n; i++)
		package_free(&packages->v[i]);
	free(packages->v);
	*packages = (struct be_packages){ 0 };
}

/* The names of "libc6 (>= 2.36), default-mta | mail-transport-agent, python3:any". */
static void read_names(struct be_strv *names, const char *text)
{
	be_autostrv struct be_strv items = { 0 };
	be_strv_split(&items, text, ",|");
	for (size_t i = 0; i < items.n; i++) {
		char *name = be_trim(items.v[i]);
		name[strcspn(name, " :([<")] = '\0';
		if (*name)
			be_strv_add(names, name);
	}
}

static void read_relation(struct be_package *package, const char *key, const char *value)
{
	if (be_streq(key, "Depends") || be_streq(key, "Pre-Depends"))
		read_names(&package->depends, value);
	else if (be_streq(key, "Provides"))
		read_names(&package->provides, value);
}

static void read_field(struct be_package *package, const char *key, char *value)
{
	int64_t number;
	if (be_streq(key, "Package"))
		package->name = be_strdup(value);
	else if (be_streq(key, "Version") && !package->version)
		package->version = be_strdup(value);
	else if (be_streq(key, "Architecture") && !package->architecture)
		package->architecture = be_strdup(value);
	else if (be_streq(key, "SHA256") && !package->sha256)
		package->sha256 = be_strdup(value);
	else if (be_streq(key, "Size"))
		package->size = be_parse_int(value, &number) ? number : 0;
	else
		read_relation(package, key, value);
}

static int end_stanza(struct be_packages *packages, struct be_package *package, struct be_error *err)
{
	if (!package->name)
		return 0;
	if (!package->version || !package->architecture || !be_hash_is_text(package->sha256) || package->size <= 0) {
		be_fail(err, "apt's index of package %s lacks version, architecture, size or SHA-256", package->name);
		package_free(package);
		return -1;
	}
	packages->v = be_realloc(packages->v, packages->n + 1, sizeof(*packages->v));
	packages->v[packages->n++] = *package;
	*package = (struct be_package){ 0 };
	return 0;
}

int be_packages_parse(const char *text, struct be_packages *packages, struct be_error *err)
{
	struct be_package package = { 0 };
	while (*text) {
		size_t len = strcspn(text, "\n");
		be_autofree char *line = be_strndup(text, len);
		text += len + (text[len] == '\n');
		char *colon = strchr(line, ':');
		if (!*line) {
			if (end_stanza(packages, &package, err) != 0)
				return -1;
		} else if (colon && line[0] != ' ' && line[0] != '\t') {
			*colon = '\0';
			read_field(&package, line, be_trim(colon + 1));
		}
	}
	return end_stanza(packages, &package, err);
}

/* A field may go on in lines that begin with a blank. */
void be_package_parse_depends(const char *text, struct be_package *package)
{
	while (*text) {
		size_t len = strcspn(text, "\n");
		while (text[len] == '\n' && (text[len + 1] == ' ' || text[len + 1] == '\t'))
			len += 1 + strcspn(text + len + 1, "\n");
		be_autofree char *field = be_strndup(text, len);
		text += len + (text[len] == '\n');
		char *colon = strchr(field, ':');
		for (char *p = field; *p; p++)
			if (*p == '\n')
				*p = ' ';
		if (!colon)
			continue;
		*colon = '\0';
		read_relation(package, field, be_trim(colon + 1));
	}
}

/* "NAME_VERSION_ARCHITECTURE.deb", with %3a for a colon, is how apt names an archive. */
static bool read_archive_name(char *file, struct be_strv *specs)
{
	be_autostrv struct be_strv parts = { 0 };
	be_strv_split(&parts, file, "_");
	if (parts.n != 3 || !be_ends(parts.v[2], ".deb"))
		return false;
	be_autobuf struct be_buf version = { 0 };
	for (const char *p = parts.v[1]; *p; p++) {
		if (be_starts(p, "%3a")) {
			be_buf_addc(&version, ':');
			p += 2;
		} else {
			be_buf_addc(&version, *p);
		}
	}
	be_strv_addf(specs, "%s=%s", parts.v[0], version.data ? version.data : "");
	return true;
}

/* `'URI' FILE SIZE HASH`, one a line. */
static int read_uris(const char *text, struct be_strv *specs, struct be_strv *hashes, struct be_error *err)
{
	be_autostrv struct be_strv lines = { 0 };
	be_strv_split(&lines, text, "\n");
	for (size_t i = 0; i < lines.n; i++) {
		be_autostrv struct be_strv words = { 0 };
		be_strv_split(&words, lines.v[i], " ");
		if (words.n != 4 || !be_starts(words.v[3], "SHA256:") || !read_archive_name(words.v[1], specs))
			return be_fail(err, "apt printed a line that is not understood: %s", lines.v[i]);
		be_strv_add(hashes, words.v[3] + strlen("SHA256:"));
	}
	if (!specs->n)
		return be_fail(err, "apt names no package to install");
	return 0;
}

static char *config_of(const struct be_suite *suite)
{
	return be_strf("%s/apt.conf", suite->dir);
}

static int show(const struct be_suite *suite, const struct be_strv *names, struct be_buf *out, struct be_error *err)
{
	be_autofree char *config = config_of(suite);
	be_autorun struct be_run run = { 0 };
	be_autostrv struct be_strv args = { 0 };
	be_strv_add(&args, "show");
	be_strv_add(&args, "--no-all-versions");
	be_strv_add_all(&args, names);
	if (be_apt_run(&run, config, "apt-cache", &args, err) != 0)
		return -1;
	be_buf_add(out, run.out.data, run.out.len);
	return 0;
}

int be_apt_versions(const struct be_suite *suite, const struct be_strv *names, struct be_packages *packages,
		    struct be_error *err)
{
	be_autofree char *config = config_of(suite);
	be_autorun struct be_run run = { 0 };
	be_autostrv struct be_strv args = { 0 };
	struct be_error none = BE_ERROR_INIT;
	be_strv_add(&args, "show");
	be_strv_add_all(&args, names);
	/* A status other than 0 only says that the suite knows none of the names. */
	if (be_apt_run(&run, config, "apt-cache", &args, &none) != 0)
		return be_interrupted(err);
	return be_packages_parse(run.out.data ? run.out.data : "", packages, err);
}

static int ask_apt(const struct be_suite *suite, const struct be_strv *names, struct be_buf *stanzas,
		   struct be_error *err)
{
	be_autofree char *config = config_of(suite);
	be_autorun struct be_run run = { 0 };
	be_autostrv struct be_strv args = { 0 }, specs = { 0 }, hashes = { 0 };
	be_strv_add(&args, "-qq");
	be_strv_add(&args, "-y");
	be_strv_add(&args, "--print-uris");
	be_strv_add(&args, "install");
	be_strv_add_all(&args, names);
	if (be_apt_run(&run, config, "apt-get", &args, err) != 0) {
		be_wrap(err, "resolving the packages in %s", suite->name);
		return be_hint(err,
			       "a package that the release does not have cannot go into the image: choose another "
			       "suite (firmware is packaged from Debian 12 on), or give what it holds by --program "
			       "NAME=PATH (firmware=DIR)");
	}
	if (read_uris(run.out.data, &specs, &hashes, err) != 0 || show(suite, &specs, stanzas, err) != 0)
		return -1;
	be_autopackages struct be_packages packages = { 0 };
	if (be_packages_parse(stanzas->data, &packages, err) != 0)
		return -1;
	for (size_t i = 0; i < packages.n; i++)
		if (!be_strv_has(&hashes, packages.v[i].sha256))
			return be_fail(err, "apt's index has another archive of %s than the one it would install",
				       packages.v[i].name);
	if (packages.n != specs.n)
		return be_fail(err, "apt would install %zu packages and described %zu", specs.n, packages.n);
	return 0;
}

static size_t rank(const struct be_strv *names, const struct be_package *package)
{
	for (size_t i = 0; i < names->n; i++)
		if (be_streq(names->v[i], package->name))
			return i;
	return names->n;
}

static int compare_packages(const void *a, const void *b, void *names)
{
	const struct be_package *x = a, *y = b;
	size_t i = rank(names, x), k = rank(names, y);
	if (i != k)
		return i < k ? -1 : 1;
	return strcmp(x->name, y->name);
}

int be_apt_resolve(const struct be_suite *suite, const struct be_strv *names, struct be_packages *packages,
		   struct be_error *err)
{
	be_autobuf struct be_buf stanzas = { 0 };
	be_autohash struct be_hash hash = { 0 };
	char key[BE_HASH_TEXT];
	be_hash_start(&hash);
	be_hash_adds(&hash, RULES);
	be_hash_adds(&hash, suite->lists);
	for (size_t i = 0; i < names->n; i++)
		be_hash_adds(&hash, names->v[i]);
	be_hash_end(&hash, key);
	if (!be_cache_get_text(suite->cache, "resolve", key, &stanzas)) {
		be_autofd int lock = be_suite_lock_shared(suite, err);
		be_progress_note(suite->progress, "asking apt");
		if (lock < 0 || ask_apt(suite, names, &stanzas, err) != 0 ||
		    be_cache_set_text(suite->cache, "resolve", key, stanzas.data, stanzas.len, err) != 0)
			return -1;
	}
	if (be_packages_parse(stanzas.data, packages, err) != 0)
		return -1;
	qsort_r(packages->v, packages->n, sizeof(*packages->v), compare_packages, (void *)names);
	return 0;
}

int be_apt_show(const struct be_suite *suite, const char *name, struct be_packages *packages, struct be_error *err)
{
	be_autobuf struct be_buf stanzas = { 0 };
	be_autohash struct be_hash hash = { 0 };
	be_autostrv struct be_strv names = { 0 };
	char key[BE_HASH_TEXT];
	be_hash_start(&hash);
	be_hash_adds(&hash, RULES);
	be_hash_adds(&hash, suite->lists);
	be_hash_adds(&hash, name);
	be_hash_end(&hash, key);
	be_strv_add(&names, name);
	if (!be_cache_get_text(suite->cache, "show", key, &stanzas)) {
		be_autofd int lock = be_suite_lock_shared(suite, err);
		if (lock < 0)
			return -1;
		if (show(suite, &names, &stanzas, err) != 0)
			return be_wrap(err, "package %s of %s", name, suite->name);
		if (be_cache_set_text(suite->cache, "show", key, stanzas.data, stanzas.len, err) != 0)
			return -1;
	}
	size_t before = packages->n;
	if (be_packages_parse(stanzas.data, packages, err) != 0)
		return -1;
	return packages->n == before + 1 ? 0 : be_fail(err, "%s has no package %s", suite->name, name);
}
