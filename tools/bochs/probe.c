/* For the test of the emulated CPU itself: probe WHAT
 *   say      writes what its own file begins with and a value of the environment; ends with code 7
 *   pages    writes to a page, moves and enlarges it, and ends with code 0 if all is still there
 *   constant, hidden, gone   touches a page that may not be written, not be touched, or was
 * unmapped vnni     executes vpdpbusd of 512 bits The line is what a read of the program's own file
 * begins with, too. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, SAID = 7 };

static int say(const char *program) {
  char start[4] = "";
  int file = open(program, O_RDONLY);
  if (file < 0 || read(file, start, sizeof start) != sizeof start) return 1;
  close(file);
  printf("probe %.3s %s\n", start + 1, getenv("KRAFLA_PROBE") ? getenv("KRAFLA_PROBE") : "-");
  return SAID;
}

static unsigned char *map(size_t bytes) {
  void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) exit(1);
  return p;
}

static int pages(void) {
  unsigned char *p = map(2 * PAGE);
  memset(p, 5, 2 * PAGE);
  p = mremap(p, 2 * PAGE, 9 * PAGE, MREMAP_MAYMOVE);
  if (p == MAP_FAILED || p[0] != 5 || p[2 * PAGE - 1] != 5 || p[2 * PAGE] != 0) return 1;
  if (munmap(p, 9 * PAGE)) return 1;
  p = map(9 * PAGE); /* of pages that were given back */
  for (int i = 0; i < 9 * PAGE; i++)
    if (p[i]) return 1;
  return 0;
}

static int touch(const char *what) {
  volatile unsigned char *p = map(PAGE);
  p[0] = 1;
  if (!strcmp(what, "gone")) {
    munmap((void *)p, PAGE);
    return p[0];
  }
  mprotect((void *)p, PAGE, strcmp(what, "constant") ? PROT_NONE : PROT_READ);
  if (p[0] == 1) p[0] = 2;
  return 0;
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "say";
  if (!strcmp(what, "say")) return say(argv[0]);
  if (!strcmp(what, "pages")) return pages();
  if (!strcmp(what, "vnni")) {
    __asm__ volatile("vpdpbusd %%zmm0, %%zmm1, %%zmm2" ::: "memory");
    return 0;
  }
  return touch(what);
}
