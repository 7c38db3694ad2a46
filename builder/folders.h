/* Names for folders that stand side by side. */
#ifndef BE_FOLDERS_H
#define BE_FOLDERS_H

#include "base/str.h"

/*
 * A folder name for each of @paths, in their order: the path's last part, and "-2", "-3" ... behind it where an earlier
 * one has it already. Adds to @names.
 */
void be_folder_names(const struct be_strv *paths, struct be_strv *names);
/* @path must not exist, or be an empty folder: what stands there would be taken for a part of the new. */
int be_folder_is_free(const char *path, struct be_error *err) BE_MUST_CHECK;

#endif
