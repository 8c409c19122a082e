/* Products of float panels on AVX-512: 16 rows of weights, [k][16], against columns of f32.
 *
 * A vector holds the same k of the 16 rows of a group; lane r of an accumulator is the one
 * accumulator of row r for one column, and k goes up one at a time, product and sum rounded apart:
 * scalar's order exactly. Only rows, columns and groups go side by side. */
#ifndef KR_AVX512VNNI_PANEL_H
#define KR_AVX512VNNI_PANEL_H

#include "lanes.h"
#include <stdbool.h>

/* What a weight is. */
enum { PANEL_F32, PANEL_F16, PANEL_BF16, PANEL_I8 };

KR_INLINE int panel_bytes(int type) {
  return type == PANEL_F32 ? 4 : type == PANEL_I8 ? 1 : 2;
}

/* Sixteen weights, widened exactly. */
KR_INLINE __m512 panel_load(const uint8_t *p, int type) {
  if (type == PANEL_F32) return _mm512_loadu_ps(p);
  if (type == PANEL_F16) return load_halves(p);
  if (type == PANEL_I8)
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)p)));
  __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)p));
  return _mm512_castsi512_ps(_mm512_slli_epi32(wide, 16));
}

enum {
  PANEL_COLUMNS = 8,
  PANEL_GROUPS = 4, /* at most: 4 groups of 4 columns, 2 of 8 */
  PANEL_PIECE = 256 /* values of k widened at a time: 32 KiB of two groups; 64 lost a tenth */
};

/* y[c][16 g ..] of n <= PANEL_COLUMNS columns x [n][ldx] and some groups; continued from what y
 * holds when again. With few columns, several groups are what hides the latency of the additions;
 * with many, two groups halve the loads of columns, which a full vector's load makes dear. */
KR_INLINE void panel_tile(const uint8_t *w, int64_t group_bytes, int groups, int type, int64_t k,
                          const float *x, int64_t ldx, int n, bool again, float *y, int64_t ldy) {
  __m512 acc[PANEL_GROUPS * PANEL_COLUMNS];
  KR_UNROLL
  for (int g = 0; g < groups; g++) KR_UNROLL
  for (int c = 0; c < n; c++)
    acc[g * n + c] = again ? _mm512_loadu_ps(y + c * ldy + g * KR_GROUP) : _mm512_setzero_ps();
  for (int64_t i = 0; i < k; i++, w += KR_GROUP * panel_bytes(type)) {
    __m512 weights[PANEL_GROUPS];
    KR_UNROLL
    for (int g = 0; g < groups; g++) weights[g] = panel_load(w + g * group_bytes, type);
    KR_UNROLL
    for (int c = 0; c < n; c++) {
      __m512 value = broadcast_float(x + c * ldx + i);
      KR_UNROLL
      for (int g = 0; g < groups; g++)
        acc[g * n + c] = _mm512_add_ps(acc[g * n + c], _mm512_mul_ps(weights[g], value));
    }
  }
  KR_UNROLL
  for (int g = 0; g < groups; g++) KR_UNROLL
  for (int c = 0; c < n; c++) _mm512_storeu_ps(y + c * ldy + g * KR_GROUP, acc[g * n + c]);
}

/* n columns of all groups; `together` groups at once while there are as many. */
KR_INLINE void panel_groups(const uint8_t *w, int64_t group_bytes, int64_t groups, int together,
                            int type, int64_t k, const float *x, int64_t ldx, int n, bool again,
                            float *y, int64_t ldy) {
  for (; groups >= together; groups -= together) {
    panel_tile(w, group_bytes, together, type, k, x, ldx, n, again, y, ldy);
    w += together * group_bytes, y += together * KR_GROUP;
  }
  for (; groups > 0; groups--, w += group_bytes, y += KR_GROUP)
    panel_tile(w, group_bytes, 1, type, k, x, ldx, n, again, y, ldy);
}

/* y[c][0 .. 16 groups - 1] of any number of columns, in tiles of nearly equal width: nine columns
 * go as 5 + 4. */
KR_INLINE void panel_columns(const uint8_t *w, int64_t group_bytes, int64_t groups, int type,
                             int64_t k, const float *x, int64_t ldx, int64_t n, bool again,
                             float *y, int64_t ldy) {
#define KR_PANEL(columns, together)                                                                \
  case columns:                                                                                    \
    panel_groups(w, group_bytes, groups, together, type, k, x, ldx, columns, again, y, ldy);       \
    break
  while (n > 0) {
    int64_t tiles = (n + PANEL_COLUMNS - 1) / PANEL_COLUMNS, width = (n + tiles - 1) / tiles;
    switch (width) {
      KR_PANEL(8, 2);
      KR_PANEL(7, 2);
      KR_PANEL(6, 2);
      KR_PANEL(5, 2);
      KR_PANEL(4, 4);
      KR_PANEL(3, 4);
      KR_PANEL(2, 4);
      KR_PANEL(1, 4);
    }
    x += width * ldx, y += width * ldy, n -= width;
  }
#undef KR_PANEL
}

/* As panel_columns, of one or two groups and of many columns: weights that are not f32 are widened
 * once for all of them. */
KR_INLINE void panel_pieces(const uint8_t *w, int64_t group_bytes, int64_t groups, int type,
                            int64_t k, const float *x, int64_t ldx, int64_t n, bool again, float *y,
                            int64_t ldy) {
  _Alignas(64) float wide[2][PANEL_PIECE][KR_GROUP];
  for (int64_t start = 0; start < k; start += PANEL_PIECE) {
    int64_t piece = k - start < PANEL_PIECE ? k - start : PANEL_PIECE;
    const uint8_t *from = w + start * KR_GROUP * panel_bytes(type);
    for (int64_t g = 0; g < groups; g++)
      for (int64_t i = 0; i < piece; i++)
        _mm512_store_ps(
            wide[g][i],
            panel_load(from + g * group_bytes + i * KR_GROUP * panel_bytes(type), type));
    panel_columns((const uint8_t *)wide, sizeof wide[0], groups, PANEL_F32, piece, x + start, ldx,
                  n, again || start, y, ldy);
  }
}

#endif
