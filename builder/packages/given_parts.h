/* For given*.c: reading files and looking for libraries. */
#ifndef BE_GIVEN_PARTS_H
#define BE_GIVEN_PARTS_H

#include "builder/packages/given.h"

/* Reads the file or folder at @path of this machine into @given, whose name and place are set. */
int be_given_read(struct be_given *given, const char *path, struct be_error *err) BE_MUST_CHECK;
/* Adds the regular file @source at @path of the image: its size, hash and ELF header. The element stays where it is
 * until the next one is added. NULL on failure. */
struct be_given_file *be_given_add(struct be_given_files *files, const char *path, const char *source,
				   struct be_error *err);
void be_given_files_free(struct be_given_files *files);
const struct be_given_file *be_given_find(const struct be_given_files *files, const char *path);
/* The path of @source within the given folder, or NULL when it is not in it. */
const char *be_given_inside(const struct be_given *given, const char *source);

/* Looks beside each ELF file of the program, and where its RUNPATH leads, for what it needs; the rest is a need. */
int be_givens_follow(struct be_givens *givens, size_t owner, struct be_error *err) BE_MUST_CHECK;
/* Takes the needs in @absent from this machine. 1: there are new needs; 0: none. */
int be_givens_take_local(struct be_givens *givens, const struct be_strv *absent, struct be_error *err) BE_MUST_CHECK;

#endif
