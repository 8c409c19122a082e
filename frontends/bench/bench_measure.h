/* The tests: a prompt, or a decode at some depth, repeated and timed. */
#ifndef KR_BENCH_MEASURE_H
#define KR_BENCH_MEASURE_H

#include "bench_options.h"

enum { KR_BENCH_PRINT = 65 }; /* SHA-256 in hexadecimal, and a zero byte */

typedef struct kr_bench_result {
  gboolean decode;
  int32_t tokens, depth;      /* computed in a repetition; positions before them */
  GArray *speeds;             /* of double, tokens a second, one for each repetition */
  double median, min, max;    /* of speeds */
  double read_bytes;          /* a decoded token reads: weights, and KV values at the mean depth */
  gint64 memory, kv_bytes;    /* held by the process; by the KV cache, of it */
  char print[KR_BENCH_PRINT]; /* of the logits after the last token */
  int32_t next;               /* the most likely token there */
  gboolean differs;           /* repetitions, or earlier tests, gave other logits */
} kr_bench_result;

/* The tests of one backend with one number of threads. */
typedef struct kr_bench_group {
  char *isa;
  int32_t threads;
  double before, after; /* read bandwidth, bytes a second */
  GPtrArray *results;   /* of kr_bench_result */
} kr_bench_group;

typedef struct kr_bench {
  const kr_bench_options *options;
  kr_model *model;
  int32_t *tokens;    /* [n_ctx]: what every test computes a part of */
  float *logits;      /* [n_vocab] */
  GHashTable *prints; /* number of positions to the fingerprint of the logits after them */
  double load, first; /* seconds: of opening the model; from the program's start to the first
                         token's logits */
  gint64 peak;        /* bytes in memory until then, at most */
  GPtrArray *groups;  /* of kr_bench_group */
  gboolean differs;   /* somewhere */
} kr_bench;

/* Opens the model, computes one token, and notes what that took. started: the time of the program's
 * start. bench is zero before but for options; kr_bench_clear is called for by success and failure
 * alike. */
gboolean kr_bench_open(kr_bench *bench, const kr_backends *backends, gint64 started,
                       GError **error);
void kr_bench_clear(kr_bench *bench);

/* Runs all tests with these backends and threads and adds a group, which stays bench's. Logits that
 * differ are no failure here: they are noted in the results and in bench. */
gboolean kr_bench_run(kr_bench *bench, const kr_backends *backends, int32_t threads,
                      const kr_bench_group **ret_group, GError **error);

#endif
