/* What a run says: bytes of tokens on their way to standard output. */
#ifndef KR_RUN_TEXT_H
#define KR_RUN_TEXT_H

#include "run_screen.h"
#include <krafla/krafla.h>

typedef struct kr_run_text {
  const kr_vocab *vocab;
  const char *const *stops; /* NULL-ended, or NULL */
  gboolean ids;             /* print ids instead of text */
  gboolean quiet;           /* print nothing */
  gboolean think; /* the marks of reasoning are text, also where they are control tokens */
  GString *said;  /* gets the reply's text; NULL: it is only printed */
  kr_run_screen screen;
  /* state */
  gboolean closed;    /* the reader of standard output is gone */
  gboolean any;       /* something was printed */
  GString *held;      /* bytes that may be the beginning of a stop text */
  kr_decoder decoder; /* bytes of half a character */
  GString *shown;     /* on its way out */
} kr_run_text;

void kr_run_text_init(kr_run_text *text, const kr_vocab *vocab);
void kr_run_text_clear(kr_run_text *text);

/* The bytes that a token adds to a reply. Borrowed. */
const char *kr_run_text_bytes(const kr_run_text *text, int32_t token, gsize *ret_n);

/* Prints bytes of the prompt as they are, but for what a terminal may not have. */
gboolean kr_run_text_echo(kr_run_text *text, const char *bytes, gsize n, GError **error);
/* Prints a token of the prompt: no stop text is looked for. */
gboolean kr_run_text_echo_token(kr_run_text *text, int32_t token, GError **error);

/* The beginning of a reply. */
void kr_run_text_begin(kr_run_text *text, kr_run_thought thought);
/* Prints a token of the reply as far as no stop text can begin there. *ret_stopped: one is whole;
 * what stood before it is printed. */
gboolean kr_run_text_token(kr_run_text *text, int32_t token, gboolean *ret_stopped, GError **error);

/* The end of a reply: prints what is held back, and a newline. */
gboolean kr_run_text_end(kr_run_text *text, GError **error);

#endif
