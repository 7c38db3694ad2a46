#include "initrd/observe/procs.h"

#include <string.h>
#include <unistd.h>

#define PF_KTHREAD 0x00200000u /* linux/sched.h; field 9 of /proc/PID/stat */
#define KTHREADD "2"           /* kernel/kthread.c; a container's second process is another one */
#define MAX_DEPTH 64           /* of a chain of parents: the table is not read at one instant */

/* "PID (NAME) STATE PPID PGRP SESSION TTY TPGID FLAGS ..."; NAME may hold anything, also brackets. */
static bool parse(const char *text, struct be_proc *proc)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	unsigned flags;
	int pid, parent, group;
	if (!open || !close || close < open || sscanf(text, "%d", &pid) != 1 ||
	    sscanf(close + 1, " %*c %d %d %*d %*d %*d %u", &parent, &group, &flags) != 3)
		return false;
	*proc = (struct be_proc){ .pid = pid, .parent = parent, .group = group, .kernel = flags & PF_KTHREAD };
	snprintf(proc->name, sizeof(proc->name), "%.*s", (int)(close - open - 1), open + 1);
	return true;
}

/* Kernel threads are in no process group, and but for init and the runner all else is. Asking for it costs less than
 * /proc/PID/stat. */
static bool is_kernel_thread(const char *pid)
{
	return getpgid((pid_t)strtol(pid, NULL, 10)) == 0;
}

/* Kernel threads are kthreadd's children, which kernels with CONFIG_PROC_CHILDREN list: then few have to be asked. */
static void list_kernel_threads(const struct be_root *root, struct be_strv *threads)
{
	be_autofree char *text =
		is_kernel_thread(KTHREADD) ? be_root_text(root, "/proc/" KTHREADD "/task/" KTHREADD "/children") : NULL;
	if (text)
		be_strv_split(threads, text, " ");
}

int be_procs_load(struct be_procs *procs, const struct be_root *root, bool kernel_too)
{
	*procs = (struct be_procs){ 0 };
	be_autostrv struct be_strv names = { 0 }, threads = { 0 };
	bool recorded = root->prefix && *root->prefix; /* which cannot be asked, and is seldom large */
	if (be_root_list(root, "/proc", &names) != 0)
		return -1;
	if (!kernel_too && !recorded)
		list_kernel_threads(root, &threads);
	for (size_t i = 0; i < names.n; i++) {
		if (strspn(names.v[i], "0123456789") != strlen(names.v[i]) || be_strv_has(&threads, names.v[i]))
			continue;
		if (!kernel_too && !recorded && is_kernel_thread(names.v[i]))
			continue;
		be_autofree char *path = be_strf("/proc/%s/stat", names.v[i]);
		be_autofree char *text = be_root_text(root, path);
		struct be_proc proc;
		if (!text || !parse(text, &proc))
			continue;
		procs->v = be_realloc(procs->v, procs->n + 1, sizeof(*procs->v));
		procs->v[procs->n++] = proc;
	}
	return 0;
}

void be_procs_free(struct be_procs *procs)
{
	free(procs->v);
	*procs = (struct be_procs){ 0 };
}

static const struct be_proc *find(const struct be_procs *procs, pid_t pid)
{
	for (size_t i = 0; i < procs->n; i++)
		if (procs->v[i].pid == pid)
			return &procs->v[i];
	return NULL;
}

bool be_procs_below(const struct be_procs *procs, const struct be_proc *proc, pid_t top)
{
	for (int depth = 0; proc && depth < MAX_DEPTH; depth++) {
		if (proc->pid == top || proc->group == top)
			return true;
		proc = find(procs, proc->parent);
	}
	return false;
}
