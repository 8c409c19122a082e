/* Values of attention from a q8 cache.
 *
 * The weight of a position, x * d, is shared by the 32 dimensions of a block. Made first, for a few
 * rows at a time, it turns the rest into the product of a panel [position][16] of int8 with columns
 * of f32: acc + weight * (float)v, positions ascending, one lane a dimension. */
#include "kernels.h"
#include "panel.h"

/* ret[p] = x[p] * d[p]. */
static void weigh(const float *x, const float *d, int64_t count, float *ret) {
  int64_t p = 0;
  for (; p + 4 <= count; p += 4) vst1q_f32(ret + p, vmulq_f32(vld1q_f32(x + p), vld1q_f32(d + p)));
  for (; p < count; p++) ret[p] = x[p] * d[p];
}

void kr_neon_values_q8(const int8_t *v, const float *d, int64_t dim, int64_t first, int64_t last,
                       const float *x, int64_t ldx, int64_t n, float *y, int64_t ldy) {
  float scales[KR_PAGE], weights[PANEL_COLUMNS][KR_PAGE];
  int64_t blocks = dim / KR_BLOCK, count = last - first;
  for (int64_t b = 0; b < blocks; b++) {
    for (int64_t p = 0; p < count; p++) scales[p] = d[(first + p) * blocks + b];
    for (int64_t r = 0; r < n; r += PANEL_COLUMNS) {
      int64_t rows = n - r < PANEL_COLUMNS ? n - r : PANEL_COLUMNS;
      for (int64_t i = 0; i < rows; i++)
        weigh(x + (r + i) * ldx + first, scales, count, weights[i]);
      for (int64_t e = b * 2; e < b * 2 + 2; e++)
        panel_columns(PANEL_I8, false, (const uint8_t *)v + (e * KR_PAGE + first) * KR_GROUP, count,
                      weights[0], KR_PAGE, rows, y + r * ldy + e * KR_GROUP, ldy);
    }
  }
}
