/* Speed of a kernel beside the scalar one and beside the speed of reading memory. */
#include "check.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { ROUNDS_MIN = 3, ROUNDS_MAX = 200 };
#define SECONDS 0.15 /* of calls of the candidate, a kernel */

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What a plain sum of the buffer takes. */
static double read_seconds(const kr_check_buffer *buffer) {
  static volatile uint64_t sink;
  const uint64_t *words = (const uint64_t *)(const void *)buffer->data; /* 64-byte aligned */
  uint64_t sum[8] = {0};
  double start = now();
  for (size_t i = 0; i + 8 <= buffer->bytes / 8; i += 8)
    for (int j = 0; j < 8; j++) sum[j] += words[i + j];
  for (int j = 1; j < 8; j++) sum[0] += sum[j];
  sink = sum[0];
  (void)sink;
  return now() - start;
}

/* Short calls are repeated within a measurement: the clock and the traps take a microsecond. */
static double call_seconds(const kr_check_job *job, kr_check_fn *fn, int calls) {
  double start = now();
  if (kr_check_run(job, fn, calls)) return -1;
  return (now() - start) / calls;
}

bool kr_check_time(const kr_check_kernel *kernel, kr_check_fn *reference, kr_check_fn *candidate,
                   uint64_t seed, int64_t bytes, kr_check_speed *ret_speed, char *message,
                   size_t size) {
  kr_check_job job;
  bool streams = kernel->kind == &kr_check_vector_product, equal = false;
  if (!kr_check_job_new_timed(&job, kernel, seed, bytes)) {
    snprintf(message, size, "no memory for the timed case");
    goto out;
  }
  equal = kr_check_compare(&job, reference, candidate, message, size);
  if (!equal) goto out;
  double best = call_seconds(&job, candidate, 1), scalar = call_seconds(&job, reference, 1);
  double read = streams ? read_seconds(&job.buffer[0]) : 0, end = now() + SECONDS;
  int calls = best < 50e-6 ? 100 : 1;
  for (int i = 0; i < ROUNDS_MIN || (i < ROUNDS_MAX && now() < end); i++) {
    double t = call_seconds(&job, candidate, calls);
    if (t < best) best = t;
    if (streams && (t = read_seconds(&job.buffer[0])) < read) read = t;
    if (i < 2 || scalar < 1e-3) {
      t = call_seconds(&job, reference, calls);
      if (t < scalar) scalar = t;
    }
  }
  double work = kernel->kind->work(&job) * 1e-9;
  ret_speed->speed = work / best;
  ret_speed->reference = work / scalar;
  ret_speed->bandwidth = streams ? (double)job.buffer[0].bytes * 1e-9 / read : 0;
  ret_speed->share = streams ? ret_speed->speed / ret_speed->bandwidth : 0;
out:
  kr_check_job_clear(&job);
  return equal;
}
