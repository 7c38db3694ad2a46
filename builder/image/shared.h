/* What the builds of one process share: the cache, of which each object is verified once, and the hash of the members
 * that all their initrds begin with. Safe from several threads. */
#ifndef BE_SHARED_H
#define BE_SHARED_H

#include <pthread.h>

#include "builder/image/cache.h"

struct be_shared {
	pthread_mutex_t lock;
	struct be_cache cache;
	char key[BE_HASH_TEXT]; /* of what was hashed last; "" for nothing */
	struct be_hash hash;
};
int be_shared_open(struct be_shared *shared, const char *cache, struct be_error *err) BE_MUST_CHECK;
void be_shared_close(struct be_shared *shared);

/* A copy of the hash that was kept under @key. */
bool be_shared_recall(struct be_shared *shared, const char *key, struct be_hash *hash);
void be_shared_keep(struct be_shared *shared, const char *key, const struct be_hash *hash);

#endif
