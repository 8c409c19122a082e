/* Products of weights with activations, shared out over the threads by groups of rows. */
#include "forward/forward.h"

enum { CHUNK_BYTES = 48 << 10 }; /* of weights, at least: below it handing out costs more */

typedef struct product {
  kr_forward *f;
  const kr_linear *set;
  int n_set;
  const float *x;
  int64_t ldx, n;
} product;

static void run_groups(const product *p, const kr_linear *l, int64_t first, int64_t last) {
  const kr_activations *in = &p->f->in;
  kr_columns x = {.q = in->q, .d = in->d, .s = in->s, .f = p->x, .ldf = p->ldx, .n = p->n};
  kr_product_fn *fn = kr_format_product(p->f->table, l->w->format, p->n);
  fn(&l->w->panel, first, last, &x, l->y, l->ldy);
}

/* The groups of all matrices are numbered through. */
static void task(void *data, int64_t first, int64_t last, int32_t worker) {
  (void)worker;
  const product *p = data;
  int64_t start = 0;
  for (int i = 0; i < p->n_set; i++) {
    const kr_linear *l = &p->set[i];
    int64_t from = first > start ? first - start : 0, to = last - start;
    if (to > l->w->groups) to = l->w->groups;
    if (from < to) run_groups(p, l, from, to);
    start += l->w->groups;
  }
}

bool kr_linear_quantized(const kr_linear *set, int n_set) {
  for (int i = 0; i < n_set; i++)
    if (kr_format_is_quantized(set[i].w->format)) return true;
  return false;
}

void kr_linear_run(kr_forward *f, const kr_linear *set, int n_set, const float *x, int64_t ldx,
                   int64_t n) {
  product p = {f, set, n_set, x, ldx, n};
  int64_t groups = 0, grain = n > 1 ? 1 : CHUNK_BYTES / set[0].w->panel.group_bytes;
  for (int i = 0; i < n_set; i++) groups += set[i].w->groups;
  kr_pool_run(f->pool, groups, grain < 1 ? 1 : grain, task, &p);
}

void kr_quantize_row(kr_forward *f, const float *x, int64_t k, int64_t r) {
  int64_t kp = (k + KR_PAIR - 1) / KR_PAIR * KR_PAIR, blocks = kp / KR_BLOCK;
  f->table->quantize(x, k, 1, k, kp, f->in.q + r * kp, f->in.d + r * blocks, f->in.s + r * blocks);
}
