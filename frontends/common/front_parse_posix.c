#include "front_parse.h"

gboolean kr_front_parse(GOptionContext *context, int *argc, char ***argv, GError **error) {
  return g_option_context_parse(context, argc, argv, error);
}
