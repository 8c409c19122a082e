/* What becomes of a reply's text on its way to the screen: reasoning is dimmed or hidden, and to a
 * terminal no control characters go but newlines and tabs. */
#ifndef KR_RUN_SCREEN_H
#define KR_RUN_SCREEN_H

#include <glib.h>

/* The marks around reasoning. */
#define KR_RUN_THINK     "<think>"
#define KR_RUN_THINK_END "</think>"

typedef enum kr_run_thought {
  KR_THOUGHT_NONE,   /* no reasoning from here on, unless it is told */
  KR_THOUGHT_START,  /* white space so far: reasoning may begin here */
  KR_THOUGHT_INSIDE, /* up to its closing mark */
  KR_THOUGHT_BEHIND  /* white space behind hidden reasoning, which is hidden too */
} kr_run_thought;

typedef struct kr_run_screen {
  gboolean terminal; /* text goes to one */
  gboolean dim;      /* show reasoning dimmed */
  gboolean hide;     /* leave it out */
  /* state */
  kr_run_thought thought;
  gboolean dimmed; /* the terminal is */
  GString *held;   /* may be the beginning of a mark */
} kr_run_screen;

extern const char kr_run_screen_plain[]; /* what ends dimming */

void kr_run_screen_init(kr_run_screen *screen);
void kr_run_screen_clear(kr_run_screen *screen);

/* The beginning of a reply. */
void kr_run_screen_begin(kr_run_screen *screen, kr_run_thought thought);
/* Appends to out what n bytes of valid UTF-8 of the reply show. */
void kr_run_screen_add(kr_run_screen *screen, const char *text, gsize n, GString *out);
/* The end of a reply: appends what is held back, and undoes the dimming. */
void kr_run_screen_end(kr_run_screen *screen, GString *out);

/* Appends n bytes as a terminal may have them: control characters, those of U+0080 to U+009F too,
 * become \xNN, but newlines and tabs. */
void kr_run_screen_escape(GString *out, const char *text, gsize n);

#endif
