/* The thread pool: every index exactly once, whatever the shape of the loop, and no hang. */
#include "base/pool.h"
#include "base/float_state.h"
#include <glib.h>
#include <stdatomic.h>
#include <string.h>

typedef struct tally {
  _Atomic uint8_t *times; /* [n] */
  int64_t n, grain;
  int32_t threads;
  atomic_int bad;
  atomic_llong sum;
} tally;

static void count_task(void *data, int64_t first, int64_t last, int32_t worker) {
  tally *t = data;
  if (first < 0 || first >= last || last > t->n || worker < 0 || worker >= t->threads ||
      (last - first < t->grain && last != t->n))
    atomic_fetch_add(&t->bad, 1);
  for (int64_t i = first; i < last; i++) atomic_fetch_add(&t->times[i], 1);
}

static kr_pool *start(int32_t threads) {
  kr_pool *pool;
  kr_error err;
  if (kr_pool_new(threads, &pool, &err)) g_error("%s", err.message);
  g_assert_cmpint(kr_pool_threads(pool), ==, threads);
  return pool;
}

static void check_loop(kr_pool *pool, int64_t n, int64_t grain) {
  tally t = {.n = n, .grain = grain, .threads = kr_pool_threads(pool)};
  t.times = g_malloc0((gsize)(n + 1) * sizeof *t.times);
  kr_pool_run(pool, n, grain, count_task, &t);
  g_assert_cmpint(atomic_load(&t.bad), ==, 0);
  for (int64_t i = 0; i < n; i++) g_assert_cmpint(t.times[i], ==, 1);
  g_free((void *)t.times);
}

static void test_exactly_once(gconstpointer data) {
  static const int64_t sizes[] = {0, 1, 2, 3, 5, 16, 17, 63, 64, 65, 1000, 4099};
  static const int64_t grains[] = {1, 2, 7, 64, 5000};
  kr_pool *pool = start(GPOINTER_TO_INT(data));
  for (int repeat = 0; repeat < 20; repeat++)
    for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++)
      for (size_t j = 0; j < G_N_ELEMENTS(grains); j++) check_loop(pool, sizes[i], grains[j]);
  kr_pool_free(pool);
}

static void sum_task(void *data, int64_t first, int64_t last, int32_t worker) {
  (void)worker;
  tally *t = data;
  for (int64_t i = first; i < last; i++) atomic_fetch_add(&t->sum, i + 1);
}

/* Many tiny loops one after the other, each with data of its own on the stack: a thread that comes
 * late must not touch the next loop with the last one's data. */
static void test_tiny_loops(gconstpointer data) {
  kr_pool *pool = start(GPOINTER_TO_INT(data));
  for (int i = 0; i < 100000; i++) {
    tally t = {.n = 1 + i % 9};
    kr_pool_run(pool, t.n, 1, sum_task, &t);
    g_assert_cmpint(atomic_load(&t.sum), ==, t.n * (t.n + 1) / 2);
  }
  kr_pool_free(pool);
}

/* Loops with pauses between them, so that the threads fall asleep and must be woken. */
static void test_sleep(void) {
  kr_pool *pool = start(5);
  for (int i = 0; i < 40; i++) {
    g_usleep(2000);
    check_loop(pool, 100, 1);
  }
  kr_pool_free(pool);
}

static void who_task(void *data, int64_t first, int64_t last, int32_t worker) {
  tally *t = data;
  (void)first, (void)last;
  if (worker >= t->threads) atomic_fetch_add(&t->bad, 1);
  g_usleep(20); /* so that others get their share */
}

/* A lower limit leaves threads out, but for one chunk that each may be about to take. */
static void test_limit(void) {
  kr_pool *pool = start(4);
  static const int32_t limits[] = {4, 2, 1, 3, 9, 0, 4};
  for (int repeat = 0; repeat < 20; repeat++)
    for (size_t i = 0; i < G_N_ELEMENTS(limits); i++) {
      tally t = {.threads = CLAMP(limits[i], 1, 4)};
      kr_pool_limit(pool, limits[i]);
      kr_pool_run(pool, 64, 1, who_task, &t);
      g_assert_cmpint(atomic_load(&t.bad), <=, t.threads == 1 ? 0 : 4 - t.threads);
      check_loop(pool, 64, 1);
    }
  kr_pool_free(pool);
}

