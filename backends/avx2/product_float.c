/* Products with F32, F16 and BF16 weights on AVX2. Numerics: backends/scalar/product_float.c; the
 * tile: panel.h. */
#include "columns.h"
#include "kernels.h"
#include "panel.h"

/* One group after the other: the weights are one stream, which the hardware fetches ahead. Two or
 * four groups side by side hide the latency of the additions, but that is not what limits reading
 * from memory. */
KR_INLINE void vector_product(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                              float *y, int64_t ldy, int type) {
  for (int64_t c = 0; c < x->n; c++)
    for (int64_t g = first; g < last; g++)
      panel_tile(w->data + g * w->group_bytes, type, w->k, x->f + c * x->ldf, 0, 1,
                 y + c * ldy + g * KR_GROUP, 0);
}

KR_INLINE void matrix_product(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                              float *y, int64_t ldy, int type) {
  int64_t step = column_step(x->n, w->k * (int64_t)sizeof(float), PANEL_COLUMNS, 48);
  for (int64_t c = 0; c < x->n; c += step) {
    int64_t n = x->n - c < step ? x->n - c : step;
    for (int64_t g = first; g < last; g++)
      panel_columns(w->data + g * w->group_bytes, type, w->k, x->f + c * x->ldf, x->ldf, n,
                    y + c * ldy + g * KR_GROUP, ldy);
  }
}

void kr_avx2_vector_f32(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                        float *y, int64_t ldy) {
  vector_product(w, first, last, x, y, ldy, PANEL_F32);
}
void kr_avx2_vector_f16(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                        float *y, int64_t ldy) {
  vector_product(w, first, last, x, y, ldy, PANEL_F16);
}
void kr_avx2_vector_bf16(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                         float *y, int64_t ldy) {
  vector_product(w, first, last, x, y, ldy, PANEL_BF16);
}

void kr_avx2_matrix_f32(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                        float *y, int64_t ldy) {
  matrix_product(w, first, last, x, y, ldy, PANEL_F32);
}
void kr_avx2_matrix_f16(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                        float *y, int64_t ldy) {
  matrix_product(w, first, last, x, y, ldy, PANEL_F16);
}
void kr_avx2_matrix_bf16(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                         float *y, int64_t ldy) {
  matrix_product(w, first, last, x, y, ldy, PANEL_BF16);
}
