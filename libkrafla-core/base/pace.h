/* How many threads share the loops of a step, chosen by what steps have cost.
 *
 * A thread that has to share a core with another program can cost more than it brings: it makes the
 * others wait while it is not let run, or takes its turns on the very core that the caller runs on.
 * Which of these happens is the system's business, so the pace does not ask why. Where the system
 * has taken cores away from this process often, it tries a few steps with half of the threads, and
 * keeps what was faster; where it runs with fewer than there are, it tries twice as many from time
 * to time. A trial that changes nothing doubles the time until the next, so that trials cost a few
 * percent at most, and nothing on a machine that is not busy. Results never depend on it. */
#ifndef KR_BASE_PACE_H
#define KR_BASE_PACE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct kr_pace_level {
  int32_t threads; /* the number that serves */
  double patience; /* seconds until the next trial */
} kr_pace_level;

typedef struct kr_pace {
  int32_t threads;        /* that there are */
  kr_pace_level level[2]; /* of decodes and of prompts, which bear a busy core differently */
  bool turn;              /* more were tried last, where fewer could be too */
  /* Steps of equal size, the current number of threads, and what they came to: */
  int32_t rows, active, steps;
  int64_t taken; /* how often cores had been taken away when the first began */
  double seconds;
  double usual; /* seconds a step with the number that serves; 0: no trial */
} kr_pace;

void kr_pace_init(kr_pace *pace, int32_t threads);

/* The number of threads for a step of this many rows. taken: kr_times_preempted() now. */
int32_t kr_pace_begin(kr_pace *pace, int32_t rows, int64_t taken);

/* That step took so long. */
void kr_pace_end(kr_pace *pace, double seconds, int64_t taken);

#endif
