/* The number of threads, on recorded machines: folders with copies of what /sys and /proc say. */
#include "base/cores.h"
#include <glib.h>
#include <glib/gstdio.h>
#include <krafla/krafla.h>
#include <string.h>

typedef struct machine {
  char *root;
  bool allowed[KR_MAX_CPUS];
  bool is_virtual;
} machine;

static machine start(int n_cpus) {
  machine m = {.root = g_dir_make_tmp("krafla-cores-XXXXXX", NULL)};
  for (int i = 0; i < n_cpus; i++) m.allowed[i] = true;
  return m;
}

static void put(const machine *m, const char *path, const char *text) {
  g_autofree char *full = g_strconcat(m->root, path, NULL), *parent = g_path_get_dirname(full);
  g_assert_cmpint(g_mkdir_with_parents(parent, 0755), ==, 0);
  g_assert_true(g_file_set_contents(full, text, -1, NULL));
}

static void put_cpu(const machine *m, int cpu, const char *file, const char *format, int value) {
  g_autofree char *path = g_strdup_printf("/sys/devices/system/cpu/cpu%d/%s", cpu, file);
  char text[64];
  g_snprintf(text, sizeof text, format, value);
  put(m, path, text);
}

static void put_siblings(const machine *m, int cpu, int first, int second) {
  g_autofree char *path =
      g_strdup_printf("/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
  g_autofree char *text =
      second < 0 ? g_strdup_printf("%d\n", first) : g_strdup_printf("%d,%d\n", first, second);
  put(m, path, text);
}

static void remove_tree(const char *path) {
  GDir *dir = g_dir_open(path, 0, NULL);
  for (const char *name; dir && (name = g_dir_read_name(dir));) {
    g_autofree char *inner = g_build_filename(path, name, NULL);
    remove_tree(inner);
  }
  if (dir) g_dir_close(dir);
  g_remove(path);
}

static void expect(machine *m, int cores) {
  g_assert_cmpint(kr_count_cores(m->root, m->allowed, m->is_virtual), ==, cores);
}

static void finish(machine *m) {
  remove_tree(m->root);
  g_free(m->root);
}

/* Eight performance cores and twelve efficiency cores, no SMT. */
static void test_hybrid(void) {
  machine m = start(20);
  put(&m, "/sys/devices/cpu_core/cpus", "0-7\n");
  put(&m, "/sys/devices/cpu_atom/cpus", "8-19\n");
  for (int i = 0; i < 20; i++) put_siblings(&m, i, i, -1);
  expect(&m, 8);
  for (int i = 0; i < 20; i++) m.allowed[i] = i >= 8 && i < 13; /* bound to efficiency cores */
  expect(&m, 5);
  for (int i = 0; i < 20; i++) m.allowed[i] = i >= 6;
  expect(&m, 2);
  finish(&m);
}

/* Eight performance cores with two threads each, eight efficiency cores. */
static void test_hybrid_smt(void) {
  machine m = start(24);
  put(&m, "/sys/devices/cpu_core/cpus", "0-15\n");
  for (int i = 0; i < 16; i++) put_siblings(&m, i, i / 2 * 2, i / 2 * 2 + 1);
  for (int i = 16; i < 24; i++) put_siblings(&m, i, i, -1);
  expect(&m, 8);
  finish(&m);
}

static void test_virtual(void) {
  machine m = start(16);
  for (int i = 0; i < 16; i++) put_siblings(&m, i, i / 2 * 2, i / 2 * 2 + 1);
  m.is_virtual = true;
  expect(&m, 16);
  m.is_virtual = false; /* the same tree on real hardware */
  expect(&m, 8);
  finish(&m);
}

static void test_phone(void) {
  machine m = start(8);
  for (int i = 0; i < 8; i++) put_cpu(&m, i, "cpu_capacity", "%d\n", i < 4 ? 446 : 1024);
  expect(&m, 4);
  for (int i = 0; i < 8; i++) put_cpu(&m, i, "cpu_capacity", "%d\n", i < 4 ? 800 : 1024);
  expect(&m, 8); /* nearly as fast: all of them */
  finish(&m);
}

/* Siblings far apart, as servers number them, and some of them not allowed. */
static void test_smt(void) {
  machine m = start(32);
  for (int i = 0; i < 32; i++) put_siblings(&m, i, i % 16, i % 16 + 16);
  expect(&m, 16);
  memset(m.allowed, 0, sizeof m.allowed);
  m.allowed[3] = m.allowed[19] = m.allowed[20] = true;
  expect(&m, 2);
  finish(&m);
}

static void test_quota_v2(void) {
  machine m = start(8);
  put(&m, "/proc/self/cgroup", "0::/\n");
  expect(&m, 8);
  put(&m, "/sys/fs/cgroup/cpu.max", "max 100000\n");
  expect(&m, 8);
  put(&m, "/sys/fs/cgroup/cpu.max", "100000 100000\n");
  expect(&m, 1);
  put(&m, "/sys/fs/cgroup/cpu.max", "399999 100000\n"); /* whole CPUs only */
  expect(&m, 3);
  put(&m, "/sys/fs/cgroup/cpu.max", "20000 100000\n"); /* but at least one */
  expect(&m, 1);
  put(&m, "/sys/fs/cgroup/cpu.max", "200000 50000\n");
  expect(&m, 4);
  put(&m, "/sys/fs/cgroup/cpu.max", "9000000000000 100000\n");
  expect(&m, 8);
  put(&m, "/sys/fs/cgroup/cpu.max", "100000 0\n");
  expect(&m, 8);
  put(&m, "/sys/fs/cgroup/cpu.max", "");
  expect(&m, 8);
  finish(&m);
}

/* The least of all groups around counts. */
static void test_quota_nested(void) {
  machine m = start(16);
  put(&m, "/proc/self/cgroup", "0::/system.slice/box.service/inner\n");
  put(&m, "/sys/fs/cgroup/system.slice/box.service/inner/cpu.max", "600000 100000\n");
  expect(&m, 6);
  put(&m, "/sys/fs/cgroup/system.slice/box.service/cpu.max", "200000 100000\n");
  expect(&m, 2);
  put(&m, "/sys/fs/cgroup/system.slice/box.service/cpu.max", "max 100000\n");
  put(&m, "/sys/fs/cgroup/system.slice/cpu.max", "300000 100000\n");
  expect(&m, 3);
  put(&m, "/sys/fs/cgroup/other/cpu.max", "100000 100000\n");
  expect(&m, 3);
  finish(&m);
}

static void test_quota_v1(void) {
  machine m = start(8);
  put(&m, "/proc/self/cgroup",
      "12:cpuset:/slow\n5:memory:/box\n4:cpu,cpuacct:/box/inner\n1:name=systemd:/slow\n");
  put(&m, "/sys/fs/cgroup/cpu/box/inner/cpu.cfs_quota_us", "-1\n");
  put(&m, "/sys/fs/cgroup/cpu/box/inner/cpu.cfs_period_us", "100000\n");
  expect(&m, 8);
  put(&m, "/sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", "250000\n");
  put(&m, "/sys/fs/cgroup/cpu/box/cpu.cfs_period_us", "100000\n");
  expect(&m, 2);
  /* the group that cpuset has us in says nothing about our quota */
  put(&m, "/sys/fs/cgroup/cpu/slow/cpu.cfs_quota_us", "100000\n");
  put(&m, "/sys/fs/cgroup/cpu/slow/cpu.cfs_period_us", "100000\n");
  expect(&m, 2);
  finish(&m);
}

/* Affinity and quota together: the least. */
static void test_affinity_and_quota(void) {
  machine m = start(64);
  memset(m.allowed, 0, sizeof m.allowed);
  m.allowed[5] = m.allowed[40] = m.allowed[41] = true;
  expect(&m, 3);
  put(&m, "/proc/self/cgroup", "0::/a\n");
  put(&m, "/sys/fs/cgroup/a/cpu.max", "200000 100000\n");
  expect(&m, 2);
  put(&m, "/sys/fs/cgroup/a/cpu.max", "900000 100000\n");
  expect(&m, 3);
  finish(&m);
}

static void test_odd_files(void) {
  machine m = start(4);
  put(&m, "/sys/devices/cpu_core/cpus", "0-1,3-\n,,x");
  put(&m, "/proc/self/cgroup", "\n:\n::\n0:\nrubbish\n0::\n");
  for (int i = 0; i < 4; i++)
    put_cpu(&m, i, "topology/thread_siblings_list", "%d-99999999999\n", i);
  int cores = kr_count_cores(m.root, m.allowed, false);
  g_assert_true(cores >= 1 && cores <= 4);
  memset(m.allowed, 0, sizeof m.allowed);
  expect(&m, 1); /* nothing allowed: still one */
  finish(&m);
}

static void test_this_machine(void) {
  int32_t n = kr_default_threads();
  g_assert_cmpint(n, >=, 1);
  g_assert_cmpint(n, <=, (int)g_get_num_processors());
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/cores/hybrid", test_hybrid);
  g_test_add_func("/cores/hybrid-smt", test_hybrid_smt);
  g_test_add_func("/cores/virtual", test_virtual);
  g_test_add_func("/cores/phone", test_phone);
  g_test_add_func("/cores/smt", test_smt);
  g_test_add_func("/cores/quota-v2", test_quota_v2);
  g_test_add_func("/cores/quota-nested", test_quota_nested);
  g_test_add_func("/cores/quota-v1", test_quota_v1);
  g_test_add_func("/cores/affinity-and-quota", test_affinity_and_quota);
  g_test_add_func("/cores/odd-files", test_odd_files);
  g_test_add_func("/cores/this-machine", test_this_machine);
  return g_test_run();
}
