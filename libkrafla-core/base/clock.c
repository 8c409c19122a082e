/* What the system says of time. */
#include "base/clock.h"
#include <time.h>
#if !defined(_WIN32)
#include <sys/resource.h>
#endif

double kr_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int64_t kr_times_preempted(void) {
#if !defined(_WIN32)
  struct rusage usage;
  if (!getrusage(RUSAGE_SELF, &usage)) return usage.ru_nivcsw;
#endif
  return -1;
}
