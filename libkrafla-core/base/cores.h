/* How many threads a machine is good for. */
#ifndef KR_BASE_CORES_H
#define KR_BASE_CORES_H

#include <stdbool.h>
#include <stdint.h>

enum { KR_MAX_CPUS = 1024 };

/* The CPUs of allowed (affinity mask, one flag a CPU) that are worth a thread each: one of each
 * physical core (unless virtual: a hypervisor's siblings say nothing), performance cores only on
 * hybrid CPUs, and no more than the cgroup's quota lets run. At least 1. root is put before /sys
 * and /proc: "" for this machine, a folder with a recorded copy in tests. */
int32_t kr_count_cores(const char *root, const bool allowed[KR_MAX_CPUS], bool is_virtual);

#endif
