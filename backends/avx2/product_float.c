/* Products with F32, F16 and BF16 weights on AVX2. Numerics: backends/scalar/product_float.c; the
 * tile of many columns: panel.h. */
#include "columns.h"
#include "kernels.h"
#include "panel.h"

enum { AHEAD = 2048, GROUPS = 4 };

/* One column against `groups` groups at once: with two accumulators a group, four groups are what
 * hides the latency of the additions. */
KR_INLINE void vector_tile(const uint8_t *w, int64_t group_bytes, int groups, int type, int64_t k,
                           const float *x, float *y) {
  const int half = 8 * panel_bytes(type);
  __m256 acc[GROUPS][2];
  for (int g = 0; g < groups; g++) acc[g][0] = acc[g][1] = _mm256_setzero_ps();
  for (int64_t i = 0; i < k; i++, w += 2 * half) {
    __m256 value = _mm256_set1_ps(x[i]);
#pragma GCC unroll 4
    for (int g = 0; g < groups; g++) {
      const uint8_t *row = w + g * group_bytes;
      _mm_prefetch((const char *)row + AHEAD, _MM_HINT_T0);
      acc[g][0] = _mm256_add_ps(acc[g][0], _mm256_mul_ps(panel_load(row, type), value));
      acc[g][1] = _mm256_add_ps(acc[g][1], _mm256_mul_ps(panel_load(row + half, type), value));
    }
  }
  for (int g = 0; g < groups; g++) {
    _mm256_storeu_ps(y + g * KR_GROUP, acc[g][0]);
    _mm256_storeu_ps(y + g * KR_GROUP + 8, acc[g][1]);
  }
}

KR_INLINE void vector_product(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                              float *y, int64_t ldy, int type) {
  for (int64_t c = 0; c < x->n; c++) {
    const float *column = x->f + c * x->ldf;
    float *rows = y + c * ldy;
    int64_t g = first;
    for (; g + GROUPS <= last; g += GROUPS)
      vector_tile(w->data + g * w->group_bytes, w->group_bytes, GROUPS, type, w->k, column,
                  rows + g * KR_GROUP);
    for (; g < last; g++)
      vector_tile(w->data + g * w->group_bytes, w->group_bytes, 1, type, w->k, column,
                  rows + g * KR_GROUP);
  }
}

KR_INLINE void matrix_product(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                              float *y, int64_t ldy, int type) {
  int64_t step = column_block(x->n, w->k * (int64_t)sizeof(float), PANEL_COLUMNS, 48);
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
