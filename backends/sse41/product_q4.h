/* The body of the products with Q4_0 and Q4_1 weights.
 *
 * One vector holds 4 rows x 4 consecutive k. pmaddubsw multiplies nibbles (0..15, the unsigned
 * side) by q (-127..127) and adds neighbours: a 16-bit lane collects 8 x 2 products of one block,
 * at most 16 * 15 * 127 = 30480, so a whole block fits before one pmaddwd folds the two lanes of a
 * row into its 32-bit sum. Sums of integers are exact: any order gives scalar's.
 *
 * The -8 of Q4_0's nibbles: the first lane of a row starts at -8 s. What it then holds is the sum
 * of its own (nibble - 8) q and of the other lane's -8 q, each at most 16 * 8 * 127, 32512
 * together: it fits too, and the wrapping additions on the way do not matter.
 *
 * The float part is scalar's expression, four rows wide: lane i of accumulator r belongs to row
 * 4 r + i alone, blocks ascending. */
#ifndef KR_SSE41_PRODUCT_Q4_H
#define KR_SSE41_PRODUCT_Q4_H

#include "lanes.h"

enum {
  BLOCK_BYTES = 256,
  UNIT_BYTES = 64,
  SLAB = 16,            /* blocks unpacked at a time: 8 KiB leave L1 its room for the columns */
  L2_SHARE = 128 << 10, /* of activations that stay while the groups go by */
  LEAST_COLUMNS = 32    /* for which weights are read again */
};

typedef enum q4_format { FORMAT_Q4_0, FORMAT_Q4_1 } q4_format;

KR_INLINE int64_t pair_bytes(q4_format format) {
  return format == FORMAT_Q4_1 ? 640 : 576;
}
KR_INLINE const uint8_t *block_quants(q4_format format, const uint8_t *pair, int64_t b) {
  return pair + pair_bytes(format) - (2 - b) * BLOCK_BYTES;
}

/* What the 16-bit sums of every row begin with. */
KR_INLINE __m128i start_sum(q4_format format, int32_t s) {
  return format == FORMAT_Q4_1 ? _mm_setzero_si128() : _mm_set1_epi32(-8 * s & 0xffff);
}

/* Adds a block's sums to the accumulators of 16 rows. */
KR_INLINE void add_block(q4_format format, __m128 acc[4], const __m128i sums[4], const __m128 dw[4],
                         const __m128 mw[4], float d, int32_t s) {
  __m128 dx = _mm_set1_ps(d), sx = _mm_set1_ps((float)s);
#pragma GCC unroll 4
  for (int r = 0; r < 4; r++) {
    acc[r] = add_scaled(acc[r], fold_pairs(sums[r]), dw[r], dx);
    if (format == FORMAT_Q4_1) acc[r] = _mm_add_ps(acc[r], _mm_mul_ps(sx, _mm_mul_ps(mw[r], dx)));
  }
}

/* ---- one column: weights as they are packed, read once ----------------------------------------
 */

KR_INLINE void vector_block(q4_format format, const uint8_t *pair, int b, const int8_t *q, float d,
                            int32_t s, __m128 acc[4]) {
  const __m128i nibble = _mm_set1_epi8(15);
  const uint8_t *quants = block_quants(format, pair, b);
  __m128i low = load_bytes(q), high = load_bytes(q + 16), sums[4];
#pragma GCC unroll 4
  for (int r = 0; r < 4; r++) sums[r] = start_sum(format, s);
#pragma GCC unroll 4
  for (int u = 0; u < 4; u++) {
    __m128i x_low = spread_unit(low, u), x_high = spread_unit(high, u);
#pragma GCC unroll 4
    for (int r = 0; r < 4; r++) {
      __m128i bytes = load_bytes(quants + u * UNIT_BYTES + 16 * r);
      __m128i w_low = _mm_and_si128(bytes, nibble);
      __m128i w_high = _mm_and_si128(_mm_srli_epi16(bytes, 4), nibble);
      sums[r] = in_order(_mm_add_epi16(sums[r], _mm_maddubs_epi16(w_low, x_low)));
      sums[r] = in_order(_mm_add_epi16(sums[r], _mm_maddubs_epi16(w_high, x_high)));
    }
  }
  __m128 dw[4], mw[4] = {_mm_setzero_ps()};
  load_halves(pair + b * 32, dw);
  if (format == FORMAT_Q4_1) load_halves(pair + 64 + b * 32, mw);
  add_block(format, acc, sums, dw, mw, d, s);
}

/* No software prefetch: it only disturbs the hardware's. */
KR_INLINE void vector_product(q4_format format, const kr_panel *w, int64_t first, int64_t last,
                              const kr_columns *x, float *y, int64_t ldy) {
  int64_t blocks = w->k / KR_BLOCK;
  for (int64_t c = 0; c < x->n; c++)
    for (int64_t g = first; g < last; g++) {
      const uint8_t *pair = w->data + g * w->group_bytes;
      const int8_t *q = x->q + c * w->k;
      const float *d = x->d + c * blocks;
      const int32_t *s = x->s + c * blocks;
      __m128 acc[4] = {_mm_setzero_ps(), _mm_setzero_ps(), _mm_setzero_ps(), _mm_setzero_ps()};
      for (int64_t b = 0; b < blocks; b += 2, pair += pair_bytes(format)) {
        vector_block(format, pair, 0, q + b * KR_BLOCK, d[b], s[b], acc);
        vector_block(format, pair, 1, q + (b + 1) * KR_BLOCK, d[b + 1], s[b + 1], acc);
      }
      for (int r = 0; r < 4; r++) _mm_storeu_ps(y + c * ldy + g * KR_GROUP + 4 * r, acc[r]);
    }
}

