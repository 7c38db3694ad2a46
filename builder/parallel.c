#include "builder/parallel.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

#include "base/str.h"

/* Beside the calling thread. Each may hold an xz decoder of 9 MB: the bound keeps a build below 64 MB on any machine.
 */
#define THREADS_MAX 2

struct pool {
	pthread_mutex_t lock;
	size_t n, next;
	int (*work)(void *data, size_t i, struct be_error *err);
	void *data;
	bool failed;
	size_t failed_at;
	struct be_error *err;
};

static bool take_item(struct pool *pool, size_t *i)
{
	pthread_mutex_lock(&pool->lock);
	bool more = !pool->failed && pool->next < pool->n;
	if (more)
		*i = pool->next++;
	pthread_mutex_unlock(&pool->lock);
	return more;
}

static void *serve(void *data)
{
	struct pool *pool = data;
	size_t i;
	while (take_item(pool, &i)) {
		struct be_error err = BE_ERROR_INIT;
		if (pool->work(pool->data, i, &err) == 0)
			continue;
		pthread_mutex_lock(&pool->lock);
		if (!pool->failed || i < pool->failed_at) {
			*pool->err = err;
			pool->failed_at = i;
		}
		pool->failed = true;
		pthread_mutex_unlock(&pool->lock);
	}
	return NULL;
}

int be_parallel(size_t n, int (*work)(void *data, size_t i, struct be_error *err), void *data, struct be_error *err)
{
	struct pool pool = { .lock = PTHREAD_MUTEX_INITIALIZER, .n = n, .work = work, .data = data, .err = err };
	pthread_t threads[THREADS_MAX];
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	size_t wanted = cpus > 1 ? (size_t)cpus - 1 : 0, started = 0;
	if (wanted > THREADS_MAX)
		wanted = THREADS_MAX;
	sigset_t all, old;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	while (started < wanted && started + 1 < n && pthread_create(&threads[started], NULL, serve, &pool) == 0)
		started++;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	serve(&pool);
	for (size_t i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	pthread_mutex_destroy(&pool.lock);
	return pool.failed ? -1 : 0;
}
