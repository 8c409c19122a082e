/* The forward pass: embedding, layers, logits. */
#include "forward/forward.h"
#include "base/clock.h"
#include <string.h>

/* Adds the time since *at to *sum, and starts again. */
static void lap(double *at, double *sum) {
  double t = kr_seconds();
  *sum += t - *at;
  *at = t;
}

/* What the tasks of one step share. */
typedef struct step {
  kr_forward *f;
  const kr_step_row *rows;
  int64_t layer;
  const kr_weight *w; /* of the layer */
  const float *norm;  /* of the product that comes */
  const float *bias;  /* of the product that was, or NULL */
  bool add, quantize; /* the product's output to the stream; the next one's input */
} step;

/* ---- tasks over rows ------------------------------------------------------------------------ */

static void embed_task(void *data, int64_t first, int64_t last, int32_t worker) {
  (void)worker;
  step *s = data;
  for (int64_t r = first; r < last; r++)
    kr_model_embed(s->f->model, s->rows[r].token, s->f->x + r * s->f->ld_dim);
}

/* x += y (+ bias), h = norm(x), and h quantized. */
static void norm_task(void *data, int64_t first, int64_t last, int32_t worker) {
  (void)worker;
  step *s = data;
  kr_forward *f = s->f;
  int64_t dim = f->model->hp.dim;
  for (int64_t r = first; r < last; r++) {
    float *x = f->x + r * f->ld_dim, *y = f->y + r * f->ld_dim, *h = f->h + r * f->ld_dim;
    if (s->add && s->bias) f->table->add(y, s->bias, dim);
    if (s->add) f->table->add(x, y, dim);
    f->table->rms_norm(x, s->norm, dim, (float)f->model->hp.eps, h);
    if (s->quantize) kr_quantize_row(f, h, dim, r);
  }
}

static void rotate(const kr_forward *f, float *x, int64_t n_heads, int32_t position) {
  kr_rope_fn *fn =
      f->model->arch->rope == KR_ROPE_PAIRS ? f->table->rope_pairs : f->table->rope_halves;
  fn(x, f->model->hp.head_dim, n_heads, f->rope.pairs, kr_rope_cos(&f->rope, position),
     kr_rope_sin(&f->rope, position));
}

/* Biases and rotation of q and k, then k and v into the cache. */
static void store_task(void *data, int64_t first, int64_t last, int32_t worker) {
  step *s = data;
  kr_forward *f = s->f;
  const kr_hparams *hp = &f->model->hp;
  for (int64_t r = first; r < last; r++) {
    float *q = f->q + r * f->ld_q, *k = f->k + r * f->ld_k, *v = f->v + r * f->ld_v;
    int32_t position = s->rows[r].position;
    if (s->w[KR_Q_BIAS].vector)
      f->table->add(q, s->w[KR_Q_BIAS].vector, hp->n_heads * hp->head_dim);
    if (s->w[KR_K_BIAS].vector)
      f->table->add(k, s->w[KR_K_BIAS].vector, hp->n_kv_heads * hp->head_dim);
    if (s->w[KR_V_BIAS].vector)
      f->table->add(v, s->w[KR_V_BIAS].vector, hp->n_kv_heads * hp->value_dim);
    rotate(f, q, hp->n_heads, position);
    rotate(f, k, hp->n_kv_heads, position);
    kr_kv_store(f->kv, f->table, s->rows[r].pages[position / KR_PAGE], s->layer, position % KR_PAGE,
                k, v, f->scratch + worker * f->scratch_floats);
  }
}

static void quantize_out_task(void *data, int64_t first, int64_t last, int32_t worker) {
  (void)worker;
  step *s = data;
  kr_forward *f = s->f;
  for (int64_t r = first; r < last; r++)
    kr_quantize_row(f, f->out + r * f->ld_out, f->model->hp.n_heads * f->model->hp.value_dim, r);
}

/* gate = act(gate) * up, and that quantized. */
static void gate_task(void *data, int64_t first, int64_t last, int32_t worker) {
  (void)worker;
  step *s = data;
  kr_forward *f = s->f;
  int64_t ff = f->model->hp.ff;
  kr_gate_fn *act =
      f->model->arch->gate == KR_GATE_SILU ? f->table->silu_gate : f->table->gelu_gate;
  for (int64_t r = first; r < last; r++) {
    float *gate = f->gate + r * f->ld_ff, *up = f->up + r * f->ld_ff;
    if (s->w[KR_GATE_BIAS].vector) f->table->add(gate, s->w[KR_GATE_BIAS].vector, ff);
    if (s->w[KR_UP_BIAS].vector) f->table->add(up, s->w[KR_UP_BIAS].vector, ff);
    act(gate, up, ff, gate);
    if (s->quantize) kr_quantize_row(f, gate, ff, r);
  }
}

/* ---- a layer -------------------------------------------------------------------------------- */

static void run_norm(step *s, int32_t n, const kr_linear *next, int n_next, const float *norm) {
  s->norm = norm;
  s->quantize = kr_linear_quantized(next, n_next);
  kr_pool_run(s->f->pool, n, 1, norm_task, s);
}

