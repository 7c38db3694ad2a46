/*
 * The members of the initrd: the base, one a package and given program, the kernel's modules, the guest's programs, the
 * job. Each is kept in the cache under the hash of what went in, so that a changed parameter makes only the job's
 * member anew.
 */
#ifndef BE_SEGMENT_H
#define BE_SEGMENT_H

#include "builder/image/cpio.h"
#include "builder/packages/deb_select.h"
#include "builder/packages/given.h"
#include "builder/packages/tree.h"

struct be_segment {
	char *name; /* "base", "package/fio", "given/aim7", "modules", "guest", "job" */
	struct be_object object;
	int64_t unpacked;
};
void be_segment_free(struct be_segment *segment);

/* Finds a member in the cache, verified. @key is what went in; compressor and rules are added here. */
bool be_segment_find(struct be_segment *segment, const struct be_cache *cache, const struct be_compressor *compressor,
		     const char *key);
/* Ends a member that was made and keeps it under @key. */
int be_segment_keep(struct be_segment *segment, struct be_cpio *cpio, const struct be_compressor *compressor,
		    const char *key, struct be_error *err) BE_MUST_CHECK;

/* The very member of that hash, if the cache has it. */
bool be_segment_recall(struct be_segment *segment, const struct be_cache *cache, const char *name, const char *sha256);

/* Folders, the links of a merged /usr, and the accounts that udev's rules name. */
int be_segment_base(struct be_segment *segment, const struct be_cache *cache, const struct be_compressor *compressor,
		    struct be_error *err) BE_MUST_CHECK;
/* The chosen files of one package. Fetches and reads the package unless @deb holds its content. */
int be_segment_package(struct be_segment *segment, struct be_suite *suite, const struct be_compressor *compressor,
		       struct be_deb *deb, const struct be_strv *paths, struct be_error *err) BE_MUST_CHECK;
/* Is @dir a folder with the guest's init? */
int be_segment_check_guest(const char *dir, struct be_error *err) BE_MUST_CHECK;
/* Adds {path, size, sha256} of each file in the folder @dir to @list, by path. */
int be_segment_guest_list(const char *dir, struct be_node *list, struct be_error *err) BE_MUST_CHECK;
/* The folder @dir, whose files @list names: init becomes /init, everything else is below /benchenv. */
int be_segment_guest(struct be_segment *segment, const struct be_cache *cache, const struct be_compressor *compressor,
		     const char *dir, const struct be_node *list, struct be_error *err) BE_MUST_CHECK;
/* What was given at its place, and the libraries that came with it. */
int be_segment_given(struct be_segment *segment, const struct be_cache *cache, const struct be_compressor *compressor,
		     const struct be_given *given, struct be_error *err) BE_MUST_CHECK;
/* The plan, and as the very last entry of the initrd the mark that says it is complete. */
int be_segment_job(struct be_segment *segment, const struct be_cache *cache, const struct be_compressor *compressor,
		   const char *plan, size_t len, struct be_error *err) BE_MUST_CHECK;

#endif
