/* Suites: where the machine's mirror is, which release is the newest, and private package lists. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "builder/packages/apt.h"

#define KEYRING "/usr/share/keyrings/debian-archive-keyring.gpg"
#define FIRMWARE "non-free-firmware" /* Debian 12 and later have this component */
#define MACHINE_LISTS "/var/lib/apt/lists"
#define OUTPUT_MAX (64u << 20)
#define RELEASE_MAX (4u << 20)

/* URIs as the machine's sources have them. */
struct mirror {
	char *main, *security; /* security may be NULL */
	char *codename;        /* the machine's own release */
	bool trusted;          /* its signature is not asked for */
};

static void mirror_free(struct mirror *mirror)
{
	free(mirror->main);
	free(mirror->security);
	free(mirror->codename);
}
#define be_automirror be_cleanup(mirror_free)

int be_apt_run(struct be_run *run, const char *config, const char *program, const struct be_strv *args,
	       struct be_error *err)
{
	be_autostrv struct be_strv argv = { 0 }, env = { 0 };
	be_strv_add(&argv, program);
	if (config) {
		be_strv_add(&argv, "-c");
		be_strv_add(&argv, config);
	}
	be_strv_add_all(&argv, args);
	/* What we read is apt's own wording and order. */
	for (char **e = environ; *e; e++)
		if (!be_starts(*e, "LC_ALL=") && !be_starts(*e, "LANGUAGE="))
			be_strv_add(&env, *e);
	be_strv_add(&env, "LC_ALL=C");
	run->argv = argv.v;
	run->env = env.v;
	run->out_limit = OUTPUT_MAX;
	int rc = be_run_interruptible(run, err);
	run->argv = NULL;
	run->env = NULL;
	return rc;
}

/* A target is "ORIGIN, LABEL, CODENAME, URI", with tabs between. */
static void read_target(struct mirror *mirror, char *line)
{
	be_autostrv struct be_strv field = { 0 };
	be_strv_split(&field, line, "\t");
	if (field.n != 4 || !be_streq(field.v[0], "Debian"))
		return;
	if (be_streq(field.v[1], "Debian-Security") && !mirror->security)
		mirror->security = be_strdup(field.v[3]);
	if (be_streq(field.v[1], "Debian") && !strchr(field.v[2], '-') && !mirror->main) {
		mirror->codename = be_strdup(field.v[2]);
		mirror->main = be_strdup(field.v[3]);
	}
}

/* Asks the machine's apt which archives of Debian it has lists of. That their Release files say "Debian" only finds the
 * mirror: what comes from it is accepted by the signature of Debian's archive keyring alone. */
static int find_mirror(struct mirror *mirror, struct be_error *err)
{
	be_autorun struct be_run run = { 0 };
	be_autostrv struct be_strv args = { 0 }, lines = { 0 };
	be_strv_add(&args, "indextargets");
	be_strv_add(&args, "--format");
	be_strv_add(&args, "$(ORIGIN)\t$(LABEL)\t$(CODENAME)\t$(REPO_URI)");
	be_strv_add(&args, "Created-By: Packages");
	if (be_apt_run(&run, NULL, "apt-get", &args, err) != 0)
		return be_wrap(err, "finding the machine's Debian mirror");
	be_strv_split(&lines, run.out.data, "\n");
	for (size_t i = 0; i < lines.n; i++)
		read_target(mirror, lines.v[i]);
	if (!mirror->main) {
		be_fail(err, "apt has no package lists of a Debian archive on this machine");
		return be_hint(err, "run `apt-get update` as root; the machine's apt sources say which mirror is used");
	}
	if (!be_exists(KEYRING)) {
		be_fail(err, "%s: Debian's archive keyring is not there", KEYRING);
		return be_hint(err, "install the package debian-archive-keyring");
	}
	return 0;
}

static bool has_security(const char *suite)
{
	return !be_streq(suite, "sid") && !be_streq(suite, "unstable") && !be_streq(suite, "experimental");
}

