/* The options of krafla-run. */
#ifndef KR_RUN_OPTIONS_H
#define KR_RUN_OPTIONS_H

#include "front_options.h"

typedef struct kr_run_options {
  const char *model;
  const char *file;          /* -f, or NULL */
  const char *text;          /* -i or the positional prompt, or NULL */
  GArray *tokens;            /* of int32_t: --tokens, or NULL */
  GArray *eos;               /* of int32_t: --eos, empty unless given */
  char **stops;              /* --stop, escapes done; NULL-ended, or NULL */
  const char *system;        /* --system, or NULL */
  const char *chat_template; /* --chat: a name, or "auto"; NULL without it */
  const char *template_file; /* --template, or NULL */
  const char *dump_logits;
  int32_t positions; /* -n, or 0 */
  gboolean escape, ids, no_echo, ignore_eos, fingerprint, profile, hide_thinking;
  kr_front_backend_options backend;
  kr_front_engine_options engine;
  kr_front_sampling_options sampling;
} kr_run_options;

/* Reads the command line; --help and --version end the program. The result lives until the end of
 * the program. */
gboolean kr_run_options_parse(int argc, char **argv, const kr_run_options **ret_options,
                              GError **error);

#endif
