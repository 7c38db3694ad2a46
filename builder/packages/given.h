/*
 * Programs that the user gives by --program NAME=PATH: what a workload needs and Debian does not have (the plan's
 * image.given), or an own build of a program that the plan would take from a package. Each becomes a member of the
 * initrd: the file or folder at its place in the image, and the libraries that the loader would not find there else.
 */
#ifndef BE_GIVEN_H
#define BE_GIVEN_H

#include "base/node.h"
#include "builder/packages/deb_select.h"

struct be_given_file {
	char *path;   /* in the image, without a slash at either end */
	char *source; /* on this machine; NULL: a folder or a link */
	char *target; /* of a link, else NULL */
	bool program; /* may be executed: mode 0755, else 0644 */
	int64_t size;
	char sha256[BE_HASH_TEXT];
	struct be_elf *elf; /* of a 64-bit x86 program or library, else NULL */
};
struct be_given_files {
	struct be_given_file *v;
	size_t n;
};

struct be_given {
	char *name;
	char *place;  /* path in the image */
	char *source; /* real path on this machine */
	bool folder;
	struct be_given_files files;     /* sorted by path */
	struct be_given_files libraries; /* where the loader looks for them; a link leads into the folder */
	size_t followed[2];              /* how many of both have been looked at for what they need */
	int64_t size;                    /* of all files */
	char sha256[BE_HASH_TEXT]; /* of the file, or of a folder's lines "SHA256  PATH" as sha256sum prints them */
};

/* A library that lies neither beside the program that needs it nor where its RUNPATH leads. */
struct be_given_need {
	size_t owner;              /* index of the program */
	char *library, *needed_by; /* DT_NEEDED or interpreter; path in the image */
	bool local;                /* this machine's own was taken */
};

struct be_givens {
	struct be_given *v;
	size_t n;
	struct be_given_need *needs;
	size_t n_needs;
	struct be_strv notes; /* for the deviations */
};
void be_givens_free(struct be_givens *givens);

/*
 * Reads what @programs ("NAME=PATH") give for the plan. Errors of status BE_USAGE: NAME is nothing that the plan needs
 * (with the nearest name that it does), PATH is missing, for another architecture, or holds what no image can; and of
 * each program that is needed, not given and in no package, what it is. Of several such all but the last are printed at
 * once.
 */
int be_givens_open(struct be_givens *givens, const struct be_node *plan, const struct be_strv *programs,
		   struct be_error *err) BE_MUST_CHECK;

/* Adds the packages that stand for what the plan's image.given names and nobody gave: `packages:` there. */
void be_givens_packages(const struct be_givens *givens, const struct be_node *plan, struct be_strv *packages);
/* Takes what is given out of the names of programs to be looked for in packages. */
void be_givens_leave_out(const struct be_givens *givens, struct be_strv *programs);
/* be_select_recall and be_select with the libraries that are needed; what no package has is taken from this machine. */
bool be_givens_recall(struct be_givens *givens, struct be_select_request *request, struct be_selection *selection);
int be_givens_select(struct be_givens *givens, struct be_select_request *request, struct be_selection *selection,
		     struct be_error *err) BE_MUST_CHECK;
/*
 * To be called once the selection stands: a library that a package has at the same place is the package's, for other
 * programs use it too. Refuses two programs with different files for one place, and programs for a C library newer than
 * that of the packages.
 */
int be_givens_settle(struct be_givens *givens, const struct be_select_request *request,
		     const struct be_selection *selection, struct be_error *err) BE_MUST_CHECK;

/* The manifest's lock.given: {name, path, size, sha256} of each program, and of each library that came with it. */
struct be_node *be_givens_lock(const struct be_givens *givens);

#endif
