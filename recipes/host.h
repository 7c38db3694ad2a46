/* LKP host files, in all their forms (lists, one string of several paths, globs with a count). */
#ifndef BE_HOST_H
#define BE_HOST_H

#include "base/node.h"

/*
 * Reads a host file. @name is a path, or a bare name that is looked up in @data_dir/hosts. Returns the map as written;
 * the verbatim text goes to @text and the path to @path where they are not NULL (the caller frees both).
 */
struct be_node *be_host_load(const char *name, const char *data_dir, struct be_strv *warnings, char **text, char **path,
			     struct be_error *err);
/*
 * The host of an atomic job: its own host keys (an expanded job carries a copy) or, by tbox_group/testbox, a file of
 * @data_dir/hosts. NULL with err->status BE_OK when the job names none.
 */
struct be_node *be_host_of_job(const struct be_node *job, const char *data_dir, struct be_strv *warnings, char **text,
			       char **path, struct be_error *err);

#endif
