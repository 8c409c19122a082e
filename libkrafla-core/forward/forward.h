/* The forward pass: rows of tokens, each at a position of a sequence, through all layers.
 *
 * The one code path for a prompt's part, for one token, and for the tokens of many sequences at
 * once. Reading order: forward.c (the layers), linear.c (products), attention.c, kv.c, rope.c. */
#ifndef KR_FORWARD_H
#define KR_FORWARD_H

#include "base/pool.h"
#include "forward/kv.h"
#include "forward/rope.h"

/* One row of a step. Rows of one sequence stand in order of their positions, which ascend by one.
 */
typedef struct kr_step_row {
  kr_kv_page *const *pages; /* of the sequence; tells sequences apart */
  int32_t token;
  int32_t position;
  bool wants_logits;
} kr_step_row;

/* Activations in the form that products take: quantized, as f32, or both. */
typedef struct kr_activations {
  int8_t *q;
  float *d;
  int32_t *s;
} kr_activations;

/* Consecutive rows of one sequence that go through attention together. */
typedef struct kr_tile {
  int32_t first, n;
} kr_tile;

typedef struct kr_forward {
  const kr_model *model;
  const kr_kernels *table;
  kr_pool *pool;
  const kr_kv_layout *kv;
  kr_rope rope;
  int32_t max_rows;
  int64_t ld_dim, ld_q, ld_k, ld_v, ld_out, ld_ff, ld_vocab; /* rows of the buffers below */
  /* [max_rows][ld]: residual stream; normed or other input of a product; its output */
  float *x, *h, *y;
  float *q, *k, *v, *out, *gate, *up;
  float *logits;     /* [KR_LOGITS_ROWS][ld_vocab] */
  kr_activations in; /* [max_rows][widest input] */
  kr_tile *tiles;    /* [max_rows] */
  float *scratch;    /* for each thread */
  int64_t scratch_floats;
  float *partial; /* attention split by pages, see attention.c */
  kr_profile profile;
  uint8_t *arena; /* holds all buffers above */
  size_t arena_bytes;
} kr_forward;

enum {
  KR_LOGITS_ROWS = 32,  /* rows of logits computed together */
  KR_TILE_COLUMNS = 64, /* queries that go through a page of keys together; more where one row of a
                           KV head has more */
};

/* kv and pool stay the caller's. n_ctx bounds the positions. */
int kr_forward_init(kr_forward *f, const kr_model *model, const kr_kernels *table, kr_pool *pool,
                    const kr_kv_layout *kv, int32_t max_rows, int32_t n_ctx, kr_error *err);
void kr_forward_clear(kr_forward *f);

/* n <= max_rows. The pages for the rows' positions must be there and not shared. Logits of the rows
 * that want them go to ret_logits, f32 [number of them][n_vocab]. KR_E_NUMERIC when one is not
 * finite. Runs with the caller's float state; see base/float_state.h. */
int kr_forward_step(kr_forward *f, const kr_step_row *rows, int32_t n, float *ret_logits,
                    kr_error *err);

/* ---- parts ---------------------------------------------------------------------------------- */

typedef struct kr_linear {
  const kr_matrix *w;
  float *y; /* [rows][ldy] */
  int64_t ldy;
} kr_linear;

/* y = w x for up to four matrices that share the input: x f32 [n][ldx], and f->in where any of them
 * is quantized. */
void kr_linear_run(kr_forward *f, const kr_linear *set, int n_set, const float *x, int64_t ldx,
                   int64_t n);
/* Whether any of them takes quantized input. */
bool kr_linear_quantized(const kr_linear *set, int n_set);
/* Quantizes one row, x f32 [k], to row r of f->in. */
void kr_quantize_row(kr_forward *f, const float *x, int64_t k, int64_t r);

/* out = attention of q over the cache, for rows that have been stored. */
void kr_attention_run(kr_forward *f, const kr_step_row *rows, int32_t n, int64_t layer);
/* Floats that one thread's scratch takes. */
int64_t kr_attention_scratch(const kr_forward *f);
int64_t kr_attention_partial(const kr_forward *f, int32_t n_ctx);

#endif