enum lists { RELEASE_ONLY, MAIN, MAIN_AND_FIRMWARE };

static int write_sources(const char *dir, const struct mirror *mirror, const char *suite, enum lists lists,
			 struct be_error *err)
{
	be_autobuf struct be_buf text = { 0 };
	be_autofree char *path = be_strf("%s/sources.list", dir);
	/* Of a release that does not have it apt leaves it out. */
	const char *components = lists == MAIN_AND_FIRMWARE ? "main " FIRMWARE : "main";
	if (mirror->trusted) /* what a snapshot signed has long expired */
		be_buf_addf(&text, "deb [trusted=yes check-valid-until=no] %s %s %s\n", mirror->main, suite,
			    components);
	else
		be_buf_addf(&text, "deb [signed-by=%s] %s %s %s\n", KEYRING, mirror->main, suite, components);
	if (lists != RELEASE_ONLY && mirror->security && has_security(suite))
		be_buf_addf(&text, "deb [signed-by=%s] %s %s-security %s\n", KEYRING, mirror->security, suite,
			    components);
	return be_write_file(path, text.data, text.len, 0644, err);
}

/* The machine's own configuration stays in force (proxies, credentials) but for what would let it change the result or
 * act on the machine. */
static int write_config(const char *dir, struct be_error *err)
{
	be_autobuf struct be_buf text = { 0 };
	be_autofree char *path = be_strf("%s/apt.conf", dir);
	be_buf_adds(&text, "#clear APT::Update::Pre-Invoke;\n"
			   "#clear APT::Update::Post-Invoke;\n"
			   "#clear APT::Update::Post-Invoke-Success;\n"
			   "#clear APT::Default-Release;\n"
			   "#clear APT::Architectures;\n"
			   "APT::Architecture \"amd64\";\n"
			   "APT::Architectures { \"amd64\"; };\n"
			   "APT::Install-Recommends \"false\";\n"
			   "APT::Install-Suggests \"false\";\n"
			   "APT::Sandbox::User \"root\";\n" /* no change of user: the cache is the caller's */
			   "APT::Update::Error-Mode \"any\";\n"
			   "Acquire::Languages \"none\";\n"
			   "Acquire::ForceHash \"SHA256\";\n"
			   "Acquire::GzipIndexes \"false\";\n"
			   "Dir::Etc::sourceparts \"-\";\n"
			   "Dir::Etc::preferences \"/dev/null\";\n"
			   "Dir::Etc::preferencesparts \"/dev/null\";\n"
			   "Dir::State::status \"/dev/null\";\n"
			   "Dir::Cache::pkgcache \"pkgcache.bin\";\n"
			   "Dir::Cache::srcpkgcache \"\";\n");
	be_buf_addf(&text, "Dir::Etc::sourcelist \"%s/sources.list\";\n", dir);
	be_buf_addf(&text, "Dir::State \"%s\";\nDir::State::lists \"%s/lists\";\n", dir, dir);
	be_buf_addf(&text, "Dir::Cache \"%s\";\nDir::Cache::archives \"%s/archives\";\n", dir, dir);
	return be_write_file(path, text.data, text.len, 0644, err);
}

static int update(const char *dir, const struct mirror *mirror, const char *suite, enum lists lists,
		  struct be_error *err)
{
	be_autofree char *partial = be_strf("%s/lists/partial", dir), *archives = be_strf("%s/archives/partial", dir);
	be_autofree char *config = be_strf("%s/apt.conf", dir);
	be_autorun struct be_run run = { 0 };
	be_autostrv struct be_strv args = { 0 };
	if (be_mkdirs(partial, 0755, err) != 0 || be_mkdirs(archives, 0755, err) != 0 || write_config(dir, err) != 0 ||
	    write_sources(dir, mirror, suite, lists, err) != 0)
		return -1;
	be_strv_add(&args, "update");
	be_strv_add(&args, "-qq");
	if (lists == RELEASE_ONLY) {
		be_strv_add(&args, "-o");
		be_strv_add(&args, "Acquire::IndexTargets::deb::Packages::DefaultEnabled=false");
	}
	return be_apt_run(&run, config, "apt-get", &args, err);
}

