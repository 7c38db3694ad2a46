/* For verify*.c: what a kernel has after it unpacked an initrd, member by member. */
#ifndef BE_VERIFY_MEMBER_H
#define BE_VERIFY_MEMBER_H

#include "base/node.h"
#include "builder/image/member.h"

struct be_unpacked {
	const struct be_node *manifest;
	char plan[BE_HASH_TEXT]; /* of the plan beside the initrd */
	struct be_strv folders;  /* made so far, and links that lead to folders */
};
void be_unpacked_free(struct be_unpacked *unpacked);
#define be_autounpacked be_cleanup(be_unpacked_free)

/* Unpacks one more member; what the kernel would lose, or what is not the manifest's, is added to @problems. */
void be_unpacked_add(struct be_unpacked *unpacked, const char *name, const struct be_member *member,
		     struct be_strv *problems);
/* After the last member, which is @member. */
void be_unpacked_end(struct be_unpacked *unpacked, const struct be_member *member, struct be_strv *problems);

#endif
