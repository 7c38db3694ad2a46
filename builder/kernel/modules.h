/*
 * Kernel modules for an image: those that the plan names, with what their .modinfo says they depend on (depends and
 * softdep), decompressed, with the indexes that depmod makes of just this set. Only modules that are looked at are
 * decompressed; depmod never sees a kernel's four thousand.
 */
#ifndef BE_MODULES_H
#define BE_MODULES_H

#include "builder/kernel/kernel.h"
#include "builder/image/segment.h"

/*
 * Makes the member `modules`, or takes it from the cache where the modules come from an archive. @required: absence is
 * an error, unless built in. @wanted: absence is a line in @notes. A name may also be an alias, as in modprobe, and in
 * @wanted a folder ("kernel/drivers/ata/"), which stands for all that the kernel has in it.
 */
int be_modules_segment(struct be_segment *segment, struct be_kernel *kernel, const struct be_compressor *compressor,
		       const struct be_strv *required, const struct be_strv *wanted, struct be_strv *notes,
		       struct be_error *err) BE_MUST_CHECK;

/* Version of the depmod that indexes are made by ("30"), for the lock; NULL: there is none. Asked once for each change
 * of the program. The caller frees. */
char *be_depmod_version(const struct be_cache *cache);

/* Is this file of a member one that depmod makes? Such files differ between its versions. */
bool be_modules_is_index(const char *path);

/* For modules*.c */
struct be_module {
	char *name;                   /* nd_pmem: with underscores */
	char *path;                   /* kernel/drivers/nvdimm/nd_pmem.ko: below the folder of modules, decompressed */
	const struct be_entry *entry; /* in the kernel's files, or */
	char *file;                   /* on the disk */
	bool extracted, chosen;
	struct be_strv depends, soft, aliases; /* once extracted */
};
struct be_modules {
	struct be_kernel *kernel;
	struct be_module *v;
	size_t n;
	struct be_strv builtin; /* names */
	char *dir;              /* temporary; removed by be_modules_free */
	char *root;             /* below it: lib/modules/RELEASE */
	bool aliases_read;
};
void be_modules_free(struct be_modules *modules);
#define be_automodules be_cleanup(be_modules_free)
/* All modules of the kernel, none of them extracted, and what is built in. */
int be_modules_list(struct be_modules *modules, struct be_kernel *kernel, struct be_error *err) BE_MUST_CHECK;
/* Extracts to the temporary folder and reads the .modinfo. */
int be_module_extract(struct be_modules *modules, struct be_module *module, struct be_error *err) BE_MUST_CHECK;
/* One of modules.order, modules.builtin, modules.builtin.modinfo; false: the kernel has none. */
bool be_modules_meta(const struct be_modules *modules, const char *name, struct be_buf *text);
/* "nd-pmem.ko.xz" -> "nd_pmem"; the caller frees. */
char *be_module_name(const char *path);

#endif