typedef struct outer {
  kr_pool *inner;
  atomic_llong sum;
} outer;

static void nested_task(void *data, int64_t first, int64_t last, int32_t worker) {
  outer *o = data;
  if (worker) return; /* one caller at a time: only worker 0 runs inner loops */
  for (int64_t i = first; i < last; i++) {
    tally t = {.n = 50};
    kr_pool_run(o->inner, t.n, 1, sum_task, &t);
    atomic_fetch_add(&o->sum, atomic_load(&t.sum));
  }
}

/* A loop of one pool inside a loop of another. */
static void test_nested(void) {
  kr_pool *pool = start(1);
  outer o = {.inner = start(3)};
  for (int i = 0; i < 200; i++) kr_pool_run(pool, 10, 1, nested_task, &o);
  g_assert_cmpint(atomic_load(&o.sum), ==, 200 * 10 * 50 * 51 / 2);
  kr_pool_free(o.inner);
  kr_pool_free(pool);
}

#if defined(__SSE2__)
static void state_task(void *data, int64_t first, int64_t last, int32_t worker) {
  (void)first, (void)last;
  tally *t = data;
  /* workers flush; the caller, worker 0, has whatever state it came with */
  if (worker && (_mm_getcsr() & 0x8040) != 0x8040) atomic_fetch_add(&t->bad, 1);
  if (worker) atomic_fetch_add(&t->sum, 1);
  g_usleep(50); /* so that every thread gets a part */
}

static void test_float_state(void) {
  kr_pool *pool = start(4);
  uint32_t before = _mm_getcsr();
  tally t = {0};
  for (int i = 0; i < 200 && !atomic_load(&t.sum); i++) kr_pool_run(pool, 64, 1, state_task, &t);
  g_assert_cmpint(atomic_load(&t.bad), ==, 0);
  g_assert_cmpint(atomic_load(&t.sum), >, 0);
  g_assert_cmphex(_mm_getcsr() & ~0x3fu, ==, before & ~0x3fu);
  kr_pool_free(pool);
}
#endif

static void test_start_and_stop(void) {
  for (int i = 0; i < 200; i++) kr_pool_free(start(1 + i % 16)); /* no loop at all */
  kr_pool_free(NULL);
}

static void test_range(void) {
  static const int32_t bad[] = {0, -1, INT32_MIN, 1025, INT32_MAX};
  for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
    kr_pool *pool = NULL;
    kr_error err = {0};
    g_assert_cmpint(kr_pool_new(bad[i], &pool, &err), ==, KR_E_ARGUMENT);
    g_assert_null(pool);
    g_assert_nonnull(strstr(err.message, "threads"));
  }
}

int main(int argc, char **argv) {
  static const int threads[] = {1, 2, 5, 16};
  g_test_init(&argc, &argv, NULL);
  for (size_t i = 0; i < G_N_ELEMENTS(threads); i++) {
    g_autofree char *once = g_strdup_printf("/pool/exactly-once/%d", threads[i]);
    g_autofree char *tiny = g_strdup_printf("/pool/tiny-loops/%d", threads[i]);
    g_test_add_data_func(once, GINT_TO_POINTER(threads[i]), test_exactly_once);
    g_test_add_data_func(tiny, GINT_TO_POINTER(threads[i]), test_tiny_loops);
  }
  g_test_add_func("/pool/sleep", test_sleep);
  g_test_add_func("/pool/limit", test_limit);
  g_test_add_func("/pool/nested", test_nested);
#if defined(__SSE2__)
  g_test_add_func("/pool/float-state", test_float_state);
#endif
  g_test_add_func("/pool/start-and-stop", test_start_and_stop);
  g_test_add_func("/pool/range", test_range);
  return g_test_run();
}
