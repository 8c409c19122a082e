/* The body of the three products of many columns by smmla.
 *
 * smmla multiplies two rows of 8 k by two columns of 8 k and adds the four sums to four int32
 * lanes: (row 0, column 0), (row 0, column 1), (row 1, column 0), (row 1, column 1). A packed
 * register holds units of 4 k of four rows; one zip of it with that of the next 4 k makes two
 * registers of two rows by 8 k. Some blocks of a group are zipped, with a byte a weight, before all
 * columns meet them; Q4_0 becomes nibble - 8 here. Columns are paired as they are loaded.
 *
 * A block's 32 products are within 2^19: exact, in any order. The f32 accumulator of each row and
 * column is one lane, takes one block after the other, ascending, in the steps of the scalar
 * backend: from one slab of blocks to the next it lies in y. */
#ifndef KR_NEON_I8MM_MATRIX_H
#define KR_NEON_I8MM_MATRIX_H

#include "../common/neon.h"
#include "../common/packed.h"
#include "kernels.h"

/* Blocks of a slab; a tile of 8 rows, 4 pairs, by 4 columns has 8 sums and 8 accumulators. */
enum { SLAB = 16, TILE_PAIRS = 4, TILE_COLUMNS = 4 };

/* Some blocks of a group. */
typedef struct slab {
  int8_t w[SLAB][2][4][TILE_PAIRS][16]; /* block, half of the rows, 8 k, pair: [2 rows][8 k] */
  float d[SLAB][2][TILE_PAIRS][4];      /* scales, each twice, as the lanes of a sum need them */
  float m[SLAB][2][TILE_PAIRS][4];      /* minima likewise, for Q4_1 */
} slab;

/* Four rows' units of the first and the last 4 of 8 k, to two pairs of rows. */
KR_INLINE void zip_units(int8x16_t first, int8x16_t last, int8_t *ret) {
  int32x4_t a = vreinterpretq_s32_s8(first), b = vreinterpretq_s32_s8(last);
  vst1q_s8(ret, vreinterpretq_s8_s32(vzip1q_s32(a, b)));
  vst1q_s8(ret + 16, vreinterpretq_s8_s32(vzip2q_s32(a, b)));
}

/* The low or the high nibbles, less 8 for Q4_0. */
KR_INLINE int8x16_t nibbles(kr_packed format, uint8x16_t bytes, bool high) {
  int8x16_t n = vreinterpretq_s8_u8(high ? vshrq_n_u8(bytes, 4) : vandq_u8(bytes, vdupq_n_u8(15)));
  return format == KR_PACKED_Q4_0 ? vsubq_s8(n, vdupq_n_s8(8)) : n;
}

KR_INLINE void prepare_weights(kr_packed format, const uint8_t *quants, int8_t ret[2][4][4][16]) {
  int steps = format == KR_PACKED_Q8_0 ? 4 : 2;
  for (int r = 0; r < 4; r++)
    for (int t = 0; t < steps; t++) {
      const uint8_t *unit = quants + 2 * t * KR_PACKED_UNIT + 16 * r;
      uint8x16_t first = vld1q_u8(unit), last = vld1q_u8(unit + KR_PACKED_UNIT);
      int8_t *low = ret[r / 2][t][r % 2 * 2], *high = ret[r / 2][(t + 2) % 4][r % 2 * 2];
      if (format == KR_PACKED_Q8_0) {
        zip_units(vreinterpretq_s8_u8(first), vreinterpretq_s8_u8(last), low);
      } else {
        zip_units(nibbles(format, first, false), nibbles(format, last, false), low);
        zip_units(nibbles(format, first, true), nibbles(format, last, true), high);
      }
    }
}

/* Sixteen scales, each twice. */
KR_INLINE void prepare_scales(const uint8_t *halves, float ret[2][4][4]) {
  for (int h = 0; h < 2; h++) {
    kr_neon_eight eight = kr_neon_halves(halves + 16 * h);
    vst1q_f32(ret[h][0], vzip1q_f32(eight.low, eight.low));
    vst1q_f32(ret[h][1], vzip2q_f32(eight.low, eight.low));
    vst1q_f32(ret[h][2], vzip1q_f32(eight.high, eight.high));
    vst1q_f32(ret[h][3], vzip2q_f32(eight.high, eight.high));
  }
}

