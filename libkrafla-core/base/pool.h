/* A pool of threads that share loops. Which thread computes what never shows in a result. */
#ifndef KR_BASE_POOL_H
#define KR_BASE_POOL_H

#include "base/error.h"
#include <stdint.h>

typedef struct kr_pool kr_pool;

/* Works on first <= i < last; worker is below the pool's number of threads, 0 being the caller. */
typedef void kr_task_fn(void *data, int64_t first, int64_t last, int32_t worker);

/* threads >= 1, the caller's included: threads - 1 are started. They run with the float state of
 * the numerics contract. */
int kr_pool_new(int32_t threads, kr_pool **ret_pool, kr_error *err);
void kr_pool_free(kr_pool *pool);
int32_t kr_pool_threads(const kr_pool *pool);

/* Only so many threads, the caller's included, take part in the loops that follow; one that is just
 * about to take a chunk may still do that one. At first all do. */
void kr_pool_limit(kr_pool *pool, int32_t threads);

/* Runs task over 0 <= i < n in chunks of at least grain, handed out as threads come free; returns
 * when all is done. One caller at a time. */
void kr_pool_run(kr_pool *pool, int64_t n, int64_t grain, kr_task_fn *task, void *data);

#endif
