/* Pages, traps and paths on POSIX systems. */
#include "check_system.h"
#include <glib.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HUGE_BYTES = 4 << 20 };

size_t kr_check_page_bytes(void) {
  return (size_t)sysconf(_SC_PAGESIZE);
}

uint8_t *kr_check_pages_new(size_t bytes) {
  void *map = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return map == MAP_FAILED ? NULL : map;
}

bool kr_check_pages_allow(uint8_t *pages, size_t bytes, bool write) {
  if (mprotect(pages, bytes, write ? PROT_READ | PROT_WRITE : PROT_READ) != 0) return false;
#ifdef MADV_HUGEPAGE
  /* packed weights ask for huge pages in the engine too */
  if (write && bytes >= HUGE_BYTES) (void)madvise(pages, bytes, MADV_HUGEPAGE);
#endif
  return true;
}

void kr_check_pages_free(uint8_t *pages, size_t bytes) {
  if (pages) munmap(pages, bytes);
}

static sigjmp_buf escape;
static volatile sig_atomic_t caught;
static const uint8_t *volatile fault;

static void on_signal(int number, siginfo_t *info, void *context) {
  (void)context;
  caught = number;
  fault = info->si_addr;
  siglongjmp(escape, 1);
}

kr_check_fault kr_check_trap(kr_check_trap_fn *fn, void *data, const uint8_t **ret_address) {
  static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
  struct sigaction old[4], action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
  for (int i = 0; i < 4; i++) sigaction(signals[i], &action, &old[i]);
  caught = 0;
  if (sigsetjmp(escape, 1) == 0) fn(data);
  for (int i = 0; i < 4; i++) sigaction(signals[i], &old[i], NULL);
  *ret_address = fault;
  return caught == 0        ? KR_CHECK_NO_FAULT
         : caught == SIGILL ? KR_CHECK_ILLEGAL
         : caught == SIGFPE ? KR_CHECK_ARITHMETIC
                            : KR_CHECK_MEMORY;
}

int64_t kr_check_memory_bytes(void) {
  return (int64_t)sysconf(_SC_PHYS_PAGES) * (int64_t)sysconf(_SC_PAGESIZE);
}

char *kr_check_real_path(const char *path) {
  char *real = realpath(path, NULL), *copy = g_strdup(real);
  free(real);
  return copy;
}
