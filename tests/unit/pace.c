/* How many threads take part: machines that never were, by their clocks. */
#include "base/pace.h"
#include <glib.h>

/* What a step costs with 1, 2, 4 threads, and how often a second the system takes cores away. */
typedef struct machine {
  double seconds[3];
  double taken_a_second; /* < 0: the system does not tell */
  double taken, clock;
  kr_pace pace;
} machine;

static double cost_of(const machine *m, int32_t threads) {
  return m->seconds[threads >= 4 ? 2 : threads - 1];
}

static int32_t step(machine *m, int32_t rows) {
  int64_t taken = m->taken_a_second < 0 ? -1 : (int64_t)m->taken;
  int32_t threads = kr_pace_begin(&m->pace, rows, taken);
  g_assert_cmpint(threads, >=, 1);
  g_assert_cmpint(threads, <=, m->pace.threads);
  double seconds = cost_of(m, threads);
  m->clock += seconds;
  if (m->taken_a_second > 0) m->taken += seconds * m->taken_a_second;
  kr_pace_end(&m->pace, seconds, m->taken_a_second < 0 ? -1 : (int64_t)m->taken);
  return threads;
}

/* Steps for so long; how much slower they are in all than with the best number of threads. */
static double loss(machine *m, int32_t rows, double duration) {
  double start = m->clock, best = G_MAXDOUBLE;
  int64_t steps = 0;
  for (int32_t threads = 1; threads <= m->pace.threads; threads *= 2)
    best = MIN(best, cost_of(m, threads));
  for (; m->clock - start < duration; steps++) step(m, rows);
  return (m->clock - start) / ((double)steps * best) - 1;
}

static void test_quiet(void) {
  machine m = {.seconds = {0.004, 0.0031}};
  kr_pace_init(&m.pace, 2);
  for (int i = 0; i < 5000; i++) g_assert_cmpint(step(&m, 1), ==, 2);
  m = (machine){.seconds = {0.004, 0.0031}, .taken_a_second = 20};
  kr_pace_init(&m.pace, 2);
  for (int i = 0; i < 5000; i++) g_assert_cmpint(step(&m, 1), ==, 2);
}

/* Cores are taken away, but two threads are still faster: trials cost little. */
static void test_busy_but_worth_it(void) {
  machine m = {.seconds = {0.004, 0.0031}, .taken_a_second = 300};
  kr_pace_init(&m.pace, 2);
  g_assert_cmpfloat(loss(&m, 1, 20), <, 0.02);
}

static void test_busy(void) {
  machine m = {.seconds = {0.004, 0.0064}, .taken_a_second = 300};
  kr_pace_init(&m.pace, 2);
  g_assert_cmpfloat(loss(&m, 1, 0.3), <, 0.2); /* it has to find out */
  g_assert_cmpfloat(loss(&m, 1, 20), <, 0.04);
  /* the neighbour goes */
  m.seconds[1] = 0.0031, m.taken_a_second = 0;
  (void)loss(&m, 1, 4);
  for (int i = 0; i < 1000; i++) g_assert_cmpint(step(&m, 1), ==, 2);
}

static void test_system_that_does_not_tell(void) {
  machine m = {.seconds = {0.004, 0.0064}, .taken_a_second = -1};
  kr_pace_init(&m.pace, 2);
  (void)loss(&m, 1, 1);
  g_assert_cmpfloat(loss(&m, 1, 20), <, 0.04);
  m = (machine){.seconds = {0.004, 0.0031}, .taken_a_second = -1};
  kr_pace_init(&m.pace, 2);
  g_assert_cmpfloat(loss(&m, 1, 20), <, 0.02);
}

/* More than two: the best may be between. */
static void test_four(void) {
  machine m = {.seconds = {0.004, 0.0022, 0.0035}, .taken_a_second = 300};
  kr_pace_init(&m.pace, 4);
  (void)loss(&m, 1, 1);
  g_assert_cmpfloat(loss(&m, 1, 20), <, 0.04);
  m = (machine){.seconds = {0.004, 0.0082, 0.0095}, .taken_a_second = 300};
  kr_pace_init(&m.pace, 4);
  (void)loss(&m, 1, 1);
  g_assert_cmpfloat(loss(&m, 1, 20), <, 0.05);
}

/* Three threads: half of them is two, and from one the way back leads to all. */
static void test_three(void) {
  machine m = {.seconds = {0.004, 0.0062, 0.0095}, .taken_a_second = 300};
  kr_pace_init(&m.pace, 3);
  for (int i = 0; i < 500; i++) step(&m, 1);
  m.seconds[1] = 0.003, m.seconds[2] = 0.002, m.taken_a_second = 0;
  (void)loss(&m, 1, 10);
  g_assert_cmpint(step(&m, 1), ==, 3);
}

/* Prompts and decodes are judged apart, and a change of size ends a trial. */
static void test_prompts(void) {
  machine decode = {.seconds = {0.004, 0.0064}, .taken_a_second = 300};
  kr_pace_init(&decode.pace, 2);
  (void)loss(&decode, 1, 2);
  g_assert_cmpint(decode.pace.level[0].threads, ==, 1);
  machine prompt = decode;
  prompt.seconds[0] = 0.1, prompt.seconds[1] = 0.06;
  g_assert_cmpint(step(&prompt, 128), ==, 2);
  g_assert_cmpint(step(&prompt, 77), ==, 2);
  g_assert_cmpint(step(&prompt, 1), ==, 1);
}

static void test_one(void) {
  machine m = {.seconds = {0.004}, .taken_a_second = 300};
  kr_pace_init(&m.pace, 1);
  for (int i = 0; i < 1000; i++) g_assert_cmpint(step(&m, 1), ==, 1);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/pace/quiet", test_quiet);
  g_test_add_func("/pace/busy-but-worth-it", test_busy_but_worth_it);
  g_test_add_func("/pace/busy", test_busy);
  g_test_add_func("/pace/system-that-does-not-tell", test_system_that_does_not_tell);
  g_test_add_func("/pace/four", test_four);
  g_test_add_func("/pace/three", test_three);
  g_test_add_func("/pace/prompts", test_prompts);
  g_test_add_func("/pace/one", test_one);
  return g_test_run();
}
