/* A line editor with history, by libedit where the build has it. */
#ifndef KR_RUN_EDIT_H
#define KR_RUN_EDIT_H

#include <glib.h>

/* For a terminal on standard input and output. NULL where there is no editor. */
void *kr_run_edit_new(void);
void kr_run_edit_free(void *editor);

/* Appends a line, without its end. FALSE: Ctrl-D on an empty line, or Ctrl-C. */
gboolean kr_run_edit_line(void *editor, const char *prompt, GString *line);

#endif
