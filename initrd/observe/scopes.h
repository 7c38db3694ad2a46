/* What a factor or a setting is read or made once for: each test disk and array, file system, CPU, node. */
#ifndef BE_SCOPES_H
#define BE_SCOPES_H

#include "base/file.h"
#include "base/node.h"

enum be_scope { BE_SCOPE_RUN, BE_SCOPE_DISK, BE_SCOPE_MD, BE_SCOPE_FS, BE_SCOPE_CPU, BE_SCOPE_NODE, BE_SCOPE_COUNT };

struct be_instance {
	char *key;    /* the plan's name: disk0, md0, /fs/md0, or a number; NULL for the run */
	char *kind;   /* disk: hdd ssd nvme pmem brd md; fs: btrfs ...; else NULL */
	char *kernel; /* disk, md: kernel name of the whole disk; fs: of its first device; or NULL */
	char *uuid;   /* fs: the file system's UUID, or NULL */
};

struct be_instances {
	struct be_instance *v;
	size_t n;
};

struct be_scopes {
	struct be_instances of[BE_SCOPE_COUNT];
	char *testdir;
};

/*
 * Finds all instances. @found and @layout are what disk-setup found and read back (disk-setup/setup.h); without them
 * (NULL) devices are looked up by the plan's paths. Devices on one whole disk count once, by the first one's name.
 */
void be_scopes_load(struct be_scopes *scopes, const struct be_root *root, const struct be_node *plan,
		    const struct be_node *found, const struct be_node *layout);
void be_scopes_free(struct be_scopes *scopes);
#define be_autoscopes be_cleanup(be_scopes_free)

bool be_scope_parse(const char *word, enum be_scope *scope); /* NULL is run */

/*
 * Replaces {disk} {md} {fs} {fsdev} {fsuuid} {cpu} {node} {testdir} in @text for one instance of @scope. Other text in
 * braces stays. NULL with the placeholder's name in @missing when this instance has no such name.
 */
char *be_scope_expand(const struct be_scopes *scopes, enum be_scope scope, const struct be_instance *at,
		      const char *text, const char **missing);

/* Kernel name of the device behind @path (links are followed below the root); NULL when there is none. The caller
 * frees. */
char *be_kernel_name(const struct be_root *root, const char *path);

#endif
