/* The buffers of the forward pass: sized once, for the most rows that a step may have. */
#include "base/size.h"
#include "forward/forward.h"

static int64_t widest_input(const kr_hparams *hp) {
  int64_t out = hp->n_heads * hp->value_dim, k = hp->dim;
  if (out > k) k = out;
  if (hp->ff > k) k = hp->ff;
  return kr_round_up(k, KR_PAIR);
}

static bool take(float **ret, int64_t rows, int64_t ld) {
  *ret = kr_alloc((size_t)rows, (size_t)ld * sizeof **ret);
  return *ret != NULL;
}

/* Rows of results are written in whole groups, so every row is padded to one. */
static void measure(kr_forward *f) {
  const kr_hparams *hp = &f->model->hp;
  f->ld_dim = kr_round_up(hp->dim, KR_GROUP);
  f->ld_q = kr_round_up(hp->n_heads * hp->head_dim, KR_GROUP);
  f->ld_k = kr_round_up(hp->n_kv_heads * hp->head_dim, KR_GROUP);
  f->ld_v = kr_round_up(hp->n_kv_heads * hp->value_dim, KR_GROUP);
  f->ld_out = kr_round_up(hp->n_heads * hp->value_dim, KR_GROUP);
  f->ld_ff = kr_round_up(hp->ff, KR_GROUP);
  f->ld_vocab = kr_round_up(hp->n_vocab, KR_GROUP);
}

static bool allocate(kr_forward *f, int32_t n_ctx) {
  int64_t rows = f->max_rows, k = widest_input(&f->model->hp);
  int64_t logits_rows = rows < KR_LOGITS_ROWS ? rows : KR_LOGITS_ROWS;
  int64_t store = kr_kv_scratch(f->kv);
  f->scratch_floats = kr_round_up(kr_attention_scratch(f), 16);
  if (store > f->scratch_floats) f->scratch_floats = kr_round_up(store, 16);
  int32_t threads = kr_pool_threads(f->pool);
  f->in.q = kr_alloc((size_t)rows, (size_t)k);
  f->in.d = kr_alloc((size_t)rows, (size_t)(k / KR_BLOCK) * sizeof *f->in.d);
  f->in.s = kr_alloc((size_t)rows, (size_t)(k / KR_BLOCK) * sizeof *f->in.s);
  f->tiles = kr_alloc((size_t)rows, sizeof *f->tiles);
  return f->in.q && f->in.d && f->in.s && f->tiles && take(&f->x, rows, f->ld_dim) &&
         take(&f->h, rows, f->ld_dim) && take(&f->y, rows, f->ld_dim) &&
         take(&f->q, rows, f->ld_q) && take(&f->k, rows, f->ld_k) && take(&f->v, rows, f->ld_v) &&
         take(&f->out, rows, f->ld_out) && take(&f->gate, rows, f->ld_ff) &&
         take(&f->up, rows, f->ld_ff) && take(&f->logits, logits_rows, f->ld_vocab) &&
         take(&f->scratch, threads, f->scratch_floats) &&
         (threads == 1 || take(&f->partial, 1, kr_attention_partial(f, n_ctx)));
}

int kr_forward_init(kr_forward *f, const kr_model *model, const kr_kernels *table, kr_pool *pool,
                    const kr_kv_layout *kv, int32_t max_rows, int32_t n_ctx, kr_error *err) {
  *f = (kr_forward){.model = model, .table = table, .pool = pool, .kv = kv, .max_rows = max_rows};
  measure(f);
  int code = kr_rope_init(&f->rope, &model->hp, model->global[KR_ROPE_FACTORS].vector, n_ctx, err);
  if (code) return code;
  if (allocate(f, n_ctx)) return KR_OK;
  kr_forward_clear(f);
  return kr_fail_memory(err, "activations");
}

void kr_forward_clear(kr_forward *f) {
  float *const buffers[] = {f->x,    f->h,  f->y,      f->q,       f->k,       f->v,   f->out,
                            f->gate, f->up, f->logits, f->scratch, f->partial, f->in.d};
  for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) kr_free(buffers[i]);
  kr_free(f->in.q);
  kr_free(f->in.s);
  kr_free(f->tiles);
  kr_rope_clear(&f->rope);
  *f = (kr_forward){0};
}
