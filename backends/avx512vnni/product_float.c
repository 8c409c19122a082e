/* Products with F32, F16 and BF16 weights on AVX-512, of any number of columns. Numerics:
 * backends/scalar/product_float.c; the tile: panel.h. */
#include "kernels.h"
#include "panel.h"

enum { L2_SHARE = 512 << 10, LEAST_COLUMNS = 48 };

/* Columns in blocks whose activations stay in L2 while the groups go by, two at a time; so few that
 * one tile holds them, all groups go by each tile. One column meets four groups at once, each a
 * stream of its own, without software prefetch: one group, or prefetches, took up to a quarter off.
 */
KR_INLINE void product(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                       float *y, int64_t ldy, int type) {
  int64_t step = L2_SHARE / (4 * w->k + 1);
  if (step < LEAST_COLUMNS) step = LEAST_COLUMNS;
  step -= step % PANEL_COLUMNS;
  for (int64_t c = 0; c < x->n; c += step) {
    int64_t n = x->n - c < step ? x->n - c : step, groups;
    for (int64_t g = first; g < last; g += groups) {
      const uint8_t *group = w->data + g * w->group_bytes;
      const float *f = x->f + c * x->ldf;
      float *rows = y + c * ldy + g * KR_GROUP;
      groups = last - g < 2 || n <= PANEL_COLUMNS ? last - g : 2;
      if (type == PANEL_F32 || n <= PANEL_COLUMNS || w->k == 0)
        panel_columns(group, w->group_bytes, groups, type, w->k, f, x->ldf, n, false, rows, ldy);
      else
        panel_pieces(group, w->group_bytes, groups, type, w->k, f, x->ldf, n, false, rows, ldy);
    }
  }
}

void kr_avx512vnni_product_f32(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                               float *y, int64_t ldy) {
  product(w, first, last, x, y, ldy, PANEL_F32);
}
void kr_avx512vnni_product_f16(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                               float *y, int64_t ldy) {
  product(w, first, last, x, y, ldy, PANEL_F16);
}
void kr_avx512vnni_product_bf16(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                                float *y, int64_t ldy) {
  product(w, first, last, x, y, ldy, PANEL_BF16);
}
