/* --chat: a conversation in ChatML, as SmolLM2 was trained on it. */
#ifndef KR_RUN_CHAT_H
#define KR_RUN_CHAT_H

#include "run_generate.h"

/* message: the only one, or NULL for one per line of standard input. Returns when there are no
 * more, or when the context is full. */
gboolean kr_run_chat(kr_run *run, const GString *message, GError **error);

#endif
