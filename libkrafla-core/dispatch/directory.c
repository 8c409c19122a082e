/* Where backends are looked for. Never the working directory. */
#include "dispatch/files.h"
#include "krafla_config.h"
#include <stdio.h>
#include <string.h>

/* folder + suffix, if that is there. Own, or NULL. */
static char *existing(const char *folder, size_t n, const char *suffix) {
  char path[KR_PATH_BYTES];
  if (snprintf(path, sizeof path, "%.*s%s", (int)n, folder, suffix) >= (int)sizeof path)
    return NULL;
  return kr_path_exists(path) ? kr_strdup(path) : NULL;
}

/* An installed tree may have been moved: the backends' place is known from the library's, or, when
 * the core is linked statically, from the program's. */
static char *beside_this_code(void) {
  char self[KR_PATH_BYTES];
  if (!kr_own_path(self)) return NULL;
  const char *name = kr_path_name(self);
  size_t n = name > self ? (size_t)(name - self) - 1 : 0;
  char *path = existing(self, n, "/" KR_PLUGIN_SUBDIR);
  return path ? path : existing(self, n, "/../" KR_LIBDIR "/" KR_PLUGIN_SUBDIR);
}

char *kr_plugin_directory(const char *wanted) {
  char room[KR_PATH_BYTES];
  if (!wanted) wanted = kr_environment("KRAFLA_BACKEND_DIR", room);
  if (wanted) return kr_strdup(wanted);
  char *path = beside_this_code();
  return path ? path : kr_strdup(KR_PLUGIN_DIR);
}
