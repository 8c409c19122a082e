/* The body of the three products with quantized weights.
 *
 * One vector is a unit of a group: lane r holds 4 consecutive k of row r. vpdpbusd multiplies them,
 * read unsigned, by the same 4 k of a column, signed and in every lane alike, and adds the four
 * products to lane r of a sum of 32 bits: eight of them are a block. Nothing saturates (at most
 * 32 * 255 * 127), and sums of integers are exact: any order gives scalar's.
 *
 *   Q4   the nibbles are 0..15 as they stand; Q4_0 starts its sum at -8 s
 *   Q8   w with its top bit flipped is w + 128 as an unsigned byte; the sum starts at -128 s
 *
 * The float part is scalar's expression, sixteen rows wide: lane r of an accumulator is the one
 * accumulator of row r, blocks ascending. */
#ifndef KR_AVX512VNNI_PRODUCT_INT8_H
#define KR_AVX512VNNI_PRODUCT_INT8_H

#include "lanes.h"

typedef enum quant_format { FORMAT_Q4_0, FORMAT_Q4_1, FORMAT_Q8_0 } quant_format;

enum {
  UNIT_BYTES = 64,
  TILE_COLUMNS = 8,     /* 8 accumulators, 8 sums, a unit's two vectors, constants: under 32 */
  L2_SHARE = 512 << 10, /* of activations that stay while the groups go by */
  LEAST_COLUMNS = 32    /* for which weights are read again */
};

KR_INLINE int64_t pair_bytes(quant_format format) {
  return format == FORMAT_Q4_0 ? 576 : format == FORMAT_Q4_1 ? 640 : 1088;
}
KR_INLINE const uint8_t *block_quants(quant_format format, const uint8_t *pair, int b) {
  if (format == FORMAT_Q8_0) return pair + 64 + b * 512;
  return pair + (format == FORMAT_Q4_1 ? 128 : 64) + b * 256;
}

/* What the block's sum of every row begins with. */
KR_INLINE __m512i start_sum(quant_format format, const int32_t *s) {
  if (format == FORMAT_Q4_1) return _mm512_setzero_si512();
  return _mm512_set1_epi32(format == FORMAT_Q4_0 ? -8 * *s : -128 * *s);
}

KR_INLINE __m512 add_block(quant_format format, __m512 acc, __m512i sum, __m512 dw, __m512 mw,
                           const float *d, const int32_t *s) {
  __m512 dx = broadcast_float(d);
  acc = _mm512_add_ps(acc, _mm512_mul_ps(_mm512_cvtepi32_ps(sum), _mm512_mul_ps(dw, dx)));
  if (format != FORMAT_Q4_1) return acc;
  __m512 sx = _mm512_cvtepi32_ps(_mm512_set1_epi32(*s));
  return _mm512_add_ps(acc, _mm512_mul_ps(sx, _mm512_mul_ps(mw, dx)));
}

/* Adds one block of a group to the accumulators of n <= TILE_COLUMNS columns, q [n][k] and d, s
 * [n][k / 32] at the block. */
KR_INLINE void tile_block(quant_format format, const uint8_t *pair, int b, const int8_t *q,
                          const float *d, const int32_t *s, int64_t k, int n, __m512 *acc) {
  const __m512i low = _mm512_set1_epi8(15), top = _mm512_set1_epi8((char)128);
  const uint8_t *quants = block_quants(format, pair, b);
  const int64_t blocks = k / KR_BLOCK;
  __m512i sum[TILE_COLUMNS];
  KR_UNROLL
  for (int c = 0; c < n; c++) sum[c] = start_sum(format, s + c * blocks);
  KR_UNROLL
  for (int u = 0; u < 4; u++) {
    __m512i w0, w1;
    if (format == FORMAT_Q8_0) { /* k = 8 u and 8 u + 4 */
      w0 = _mm512_xor_si512(load_bytes(quants + 2 * u * UNIT_BYTES), top);
      w1 = _mm512_xor_si512(load_bytes(quants + (2 * u + 1) * UNIT_BYTES), top);
    } else { /* k = 4 u and 16 + 4 u */
      __m512i bytes = load_bytes(quants + u * UNIT_BYTES);
      w0 = _mm512_and_si512(bytes, low);
      w1 = _mm512_and_si512(_mm512_srli_epi16(bytes, 4), low);
    }
    const int64_t k0 = format == FORMAT_Q8_0 ? 8 * u : 4 * u,
                  k1 = format == FORMAT_Q8_0 ? k0 + 4 : k0 + 16;
    KR_UNROLL
    for (int c = 0; c < n; c++)
      sum[c] = _mm512_dpbusd_epi32(sum[c], w0, broadcast_unit(q + c * k + k0));
    KR_UNROLL
    for (int c = 0; c < n; c++)
      sum[c] = _mm512_dpbusd_epi32(sum[c], w1, broadcast_unit(q + c * k + k1));
  }
  __m512 dw = load_halves(pair + b * 32);
  __m512 mw = format == FORMAT_Q4_1 ? load_halves(pair + 64 + b * 32) : dw;
  KR_UNROLL
  for (int c = 0; c < n; c++)
    acc[c] = add_block(format, acc[c], sum[c], dw, mw, d + c * blocks, s + c * blocks);
}

