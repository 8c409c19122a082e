/* The options of krafla-bench. */
#ifndef KR_BENCH_OPTIONS_H
#define KR_BENCH_OPTIONS_H

#include "front_options.h"

typedef struct kr_bench_options {
  const char *model;
  const char *directory;              /* of backends, or NULL */
  char **isas;                        /* NULL-ended; NULL: the best that this CPU runs */
  GArray *threads, *prompts, *depths; /* of int32_t; threads and depths have at least one */
  kr_engine_options engine;           /* batch, kv, n_ctx */
  int32_t tokens;                     /* of a decode; 0: none is measured */
  int32_t repetitions;
  gboolean json;
} kr_bench_options;

/* Reads the command line; --help and --version end the program. The result lives until the end of
 * the program. */
gboolean kr_bench_options_parse(int argc, char **argv, const kr_bench_options **ret_options,
                                GError **error);

#endif
