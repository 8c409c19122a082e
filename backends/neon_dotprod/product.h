/* The body of the three products with quantized weights by sdot.
 *
 * A register of weights holds a unit, 4 consecutive k, of each of four rows; a register of one
 * column holds 16 k: four units. sdot by element multiplies the bytes of every row's unit by those
 * of one of the four and adds the four products to the row's int32 lane: lane i is row 4 r + i,
 * with no sum across lanes to make. A block's 32 products are within 2^19: exact, in any order. The
 * f32 accumulator of each row and column is one lane, takes one block after the other, ascending,
 * in the steps of the scalar backend.
 *
 * Nibbles are multiplied as they stand, 0 .. 15; Q4_0's sums begin with -8 times the column's. */
#ifndef KR_NEON_DOTPROD_PRODUCT_H
#define KR_NEON_DOTPROD_PRODUCT_H

#include "../common/neon.h"
#include "../common/packed.h"
#include "kernels.h"

/* A tile of many columns: two registers of rows by four columns have 8 sums and 8 accumulators. */
enum { TILE_REGISTERS = 2, TILE_COLUMNS = 4, AHEAD = 1024 /* bytes */ };

/* sum + the products of four units with those of x. */
KR_INLINE int32x4_t dot_units(int32x4_t sum, const int8x16_t w[4], int8x16_t x) {
  sum = vdotq_laneq_s32(sum, w[0], x, 0);
  sum = vdotq_laneq_s32(sum, w[1], x, 1);
  sum = vdotq_laneq_s32(sum, w[2], x, 2);
  return vdotq_laneq_s32(sum, w[3], x, 3);
}

/* The integer sums of one register of rows by columns: quants is its first unit, low and high the
 * columns' first and last 16 k. */
KR_INLINE void add_units(kr_packed format, int columns, const uint8_t *quants, const int8x16_t *low,
                         const int8x16_t *high, int32x4_t *sum) {
  uint8x16_t bytes[4];
  int8x16_t w[4];
#pragma GCC unroll 4
  for (int u = 0; u < 4; u++) {
    bytes[u] = vld1q_u8(quants + u * KR_PACKED_UNIT);
    w[u] = vreinterpretq_s8_u8(format == KR_PACKED_Q8_0 ? bytes[u]
                                                        : vandq_u8(bytes[u], vdupq_n_u8(15)));
  }
#pragma GCC unroll 4
  for (int c = 0; c < columns; c++) sum[c] = dot_units(sum[c], w, low[c]);
#pragma GCC unroll 4
  for (int u = 0; u < 4; u++)
    w[u] =
        vreinterpretq_s8_u8(format == KR_PACKED_Q8_0 ? vld1q_u8(quants + (4 + u) * KR_PACKED_UNIT)
                                                     : vshrq_n_u8(bytes[u], 4));
#pragma GCC unroll 4
  for (int c = 0; c < columns; c++) sum[c] = dot_units(sum[c], w, high[c]);
}

/* One block of registers, the first row given, by columns; q, d and s are those of the first
 * column, the others stand blocks apart. */
KR_INLINE void add_block(kr_packed format, int registers, int columns, const uint8_t *pair,
                         int block, int row, const int8_t *q, const float *d, const int32_t *s,
                         ptrdiff_t blocks, float32x4_t acc[][4]) {
  int8x16_t low[4], high[4];
  int32x4_t start[4];
  float32x4_t scale[4], minimum[4];
#pragma GCC unroll 4
  for (int c = 0; c < columns; c++) {
    start[c] = vdupq_n_s32(KR_NEON_START);
    if (format == KR_PACKED_Q4_0)
      start[c] = vsubq_s32(start[c], vshlq_n_s32(vld1q_dup_s32(s + c * blocks), 3));
    low[c] = vld1q_s8(q + c * blocks * KR_BLOCK);
    high[c] = vld1q_s8(q + c * blocks * KR_BLOCK + 16);
  }
  for (int r = 0; r < registers; r += 2) {
    const uint8_t *halves = pair + block * KR_PACKED_SCALES + 2 * row + 8 * r;
    kr_neon_eight eight = kr_neon_halves(halves);
    scale[r] = eight.low, scale[r + 1] = eight.high;
    if (format != KR_PACKED_Q4_1) continue;
    eight = kr_neon_halves(halves + KR_PACKED_MINIMA);
    minimum[r] = eight.low, minimum[r + 1] = eight.high;
  }
#pragma GCC unroll 4
  for (int r = 0; r < registers; r++) {
    int32x4_t sum[4];
#pragma GCC unroll 4
    for (int c = 0; c < columns; c++) sum[c] = start[c];
    KR_NEON_BARRIER();
    add_units(format, columns, pair + kr_packed_quants(format, block) + 4 * row + 16 * r, low, high,
              sum);
#pragma GCC unroll 4
    for (int c = 0; c < columns; c++) {
      float dx = d[c * blocks];
      acc[c][r] = kr_neon_add_started(acc[c][r], sum[c], vmulq_n_f32(scale[r], dx));
      if (format == KR_PACKED_Q4_1)
        acc[c][r] =
            vaddq_f32(acc[c][r], vmulq_n_f32(vmulq_n_f32(minimum[r], dx), (float)s[c * blocks]));
    }
  }
}

