/* Lines of a conversation: from a terminal, where they can be edited if the build has a library for
 * that, or from a file or pipe. */
#ifndef KR_RUN_LINES_H
#define KR_RUN_LINES_H

#include <glib.h>

typedef struct kr_run_lines {
  gboolean interactive; /* somebody types them */
  gboolean prompt;      /* and sees what is asked */
  gboolean escape;      /* \\ at the end of a line is an escaped backslash */
  void *editor;         /* run_edit.h, or NULL */
} kr_run_lines;

void kr_run_lines_open(kr_run_lines *lines, gboolean escape);
void kr_run_lines_close(kr_run_lines *lines);

/* The next line, without its end; a backslash at the end continues it with another one. *ret_more
 * is FALSE when there is none: at the end of the input, and when Ctrl-C is pressed. */
gboolean kr_run_lines_next(kr_run_lines *lines, GString *line, gboolean *ret_more, GError **error);

#endif