KR_INLINE void prepare(kr_packed format, const uint8_t *group, int64_t first, int64_t count,
                       slab *ret) {
  for (int64_t i = 0; i < count; i++) {
    const uint8_t *pair = group + (first + i) / 2 * kr_packed_pair(format);
    int block = (int)((first + i) % 2);
    const uint8_t *halves = pair + block * KR_PACKED_SCALES;
    prepare_weights(format, pair + kr_packed_quants(format, block), ret->w[i]);
    prepare_scales(halves, ret->d[i]);
    if (format == KR_PACKED_Q4_1) prepare_scales(halves + KR_PACKED_MINIMA, ret->m[i]);
  }
}

/* (a, b, a, b) */
KR_INLINE float32x4_t alternate(float a, float b) {
  float32x2_t two = vset_lane_f32(b, vdup_n_f32(a), 1);
  return vcombine_f32(two, two);
}

/* One block of 8 rows by columns, pairs of them. Odd columns stand for their own neighbour. */
KR_INLINE void add_block(kr_packed format, int columns, const slab *w, int64_t i, int half,
                         const int8_t *q, const float *d, const int32_t *s, int64_t blocks,
                         float32x4_t acc[2][TILE_PAIRS]) {
  int32x4_t sum[2][TILE_PAIRS];
#pragma GCC unroll 2
  for (int c = 0; c < columns; c += 2)
#pragma GCC unroll 4
    for (int p = 0; p < TILE_PAIRS; p++) sum[c / 2][p] = vdupq_n_s32(KR_NEON_START);
#pragma GCC unroll 2
  for (int t = 0; t < 2; t++) { /* 16 k: two registers of each pair of columns */
    KR_NEON_BARRIER();
    int64x2_t first[2], last[2];
#pragma GCC unroll 2
    for (int c = 0; c < columns; c += 2) {
      int64_t other = c + 1 < columns ? c + 1 : c;
      int64x2_t a = vreinterpretq_s64_s8(vld1q_s8(q + c * blocks * KR_BLOCK + 16 * t));
      int64x2_t b = vreinterpretq_s64_s8(vld1q_s8(q + other * blocks * KR_BLOCK + 16 * t));
      first[c / 2] = vzip1q_s64(a, b), last[c / 2] = vzip2q_s64(a, b);
    }
#pragma GCC unroll 4
    for (int p = 0; p < TILE_PAIRS; p++) {
      int8x16_t w0 = vld1q_s8(w->w[i][half][2 * t][p]), w1 = vld1q_s8(w->w[i][half][2 * t + 1][p]);
#pragma GCC unroll 2
      for (int c = 0; c < columns; c += 2) {
        int32x4_t *to = &sum[c / 2][p];
        *to = vmmlaq_s32(*to, w0, vreinterpretq_s8_s64(first[c / 2]));
        *to = vmmlaq_s32(*to, w1, vreinterpretq_s8_s64(last[c / 2]));
      }
    }
  }
#pragma GCC unroll 2
  for (int c = 0; c < columns; c += 2) {
    int64_t other = c + 1 < columns ? c + 1 : c;
    float32x4_t dx = alternate(d[c * blocks], d[other * blocks]), sx = vdupq_n_f32(0);
    if (format == KR_PACKED_Q4_1) sx = alternate((float)s[c * blocks], (float)s[other * blocks]);
#pragma GCC unroll 4
    for (int p = 0; p < TILE_PAIRS; p++) {
      float32x4_t *a = &acc[c / 2][p];
      *a = kr_neon_add_started(*a, sum[c / 2][p], vmulq_f32(vld1q_f32(w->d[i][half][p]), dx));
      if (format == KR_PACKED_Q4_1)
        *a = vaddq_f32(*a, vmulq_f32(sx, vmulq_f32(vld1q_f32(w->m[i][half][p]), dx)));
    }
  }
}

