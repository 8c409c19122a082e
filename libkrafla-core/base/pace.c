/* How many threads share the loops of a step. */
#include "base/pace.h"

enum { PROMPT_ROWS = 8 }; /* from here on a step is bound by computing, below by reading weights */

static const double first_patience = 0.03, most_patience = 2;
static const double trial_seconds = 0.025; /* several time slices of usual schedulers */
static const double busy_seconds = 0.016;  /* cores taken away more often than this: busy */
/* Of the usual time, at most, or nothing changes: more threads must be worth it. */
static const double gain_with_fewer = 0.97, gain_with_more = 0.9;

void kr_pace_init(kr_pace *pace, int32_t threads) {
  kr_pace_level level = {threads, first_patience};
  *pace = (kr_pace){.threads = threads, .level = {level, level}};
}

static kr_pace_level *level_of(kr_pace *pace) {
  return &pace->level[pace->rows >= PROMPT_ROWS];
}

static void begin_window(kr_pace *pace, int32_t active, int64_t taken) {
  pace->active = active;
  pace->steps = 0;
  pace->seconds = 0;
  pace->taken = taken;
}

int32_t kr_pace_begin(kr_pace *pace, int32_t rows, int64_t taken) {
  if (rows != pace->rows) { /* not to be compared with what was before */
    pace->rows = rows;
    pace->usual = 0;
    begin_window(pace, level_of(pace)->threads, taken);
  }
  return pace->active;
}

/* The number of threads to try, or the one that serves. Between one and all, more and fewer are
 * tried in turns. */
static int32_t candidate(kr_pace *pace, int64_t taken) {
  /* taken < 0: the system does not tell */
  bool busy = taken < 0 || (double)(taken - pace->taken) * busy_seconds > pace->seconds;
  bool fewer = pace->active > 1 && busy, more = pace->active < pace->threads;
  if (fewer && more) pace->turn = !pace->turn;
  if (more && (!fewer || pace->turn))
    return pace->active > pace->threads / 2 ? pace->threads : 2 * pace->active;
  return fewer ? (pace->active + 1) / 2 : pace->active;
}

static void judge(kr_pace *pace, int64_t taken) {
  kr_pace_level *level = level_of(pace);
  double gain = pace->active < level->threads ? gain_with_fewer : gain_with_more;
  if (pace->seconds / pace->steps < gain * pace->usual) {
    level->threads = pace->active;
    level->patience = first_patience;
  } else if (level->patience < most_patience) {
    level->patience *= 2;
  }
  pace->usual = 0;
  begin_window(pace, level->threads, taken);
}

void kr_pace_end(kr_pace *pace, double seconds, int64_t taken) {
  pace->steps++;
  pace->seconds += seconds;
  if (pace->steps < 2) return;
  if (pace->usual > 0) {
    if (pace->seconds >= trial_seconds) judge(pace, taken);
  } else if (pace->seconds >= level_of(pace)->patience) {
    int32_t next = candidate(pace, taken);
    if (next != pace->active) pace->usual = pace->seconds / pace->steps;
    begin_window(pace, next, taken);
  }
}
