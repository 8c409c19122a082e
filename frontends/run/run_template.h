/* The chat template of a conversation: which one, and what it makes of the messages. */
#ifndef KR_RUN_TEMPLATE_H
#define KR_RUN_TEMPLATE_H

#include "front_open.h"
#include "run_options.h"

typedef struct kr_run_template {
  kr_template *compiled;
  const kr_vocab *vocab; /* borrowed */
  char *label;           /* for messages: "MODEL: chat template" */
  const char *stop;      /* how the token that ends a reply is spelled, or NULL */
  char *fixed;           /* members of every request: the names of tokens, and the time */
  gboolean first[256];   /* whether a control token begins with this byte */
} kr_run_template;

/* What a template made of messages. Bytes of messages that might seem to be part of a control token
 * are plain. */
typedef struct kr_run_rendering {
  GString *text;
  GArray *plain; /* of kr_text_span */
} kr_run_rendering;

/* --template, else the one that --chat names, else the model's; where there is none, ChatML, if the
 * model knows its marks. *t is zero before, and cleared after a failure too. */
gboolean kr_run_template_open(kr_run_template *t, const kr_run_options *options,
                              const kr_front *front, GError **error);
void kr_run_template_clear(kr_run_template *t);

/* Renders messages, up to the beginning of a reply. *ret is to be cleared. */
gboolean kr_run_template_render(const kr_run_template *t, const GPtrArray *messages,
                                kr_run_rendering *ret, GError **error);
void kr_run_rendering_clear(kr_run_rendering *rendering);

/* The names that --chat knows: "auto, llama3, ..."; g_free. */
char *kr_run_template_names(void);
/* Whether it is one of them. */
gboolean kr_run_template_is_name(const char *name);

#endif