/* A mirror may have been made of main alone, whatever the signed index that it copied names. */
static int update_packages(const char *dir, const struct mirror *mirror, const char *suite, struct be_error *err)
{
	if (update(dir, mirror, suite, MAIN_AND_FIRMWARE, err) == 0)
		return 0;
	if (!strstr(err->text, "/" FIRMWARE "/") || be_interrupted(err) != 0)
		return -1;
	*err = (struct be_error)BE_ERROR_INIT;
	return update(dir, mirror, suite, MAIN, err);
}

/* The signed Release files that apt has verified and kept, sorted. */
static int release_files(const char *dir, struct be_strv *paths)
{
	struct be_root root = { .prefix = (char *)dir };
	be_autostrv struct be_strv names = { 0 };
	if (be_root_list(&root, "/lists", &names) != 0)
		return -1;
	for (size_t i = 0; i < names.n; i++)
		if (be_ends(names.v[i], "_InRelease") || be_ends(names.v[i], "_Release"))
			be_strv_addf(paths, "%s/lists/%s", dir, names.v[i]);
	return paths->n ? 0 : -1;
}

/* Which lists are asked for, and when the machine's own were last fetched: apt takes its lock and its folder for
 * partial files then. */
static char *make_stamp(void)
{
	struct stat lists = { 0 }, partial = { 0 };
	if (stat(MACHINE_LISTS, &lists) != 0 || stat(MACHINE_LISTS "/partial", &partial) != 0)
		return be_strdup("main " FIRMWARE);
	return be_strf("main " FIRMWARE " %lld %lld", (long long)lists.st_mtime, (long long)partial.st_mtime);
}

static bool stamp_is_current(const char *dir)
{
	struct be_root root = { .prefix = (char *)dir };
	be_autofree char *kept = be_root_text(&root, "/stamp"), *stamp = make_stamp();
	return be_streq(kept, stamp);
}

static int write_stamp(const char *dir, struct be_error *err)
{
	be_autofree char *path = be_strf("%s/stamp", dir), *stamp = make_stamp();
	return be_write_file(path, stamp, strlen(stamp), 0644, err);
}

static int lock_dir(const char *dir, int how, struct be_error *err)
{
	be_autofree char *path = be_strf("%s/lock", dir);
	if (be_mkdirs(dir, 0755, err) != 0)
		return -1;
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		return be_fail_errno(err, errno, "%s: cannot be opened", path);
	while (flock(fd, how) != 0) {
		if (errno == EINTR && be_interrupted(err) == 0)
			continue;
		be_fail_errno(err, errno, "%s: cannot be locked", path);
		close(fd);
		return -1;
	}
	return fd;
}

int be_suite_lock(const struct be_suite *suite, struct be_error *err)
{
	return lock_dir(suite->dir, LOCK_EX, err);
}

int be_suite_lock_shared(const struct be_suite *suite, struct be_error *err)
{
	return lock_dir(suite->dir, LOCK_SH, err);
}

/* The `Codename:` in the Release files that apt verified; that of the security archive has a dash in it. */
static char *codename_of(const char *dir)
{
	be_autostrv struct be_strv files = { 0 }, lines = { 0 };
	be_autobuf struct be_buf text = { 0 };
	struct be_error ignored = BE_ERROR_INIT;
	if (release_files(dir, &files) != 0)
		return NULL;
	for (size_t i = 0; i < files.n; i++)
		if (be_read_file(files.v[i], RELEASE_MAX, &text, &ignored) != 0)
			return NULL;
	be_strv_split(&lines, text.data, "\n");
	for (size_t i = 0; i < lines.n; i++)
		if (be_starts(lines.v[i], "Codename:") && !strchr(lines.v[i], '-'))
			return be_strdup(be_trim(lines.v[i] + strlen("Codename:")));
	return NULL;
}

