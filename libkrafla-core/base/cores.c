/* How many threads a machine is good for: physical cores, affinity and cgroup quota.
 *
 * Sources   Linux Documentation: ABI/stable/sysfs-devices-system-cpu (topology, cpu_capacity),
 *           admin-guide/cgroup-v2 (cpu.max), sched-bwc (cpu.cfs_quota_us of cgroup v1). */
#include "base/cores.h"
#include <krafla/krafla.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

enum { PATH_BYTES = 1024, LINE_BYTES = 4096 };

/* The first line of a small file; false when there is none. */
static bool read_line(const char *root, const char *path, char line[LINE_BYTES]) {
  char full[PATH_BYTES];
  if (snprintf(full, sizeof full, "%s%s", root, path) >= (int)sizeof full) return false;
  FILE *f = fopen(full, "re");
  if (!f) return false;
  bool ok = fgets(line, LINE_BYTES, f) != NULL;
  fclose(f);
  return ok;
}

/* "0-3,8" as flags. False when the text is not such a list. */
static bool parse_list(const char *text, bool cpus[KR_MAX_CPUS]) {
  memset(cpus, 0, KR_MAX_CPUS * sizeof *cpus);
  while (*text && *text != '\n') {
    char *end;
    unsigned long first = strtoul(text, &end, 10), last = first;
    if (end == text) return false;
    if (*end == '-') last = strtoul(text = end + 1, &end, 10);
    for (unsigned long i = first; i <= last && i < KR_MAX_CPUS; i++) cpus[i] = true;
    text = end + (*end == ',');
    if (*end && *end != ',' && *end != '\n') return false;
  }
  return true;
}

static int32_t count(const bool cpus[KR_MAX_CPUS]) {
  int32_t n = 0;
  for (int i = 0; i < KR_MAX_CPUS; i++) n += cpus[i];
  return n;
}

/* Leaves out of use what is no performance core: by Intel's list of them, else by capacity, where
 * anything below half of the largest is an efficiency core. */
static void keep_performance(const char *root, bool use[KR_MAX_CPUS]) {
  char line[LINE_BYTES];
  bool kept[KR_MAX_CPUS] = {false}, fast[KR_MAX_CPUS];
  if (read_line(root, "/sys/devices/cpu_core/cpus", line) && parse_list(line, fast)) {
    for (int i = 0; i < KR_MAX_CPUS; i++) kept[i] = use[i] && fast[i];
  } else {
    long capacity[KR_MAX_CPUS], top = 0;
    for (int i = 0; i < KR_MAX_CPUS; i++) {
      char path[96];
      snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpu_capacity", i);
      capacity[i] = use[i] && read_line(root, path, line) ? strtol(line, NULL, 10) : 0;
      if (capacity[i] > top) top = capacity[i];
    }
    for (int i = 0; i < KR_MAX_CPUS; i++) kept[i] = use[i] && 2 * capacity[i] >= top;
  }
  if (count(kept)) memcpy(use, kept, sizeof kept); /* bound to efficiency cores: use those */
}

/* Keeps the first of each core's hardware threads. */
static void keep_first_siblings(const char *root, bool use[KR_MAX_CPUS]) {
  char line[LINE_BYTES], path[96];
  for (int i = 0; i < KR_MAX_CPUS; i++) {
    bool siblings[KR_MAX_CPUS];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", i);
    if (!use[i] || !read_line(root, path, line) || !parse_list(line, siblings)) continue;
    for (int j = i + 1; j < KR_MAX_CPUS; j++)
      if (siblings[j]) use[j] = false;
  }
}

/* Whole CPUs of one quota file pair or line; INT32_MAX for none. */
static int32_t whole_cpus(long long quota, long long period) {
  if (quota <= 0 || period <= 0) return INT32_MAX;
  long long cpus = quota / period;
  return cpus < 1 ? 1 : cpus > INT32_MAX ? INT32_MAX : (int32_t)cpus;
}

