/* --chat: a conversation, in the model's own template or one that is chosen. */
#ifndef KR_RUN_CHAT_H
#define KR_RUN_CHAT_H

#include "run_context.h"
#include "run_lines.h"
#include "run_messages.h"

typedef struct kr_run_chat {
  kr_run *run;
  kr_run_template chat_template;
  GPtrArray *messages; /* see run_messages.h */
  kr_run_context context;
  kr_run_lines lines;
  GArray *said;  /* of int32_t: the tokens of the last reply */
  GString *text; /* and what they say */
  char **stops;  /* --stop and the template's, where that is no token; or NULL */
} kr_run_chat;

/* message: the only one, or NULL for one per line of standard input. Returns when there are no
 * more. */
gboolean kr_run_converse(kr_run *run, const GString *message, GError **error);

/* Tells on standard error what the last turn took. */
void kr_run_chat_show_turn(const kr_run_chat *chat);

#endif
