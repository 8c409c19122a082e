/* Values of attention from a q8 cache, on AVX2. Numerics: backends/scalar/values_q8.c.
 *
 * The weight of a position, x * d, is shared by the 32 dimensions of a block. Made first, for a few
 * rows at a time, it turns the rest into the product of a panel [position][16] of int8 with columns
 * of f32: acc + weight * (float)v, positions ascending, one lane a dimension. */
#include "kernels.h"
#include "panel.h"

/* Positions at a time: two panels of them, widened, take 16 KiB. */
enum { POSITIONS = 128 };

/* ret[p] = x[p] * d[p], d with a stride. */
static void weigh(const float *x, const float *d, int64_t count, float *ret) {
  int64_t p = 0;
  for (; p + 8 <= count; p += 8)
    _mm256_storeu_ps(ret + p, _mm256_mul_ps(_mm256_loadu_ps(x + p), _mm256_loadu_ps(d + p)));
  for (; p < count; p++) ret[p] = x[p] * d[p];
}

/* Both panels of a block, [position][16] of int8, one panel after the other. With more rows than a
 * tile has they are widened once for all of them. */
static void add_positions(const uint8_t *v, const float *scales, int64_t count, const float *x,
                          int64_t ldx, int64_t n, float *y, int64_t ldy) {
  float weights[PANEL_COLUMNS][POSITIONS];
  _Alignas(64) float wide[2][POSITIONS * KR_GROUP];
  int many = n > PANEL_COLUMNS;
  if (many) panel_widen(v, PANEL_I8, count, wide[0]);
  if (many) panel_widen(v + KR_PAGE * KR_GROUP, PANEL_I8, count, wide[1]);
  for (int64_t r = 0; r < n; r += PANEL_COLUMNS) {
    int64_t rows = n - r < PANEL_COLUMNS ? n - r : PANEL_COLUMNS;
    for (int64_t i = 0; i < rows; i++) weigh(x + (r + i) * ldx, scales, count, weights[i]);
    for (int e = 0; e < 2; e++) {
      float *to = y + r * ldy + e * KR_GROUP;
      if (many)
        panel_columns((const uint8_t *)wide[e], PANEL_F32, count, weights[0], POSITIONS, rows, 1,
                      to, ldy);
      else
        panel_columns(v + e * KR_PAGE * KR_GROUP, PANEL_I8, count, weights[0], POSITIONS, rows, 1,
                      to, ldy);
    }
  }
}

void kr_avx2_values_q8(const int8_t *v, const float *d, int64_t dim, int64_t first, int64_t last,
                       const float *x, int64_t ldx, int64_t n, float *y, int64_t ldy) {
  float scales[POSITIONS];
  int64_t blocks = dim / KR_BLOCK;
  for (int64_t r = 0; r < n; r++) memset(y + r * ldy, 0, (size_t)dim * sizeof *y);
  for (int64_t b = 0; b < blocks; b++)
    for (int64_t p = first; p < last; p += POSITIONS) {
      int64_t count = last - p < POSITIONS ? last - p : POSITIONS;
      for (int64_t i = 0; i < count; i++) scales[i] = d[(p + i) * blocks + b];
      add_positions((const uint8_t *)v + (2 * b * KR_PAGE + p) * KR_GROUP, scales, count, x + p,
                    ldx, n, y + b * KR_BLOCK, ldy);
    }
}
