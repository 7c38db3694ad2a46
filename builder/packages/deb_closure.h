/* For deb_select.c: following symbolic links and libraries through packages that are read as they are needed. */
#ifndef BE_DEB_CLOSURE_H
#define BE_DEB_CLOSURE_H

#include "builder/packages/deb.h"

struct be_spot {
	size_t deb;
	struct be_entry *entry; /* NULL: not found */
};
struct be_missing {
	size_t owner; /* the package of the file that needs it */
	char *library, *needed_by;
	struct be_strv folders;
};
struct be_closure {
	struct be_suite *suite;
	const struct be_packages *packages;
	struct be_deb *debs;
	size_t named;
	bool **chosen;         /* for each package and entry, once the package is read */
	struct be_spot *queue; /* ELF files whose libraries are still to be followed, from `done` on */
	size_t n, cap, done;
	struct be_missing *missing;
	size_t n_missing;
	struct be_missing *optional; /* opened by dlopen: taken where a package that was read anyway has it */
	size_t n_optional;
};
void be_closure_free(struct be_closure *closure);

/* Reads the packages that the plan names. */
int be_closure_start(struct be_closure *closure, struct be_error *err) BE_MUST_CHECK;
/* Chooses @path and, where it is a link, what it leads to. False when that is in no package read so far. */
bool be_closure_take(struct be_closure *closure, const char *path);
/* The same; a folder is taken with everything below it. */
bool be_closure_take_below(struct be_closure *closure, const char *path);
/* Reads the package @name and chooses all that it has below @folder. Returns 1, 0 when there is nothing or no package
 * of that name, or -1. */
int be_closure_take_package(struct be_closure *closure, const char *name, const char *folder,
			    struct be_error *err) BE_MUST_CHECK;
/* Chooses what the loader finds for a DT_NEEDED without a path, or the interpreter at an absolute path. */
bool be_closure_take_library(struct be_closure *closure, const char *library);
/* Reads the nearest packages not read yet, seen from those named. Returns 1, 0 when there are none left, or -1. */
int be_closure_widen(struct be_closure *closure, struct be_error *err) BE_MUST_CHECK;
/* Follows interpreters and libraries to the end. */
int be_closure_finish(struct be_closure *closure, struct be_error *err) BE_MUST_CHECK;

#endif