/* Asks the mirror which release the first of @names is that it has and the keyring knows. */
static char *ask_codename(const char *dir, const struct mirror *mirror, const char *const *names, size_t n,
			  struct be_error *err)
{
	be_autofree char *lists = be_strf("%s/lists", dir);
	for (size_t i = 0; i < n; i++) {
		if (be_interrupted(err) != 0 || be_remove_tree(lists, err) != 0)
			return NULL;
		if (update(dir, mirror, names[i], RELEASE_ONLY, err) != 0)
			continue;
		char *codename = codename_of(dir);
		if (codename)
			return codename;
		be_fail(err, "the Release file of %s names no release", names[i]);
	}
	be_wrap(err, "asking %s what %s is", mirror->main, names[0]);
	be_hint(err, "check the network and the machine's apt sources, then run `apt-get update` as root");
	return NULL;
}

/* The release behind `stable` and the like. Without a @wish it is the newest stable one that mirror and keyring offer:
 * where they do not know stable's successor yet, that is oldstable, in the end the machine's own. */
static char *find_codename(const struct be_cache *cache, const char *wish, struct be_error *err)
{
	be_autofree char *dir = be_strf("%s/suites/which-%s", cache->dir, wish ? wish : "default");
	be_autofree char *path = be_strf("%s/codename", dir);
	be_autofd int lock = lock_dir(dir, LOCK_EX, err);
	be_automirror struct mirror mirror = { 0 };
	if (lock < 0)
		return NULL;
	struct be_root root = { .prefix = dir };
	be_autofree char *kept = be_root_text(&root, "/codename");
	if (kept && *kept && stamp_is_current(dir))
		return be_steal(&kept);
	if (find_mirror(&mirror, err) != 0)
		return NULL;
	const char *const newest[] = { "stable", "oldstable", mirror.codename };
	be_autofree char *codename = wish ? ask_codename(dir, &mirror, &wish, 1, err)
					  : ask_codename(dir, &mirror, newest, BE_ARRAY_LEN(newest), err);
	if (!codename || be_write_file(path, codename, strlen(codename), 0644, err) != 0 || write_stamp(dir, err) != 0)
		return NULL;
	return be_steal(&codename);
}

/* `stable` is another release in two years: what is used and recorded is the release's own name. */
static bool is_moving_name(const char *name)
{
	static const char *const names[] = { "stable", "oldstable", "oldoldstable", "testing", "unstable" };
	for (size_t i = 0; i < BE_ARRAY_LEN(names); i++)
		if (be_streq(name, names[i]))
			return true;
	return false;
}

static int hash_lists(struct be_suite *suite, struct be_error *err)
{
	be_autostrv struct be_strv files = { 0 };
	be_autohash struct be_hash hash = { 0 };
	be_hash_start(&hash);
	if (release_files(suite->dir, &files) != 0)
		return be_fail(err, "%s: no package lists of %s", suite->dir, suite->name);
	for (size_t i = 0; i < files.n; i++)
		if (be_hash_add_file(&hash, files.v[i], err) != 0)
			return -1;
	be_hash_end(&hash, suite->lists);
	return 0;
}

static int fetch_lists(struct be_suite *suite, struct be_error *err)
{
	be_automirror struct mirror mirror = { 0 };
	be_progress_note(suite->progress, "fetching the package lists of %s", suite->name);
	if (find_mirror(&mirror, err) != 0)
		return -1;
	if (update_packages(suite->dir, &mirror, suite->name, err) != 0) {
		be_wrap(err, "fetching the package lists of %s from %s", suite->name, mirror.main);
		if (be_disk_is_full(err))
			return be_cache_hint(suite->cache, err);
		return be_hint(err, "check that the mirror has this suite (see /etc/apt) and that the network works");
	}
	suite->fresh = true;
	return write_stamp(suite->dir, err) != 0 ? -1 : hash_lists(suite, err);
}

