/* The parts of a delivery, made one stream again. */
#ifndef BE_COLLECT_H
#define BE_COLLECT_H

#include <stdint.h>

#include "base/str.h"

/* Bytes of the files in @folder, and how many there are; the name of a part is its offset. */
int64_t be_parts_size(const char *folder, size_t *parts);
/*
 * Writes the parts of @folder, as far as they follow each other, to the file @out. @damage is NULL when they are all
 * and their size is what the part `end` says; else what is wrong, which the caller frees. -1: @out cannot be written.
 */
int be_parts_join(const char *folder, const char *out, char **damage, struct be_error *err) BE_MUST_CHECK;

#endif
