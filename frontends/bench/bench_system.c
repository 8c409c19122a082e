#include "bench_system.h"
#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

enum { PASSES = 5 };
#define BUFFER_BYTES ((gsize)256 << 20)
#define HUGE_PAGE    ((gsize)2 << 20)

typedef struct {
  GMutex mutex;
  GCond all_here;
  int size, waiting, round;
} barrier;

static void barrier_wait(barrier *b) {
  g_mutex_lock(&b->mutex);
  int round = b->round;
  if (++b->waiting == b->size) {
    b->waiting = 0;
    b->round++;
    g_cond_broadcast(&b->all_here);
  }
  while (round == b->round) g_cond_wait(&b->all_here, &b->mutex);
  g_mutex_unlock(&b->mutex);
}

typedef struct {
  barrier *barrier;
  guint64 *words;
  gsize n;                           /* words, a multiple of 8 */
  gint64 start[PASSES], end[PASSES]; /* microseconds */
  guint64 sum;
} reader;

/* Eight sums, so that the additions of the narrowest vectors keep ahead of the memory. */
static guint64 sum_words(const guint64 *words, gsize n) {
  guint64 sum[8] = {0};
  for (gsize i = 0; i < n; i += 8)
    for (int j = 0; j < 8; j++) sum[j] += words[i + j];
  for (int j = 1; j < 8; j++) sum[0] += sum[j];
  return sum[0];
}

static gpointer read_share(gpointer data) {
  reader *r = data;
  /* the thread that reads a page touches it first, so that it lies near its core */
  memset(r->words, 1, r->n * sizeof *r->words);
  for (int pass = 0; pass < PASSES; pass++) {
    barrier_wait(r->barrier);
    r->start[pass] = g_get_monotonic_time();
    r->sum += sum_words(r->words, r->n);
    r->end[pass] = g_get_monotonic_time();
  }
  return NULL;
}

/* A pass lasts from the first start to the last end. */
static double pass_bandwidth(const reader *readers, int n, int pass) {
  gint64 start = readers[0].start[pass], end = readers[0].end[pass];
  gsize words = 0;
  for (int i = 0; i < n; i++) {
    start = MIN(start, readers[i].start[pass]);
    end = MAX(end, readers[i].end[pass]);
    words += readers[i].n;
  }
  return (double)words * sizeof(guint64) * 1e6 / (double)MAX(end - start, 1);
}

static guint64 *huge_pages(void *memory) {
  guintptr aligned = ((guintptr)memory + HUGE_PAGE - 1) & ~(guintptr)(HUGE_PAGE - 1);
#if defined(MADV_HUGEPAGE)
  madvise((void *)aligned, BUFFER_BYTES, MADV_HUGEPAGE);
#endif
  return (guint64 *)aligned;
}

double kr_bench_read_bandwidth(int threads) {
  static volatile guint64 sink; /* so that the sums are not dropped */
  void *memory = g_try_malloc(BUFFER_BYTES + HUGE_PAGE);
  if (!memory) return 0;
  guint64 *words = huge_pages(memory);
  gsize share = BUFFER_BYTES / sizeof *words / (gsize)threads / 8 * 8;
  barrier b = {.size = threads};
  reader *readers = g_new0(reader, threads);
  GThread **others = g_new0(GThread *, threads);
  double speeds[PASSES];
  g_mutex_init(&b.mutex);
  g_cond_init(&b.all_here);
  for (int i = 0; i < threads; i++)
    readers[i] = (reader){.barrier = &b, .words = words + (gsize)i * share, .n = share};
  int started = 1; /* this thread is the first */
  while (started < threads &&
         (others[started] = g_thread_try_new("reader", read_share, readers + started, NULL)))
    started++;
  g_mutex_lock(&b.mutex);
  b.size = started; /* the others wait for this thread at least, so none has passed yet */
  g_mutex_unlock(&b.mutex);
  read_share(readers);
  for (int i = 1; i < started; i++) g_thread_join(others[i]);
  for (int pass = 0; pass < PASSES; pass++) speeds[pass] = pass_bandwidth(readers, threads, pass);
  for (int i = 0; i < threads; i++) sink += readers[i].sum;
  g_cond_clear(&b.all_here);
  g_mutex_clear(&b.mutex);
  g_free(others);
  g_free(readers);
  g_free(memory);
  return started == threads ? kr_bench_median(speeds, PASSES) : 0;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double kr_bench_median(double *values, gsize n) {
  qsort(values, n, sizeof *values, compare);
  return (values[(n - 1) / 2] + values[n / 2]) / 2;
}
