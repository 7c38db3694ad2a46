/* The twin's disks: sparse files with partition tables. */
#ifndef BE_DISKS_H
#define BE_DISKS_H

#include <stdint.h>

#include "base/error.h"

/*
 * Makes the new file @path of @size bytes, all of it a hole. With @partitions > 0 it gets a GPT with so many partitions
 * of nearly the same size, each aligned to 1 MiB; they are made by libfdisk.
 */
int be_disk_make(const char *path, int64_t size, int64_t partitions, struct be_error *err) BE_MUST_CHECK;

#endif
