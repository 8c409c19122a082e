/* A pool of threads that share loops.
 *
 * A loop is cut into chunks. One 64-bit word holds the loop's number (upper half) and how many of
 * its chunks nobody has taken (lower half); a thread takes a chunk by counting that down. Because
 * the number is in the word too, a thread that slept through a loop can never take a chunk of the
 * next with the data of the last: the job's fields are read only after a chunk is taken, and they
 * do not change until every taken chunk is done. The caller waits for chunks, not for threads: a
 * thread that the system does not let run holds nobody up unless it holds a chunk.
 *
 * Who is about to sleep says so and then looks once more; who makes work looks for sleepers after
 * it: so one of them sees the other. Fences between the two steps hold this order also where a
 * relaxed load follows, and on emulators that let a load pass the release before it (qemu 7.2 for
 * ARM).
 *
 * Waiting is a short spin and then a real sleep, so that a second thread costs little on a machine
 * that is busy with other things. */
#include "base/pool.h"
#include "base/float_state.h"
#include "base/memory.h"
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#define PAUSE() _mm_pause()
#elif defined(__aarch64__) || defined(__arm__)
#define PAUSE() __asm__ volatile("yield")
#else
#define PAUSE() ((void)0)
#endif

enum {
  SPINS = 2000,           /* some tens of microseconds: longer than the gap between two loops */
  CHUNKS_PER_THREAD = 4,  /* enough to even out threads of unequal speed */
  STACK_BYTES = 512 << 10 /* kernels keep tiles on the stack; musl's default would be too small */
};

typedef struct worker {
  kr_pool *pool;
  pthread_t thread;
  int32_t number;
} worker;

struct kr_pool {
  int32_t threads, started;
  kr_task_fn *task;
  void *data;
  int64_t n, chunk;
  uint32_t n_chunks;
  _Atomic int32_t active; /* threads below this number take chunks */
  _Atomic uint64_t work;  /* loop number << 32 | chunks left */
  _Atomic uint32_t done;  /* chunks of this loop that are finished */
  _Atomic int32_t asleep;
  _Atomic bool caller_waits, stop;
  pthread_mutex_t lock;
  pthread_cond_t wake, finished;
  pthread_cond_t benched; /* for threads that the limit leaves out */
  worker workers[];
};

/* Takes one chunk of whatever loop is open and does it. False when there is none left. */
static bool work_once(kr_pool *pool, int32_t number) {
  uint64_t work = atomic_load_explicit(&pool->work, memory_order_acquire);
  do {
    if (!(uint32_t)work) return false;
  } while (!atomic_compare_exchange_weak_explicit(&pool->work, &work, work - 1,
                                                  memory_order_acq_rel, memory_order_acquire));
  uint32_t n_chunks = pool->n_chunks, i = n_chunks - (uint32_t)work;
  int64_t first = i * pool->chunk, last = first + pool->chunk;
  pool->task(pool->data, first, last < pool->n ? last : pool->n, number);
  if (atomic_fetch_add(&pool->done, 1) + 1 == n_chunks && atomic_load(&pool->caller_waits)) {
    pthread_mutex_lock(&pool->lock);
    pthread_cond_signal(&pool->finished);
    pthread_mutex_unlock(&pool->lock);
  }
  return true;
}

/* For a worker. Ordered after the announcement that it is about to sleep, so that the work is not
 * overlooked. */
static bool has_work(kr_pool *pool, int32_t number) {
  return (uint32_t)atomic_load(&pool->work) != 0 && number < atomic_load(&pool->active);
}

/* Until there is work for this thread, or no more ever. */
static void sleep_until_work(kr_pool *pool, int32_t number) {
  pthread_mutex_lock(&pool->lock);
  while (!atomic_load(&pool->stop)) {
    if (number >= atomic_load(&pool->active)) { /* not counted: nobody is to wake it for a loop */
      pthread_cond_wait(&pool->benched, &pool->lock);
      continue;
    }
    atomic_fetch_add(&pool->asleep, 1);
    atomic_thread_fence(memory_order_seq_cst);
    bool work = has_work(pool, number);
    if (!work) pthread_cond_wait(&pool->wake, &pool->lock);
    atomic_fetch_sub(&pool->asleep, 1);
    if (work) break;
  }
  pthread_mutex_unlock(&pool->lock);
}

static void *worker_main(void *argument) {
  worker *self = argument;
  kr_pool *pool = self->pool;
  kr_float_state_set();
  while (!atomic_load(&pool->stop)) {
    if (has_work(pool, self->number) && work_once(pool, self->number)) continue;
    int spins = 0;
    for (; spins < SPINS && !has_work(pool, self->number); spins++) PAUSE();
    if (spins == SPINS) sleep_until_work(pool, self->number);
  }
  return NULL;
}

