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
      panel_tile(w->data + g * w->group_bytes, type, w->k, x->f + c * x->ldf, 0, 1, 0,
                 y + c * ldy + g * KR_GROUP, 0);
}

/* From this many columns on, each slab of k is widened once for all of them. */
enum { MANY_COLUMNS = 2 * PANEL_COLUMNS };

KR_INLINE void slab_columns(const uint8_t *group, int type, int64_t k, const float *x, int64_t ldx,
                            int64_t n, float *y, int64_t ldy) {
  _Alignas(64) float slab[PANEL_SLAB * KR_GROUP];
  for (int64_t i = 0; i < n; i++) memset(y + i * ldy, 0, KR_GROUP * sizeof *y);
  for (int64_t i = 0; i < k; i += PANEL_SLAB) {
    int64_t count = k - i < PANEL_SLAB ? k - i : PANEL_SLAB;
    panel_widen(group + i * KR_GROUP * panel_bytes(type), type, count, slab);
    panel_columns((const uint8_t *)slab, PANEL_F32, count, x + i, ldx, n, 1, y, ldy);
  }
}

KR_INLINE void matrix_product(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                              float *y, int64_t ldy, int type) {
  int64_t step = column_step(x->n, w->k * (int64_t)sizeof(float), PANEL_COLUMNS, 48);
  for (int64_t c = 0; c < x->n; c += step) {
    int64_t n = x->n - c < step ? x->n - c : step;
    const float *columns = x->f + c * x->ldf;
    for (int64_t g = first; g < last; g++) {
      const uint8_t *group = w->data + g * w->group_bytes;
      float *rows = y + c * ldy + g * KR_GROUP;
      if (type != PANEL_F32 && n >= MANY_COLUMNS)
        slab_columns(group, type, w->k, columns, x->ldf, n, rows, ldy);
      else
        panel_columns(group, type, w->k, columns, x->ldf, n, 0, rows, ldy);
    }
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
