/* Products of float panels on AVX2: 16 rows of weights, [k][16], against columns of f32.
 *
 * A vector holds the same k of 8 rows; each row has one accumulator in its own lane, and k goes up
 * one at a time, product and sum rounded apart: scalar's order exactly. Only rows and columns go
 * side by side. */
#ifndef KR_AVX2_PANEL_H
#define KR_AVX2_PANEL_H

#include "lanes.h"

/* What a weight is. */
enum { PANEL_F32, PANEL_F16, PANEL_BF16, PANEL_I8 };

KR_INLINE int panel_bytes(int type) {
  return type == PANEL_F32 ? 4 : type == PANEL_I8 ? 1 : 2;
}

/* Eight weights, widened exactly. */
KR_INLINE __m256 panel_load(const uint8_t *p, int type) {
  if (type == PANEL_F32) return _mm256_loadu_ps((const float *)p);
  if (type == PANEL_F16) return load_halves(p);
  if (type == PANEL_I8)
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)p)));
  __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p));
  return _mm256_castsi256_ps(_mm256_slli_epi32(wide, 16));
}

enum { PANEL_COLUMNS = 6 }; /* 12 accumulators, 2 weights, a column's value, a product: 16 */

/* y[c][0..15] of n <= PANEL_COLUMNS columns x [n][ldx]. */
KR_INLINE void panel_tile(const uint8_t *w, int type, int64_t k, const float *x, int64_t ldx, int n,
                          float *y, int64_t ldy) {
  const int half = 8 * panel_bytes(type);
  __m256 acc[PANEL_COLUMNS][2];
  for (int c = 0; c < n; c++) acc[c][0] = acc[c][1] = _mm256_setzero_ps();
  for (int64_t i = 0; i < k; i++, w += 2 * half) {
    __m256 w0 = panel_load(w, type), w1 = panel_load(w + half, type);
#pragma GCC unroll 6
    for (int c = 0; c < n; c++) {
      __m256 value = _mm256_set1_ps(x[c * ldx + i]);
      acc[c][0] = _mm256_add_ps(acc[c][0], _mm256_mul_ps(w0, value));
      acc[c][1] = _mm256_add_ps(acc[c][1], _mm256_mul_ps(w1, value));
    }
  }
#pragma GCC unroll 6
  for (int c = 0; c < n; c++) {
    _mm256_storeu_ps(y + c * ldy, acc[c][0]);
    _mm256_storeu_ps(y + c * ldy + 8, acc[c][1]);
  }
}

/* y[c][0..15] of any number of columns, in tiles of nearly equal width: seven columns go as 4 + 3,
 * since a tile of one would wait for its additions. */
KR_INLINE void panel_columns(const uint8_t *w, int type, int64_t k, const float *x, int64_t ldx,
                             int64_t n, float *y, int64_t ldy) {
  while (n > 0) {
    int64_t tiles = (n + PANEL_COLUMNS - 1) / PANEL_COLUMNS, width = (n + tiles - 1) / tiles;
    switch (width) {
    case 6:
      panel_tile(w, type, k, x, ldx, 6, y, ldy);
      break;
    case 5:
      panel_tile(w, type, k, x, ldx, 5, y, ldy);
      break;
    case 4:
      panel_tile(w, type, k, x, ldx, 4, y, ldy);
      break;
    case 3:
      panel_tile(w, type, k, x, ldx, 3, y, ldy);
      break;
    case 2:
      panel_tile(w, type, k, x, ldx, 2, y, ldy);
      break;
    default:
      panel_tile(w, type, k, x, ldx, 1, y, ldy);
      break;
    }
    x += width * ldx, y += width * ldy, n -= width;
  }
}

#endif
