/*
 * A recorded machine: what observation looked at, as one text. A line is "PATH = LINE" of a file, "PATH =" an empty
 * file or a device, "PATH * HEX" of a binary file, "PATH -> TARGET" a symbolic link, "PATH/ =" a directory; "#" begins
 * a comment.
 */
#ifndef BE_TREE_H
#define BE_TREE_H

#include "base/file.h"
#include "base/node.h"

#define BE_TREE_OBSERVED "/observed.yaml" /* in a tree: {testcase, layout, environment} as they were observed */

/*
 * Adds to @out what stands behind the paths in @seen, with the links on their way, and @observed, which stands for what
 * no file tells. Processes other than the reader are left out, and so is what lies outside /proc, /sys, /dev and /run.
 */
int be_tree_record(const struct be_root *root, const struct be_strv *seen, const struct be_node *observed,
		   struct be_buf *out, struct be_error *err) BE_MUST_CHECK;
/* Makes the files of a tree below the folder @dir. @name is for messages. */
int be_tree_unpack(const char *text, const char *name, const char *dir, struct be_error *err) BE_MUST_CHECK;

#endif
