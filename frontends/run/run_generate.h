/* A run of a model: the prompt's tokens in, the reply's out. */
#ifndef KR_RUN_GENERATE_H
#define KR_RUN_GENERATE_H

#include "front_open.h"
#include "run_logits.h"
#include "run_options.h"
#include "run_text.h"

typedef struct kr_run {
  const kr_run_options *options;
  kr_front front;
  kr_session *session;
  kr_sampler *sampler;
  kr_run_logits logits;
  kr_run_text text;
  float *next;     /* f32 [n_vocab]: logits after the last token of the session */
  int32_t pending; /* printed, but not yet in the session; or -1 */
  int32_t stop;    /* ends a reply as the model's own end tokens do; or -1 */
  GArray *said;    /* of int32_t: gets the tokens of replies; or NULL */
  /* counts; times in microseconds */
  gint64 prompt_tokens, prompt_time, reply_tokens, steps, step_time;
} kr_run;

/* Why a reply ended. */
typedef enum kr_run_end {
  KR_END_TOKEN,       /* an end token of the model, or of --eos */
  KR_END_STOP,        /* a stop text */
  KR_END_LIMIT,       /* as many tokens as were asked for */
  KR_END_CONTEXT,     /* no position is left */
  KR_END_INTERRUPTED, /* Ctrl-C */
  KR_END_CLOSED       /* nobody reads standard output */
} kr_run_end;

gboolean kr_run_open(kr_run *run, const kr_run_options *options, GError **error);
void kr_run_close(kr_run *run);

/* Computes tokens of a prompt. Fails, with the session as it was, when there is no room. */
gboolean kr_run_prompt(kr_run *run, const int32_t *tokens, gsize n, GError **error);

/* Draws, prints and computes at most limit tokens. */
gboolean kr_run_reply(kr_run *run, gint64 limit, kr_run_end *ret_end, GError **error);

/* Positions that are left. */
int32_t kr_run_room(const kr_run *run);
/* Says on standard error that the context is full, and what to do about it. */
void kr_run_note_full(const kr_run *run);
/* What can be done about it; g_free. */
char *kr_run_full_advice(const kr_run *run);

/* The lines on standard error that close a run. */
void kr_run_show_statistics(const kr_run *run);

#endif
