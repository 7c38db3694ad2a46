#include "builder/folders.h"

#include <errno.h>
#include <string.h>

#include "base/file.h"

/* The last part of @path; "." and ".." by what they stand for. The caller frees. */
static char *last_part(const char *path)
{
	be_autofree char *full = be_strdup(path);
	for (size_t len = strlen(full); len > 1 && full[len - 1] == '/'; len--)
		full[len - 1] = '\0';
	char *slash = strrchr(full, '/'), *name = slash ? slash + 1 : full;
	if (*name && strcmp(name, ".") != 0 && strcmp(name, "..") != 0)
		return be_strdup(name);
	be_autofree char *resolved = realpath(path, NULL);
	slash = resolved ? strrchr(resolved, '/') : NULL;
	return be_strdup(slash && slash[1] ? slash + 1 : "root");
}

void be_folder_names(const struct be_strv *paths, struct be_strv *names)
{
	for (size_t i = 0; i < paths->n; i++) {
		be_autofree char *name = last_part(paths->v[i]), *distinct = be_strdup(name);
		for (unsigned n = 2; be_strv_has(names, distinct); n++) {
			free(distinct);
			distinct = be_strf("%s-%u", name, n);
		}
		be_strv_take(names, be_steal(&distinct));
	}
}

int be_folder_is_free(const char *path, struct be_error *err)
{
	struct be_root root = { .prefix = "" };
	be_autostrv struct be_strv names = { 0 };
	int rc = be_root_list(&root, path, &names);
	if ((rc == 0 && names.n == 0) || (rc != 0 && errno == ENOENT))
		return 0;
	be_fail_usage(err, "%s: is there and is not an empty folder", path);
	return be_hint(err, "Choose another folder with -o.");
}