static void wait_until_done(kr_pool *pool) {
  for (int spins = 0; spins < SPINS; spins++) {
    if (atomic_load(&pool->done) == pool->n_chunks) return;
    PAUSE();
  }
  pthread_mutex_lock(&pool->lock);
  atomic_store(&pool->caller_waits, true);
  atomic_thread_fence(memory_order_seq_cst);
  while (atomic_load(&pool->done) != pool->n_chunks)
    pthread_cond_wait(&pool->finished, &pool->lock);
  atomic_store(&pool->caller_waits, false);
  pthread_mutex_unlock(&pool->lock);
}

void kr_pool_run(kr_pool *pool, int64_t n, int64_t grain, kr_task_fn *task, void *data) {
  if (n <= 0) return;
  int32_t active = atomic_load_explicit(&pool->active, memory_order_relaxed);
  if (active == 1 || n <= grain) {
    task(data, 0, n, 0);
    return;
  }
  int64_t chunks = (int64_t)active * CHUNKS_PER_THREAD;
  int64_t chunk = (n + chunks - 1) / chunks;
  if (chunk < grain) chunk = grain;
  pool->task = task, pool->data = data, pool->n = n, pool->chunk = chunk;
  pool->n_chunks = (uint32_t)((n + chunk - 1) / chunk);
  atomic_store(&pool->done, 0);
  uint64_t number = (atomic_load(&pool->work) >> 32) + 1;
  atomic_store(&pool->work, number << 32 | pool->n_chunks);
  atomic_thread_fence(memory_order_seq_cst);
  if (atomic_load(&pool->asleep)) {
    pthread_mutex_lock(&pool->lock);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
  }
  while (work_once(pool, 0)) {
  }
  wait_until_done(pool);
}

static int start(kr_pool *pool, kr_error *err) {
  pthread_attr_t attr;
  if (pthread_attr_init(&attr)) return kr_fail_memory(err, "thread attributes");
  (void)pthread_attr_setstacksize(&attr, STACK_BYTES);
  int failed = 0;
  while (!failed && pool->started < pool->threads - 1) {
    worker *w = &pool->workers[pool->started];
    *w = (worker){.pool = pool, .number = pool->started + 1};
    failed = pthread_create(&w->thread, &attr, worker_main, w);
    if (!failed) pool->started++;
  }
  pthread_attr_destroy(&attr);
  if (!failed) return KR_OK;
  return kr_fail(err, KR_E_IO, "thread %d of %d cannot be started: %s", pool->started + 2,
                 pool->threads, strerror(failed));
}

int kr_pool_new(int32_t threads, kr_pool **ret_pool, kr_error *err) {
  if (threads < 1 || threads > 1024)
    return kr_fail(err, KR_E_ARGUMENT, "threads: %d is not in 1..1024", threads);
  kr_pool *pool = kr_alloc(1, sizeof *pool + (size_t)threads * sizeof(worker));
  if (!pool) return kr_fail_memory(err, "thread pool");
  pool->threads = threads;
  atomic_init(&pool->active, threads);
  pthread_mutex_init(&pool->lock, NULL);
  pthread_cond_init(&pool->wake, NULL);
  pthread_cond_init(&pool->finished, NULL);
  pthread_cond_init(&pool->benched, NULL);
  int code = start(pool, err);
  if (code) {
    kr_pool_free(pool);
    return code;
  }
  *ret_pool = pool;
  return KR_OK;
}

void kr_pool_free(kr_pool *pool) {
  if (!pool) return;
  pthread_mutex_lock(&pool->lock);
  atomic_store(&pool->stop, true);
  pthread_cond_broadcast(&pool->wake);
  pthread_cond_broadcast(&pool->benched);
  pthread_mutex_unlock(&pool->lock);
  for (int32_t i = 0; i < pool->started; i++) pthread_join(pool->workers[i].thread, NULL);
  pthread_cond_destroy(&pool->finished);
  pthread_cond_destroy(&pool->benched);
  pthread_cond_destroy(&pool->wake);
  pthread_mutex_destroy(&pool->lock);
  kr_free(pool);
}

int32_t kr_pool_threads(const kr_pool *pool) {
  return pool->threads;
}

void kr_pool_limit(kr_pool *pool, int32_t threads) {
  int32_t active = threads < 1 ? 1 : threads > pool->threads ? pool->threads : threads;
  if (active == atomic_load_explicit(&pool->active, memory_order_relaxed)) return;
  pthread_mutex_lock(&pool->lock);
  atomic_store(&pool->active, active);
  pthread_cond_broadcast(&pool->benched);
  pthread_mutex_unlock(&pool->lock);
}
