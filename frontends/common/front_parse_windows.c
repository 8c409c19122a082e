#include "front_parse.h"
#include <fcntl.h>
#include <io.h>
#include <windows.h>

/* The arguments live as long as the program: options point into them. */
gboolean kr_front_parse(GOptionContext *context, int *argc, char ***argv, GError **error) {
  for (int fd = 0; fd <= 2; fd++) _setmode(fd, _O_BINARY);
  SetConsoleCP(CP_UTF8);
  SetConsoleOutputCP(CP_UTF8);
  *argv = g_win32_get_command_line();
  gboolean ok = g_option_context_parse_strv(context, argv, error);
  *argc = (int)g_strv_length(*argv);
  return ok;
}

/* To isatty the null device is one too. */
gboolean kr_front_is_terminal(int fd) {
  DWORD mode;
  return GetConsoleMode((HANDLE)_get_osfhandle(fd), &mode) != 0;
}
