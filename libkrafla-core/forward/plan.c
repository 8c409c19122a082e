/* The buffers of the forward pass: one arena, sized once, for the most rows that a step may have.
 * Its pages cost nothing until they are used. */
#include "base/size.h"
#include "forward/forward.h"

static int64_t widest_input(const kr_hparams *hp) {
  int64_t out = hp->n_heads * hp->value_dim, k = hp->dim;
  if (out > k) k = out;
  if (hp->ff > k) k = hp->ff;
  return kr_round_up(k, KR_PAIR);
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

/* The next part of the arena; with at NULL only the size is counted. 64-byte aligned. */
static void *part(const uint8_t *at, size_t *used, bool *fits, int64_t rows, int64_t row_bytes) {
  size_t bytes, start = *used;
  *fits = *fits && kr_mul_size((size_t)rows, (size_t)row_bytes, &bytes) &&
          kr_add_size(bytes, 63, &bytes) && kr_add_size(*used, bytes & ~(size_t)63, used);
  return at && *fits ? (void *)(uintptr_t)(at + start) : NULL;
}

/* Called twice: to add up, then to lay out. False when the sum does not fit a size. */
static bool lay_out(kr_forward *f, const uint8_t *at, size_t *used, int32_t n_ctx) {
  int64_t rows = f->max_rows, k = widest_input(&f->model->hp), threads = kr_pool_threads(f->pool);
  int64_t logits_rows = rows < KR_LOGITS_ROWS ? rows : KR_LOGITS_ROWS;
  int64_t partial = threads > 1 ? kr_attention_partial(f, n_ctx) : 0;
  const struct {
    float **buffer;
    int64_t rows, ld;
  } floats[] = {
      {&f->x, rows, f->ld_dim},       {&f->h, rows, f->ld_dim},
      {&f->y, rows, f->ld_dim},       {&f->q, rows, f->ld_q},
      {&f->k, rows, f->ld_k},         {&f->v, rows, f->ld_v},
      {&f->out, rows, f->ld_out},     {&f->gate, rows, f->ld_ff},
      {&f->up, rows, f->ld_ff},       {&f->logits, logits_rows, f->ld_vocab},
      {&f->partial, 1, partial},      {&f->scratch, threads, f->scratch_floats},
      {&f->in.d, rows, k / KR_BLOCK},
  };
  bool fits = true;
  *used = 0;
  for (size_t i = 0; i < sizeof floats / sizeof *floats; i++)
    *floats[i].buffer =
        part(at, used, &fits, floats[i].rows, floats[i].ld * (int64_t)sizeof(float));
  f->in.s = part(at, used, &fits, rows, k / KR_BLOCK * (int64_t)sizeof *f->in.s);
  f->in.q = part(at, used, &fits, rows, k);
  f->tiles = part(at, used, &fits, rows, sizeof *f->tiles);
  return fits;
}

int kr_forward_init(kr_forward *f, const kr_model *model, const kr_kernels *table, kr_pool *pool,
                    const kr_kv_layout *kv, int32_t max_rows, int32_t n_ctx, kr_error *err) {
  *f = (kr_forward){.model = model, .table = table, .pool = pool, .kv = kv, .max_rows = max_rows};
  measure(f);
  int64_t store = kr_kv_scratch(kv), attention = kr_attention_scratch(f);
  f->scratch_floats = kr_round_up(store > attention ? store : attention, 16);
  int code = kr_rope_init(&f->rope, &model->hp, model->global[KR_ROPE_FACTORS].vector, n_ctx, err);
  if (code) return code;
  if (lay_out(f, NULL, &f->arena_bytes, n_ctx)) f->arena = kr_pages_alloc(f->arena_bytes);
  if (f->arena) {
    lay_out(f, f->arena, &f->arena_bytes, n_ctx);
    return KR_OK;
  }
  kr_forward_clear(f);
  return kr_fail_memory(err, "activations");
}

void kr_forward_clear(kr_forward *f) {
  if (f->arena) kr_pages_free(f->arena, f->arena_bytes);
  kr_rope_clear(&f->rope);
  *f = (kr_forward){0};
}
