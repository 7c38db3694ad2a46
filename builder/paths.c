#include "builder/paths.h"

#include <errno.h>
#include <libgen.h>
#include <unistd.h>

#include "base/file.h"

#define PATH_LIMIT 4096

void be_paths_free(struct be_paths *paths)
{
	free(paths->data);
	free(paths->guest);
	free(paths->cache);
	*paths = (struct be_paths){ 0 };
}

/* The folder that the running program is in; NULL when /proc does not tell. */
static char *program_folder(void)
{
	char path[PATH_LIMIT];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	if (n < 0)
		return NULL;
	path[n] = '\0';
	return be_strdup(dirname(path));
}

/* The first of the places, relative to the program, that holds @mark. */
static char *find_beside(const char *const *places, size_t n, const char *mark)
{
	be_autofree char *folder = program_folder();
	for (size_t i = 0; folder && i < n; i++) {
		be_autofree char *path = be_strf("%s/%s", folder, places[i]), *marked = be_strf("%s/%s", path, mark);
		if (be_exists(marked)) {
			char *real = realpath(path, NULL);
			return real ? real : be_steal(&path);
		}
	}
	return NULL;
}

/* From the build folder, from a build folder that links to its source, and from where `make install` put it. */
char *be_paths_data(void)
{
	static const char *const places[] = { "../recipes", "recipes", "../share/mkbenchenv" };
	const char *set = getenv("MKBENCHENV_DATA");
	return set && *set ? be_strdup(set) : find_beside(places, BE_ARRAY_LEN(places), "factors");
}

static char *find_guest(void)
{
	static const char *const places[] = { "guest", "../lib/mkbenchenv/guest" };
	const char *set = getenv("MKBENCHENV_GUEST");
	return set && *set ? be_strdup(set) : find_beside(places, BE_ARRAY_LEN(places), "init");
}

char *be_paths_program(const char *name)
{
	static const char *const places[] = { "libexec", "../lib/mkbenchenv/libexec" };
	const char *set = getenv("MKBENCHENV_LIBEXEC");
	be_autofree char *program = be_strf("mkbenchenv-%s", name);
	be_autofree char *folder = set && *set ? be_strdup(set) : find_beside(places, BE_ARRAY_LEN(places), program);
	be_autofree char *path = folder ? be_strf("%s/%s", folder, program) : NULL;
	return path && be_exists(path) ? be_steal(&path) : NULL;
}

static char *cache_place(void)
{
	const char *set = getenv("MKBENCHENV_CACHE"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	if (set && *set)
		return be_strdup(set);
	/* The XDG rule: a relative path is to be ignored. */
	if (xdg && xdg[0] == '/')
		return be_strf("%s/mkbenchenv", xdg);
	return home && home[0] == '/' ? be_strf("%s/.cache/mkbenchenv", home) : NULL;
}

static int find_cache(struct be_paths *paths, struct be_error *err)
{
	be_autofree char *place = cache_place();
	if (!place) {
		be_fail(err, "there is no place for the cache: neither XDG_CACHE_HOME nor HOME is set");
		return be_hint(err, "set MKBENCHENV_CACHE to a folder");
	}
	if (be_mkdirs(place, 0755, err) != 0)
		return be_hint(err, "set MKBENCHENV_CACHE to a folder that can be written");
	/* apt's configuration names it: it must not depend on the folder that we are started in. */
	paths->cache = realpath(place, NULL);
	return paths->cache ? 0 : be_fail_errno(err, errno, "%s", place);
}

int be_paths_find(struct be_paths *paths, struct be_error *err)
{
	*paths = (struct be_paths){ .data = be_paths_data(), .guest = find_guest() };
	if (!paths->data) {
		be_fail(err, "the recipes, factors and workloads that belong to the program are not found beside it");
		return be_hint(err, "set MKBENCHENV_DATA to the folder recipes/ of the source, or run `make install`");
	}
	if (!paths->guest)
		paths->guest = be_strdup(""); /* only a build needs it, and says so */
	return find_cache(paths, err);
}