/* The sums of two columns' 8 rows, as they lie in y, to the lanes of smmla and back. */
KR_INLINE void load_sums(bool again, const float *y, const float *other,
                         float32x4_t acc[TILE_PAIRS]) {
  for (int r = 0; r < 2; r++) {
    float32x4_t a = again ? vld1q_f32(y + 4 * r) : vdupq_n_f32(0);
    float32x4_t b = again ? vld1q_f32(other + 4 * r) : vdupq_n_f32(0);
    acc[2 * r] = vzip1q_f32(a, b), acc[2 * r + 1] = vzip2q_f32(a, b);
  }
}
KR_INLINE void store_sums(float *y, float *other, const float32x4_t acc[TILE_PAIRS]) {
  for (int r = 0; r < 2; r++) {
    vst1q_f32(y + 4 * r, vuzp1q_f32(acc[2 * r], acc[2 * r + 1]));
    if (other != y) vst1q_f32(other + 4 * r, vuzp2q_f32(acc[2 * r], acc[2 * r + 1]));
  }
}

/* count blocks of 8 rows by columns. */
KR_INLINE void tile(kr_packed format, int columns, const slab *w, int64_t count, bool again,
                    int half, const int8_t *q, const float *d, const int32_t *s, int64_t blocks,
                    float *y, int64_t ldy) {
  float32x4_t acc[2][TILE_PAIRS];
#pragma GCC unroll 2
  for (int c = 0; c < columns; c += 2)
    load_sums(again, y + c * ldy, y + (c + 1 < columns ? c + 1 : c) * ldy, acc[c / 2]);
  for (int64_t i = 0; i < count; i++)
    add_block(format, columns, w, i, half, q + i * KR_BLOCK, d + i, s + i, blocks, acc);
#pragma GCC unroll 2
  for (int c = 0; c < columns; c += 2)
    store_sums(y + c * ldy, y + (c + 1 < columns ? c + 1 : c) * ldy, acc[c / 2]);
}

/* A slab by n columns; q, d and s begin at its first block. */
KR_INLINE void slab_columns(kr_packed format, const slab *w, int64_t count, bool again,
                            const int8_t *q, const float *d, const int32_t *s, int64_t blocks,
                            int64_t n, float *y, int64_t ldy) {
  for (; n >= TILE_COLUMNS; n -= TILE_COLUMNS) {
    for (int h = 0; h < 2; h++)
      tile(format, TILE_COLUMNS, w, count, again, h, q, d, s, blocks, y + 8 * h, ldy);
    q += TILE_COLUMNS * blocks * KR_BLOCK, d += TILE_COLUMNS * blocks;
    s += TILE_COLUMNS * blocks, y += TILE_COLUMNS * ldy;
  }
  for (int h = 0; h < 2; h++) {
    if (n == 3) tile(format, 3, w, count, again, h, q, d, s, blocks, y + 8 * h, ldy);
    if (n == 2) tile(format, 2, w, count, again, h, q, d, s, blocks, y + 8 * h, ldy);
    if (n == 1) tile(format, 1, w, count, again, h, q, d, s, blocks, y + 8 * h, ldy);
  }
}

KR_INLINE void matrix_product(kr_packed format, const kr_panel *w, int64_t first, int64_t last,
                              const kr_columns *x, float *y, int64_t ldy) {
  slab prepared;
  int64_t blocks = w->k / KR_BLOCK, step = kr_packed_columns(x->n, w->k, TILE_COLUMNS);
  for (int64_t c = 0; c < x->n; c += step)
    for (int64_t g = first; g < last; g++)
      for (int64_t b = 0; b == 0 || b < blocks; b += SLAB) { /* once for no blocks: sums are 0 */
        int64_t count = blocks - b < SLAB ? blocks - b : SLAB, at = c * blocks + b;
        prepare(format, w->data + g * w->group_bytes, b, count, &prepared);
        slab_columns(format, &prepared, count, b != 0, x->q + at * KR_BLOCK, x->d + at, x->s + at,
                     blocks, x->n - c < step ? x->n - c : step, y + c * ldy + g * KR_GROUP, ldy);
      }
}

#endif
