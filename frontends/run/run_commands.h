/* What can be said to the program in a conversation, instead of to the model. */
#ifndef KR_RUN_COMMANDS_H
#define KR_RUN_COMMANDS_H

#include "run_chat.h"

/* Whether a line is a command: it begins with one slash. Two stand for the slash of a message. */
gboolean kr_run_is_command(const GString *line);

/* Does what the line says. A failure leaves the conversation as it was. */
gboolean kr_run_command(kr_run_chat *chat, const GString *line, GError **error);

#endif
