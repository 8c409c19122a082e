/* The body of the three products with quantized weights.
 *
 * One vector holds 8 rows x 4 consecutive k: half h of a unit is rows 8 h .. 8 h + 7, a row a lane.
 * vpdpbusd multiplies its bytes, read unsigned, by the same 4 k of a column, signed and in every
 * lane alike, and adds the four products to the row's sum of 32 bits: eight of them are a block.
 * Nothing saturates (at most 32 * 255 * 127), and sums of integers are exact: any order gives
 * scalar's.
 *
 *   Q4   the nibbles are 0..15 as they stand; Q4_0 starts its sum at -8 s
 *   Q8   w with its top bit flipped is w + 128 as an unsigned byte; the sum starts at -128 s
 *
 * The float part is scalar's expression, eight rows wide: a lane of an accumulator is the one
 * accumulator of its row, blocks ascending. */
#ifndef KR_AVXVNNI_PRODUCT_INT8_H
#define KR_AVXVNNI_PRODUCT_INT8_H

#include <immintrin.h>
#include <krafla/backend.h>
#include <stdbool.h>
#include <string.h>

#define KR_INLINE static inline __attribute__((always_inline))

/* Loops over what stays in registers must be gone before arrays are given their places. */
#if defined(__clang__)
#define KR_UNROLL _Pragma("clang loop unroll(full)")
#else
#define KR_UNROLL _Pragma("GCC unroll 16")
#endif

typedef enum quant_format { FORMAT_Q4_0, FORMAT_Q4_1, FORMAT_Q8_0 } quant_format;

enum {
  UNIT_BYTES = 64,
  TILE_COLUMNS = 6,     /* 12 sums, a unit's two halves, a column's four k, a constant: 16 */
  L2_SHARE = 256 << 10, /* of activations that stay while the groups go by */
  LEAST_COLUMNS = 32    /* for which weights are read again */
};

KR_INLINE int64_t pair_bytes(quant_format format) {
  return format == FORMAT_Q4_0 ? 576 : format == FORMAT_Q4_1 ? 640 : 1088;
}
KR_INLINE const uint8_t *block_quants(quant_format format, const uint8_t *pair, int b) {
  if (format == FORMAT_Q8_0) return pair + 64 + b * 512;
  return pair + (format == FORMAT_Q4_1 ? 128 : 64) + b * 256;
}

/* Four consecutive k of one column, to the unit of every row. */
KR_INLINE __m256i broadcast_unit(const int8_t *q) {
  int32_t four;
  memcpy(&four, q, sizeof four);
  return _mm256_set1_epi32(four);
}

/* Eight halves, widened exactly: vcvtph2ps heeds no flush mode. */
KR_INLINE __m256 load_halves(const uint8_t *p) {
  return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p));
}

/* The first k of the i-th unit to be multiplied: of Q4 the low nibbles of some bytes, then the high
 * ones, so that the bytes need not be kept. */
KR_INLINE int unit_k(quant_format format, int i) {
  return format == FORMAT_Q8_0 ? 4 * i : i / 2 * 4 + i % 2 * 16;
}

/* Half h of the i-th unit. */
KR_INLINE __m256i load_unit(quant_format format, const uint8_t *quants, int i, int h) {
  if (format == FORMAT_Q8_0) {
    __m256i bytes = _mm256_load_si256((const __m256i *)(quants + i * UNIT_BYTES + 32 * h));
    return _mm256_xor_si256(bytes, _mm256_set1_epi8((char)128));
  }
  __m256i bytes = _mm256_load_si256((const __m256i *)(quants + i / 2 * UNIT_BYTES + 32 * h));
  return _mm256_and_si256(i % 2 ? _mm256_srli_epi16(bytes, 4) : bytes, _mm256_set1_epi8(15));
}

/* What the block's sum of every row begins with. */
KR_INLINE __m256i start_sum(quant_format format, int32_t s) {
  if (format == FORMAT_Q4_1) return _mm256_setzero_si256();
  return _mm256_set1_epi32(format == FORMAT_Q4_0 ? -8 * s : -128 * s);
}