/* ---- many columns: some blocks of a group are unpacked for all of them ------------------------
 */

typedef struct slab {
  _Alignas(64) uint8_t w[SLAB][8][UNIT_BYTES]; /* units 0-3 low nibbles, 4-7 high ones */
  float d[SLAB][KR_GROUP];
  float m[SLAB][KR_GROUP];
} slab;

KR_INLINE void unpack(q4_format format, const uint8_t *group, int64_t first, int64_t count,
                      slab *ret) {
  const __m128i nibble = _mm_set1_epi8(15);
  for (int64_t i = 0; i < count; i++) {
    const uint8_t *pair = group + (first + i) / 2 * pair_bytes(format);
    int64_t b = (first + i) % 2;
    const uint8_t *quants = block_quants(format, pair, b);
    uint8_t *low = ret->w[i][0], *high = ret->w[i][4];
    for (int j = 0; j < BLOCK_BYTES; j += 16) {
      __m128i bytes = load_bytes(quants + j);
      _mm_store_si128((__m128i *)(void *)(low + j), _mm_and_si128(bytes, nibble));
      _mm_store_si128((__m128i *)(void *)(high + j),
                      _mm_and_si128(_mm_srli_epi16(bytes, 4), nibble));
    }
    __m128 scales[4];
    load_halves(pair + b * 32, scales);
    for (int r = 0; r < 4; r++) _mm_store_ps(ret->d[i] + 4 * r, scales[r]);
    if (format != FORMAT_Q4_1) continue;
    load_halves(pair + 64 + b * 32, scales);
    for (int r = 0; r < 4; r++) _mm_store_ps(ret->m[i] + 4 * r, scales[r]);
  }
}

/* Adds count blocks to one column's accumulators y [16]. */
KR_INLINE void slab_column(q4_format format, const slab *w, int64_t count, const int8_t *q,
                           const float *d, const int32_t *s, float *y) {
  __m128 acc[4];
#pragma GCC unroll 4
  for (int r = 0; r < 4; r++) acc[r] = _mm_loadu_ps(y + 4 * r);
  for (int64_t b = 0; b < count; b++) {
    __m128i half[2] = {load_bytes(q + b * KR_BLOCK), load_bytes(q + b * KR_BLOCK + 16)}, sums[4];
#pragma GCC unroll 4
    for (int r = 0; r < 4; r++) sums[r] = start_sum(format, s[b]);
#pragma GCC unroll 8
    for (int u = 0; u < 8; u++) {
      __m128i x = spread_unit(half[u / 4], u % 4);
#pragma GCC unroll 4
      for (int r = 0; r < 4; r++) {
        __m128i weights = _mm_load_si128((const __m128i *)(const void *)(w->w[b][u] + 16 * r));
        sums[r] = in_order(_mm_add_epi16(sums[r], _mm_maddubs_epi16(weights, x)));
      }
    }
    __m128 dw[4], mw[4];
#pragma GCC unroll 4
    for (int r = 0; r < 4; r++) {
      dw[r] = _mm_load_ps(w->d[b] + 4 * r);
      mw[r] = format == FORMAT_Q4_1 ? _mm_load_ps(w->m[b] + 4 * r) : dw[r];
    }
    add_block(format, acc, sums, dw, mw, d[b], s[b]);
  }
#pragma GCC unroll 4
  for (int r = 0; r < 4; r++) _mm_storeu_ps(y + 4 * r, acc[r]);
}

/* Columns in blocks whose activations stay in L2 while all groups pass by. */
KR_INLINE void matrix_product(q4_format format, const kr_panel *w, int64_t first, int64_t last,
                              const kr_columns *x, float *y, int64_t ldy) {
  slab unpacked;
  int64_t blocks = w->k / KR_BLOCK, step = L2_SHARE / (w->k > 0 ? w->k : 1);
  if (step < LEAST_COLUMNS) step = LEAST_COLUMNS;
  for (int64_t c = 0; c < x->n; c += step) {
    int64_t end = x->n - c < step ? x->n : c + step;
    for (int64_t g = first; g < last; g++) {
      float *rows = y + g * KR_GROUP;
      for (int64_t i = c; i < end; i++) memset(rows + i * ldy, 0, KR_GROUP * sizeof *rows);
      for (int64_t b = 0; b < blocks; b += SLAB) {
        int64_t count = blocks - b < SLAB ? blocks - b : SLAB;
        unpack(format, w->data + g * w->group_bytes, b, count, &unpacked);
        for (int64_t i = c; i < end; i++)
          slab_column(format, &unpacked, count, x->q + i * w->k + b * KR_BLOCK,
                      x->d + i * blocks + b, x->s + i * blocks + b, rows + i * ldy);
      }
    }
  }
}

#endif
