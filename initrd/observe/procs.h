/* The processes that are there, from /proc. */
#ifndef BE_PROCS_H
#define BE_PROCS_H

#include <sys/types.h>

#include "base/file.h"

struct be_proc {
	pid_t pid, parent, group;
	bool kernel; /* a kernel thread */
	char name[16];
};

struct be_procs {
	struct be_proc *v;
	size_t n;
};

/* Reads the table, with kernel threads or without. A process that ends meanwhile is left out. Returns -1 with errno
 * when /proc cannot be read. */
int be_procs_load(struct be_procs *procs, const struct be_root *root, bool kernel_too);
void be_procs_free(struct be_procs *procs);
#define be_autoprocs be_cleanup(be_procs_free)

/* Is @proc the process @top, one of its process group, or a descendant of it? */
bool be_procs_below(const struct be_procs *procs, const struct be_proc *proc, pid_t top);

#endif
