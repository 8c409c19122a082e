/* The command line and the standard streams, as each system has them: front_parse_posix.c and
 * front_parse_windows.c. */
#ifndef KR_FRONT_PARSE_H
#define KR_FRONT_PARSE_H

#include <glib.h>

/* g_option_context_parse, first of all that a program does. On Windows arguments are taken as
 * UTF-8 from the system, the console is set to UTF-8, and the streams pass bytes as they are. */
gboolean kr_front_parse(GOptionContext *context, int *argc, char ***argv, GError **error);

/* Whether somebody sits at the other end. */
gboolean kr_front_is_terminal(int fd);

#endif
