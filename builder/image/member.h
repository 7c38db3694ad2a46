/*
 * A member of an initrd read back as the kernel unpacks it: what its cpio archive holds, and whether the kernel would
 * take it all: names, folders before what is in them, hard links that do not leave the member, padding.
 */
#ifndef BE_MEMBER_H
#define BE_MEMBER_H

#include "builder/image/hash.h"

struct be_member_entry {
	char *path;
	unsigned mode; /* with the type */
	int64_t size;
	char sha256[BE_HASH_TEXT]; /* of a file's content, "" else */
	char *target;              /* of a symbolic link; of a hard link the name it goes with */
	bool hardlink;
	unsigned links;
	int64_t inode;
};
struct be_member {
	struct be_member_entry *v; /* in the order of the archive */
	size_t n;
	int64_t unpacked; /* bytes of the cpio archive */
};
void be_member_free(struct be_member *member);
#define be_automember be_cleanup(be_member_free)

/* Reads @size bytes of @fd from @offset on, which are one compressed or plain cpio archive and zeros; @name is for
 * messages. */
int be_member_read(struct be_member *member, int fd, int64_t offset, int64_t size, const char *name,
		   struct be_error *err) BE_MUST_CHECK;
/* How two entries of one path differ ("mode 644, other 755": @other says whose the second is), or NULL. The caller
 * frees. */
char *be_member_difference(const struct be_member_entry *a, const struct be_member_entry *b, const char *other);
/* The last of the entries with that path, or NULL. */
const struct be_member_entry *be_member_find(const struct be_member *member, const char *path);

#endif
