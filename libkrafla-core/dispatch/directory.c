/* Where backends are looked for. Never the working directory. */
#include "dispatch/dispatch.h"
#include "krafla_config.h"
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* folder + suffix, if that is a directory. Own, or NULL. */
static char *existing(const char *folder, size_t n, const char *suffix) {
  char path[PATH_MAX];
  if (snprintf(path, sizeof path, "%.*s%s", (int)n, folder, suffix) >= (int)sizeof path)
    return NULL;
  return access(path, X_OK) ? NULL : kr_strdup(path);
}

/* An installed tree may have been moved: the backends' place is known from the library's, or, when
 * the core is linked statically, from the program's. Of a program the linker knows only argv[0],
 * and a relative name must not be looked up in the working directory. */
static char *beside_this_code(void) {
  Dl_info info;
  char self[PATH_MAX];
  if (!dladdr((const void *)&kr_builtin_backends, &info) || !info.dli_fname) return NULL;
  if (!realpath(*info.dli_fname == '/' ? info.dli_fname : "/proc/self/exe", self)) return NULL;
  const char *slash = strrchr(self, '/');
  size_t n = slash ? (size_t)(slash - self) : 0;
  char *path = existing(self, n, "/" KR_PLUGIN_SUBDIR);
  return path ? path : existing(self, n, "/../" KR_LIBDIR "/" KR_PLUGIN_SUBDIR);
}

char *kr_plugin_directory(const char *wanted) {
  if (!wanted) wanted = secure_getenv("KRAFLA_BACKEND_DIR");
  if (wanted) return kr_strdup(wanted);
  char *path = beside_this_code();
  return path ? path : kr_strdup(KR_PLUGIN_DIR);
}
