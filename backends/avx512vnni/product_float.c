/* Products with F32, F16 and BF16 weights on AVX-512. Numerics: backends/scalar/product_float.c;
 * the tile of many columns: panel.h. */
#include "kernels.h"
#include "panel.h"

enum { PAGE_BYTES = 4096, LINES_APART = 1024, L2_SHARE = 512 << 10, LEAST_COLUMNS = 48 };

/* One column against one group: one stream of weights, lane r of the accumulator row r. A line now
 * and then is asked for in the next page of memory: it starts the CPU's own prefetcher there. */
KR_INLINE void vector_group(const uint8_t *w, int type, int64_t k, const float *x, float *y) {
  __m512 acc = _mm512_setzero_ps();
  const int step = KR_GROUP * panel_bytes(type), apart = LINES_APART / step;
  for (int64_t start = 0; start < k; start += apart) {
    int64_t end = k - start < apart ? k : start + apart;
    _mm_prefetch((const char *)w + PAGE_BYTES, _MM_HINT_T0);
    for (int64_t i = start; i < end; i++, w += step)
      acc = _mm512_add_ps(acc, _mm512_mul_ps(panel_load(w, type), broadcast_float(x + i)));
  }
  _mm512_storeu_ps(y, acc);
}

KR_INLINE void vector_product(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                              float *y, int64_t ldy, int type) {
  for (int64_t c = 0; c < x->n; c++)
    for (int64_t g = first; g < last; g++)
      vector_group(w->data + g * w->group_bytes, type, w->k, x->f + c * x->ldf,
                   y + c * ldy + g * KR_GROUP);
}

/* Columns in blocks whose activations stay in L2 while the groups go by, two at a time; so few that
 * one tile holds them, all groups go by each tile. */
KR_INLINE void matrix_product(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
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

void kr_avx512vnni_vector_f32(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                              float *y, int64_t ldy) {
  vector_product(w, first, last, x, y, ldy, PANEL_F32);
}
void kr_avx512vnni_vector_f16(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                              float *y, int64_t ldy) {
  vector_product(w, first, last, x, y, ldy, PANEL_F16);
}
void kr_avx512vnni_vector_bf16(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                               float *y, int64_t ldy) {
  vector_product(w, first, last, x, y, ldy, PANEL_BF16);
}

void kr_avx512vnni_matrix_f32(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                              float *y, int64_t ldy) {
  matrix_product(w, first, last, x, y, ldy, PANEL_F32);
}
void kr_avx512vnni_matrix_f16(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                              float *y, int64_t ldy) {
  matrix_product(w, first, last, x, y, ldy, PANEL_F16);
}
void kr_avx512vnni_matrix_bf16(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                               float *y, int64_t ldy) {
  matrix_product(w, first, last, x, y, ldy, PANEL_BF16);
}