/* The rows of some registers of a group by columns: all blocks. */
KR_INLINE void tile(kr_packed format, int registers, int columns, bool stream, const uint8_t *pair,
                    int row, int64_t blocks, const int8_t *q, const float *d, const int32_t *s,
                    float *y, int64_t ldy) {
  float32x4_t acc[4][4];
#pragma GCC unroll 4
  for (int c = 0; c < columns; c++)
#pragma GCC unroll 4
    for (int r = 0; r < registers; r++) acc[c][r] = vdupq_n_f32(0);
  for (int64_t b = 0; b < blocks; b += 2, pair += kr_packed_pair(format)) {
    if (stream) kr_neon_prefetch(pair + AHEAD, kr_packed_pair(format));
    add_block(format, registers, columns, pair, 0, row, q, d, s, blocks, acc);
    KR_NEON_BARRIER();
    add_block(format, registers, columns, pair, 1, row, q + KR_BLOCK, d + 1, s + 1, blocks, acc);
    q += 2 * KR_BLOCK, d += 2, s += 2;
  }
#pragma GCC unroll 4
  for (int c = 0; c < columns; c++)
#pragma GCC unroll 4
    for (int r = 0; r < registers; r++) vst1q_f32(y + c * ldy + row + 4 * r, acc[c][r]);
}

KR_INLINE void vector_product(kr_packed format, const kr_panel *w, int64_t first, int64_t last,
                              const kr_columns *x, float *y) {
  for (int64_t g = first; g < last; g++)
    tile(format, 4, 1, true, w->data + g * w->group_bytes, 0, w->k / KR_BLOCK, x->q, x->d, x->s,
         y + g * KR_GROUP, 0);
}

/* Some columns of one group. */
KR_INLINE void group_columns(kr_packed format, const uint8_t *group, int64_t blocks,
                             const int8_t *q, const float *d, const int32_t *s, int64_t n, float *y,
                             int64_t ldy) {
  for (; n >= TILE_COLUMNS; n -= TILE_COLUMNS) {
    for (int row = 0; row < KR_GROUP; row += 4 * TILE_REGISTERS)
      tile(format, TILE_REGISTERS, TILE_COLUMNS, false, group, row, blocks, q, d, s, y, ldy);
    q += TILE_COLUMNS * blocks * KR_BLOCK, d += TILE_COLUMNS * blocks;
    s += TILE_COLUMNS * blocks, y += TILE_COLUMNS * ldy;
  }
  if (n == 3) {
    tile(format, TILE_REGISTERS, 3, false, group, 0, blocks, q, d, s, y, ldy);
    tile(format, TILE_REGISTERS, 3, false, group, 8, blocks, q, d, s, y, ldy);
  }
  if (n == 2) tile(format, 4, 2, false, group, 0, blocks, q, d, s, y, ldy);
  if (n == 1) tile(format, 4, 1, false, group, 0, blocks, q, d, s, y, ldy);
}

KR_INLINE void matrix_product(kr_packed format, const kr_panel *w, int64_t first, int64_t last,
                              const kr_columns *x, float *y, int64_t ldy) {
  int64_t blocks = w->k / KR_BLOCK, step = kr_packed_columns(x->n, w->k, TILE_COLUMNS);
  for (int64_t c = 0; c < x->n; c += step)
    for (int64_t g = first; g < last; g++)
      group_columns(format, w->data + g * w->group_bytes, blocks, x->q + c * w->k,
                    x->d + c * blocks, x->s + c * blocks, x->n - c < step ? x->n - c : step,
                    y + c * ldy + g * KR_GROUP, ldy);
}

#endif
