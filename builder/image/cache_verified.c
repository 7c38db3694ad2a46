/* Which objects a process has verified already. */
#include <pthread.h>
#include <search.h>
#include <stdio.h>
#include <string.h>

#include "builder/image/cache.h"

/* Hashes and sizes. */
struct verified {
	pthread_mutex_t lock;
	void *tree; /* of struct be_object without a path, by tsearch(3) */
};

static int compare_objects(const void *a, const void *b)
{
	const struct be_object *x = a, *y = b;
	return strcmp(x->sha256, y->sha256);
}

void be_cache_remember(struct be_cache *cache)
{
	struct verified *verified = be_alloc(sizeof(*verified));
	pthread_mutex_init(&verified->lock, NULL);
	cache->verified = verified;
}

void be_cache_forget(struct be_cache *cache)
{
	struct verified *verified = cache->verified;
	if (!verified)
		return;
	tdestroy(verified->tree, free);
	pthread_mutex_destroy(&verified->lock);
	free(verified);
	cache->verified = NULL;
}

bool be_cache_is_verified(const struct be_cache *cache, const char *sha256, int64_t *size)
{
	struct verified *verified = cache->verified;
	struct be_object key = { .path = NULL };
	if (!verified)
		return false;
	snprintf(key.sha256, sizeof(key.sha256), "%s", sha256);
	pthread_mutex_lock(&verified->lock);
	struct be_object **found = tfind(&key, &verified->tree, compare_objects);
	if (found)
		*size = (*found)->size;
	pthread_mutex_unlock(&verified->lock);
	return found;
}

void be_cache_note_verified(const struct be_cache *cache, const struct be_object *object)
{
	struct verified *verified = cache->verified;
	if (!verified)
		return;
	struct be_object *copy = be_alloc(sizeof(*copy));
	*copy = *object;
	copy->path = NULL;
	pthread_mutex_lock(&verified->lock);
	struct be_object **at = tsearch(copy, &verified->tree, compare_objects);
	if (!at || *at != copy)
		free(copy);
	pthread_mutex_unlock(&verified->lock);
}
