#include "bench_system.h"
#include <windows.h>
/* after windows.h */
#include <psapi.h>

static PROCESS_MEMORY_COUNTERS counters(void) {
  PROCESS_MEMORY_COUNTERS c = {.cb = sizeof c};
  if (!K32GetProcessMemoryInfo(GetCurrentProcess(), &c, sizeof c)) c = (PROCESS_MEMORY_COUNTERS){0};
  return c;
}

gint64 kr_bench_memory(void) {
  return (gint64)counters().WorkingSetSize;
}

gint64 kr_bench_memory_peak(void) {
  return (gint64)counters().PeakWorkingSetSize;
}
