#include "builder/image/shared.h"

#include <stdio.h>

int be_shared_open(struct be_shared *shared, const char *cache, struct be_error *err)
{
	*shared = (struct be_shared){ .lock = PTHREAD_MUTEX_INITIALIZER };
	if (be_cache_open(&shared->cache, cache, err) != 0)
		return -1;
	be_cache_remember(&shared->cache);
	return 0;
}

void be_shared_close(struct be_shared *shared)
{
	be_hash_drop(&shared->hash);
	be_cache_close(&shared->cache);
	pthread_mutex_destroy(&shared->lock);
}

bool be_shared_recall(struct be_shared *shared, const char *key, struct be_hash *hash)
{
	pthread_mutex_lock(&shared->lock);
	bool found = be_streq(shared->key, key);
	if (found)
		be_hash_copy(hash, &shared->hash);
	pthread_mutex_unlock(&shared->lock);
	return found;
}

void be_shared_keep(struct be_shared *shared, const char *key, const struct be_hash *hash)
{
	pthread_mutex_lock(&shared->lock);
	be_hash_drop(&shared->hash);
	be_hash_copy(&shared->hash, hash);
	snprintf(shared->key, sizeof(shared->key), "%s", key);
	pthread_mutex_unlock(&shared->lock);
}