/* y[c][0..15] of n <= TILE_COLUMNS columns: a group's whole row, accumulators in registers. */
KR_INLINE void tile(quant_format format, const uint8_t *pair, const int8_t *q, const float *d,
                    const int32_t *s, int64_t k, int n, float *y, int64_t ldy) {
  __m512 acc[TILE_COLUMNS];
  KR_UNROLL
  for (int c = 0; c < n; c++) acc[c] = _mm512_setzero_ps();
  for (int64_t b = 0; b < k / KR_BLOCK; b += 2, pair += pair_bytes(format)) {
    tile_block(format, pair, 0, q + b * KR_BLOCK, d + b, s + b, k, n, acc);
    tile_block(format, pair, 1, q + (b + 1) * KR_BLOCK, d + b + 1, s + b + 1, k, n, acc);
  }
  KR_UNROLL
  for (int c = 0; c < n; c++) _mm512_storeu_ps(y + c * ldy, acc[c]);
}

/* y[0..15] of one column: one stream of weights. No software prefetch: it only disturbs the
 * hardware's (one line a pair, in the next page, took a tenth off the decode of a whole model). */
KR_INLINE void vector_group(quant_format format, const uint8_t *pair, const int8_t *q,
                            const float *d, const int32_t *s, int64_t k, float *y) {
  __m512 acc = _mm512_setzero_ps();
  for (int64_t b = 0; b < k / KR_BLOCK; b += 2, pair += pair_bytes(format)) {
    tile_block(format, pair, 0, q + b * KR_BLOCK, d + b, s + b, k, 1, &acc);
    tile_block(format, pair, 1, q + (b + 1) * KR_BLOCK, d + b + 1, s + b + 1, k, 1, &acc);
  }
  _mm512_storeu_ps(y, acc);
}

KR_INLINE void vector_product(quant_format format, const kr_panel *w, int64_t first, int64_t last,
                              const kr_columns *x, float *y, int64_t ldy) {
  int64_t blocks = w->k / KR_BLOCK;
  for (int64_t c = 0; c < x->n; c++)
    for (int64_t g = first; g < last; g++)
      vector_group(format, w->data + g * w->group_bytes, x->q + c * w->k, x->d + c * blocks,
                   x->s + c * blocks, w->k, y + c * ldy + g * KR_GROUP);
}

/* All columns of one group, in tiles of nearly equal width. */
KR_INLINE void group_columns(quant_format format, const uint8_t *group, const int8_t *q,
                             const float *d, const int32_t *s, int64_t k, int64_t n, float *y,
                             int64_t ldy) {
  int64_t blocks = k / KR_BLOCK;
  while (n > 0) {
    int64_t tiles = (n + TILE_COLUMNS - 1) / TILE_COLUMNS, width = (n + tiles - 1) / tiles;
#define KR_TILE(columns)                                                                           \
  case columns:                                                                                    \
    tile(format, group, q, d, s, k, columns, y, ldy);                                              \
    break
    switch (width) {
      KR_TILE(8);
      KR_TILE(7);
      KR_TILE(6);
      KR_TILE(5);
      KR_TILE(4);
      KR_TILE(3);
      KR_TILE(2);
      KR_TILE(1);
    }
#undef KR_TILE
    q += width * k, d += width * blocks, s += width * blocks, y += width * ldy, n -= width;
  }
}

KR_INLINE void matrix_product(quant_format format, const kr_panel *w, int64_t first, int64_t last,
                              const kr_columns *x, float *y, int64_t ldy) {
  int64_t blocks = w->k / KR_BLOCK, step = L2_SHARE / (w->k > 0 ? w->k : 1);
  if (step < LEAST_COLUMNS) step = LEAST_COLUMNS;
  step -= step % TILE_COLUMNS;
  for (int64_t c = 0; c < x->n; c += step) {
    int64_t n = x->n - c < step ? x->n - c : step;
    for (int64_t g = first; g < last; g++)
      group_columns(format, w->data + g * w->group_bytes, x->q + c * w->k, x->d + c * blocks,
                    x->s + c * blocks, w->k, n, y + c * ldy + g * KR_GROUP, ldy);
  }
}

#endif
