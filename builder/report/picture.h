/* The disk layout as a tree for people: disks, partitions, arrays, file systems, where they are mounted, the test
 * directory. */
#ifndef BE_PICTURE_H
#define BE_PICTURE_H

#include "base/node.h"

/* Adds the layout that a plan asks for, in at most 96 columns of ASCII; disks by their names. */
int be_picture_plan(const struct be_node *plan, struct be_buf *out, struct be_error *err) BE_MUST_CHECK;
/*
 * Adds the layout that a run had, from a manifest, in at most 76 columns and without serial numbers: nothing where none
 * was observed. One of more than
 * @most lines is a line that says so; 0: whatever its length.
 */
int be_picture_manifest(const struct be_node *manifest, size_t most, struct be_buf *out,
			struct be_error *err) BE_MUST_CHECK;

#endif
