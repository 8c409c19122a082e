/* How many threads a machine is good for, on Windows: physical cores of the highest efficiency
 * class, within the process's affinity.
 *
 * Source    Microsoft, Win32 API reference: GetLogicalProcessorInformationEx,
 *           PROCESSOR_RELATIONSHIP (EfficiencyClass: higher is faster), GetProcessAffinityMask. */
#include "base/memory.h"
#include <stdbool.h>
#include <windows.h>

/* EfficiencyClass, the byte after Flags, which older headers call reserved. */
static int efficiency(const PROCESSOR_RELATIONSHIP *core) {
  return (&core->Flags)[1];
}

/* The affinity mask counts for the group that the process runs in; elsewhere all are allowed. */
static int32_t count(const char *data, DWORD bytes, KAFFINITY allowed, bool one_group) {
  int32_t n = 0;
  int fastest = 0;
  for (DWORD at = 0; at < bytes;) {
    const SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX *entry = (const void *)(data + at);
    const PROCESSOR_RELATIONSHIP *core = &entry->Processor;
    bool use = !one_group || (core->GroupMask[0].Mask & allowed) != 0;
    if (use && efficiency(core) > fastest) {
      fastest = efficiency(core);
      n = 0;
    }
    n += use && efficiency(core) == fastest;
    at += entry->Size;
  }
  return n;
}

int32_t kr_default_threads(void) {
  DWORD_PTR allowed = 0, machine = 0;
  bool one_group = GetActiveProcessorGroupCount() == 1 &&
                   GetProcessAffinityMask(GetCurrentProcess(), &allowed, &machine) && allowed;
  DWORD bytes = 0;
  GetLogicalProcessorInformationEx(RelationProcessorCore, NULL, &bytes);
  char *data = bytes ? kr_alloc(bytes, 1) : NULL;
  int32_t n = 0;
  if (data &&
      GetLogicalProcessorInformationEx(
          RelationProcessorCore, (SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX *)(void *)data, &bytes))
    n = count(data, bytes, allowed, one_group);
  kr_free(data);
  if (n < 1) n = (int32_t)GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
  return n < 1 ? 1 : n > 1024 ? 1024 : n;
}
