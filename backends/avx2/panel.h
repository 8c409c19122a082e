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

/* The widest tile: 12 accumulators, 2 weights, a column's value and a product fill 16 registers. */
enum { PANEL_COLUMNS = 6 };

/* k that are widened at a time for many columns, 16 KiB of f32: a page of the KV cache. */
enum { PANEL_SLAB = 256 };

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

KR_INLINE void panel_widen(const uint8_t *w, int type, int64_t k, float *ret) {
  for (int64_t i = 0; i < 2 * k; i++)
    _mm256_storeu_ps(ret + 8 * i, panel_load(w + i * 8 * panel_bytes(type), type));
}

/* Rows 0-7 and 8-15 of a column. */
typedef struct panel_sum {
  __m256 low, high;
} panel_sum;

KR_INLINE panel_sum sum_load(const float *y) {
  return (panel_sum){_mm256_loadu_ps(y), _mm256_loadu_ps(y + 8)};
}

KR_INLINE void sum_store(panel_sum sum, float *y) {
  _mm256_storeu_ps(y, sum.low);
  _mm256_storeu_ps(y + 8, sum.high);
}

KR_INLINE panel_sum sum_add(panel_sum sum, __m256 low, __m256 high, const float *x) {
  __m256 value = _mm256_set1_ps(*x);
  sum.low = _mm256_add_ps(sum.low, _mm256_mul_ps(low, value));
  sum.high = _mm256_add_ps(sum.high, _mm256_mul_ps(high, value));
  return sum;
}

/* y[c][0..15] of n <= PANEL_COLUMNS columns x [n][ldx]: the sums over k, put on top of what y holds
 * when `more`. The sums are named one by one, since compilers may keep an array in memory. */
KR_INLINE void panel_tile(const uint8_t *w, int type, int64_t k, const float *x, int64_t ldx, int n,
                          int more, float *y, int64_t ldy) {
  const int half = 8 * panel_bytes(type);
  panel_sum s0 = {_mm256_setzero_ps(), _mm256_setzero_ps()};
  panel_sum s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0;
  if (more) s0 = sum_load(y);
  if (more && n > 1) s1 = sum_load(y + ldy);
  if (more && n > 2) s2 = sum_load(y + 2 * ldy);
  if (more && n > 3) s3 = sum_load(y + 3 * ldy);
  if (more && n > 4) s4 = sum_load(y + 4 * ldy);
  if (more && n > 5) s5 = sum_load(y + 5 * ldy);
#pragma GCC unroll 2
  for (int64_t i = 0; i < k; i++, x++, w += 2 * half) {
    __m256 low = panel_load(w, type), high = panel_load(w + half, type);
    s0 = sum_add(s0, low, high, x);
    if (n > 1) s1 = sum_add(s1, low, high, x + ldx);
    if (n > 2) s2 = sum_add(s2, low, high, x + 2 * ldx);
    if (n > 3) s3 = sum_add(s3, low, high, x + 3 * ldx);
    if (n > 4) s4 = sum_add(s4, low, high, x + 4 * ldx);
    if (n > 5) s5 = sum_add(s5, low, high, x + 5 * ldx);
  }
  sum_store(s0, y);
  if (n > 1) sum_store(s1, y + ldy);
  if (n > 2) sum_store(s2, y + 2 * ldy);
  if (n > 3) sum_store(s3, y + 3 * ldy);
  if (n > 4) sum_store(s4, y + 4 * ldy);
  if (n > 5) sum_store(s5, y + 5 * ldy);
}

/* Any number of columns, in tiles of nearly equal width: seven columns go as 4 + 3, since a tile of
 * one would wait for its additions. */
KR_INLINE void panel_columns(const uint8_t *w, int type, int64_t k, const float *x, int64_t ldx,
                             int64_t n, int more, float *y, int64_t ldy) {
  while (n > 0) {
    int64_t tiles = (n + PANEL_COLUMNS - 1) / PANEL_COLUMNS, width = (n + tiles - 1) / tiles;
    switch (width) {
    case 6:
      panel_tile(w, type, k, x, ldx, 6, more, y, ldy);
      break;
    case 5:
      panel_tile(w, type, k, x, ldx, 5, more, y, ldy);
      break;
    case 4:
      panel_tile(w, type, k, x, ldx, 4, more, y, ldy);
      break;
    case 3:
      panel_tile(w, type, k, x, ldx, 3, more, y, ldy);
      break;
    case 2:
      panel_tile(w, type, k, x, ldx, 2, more, y, ldy);
      break;
    default:
      panel_tile(w, type, k, x, ldx, 1, more, y, ldy);
      break;
    }
    x += width * ldx, y += width * ldy, n -= width;
  }
}

#endif
