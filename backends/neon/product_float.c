/* Products with F32, F16 and BF16 weights. The tile of many columns is in panel.h. */
#include "kernels.h"
#include "panel.h"

enum { AHEAD = 1024 }; /* bytes */

/* One column by two groups: their eight accumulators hide the time that an addition takes. A lane
 * is a row, k ascends. */
KR_INLINE void two_groups(panel_type type, const uint8_t *w, int64_t group_bytes, int64_t k,
                          const float *x, float *y) {
  float32x4_t acc[8], weight[4];
#pragma GCC unroll 8
  for (int r = 0; r < 8; r++) acc[r] = vdupq_n_f32(0);
  for (int64_t i = 0; i < k; i++, w += KR_GROUP * panel_bytes(type))
#pragma GCC unroll 2
    for (int g = 0; g < 2; g++) {
      __builtin_prefetch(w + g * group_bytes + AHEAD);
      panel_load(type, w + g * group_bytes, weight);
#pragma GCC unroll 4
      for (int r = 0; r < 4; r++)
        acc[4 * g + r] = vaddq_f32(acc[4 * g + r], vmulq_n_f32(weight[r], x[i]));
    }
#pragma GCC unroll 8
  for (int r = 0; r < 8; r++) vst1q_f32(y + 4 * r, acc[r]);
}

KR_INLINE void vector_product(panel_type type, const kr_panel *w, int64_t first, int64_t last,
                              const kr_columns *x, float *y) {
  int64_t g = first;
  for (; g + 2 <= last; g += 2)
    two_groups(type, w->data + g * w->group_bytes, w->group_bytes, w->k, x->f, y + g * KR_GROUP);
  if (g < last)
    panel_tile(type, 1, false, w->data + g * w->group_bytes, w->k, x->f, 0, y + g * KR_GROUP, 0);
}

KR_INLINE void matrix_product(panel_type type, const kr_panel *w, int64_t first, int64_t last,
                              const kr_columns *x, float *y, int64_t ldy) {
  for (int64_t g = first; g < last; g++)
    panel_columns(type, false, w->data + g * w->group_bytes, w->k, x->f, x->ldf, x->n,
                  y + g * KR_GROUP, ldy);
}

void kr_neon_vector_f32(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                        float *y, int64_t ldy) {
  (void)ldy;
  vector_product(PANEL_F32, w, first, last, x, y);
}
void kr_neon_matrix_f32(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                        float *y, int64_t ldy) {
  matrix_product(PANEL_F32, w, first, last, x, y, ldy);
}
void kr_neon_vector_bf16(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                         float *y, int64_t ldy) {
  (void)ldy;
  vector_product(PANEL_BF16, w, first, last, x, y);
}
void kr_neon_matrix_bf16(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                         float *y, int64_t ldy) {
  matrix_product(PANEL_BF16, w, first, last, x, y, ldy);
}
void kr_neon_vector_f16(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                        float *y, int64_t ldy) {
  (void)ldy;
  vector_product(PANEL_F16, w, first, last, x, y);
}

#if defined(__aarch64__)

void kr_neon_matrix_f16(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                        float *y, int64_t ldy) {
  matrix_product(PANEL_F16, w, first, last, x, y, ldy);
}

#else

enum { PIECE = 64 }; /* values of k */

/* Without an instruction that widens halves, a piece of a group is widened once for all columns,
 * into a buffer that stays in the first-level cache. */
void kr_neon_matrix_f16(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                        float *y, int64_t ldy) {
  float wide[PIECE * KR_GROUP];
  for (int64_t g = first; g < last; g++)
    for (int64_t start = 0; start == 0 || start < w->k; start += PIECE) {
      int64_t k = w->k - start < PIECE ? w->k - start : PIECE;
      const uint8_t *weights = w->data + g * w->group_bytes + start * KR_GROUP * 2;
      for (int64_t i = 0; i < k * KR_GROUP; i += 8) {
        kr_neon_eight eight = kr_neon_halves(weights + 2 * i);
        vst1q_f32(wide + i, eight.low), vst1q_f32(wide + i + 4, eight.high);
      }
      panel_columns(PANEL_F32, start != 0, (const uint8_t *)wide, k, x->f + start, x->ldf, x->n,
                    y + g * KR_GROUP, ldy);
    }
}

#endif
