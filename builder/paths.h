/* Where the program finds its own parts: the build folder it runs from, or where it was installed. */
#ifndef BE_PATHS_H
#define BE_PATHS_H

#include "base/error.h"
#include "base/str.h"

struct be_paths {
	char *data;  /* recipes: jobs, hosts, workloads, factors, images */
	char *guest; /* init, disk-setup and lib/ for the initrd */
	char *cache; /* $XDG_CACHE_HOME/mkbenchenv, else ~/.cache/mkbenchenv; made when missing */
};
/* MKBENCHENV_DATA, MKBENCHENV_GUEST and MKBENCHENV_CACHE win over what is found beside the program. */
int be_paths_find(struct be_paths *paths, struct be_error *err) BE_MUST_CHECK;
void be_paths_free(struct be_paths *paths);
#define be_autopaths be_cleanup(be_paths_free)
/* The data alone, for commands that need no cache; NULL when it is not found. The caller frees. */
char *be_paths_data(void);
/* The program mkbenchenv-NAME in libexec/ beside this one, or in MKBENCHENV_LIBEXEC; NULL: not there. The caller frees.
 */
char *be_paths_program(const char *name);

#endif
