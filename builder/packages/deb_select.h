/*
 * Which files of which packages an image needs: the programs that the plan names, the files that it names, and what
 * these lead to by symbolic links and by the ELF files' interpreter and libraries. Not the packages' whole content and
 * not the whole package closure: a package is fetched and read only when something is looked for in it.
 */
#ifndef BE_DEB_SELECT_H
#define BE_DEB_SELECT_H

#include "base/node.h"
#include "builder/packages/deb.h"

struct be_pick {
	size_t package;       /* index into the packages */
	struct be_strv paths; /* sorted */
};
struct be_selection {
	struct be_pick *picks; /* in the order of the packages; only those that files come from */
	size_t n;
	char *oldest_kernel;   /* the oldest kernel that the C library runs on, "3.2.0", or NULL: not stated */
	struct be_strv notes;  /* what was asked and is not there, for the deviations */
	struct be_strv absent; /* of the request's libraries those that no package has */
};
void be_selection_free(struct be_selection *selection);
#define be_autoselection be_cleanup(be_selection_free)

struct be_select_request {
	struct be_suite *suite;
	const struct be_packages *packages; /* as resolved */
	size_t named;                       /* the first of them are those that the plan names */
	struct be_deb *debs;            /* one a package; keeps what is read, so that packing need not read it again */
	struct be_strv programs, files; /* as in the plan's image (SCHEMA.md, section 2) */
	struct be_strv libraries;       /* needed by programs that are in no package; may be absent */
	struct be_strv firmware;        /* packages whose /usr/lib/firmware is taken whole */
};
/* The answer that the cache has to the same question. */
bool be_select_recall(const struct be_select_request *request, struct be_selection *selection);
/* Finds it out, and keeps it. Fetches the packages that it reads. */
int be_select(const struct be_select_request *request, struct be_selection *selection,
	      struct be_error *err) BE_MUST_CHECK;

#endif
