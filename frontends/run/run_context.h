/* What the session of a conversation holds, and what it takes to hold the next rendering.
 *
 * Every turn is rendered and encoded as a whole, and compared with the ids in the session: only
 * from where they differ on is anything computed. A reply that stands in the rendering as it was
 * said keeps the ids that the model gave, though its text might be encoded otherwise. */
#ifndef KR_RUN_CONTEXT_H
#define KR_RUN_CONTEXT_H

#include "run_generate.h"
#include "run_template.h"

typedef struct kr_run_context {
  GArray *ids;        /* of int32_t: those in the session */
  GString *text;      /* what was rendered last, and the reply to it */
  GArray *replies;    /* of kr_run_reply_place, in order: where replies stand in text */
  GArray *said;       /* of int32_t: the ids of replies, one behind the other */
  gboolean may_reset; /* /reset can be said */
  /* of the last turn */
  gint64 kept, computed; /* positions */
  gint64 rendering;      /* microseconds for template and tokenizer */
} kr_run_context;

void kr_run_context_init(kr_run_context *context);
void kr_run_context_clear(kr_run_context *context);

/* Brings the session from what it holds to the rendering, whose text is taken. Fails without a
 * change where it does not fit. */
gboolean kr_run_context_compute(kr_run_context *context, kr_run *run, kr_run_rendering *rendering,
                                GError **error);

/* The reply to that: its text as it goes into the messages, and the ids that the model said, of
 * which the session has the first. */
void kr_run_context_add_reply(kr_run_context *context, const kr_run *run, const GString *text,
                              const GArray *ids);

#endif