int be_suite_refresh(struct be_suite *suite, struct be_error *err)
{
	be_autofd int lock = be_suite_lock(suite, err);
	return lock < 0 ? -1 : fetch_lists(suite, err);
}

bool be_suite_name_is_sane(const char *name)
{
	return *name && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(name);
}

int be_suite_open(struct be_suite *suite, const struct be_cache *cache, struct be_progress *progress, const char *wish,
		  struct be_error *err)
{
	*suite = (struct be_suite){ .cache = cache, .progress = progress };
	if (wish && !be_suite_name_is_sane(wish)) {
		be_fail_usage(err, "suite: \"%s\" is no name of a Debian release", wish);
		return be_hint(err, "give a code name such as trixie");
	}
	suite->name = wish && !is_moving_name(wish) ? be_strdup(wish) : find_codename(suite->cache, wish, err);
	if (!suite->name)
		return -1;
	suite->dir = be_strf("%s/suites/%s", suite->cache->dir, suite->name);
	be_autofd int lock = be_suite_lock(suite, err);
	if (lock < 0)
		return -1;
	struct be_error ignored = BE_ERROR_INIT;
	if (stamp_is_current(suite->dir) && hash_lists(suite, &ignored) == 0)
		return 0;
	be_autofree char *stamp = be_strf("%s/stamp", suite->dir);
	int rc = fetch_lists(suite, err);
	if (rc != 0 && !be_exists(stamp)) /* a suite that never was: its name may be misspelt */
		be_remove_tree(suite->dir, &ignored);
	return rc;
}

void be_suite_locked(struct be_suite *suite, const struct be_cache *cache, struct be_progress *progress,
		     const char *name)
{
	*suite = (struct be_suite){ .name = be_strdup(name),
				    .dir = be_strf("%s/suites/%s", cache->dir, name),
				    .cache = cache,
				    .progress = progress };
}

/* A URL goes into a line of apt's own syntax. */
static int check_url(const char *url, struct be_error *err)
{
	for (const char *p = url; *p; p++)
		if (*p <= ' ' || *p > '~' || *p == '#' || *p == '[')
			return be_fail_usage(err, "mirror \"%s\": is no URL", url);
	if (strstr(url, ":/"))
		return 0;
	be_fail_usage(err, "mirror \"%s\": is no URL", url);
	return be_hint(err, "give the URL of an archive, the folder with dists/ and pool/: http://HOST/debian");
}

int be_suite_mirror(struct be_suite *suite, const struct be_cache *cache, struct be_progress *progress, const char *url,
		    const char *name, struct be_error *err)
{
	char key[BE_HASH_TEXT];
	be_autohash struct be_hash hash = { 0 };
	struct mirror mirror = { .main = (char *)url, .trusted = true };
	*suite = (struct be_suite){ .cache = cache, .progress = progress };
	if (check_url(url, err) != 0)
		return -1;
	be_hash_start(&hash);
	be_hash_adds(&hash, url);
	be_hash_adds(&hash, name);
	be_hash_end(&hash, key);
	suite->name = be_strdup(name);
	suite->dir = be_strf("%s/suites/mirror-%.16s", cache->dir, key);
	be_autofd int lock = be_suite_lock(suite, err);
	if (lock < 0)
		return -1;
	be_progress_note(progress, "fetching the package lists of %s from %s", name, url);
	return update_packages(suite->dir, &mirror, name, err) == 0 ? 0 : be_wrap(err, "%s %s", url, name);
}

void be_suite_close(struct be_suite *suite)
{
	free(suite->name);
	free(suite->dir);
	*suite = (struct be_suite){ 0 };
}