KR_INLINE __m256 add_block(quant_format format, __m256 acc, __m256i sum, __m256 dw, __m256 mw,
                           float d, int32_t s) {
  __m256 dx = _mm256_set1_ps(d);
  acc = _mm256_add_ps(acc, _mm256_mul_ps(_mm256_cvtepi32_ps(sum), _mm256_mul_ps(dw, dx)));
  if (format != FORMAT_Q4_1) return acc;
  return _mm256_add_ps(acc, _mm256_mul_ps(_mm256_set1_ps((float)s), _mm256_mul_ps(mw, dx)));
}

/* The sums of one block of a group with n <= TILE_COLUMNS columns q [n][k]: ret_sums [n][2]. */
KR_INLINE void block_sums(quant_format format, const uint8_t *quants, const int8_t *q,
                          const int32_t *s, int64_t k, int n, __m256i (*ret_sums)[2]) {
  __m256i sum[TILE_COLUMNS][2];
  KR_UNROLL
  for (int c = 0; c < n; c++) sum[c][0] = sum[c][1] = start_sum(format, s[c * (k / KR_BLOCK)]);
  KR_UNROLL
  for (int i = 0; i < 8; i++) {
    __m256i w0 = load_unit(format, quants, i, 0), w1 = load_unit(format, quants, i, 1);
    KR_UNROLL
    for (int c = 0; c < n; c++) {
      __m256i x = broadcast_unit(q + c * k + unit_k(format, i));
      sum[c][0] = _mm256_dpbusd_avx_epi32(sum[c][0], w0, x);
      sum[c][1] = _mm256_dpbusd_avx_epi32(sum[c][1], w1, x);
    }
  }
  KR_UNROLL
  for (int c = 0; c < n; c++) ret_sums[c][0] = sum[c][0], ret_sums[c][1] = sum[c][1];
}

/* y[c][0..15] of n <= TILE_COLUMNS columns: a group's whole row. The accumulators stay in y: the
 * registers hold the sums of a block. */
KR_INLINE void tile(quant_format format, const uint8_t *pair, const int8_t *q, const float *d,
                    const int32_t *s, int64_t k, int n, float *restrict y, int64_t ldy) {
  const int64_t blocks = k / KR_BLOCK;
  for (int c = 0; c < n; c++) memset(y + c * ldy, 0, KR_GROUP * sizeof *y);
  for (int64_t at = 0; at < blocks; at++) {
    __m256i sums[TILE_COLUMNS][2];
    int b = (int)(at % 2);
    block_sums(format, block_quants(format, pair, b), q + at * KR_BLOCK, s + at, k, n, sums);
    KR_UNROLL
    for (int h = 0; h < 2; h++) {
      const uint8_t *scale = pair + b * 32 + h * 16;
      __m256 dw = load_halves(scale), mw = format == FORMAT_Q4_1 ? load_halves(scale + 64) : dw;
      KR_UNROLL
      for (int c = 0; c < n; c++) {
        float *rows = y + c * ldy + 8 * h;
        _mm256_storeu_ps(rows, add_block(format, _mm256_loadu_ps(rows), sums[c][h], dw, mw,
                                         d[c * blocks + at], s[c * blocks + at]));
      }
    }
    if (b == 1) pair += pair_bytes(format);
  }
}

/* y[0..15] of one column: one stream of weights, accumulators in registers. No software prefetch:
 * it only disturbs the hardware's. */
KR_INLINE void vector_group(quant_format format, const uint8_t *pair, const int8_t *q,
                            const float *d, const int32_t *s, int64_t k, float *y) {
  __m256 acc[2] = {_mm256_setzero_ps(), _mm256_setzero_ps()};
  for (int64_t at = 0; at < k / KR_BLOCK; at += 2, pair += pair_bytes(format)) {
    KR_UNROLL
    for (int b = 0; b < 2; b++) {
      __m256i sums[1][2];
      block_sums(format, block_quants(format, pair, b), q + (at + b) * KR_BLOCK, s + at + b, k, 1,
                 sums);
      KR_UNROLL
      for (int h = 0; h < 2; h++) {
        const uint8_t *scale = pair + b * 32 + h * 16;
        __m256 dw = load_halves(scale), mw = format == FORMAT_Q4_1 ? load_halves(scale + 64) : dw;
        acc[h] = add_block(format, acc[h], sums[0][h], dw, mw, d[at + b], s[at + b]);
      }
    }
  }
  _mm256_storeu_ps(y, acc[0]);
  _mm256_storeu_ps(y + 8, acc[1]);
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
