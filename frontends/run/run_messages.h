/* The messages of a conversation, and the files that they are saved in:
 *
 *   {"messages": [{"role": "user", "content": "Hello"}, ...]}
 *
 * as apply_chat_template and chat servers take them. */
#ifndef KR_RUN_MESSAGES_H
#define KR_RUN_MESSAGES_H

#include <glib.h>

typedef struct kr_run_message {
  char *role;       /* "system", "user", "assistant" */
  GString *content; /* valid UTF-8 */
  gboolean marks;   /* spells a control token; see run_template.h */
  gboolean checked; /* marks was found out */
} kr_run_message;

/* An array of kr_run_message *. */
GPtrArray *kr_run_messages_new(void);
/* Appends one; n bytes, of which those that are no UTF-8 become U+FFFD. */
void kr_run_messages_add(GPtrArray *messages, const char *role, const char *content, gsize n);
/* Puts a system message first, in place of the one that stands there, or takes that away: NULL. */
void kr_run_messages_set_system(GPtrArray *messages, const char *content);
/* Whether the first is a system message. */
gboolean kr_run_messages_have_system(const GPtrArray *messages);

/* Appends the JSON array of the messages. */
void kr_run_messages_write(const GPtrArray *messages, GString *out);
gboolean kr_run_messages_save(const GPtrArray *messages, const char *path, GError **error);
/* NULL on failure; the message names path, and the field that is wrong. */
GPtrArray *kr_run_messages_load(const char *path, GError **error);

#endif
