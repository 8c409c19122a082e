#include "front_parse.h"
#include <unistd.h>

gboolean kr_front_parse(GOptionContext *context, int *argc, char ***argv, GError **error) {
  return g_option_context_parse(context, argc, argv, error);
}

gboolean kr_front_is_terminal(int fd) {
  return isatty(fd) != 0;
}