static void attention_part(step *s, int32_t n, double *at) {
  kr_forward *f = s->f;
  const kr_linear qkv[] = {{s->w[KR_ATTN_Q].matrix, f->q, f->ld_q},
                           {s->w[KR_ATTN_K].matrix, f->k, f->ld_k},
                           {s->w[KR_ATTN_V].matrix, f->v, f->ld_v}};
  run_norm(s, n, qkv, 3, s->w[KR_ATTN_NORM].vector);
  kr_linear_run(f, qkv, 3, f->h, f->ld_dim, n);
  kr_pool_run(f->pool, n, 1, store_task, s);
  lap(at, &f->profile.qkv);
  kr_attention_run(f, s->rows, n, s->layer);
  lap(at, &f->profile.attention);
  const kr_linear out[] = {{s->w[KR_ATTN_OUT].matrix, f->y, f->ld_dim}};
  if (kr_linear_quantized(out, 1)) kr_pool_run(f->pool, n, 1, quantize_out_task, s);
  kr_linear_run(f, out, 1, f->out, f->ld_out, n);
  s->add = true, s->bias = s->w[KR_OUT_BIAS].vector;
  lap(at, &f->profile.output);
}

static void feed_forward_part(step *s, int32_t n, double *at) {
  kr_forward *f = s->f;
  const kr_linear in[] = {{s->w[KR_FFN_GATE].matrix, f->gate, f->ld_ff},
                          {s->w[KR_FFN_UP].matrix, f->up, f->ld_ff}};
  run_norm(s, n, in, 2, s->w[KR_FFN_NORM].vector);
  kr_linear_run(f, in, 2, f->h, f->ld_dim, n);
  const kr_linear down[] = {{s->w[KR_FFN_DOWN].matrix, f->y, f->ld_dim}};
  s->quantize = kr_linear_quantized(down, 1);
  kr_pool_run(f->pool, n, 1, gate_task, s);
  kr_linear_run(f, down, 1, f->gate, f->ld_ff, n);
  s->add = true, s->bias = s->w[KR_DOWN_BIAS].vector;
  lap(at, &f->profile.feed_forward);
}

/* ---- logits --------------------------------------------------------------------------------- */

static bool finite(const float *x, int64_t n) {
  uint32_t top = 0; /* the largest exponent; all ones: infinity or NaN */
  for (int64_t i = 0; i < n; i++) {
    uint32_t bits;
    memcpy(&bits, &x[i], sizeof bits);
    bits &= 0x7f800000;
    top = bits > top ? bits : top;
  }
  return top != 0x7f800000;
}

/* Logits of m rows whose streams stand first in f->x, and whose last outputs in f->y. */
static int classify(step *s, int32_t m, float *ret_logits, kr_error *err) {
  kr_forward *f = s->f;
  const kr_weight *output = &f->model->global[KR_OUTPUT];
  const kr_matrix *w = output->matrix ? output->matrix : f->model->global[KR_TOKEN_EMBD].matrix;
  int64_t vocab = f->model->hp.n_vocab;
  const kr_linear set[] = {{w, f->logits, f->ld_vocab}};
  run_norm(s, m, set, 1, f->model->global[KR_OUTPUT_NORM].vector);
  kr_linear_run(f, set, 1, f->h, f->ld_dim, m);
  for (int32_t i = 0; i < m; i++) {
    const float *row = f->logits + i * f->ld_vocab;
    if (!finite(row, vocab)) return kr_fail(err, KR_E_NUMERIC, "logits are not finite");
    memcpy(ret_logits + i * vocab, row, (size_t)vocab * sizeof *row);
  }
  return KR_OK;
}

/* The rows that want logits are moved to the front, KR_LOGITS_ROWS at a time. */
static int run_logits(step *s, int32_t n, float *ret_logits, kr_error *err) {
  kr_forward *f = s->f;
  size_t bytes = (size_t)f->ld_dim * sizeof *f->x;
  int32_t m = 0;
  for (int32_t r = 0; r < n; r++) {
    if (s->rows[r].wants_logits) {
      if (m != r) {
        memcpy(f->x + m * f->ld_dim, f->x + r * f->ld_dim, bytes);
        memcpy(f->y + m * f->ld_dim, f->y + r * f->ld_dim, bytes);
      }
      m++;
    }
    if (m == KR_LOGITS_ROWS || (m && r == n - 1)) {
      int code = classify(s, m, ret_logits, err);
      if (code) return code;
      ret_logits += m * f->model->hp.n_vocab;
      m = 0;
    }
  }
  return KR_OK;
}

int kr_forward_step(kr_forward *f, const kr_step_row *rows, int32_t n, float *ret_logits,
                    kr_error *err) {
  step s = {.f = f, .rows = rows};
  double start = kr_seconds(), at = start;
  for (int32_t r = 0; r < n; r++) {
    int code = kr_rope_reach(&f->rope, rows[r].position, err);
    if (code) return code;
  }
  kr_pool_run(f->pool, n, 1, embed_task, &s);
  lap(&at, &f->profile.other);
  for (s.layer = 0; s.layer < f->model->hp.n_layers; s.layer++) {
    s.w = f->model->layers[s.layer];
    attention_part(&s, n, &at);
    feed_forward_part(&s, n, &at);
  }
  int code = run_logits(&s, n, ret_logits, err);
  lap(&at, &f->profile.classifier);
  f->profile.total += at - start;
  return code;
}
