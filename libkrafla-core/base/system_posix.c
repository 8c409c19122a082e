/* Paths, the environment, randomness and scheduling on POSIX systems. */
#include "base/system.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/random.h>
#endif

const char *kr_environment(const char *name, char room[KR_PATH_BYTES]) {
  (void)room;
  return secure_getenv(name);
}

const char *kr_path_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

bool kr_path_is_absolute(const char *path) {
  return *path == '/';
}

bool kr_path_exists(const char *path) {
  return !access(path, F_OK) || (errno != ENOENT && errno != ENOTDIR);
}

_Static_assert(PATH_MAX <= KR_PATH_BYTES, "realpath writes up to PATH_MAX bytes");

bool kr_path_real(const char *path, char real[KR_PATH_BYTES]) {
  return realpath(path, real) != NULL;
}

bool kr_random_seed(uint64_t seed[2]) {
#if defined(__linux__)
  return getrandom(seed, 2 * sizeof *seed, GRND_NONBLOCK) == (ssize_t)(2 * sizeof *seed);
#else
  (void)seed;
  return false;
#endif
}

int64_t kr_times_preempted(void) {
  struct rusage usage;
  return getrusage(RUSAGE_SELF, &usage) ? -1 : usage.ru_nivcsw;
}
