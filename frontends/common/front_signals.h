/* Signals, as the programs treat them. */
#ifndef KR_FRONT_SIGNALS_H
#define KR_FRONT_SIGNALS_H

#include <glib.h>

/* Ctrl-C is noted (a second one ends the program at once), a closed pipe becomes a write error, and
 * a page of the mapped model that is gone, because somebody cut the file, ends the program with a
 * message that names model instead of a crash. */
void kr_front_signals_init(const char *model);

/* What a terminal is told before a second Ctrl-C ends the program; kept as it is. */
void kr_front_signals_farewell(const char *text);

gboolean kr_front_interrupted(void); /* since the last clear */
void kr_front_interrupted_clear(void);

/* A kr_progress_fn that cancels once Ctrl-C was pressed; data and fraction are not used. */
int kr_front_stop(void *data, double fraction);

#endif