static int32_t quota_at(const char *root, const char *group, bool v2) {
  char path[PATH_BYTES], line[LINE_BYTES];
  long long quota = 0, period = 0;
  if (v2) {
    if (snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpu.max", group) >= (int)sizeof path ||
        !read_line(root, path, line) || sscanf(line, "%lld %lld", &quota, &period) != 2)
      return INT32_MAX; /* "max 100000" is no quota */
    return whole_cpus(quota, period);
  }
  if (snprintf(path, sizeof path, "/sys/fs/cgroup/cpu%s/cpu.cfs_quota_us", group) >=
          (int)sizeof path ||
      !read_line(root, path, line))
    return INT32_MAX;
  quota = strtoll(line, NULL, 10);
  snprintf(path, sizeof path, "/sys/fs/cgroup/cpu%s/cpu.cfs_period_us", group);
  if (!read_line(root, path, line)) return INT32_MAX;
  return whole_cpus(quota, strtoll(line, NULL, 10));
}

/* Whether a cgroup v1 line's controllers, "cpu,cpuacct", have the one with the quota. */
static bool has_cpu(const char *controllers) {
  while (*controllers) {
    size_t n = strcspn(controllers, ",");
    if (n == 3 && !memcmp(controllers, "cpu", 3)) return true;
    controllers += n + (controllers[n] != 0);
  }
  return false;
}

/* The least quota of this process's cgroup and of those around it. */
static int32_t least_quota(const char *root, char *group, bool v2) {
  int32_t least = INT32_MAX;
  if (!strcmp(group, "/")) *group = 0;
  for (;;) {
    int32_t quota = quota_at(root, group, v2);
    if (quota < least) least = quota;
    char *slash = strrchr(group, '/');
    if (!slash) return least;
    *slash = 0;
  }
}

static int32_t cgroup_cpus(const char *root) {
  char full[PATH_BYTES], line[LINE_BYTES];
  int32_t least = INT32_MAX;
  if (snprintf(full, sizeof full, "%s/proc/self/cgroup", root) >= (int)sizeof full) return least;
  FILE *f = fopen(full, "re");
  if (!f) return least;
  while (fgets(line, sizeof line, f)) { /* "0::/path" or "4:cpu,cpuacct:/path" */
    line[strcspn(line, "\n")] = 0;
    char *controllers = strchr(line, ':');
    char *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group) continue;
    *group++ = 0;
    bool v2 = !strcmp(line, "0:") || !controllers[1];
    if (!v2 && !has_cpu(controllers + 1)) continue;
    int32_t quota = least_quota(root, group, v2);
    if (quota < least) least = quota;
  }
  fclose(f);
  return least;
}

int32_t kr_count_cores(const char *root, const bool allowed[KR_MAX_CPUS], bool is_virtual) {
  bool use[KR_MAX_CPUS];
  memcpy(use, allowed, sizeof use);
  keep_performance(root, use);
  if (!is_virtual) keep_first_siblings(root, use);
  int32_t cores = count(use), quota = cgroup_cpus(root);
  if (quota < cores) cores = quota;
  return cores < 1 ? 1 : cores;
}

static bool on_hypervisor(void) {
#if defined(__x86_64__) || defined(__i386__)
  unsigned a, b, c, d;
  return __get_cpuid(1, &a, &b, &c, &d) && (c >> 31 & 1);
#else
  return false;
#endif
}

int32_t kr_default_threads(void) {
  bool allowed[KR_MAX_CPUS] = {false};
#if defined(__linux__)
  cpu_set_t set;
  CPU_ZERO(&set);
  if (!sched_getaffinity(0, sizeof set, &set))
    for (int i = 0; i < KR_MAX_CPUS && i < CPU_SETSIZE; i++) allowed[i] = CPU_ISSET(i, &set);
#endif
  if (!count(allowed)) {
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    for (long i = 0; i < online && i < KR_MAX_CPUS; i++) allowed[i] = true;
  }
  return kr_count_cores("", allowed, on_hypervisor());
}
