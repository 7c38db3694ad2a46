/* SHA-256 by libcrypto, as lower-case hexadecimal text. */
#ifndef BE_HASH_H
#define BE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

#define BE_HASH_TEXT 65 /* bytes of a hash as text, with its NUL */

/* Is @text (may be NULL) a hash in this form? */
bool be_hash_is_text(const char *text);

struct be_hash {
	void *ctx; /* EVP_MD_CTX */
};
void be_hash_start(struct be_hash *hash);
void be_hash_add(struct be_hash *hash, const void *data, size_t len);
/* Adds a text with its length before it, so that lists of texts cannot run into each other. NULL differs from "". */
void be_hash_adds(struct be_hash *hash, const char *text);
/* @to becomes what @from is now; both go on by themselves. */
void be_hash_copy(struct be_hash *to, const struct be_hash *from);
/* Ends the hash and frees it. */
void be_hash_end(struct be_hash *hash, char out[BE_HASH_TEXT]);
void be_hash_drop(struct be_hash *hash);
#define be_autohash be_cleanup(be_hash_drop)

/* Adds the content of a file from its start; -1 when it cannot be read. */
int be_hash_add_file(struct be_hash *hash, const char *path, struct be_error *err) BE_MUST_CHECK;
/* Adds @size bytes of @fd from @offset on, without moving its position. */
int be_hash_add_range(struct be_hash *hash, int fd, int64_t offset, int64_t size, const char *name,
		      struct be_error *err) BE_MUST_CHECK;
/* One file; @size may be NULL. */
int be_hash_file(const char *path, char out[BE_HASH_TEXT], int64_t *size, struct be_error *err) BE_MUST_CHECK;

#endif
