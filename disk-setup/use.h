/* Who uses a device at this moment: mounts, swap, md and dm holders, an exclusive opener. */
#ifndef BE_USE_H
#define BE_USE_H

#include <libmount/libmount.h>

#include "device.h"

/* One reason not to touch a device. */
struct be_use {
	char *finding; /* "is mounted on /home" */
	char *remedy;  /* "unmount /home" */
};
struct be_uses {
	struct be_use *v;
	size_t n;
};
void be_uses_free(struct be_uses *uses);
#define be_autouses be_cleanup(be_uses_free)

/*
 * The mounts or swaps that the file @path of the kernel, /proc/self/mountinfo or /proc/swaps, lists. The caller frees
 * it by mnt_unref_table.
 */
struct libmnt_table *be_use_table(const struct be_root *root, const char *path, struct be_error *err);
/*
 * Adds what uses @kernel, its whole disk as a whole, or (of a whole disk) its partitions. md arrays that hold it are
 * left out where they are in @idle_arrays, which may be NULL.
 */
int be_use_find(const struct be_root *root, const char *kernel, const struct be_strv *idle_arrays, struct be_uses *uses,
		struct be_error *err) BE_MUST_CHECK;
/* Sets @taken when something is mounted on @target. */
int be_use_target(const struct be_root *root, const char *target, bool *taken, struct be_error *err) BE_MUST_CHECK;
/* The md arrays that hold @kernel. */
void be_use_arrays(const struct be_root *root, const char *kernel, struct be_strv *arrays);
/* The kernel names of the partitions of @whole, sorted by strcmp. */
void be_use_partitions(const struct be_root *root, const char *whole, struct be_strv *partitions);
/* Adds a use when @node cannot be opened exclusively; for the running system only. */
int be_use_exclusive(const char *node, struct be_uses *uses, struct be_error *err) BE_MUST_CHECK;

#endif
