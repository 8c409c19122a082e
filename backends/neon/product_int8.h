/* The body of the three products with quantized weights, for NEON without dot products.
 *
 * A register of weights holds a unit, 4 consecutive k, of each of four rows. It meets a register
 * that repeats those 4 k of one column. smlal (vmlal.s8) multiplies eight bytes by eight and adds
 * the products to eight int16 lanes: of rows 4 r and 4 r + 1, or 4 r + 2 and 4 r + 3, one lane for
 * each k mod 4.
 *
 *   Q4   nibbles are 0 .. 15 and |q| <= 127: a lane's eight products of a block are within 15,240,
 * so it takes the whole block before its neighbours are added in int32. Q8   |w| <= 128: two
 * products, of two units, are within 32,512 and fit; then the lanes of neighbours go to int32 sums.
 *
 * Integer sums are exact, so their order is free. The f32 accumulator of each row and column is one
 * lane, takes one block after the other, ascending, in the steps of the scalar backend. */
#ifndef KR_NEON_PRODUCT_INT8_H
#define KR_NEON_PRODUCT_INT8_H

#include "../common/neon.h"
#include "../common/packed.h"
#include "kernels.h"

/* A tile is registers of four rows by columns. ARMv7 has half of AArch64's registers. */
#if defined(__aarch64__)
enum { KR_NEON_REGISTERS = 4, KR_NEON_COLUMNS = 2 };
#else
enum { KR_NEON_REGISTERS = 2, KR_NEON_COLUMNS = 2 };
#endif

enum { KR_NEON_AHEAD = 1024 }; /* bytes that the stream of weights is asked for in advance */

/* sum + w * x, the first or the second eight bytes of each. */
KR_INLINE int16x8_t kr_neon_add_low(int16x8_t sum, int8x16_t w, int8x16_t x) {
  return vmlal_s8(sum, vget_low_s8(w), vget_low_s8(x));
}
KR_INLINE int16x8_t kr_neon_add_high(int16x8_t sum, int8x16_t w, int8x16_t x) {
#if defined(__aarch64__)
  return vmlal_high_s8(sum, w, x);
#else
  return vmlal_s8(sum, vget_high_s8(w), vget_high_s8(x));
#endif
}
KR_INLINE int16x8_t kr_neon_product_low(int8x16_t w, int8x16_t x) {
  return vmull_s8(vget_low_s8(w), vget_low_s8(x));
}
KR_INLINE int16x8_t kr_neon_product_high(int8x16_t w, int8x16_t x) {
#if defined(__aarch64__)
  return vmull_high_s8(w, x);
#else
  return vmull_s8(vget_high_s8(w), vget_high_s8(x));
#endif
}

/* The sums of nibble * q of one block; q [columns][k]. ret[c][r]: lane i is row 4 r + i. */
KR_INLINE void kr_neon_nibble_sums(int registers, int columns, const uint8_t *quants,
                                   const int8_t *q, int64_t k, int32x4_t ret[][4]) {
  int16x8_t sum[2][4][2];
#pragma GCC unroll 4
  for (int u = 0; u < 4; u++) {
    int8x16_t x_low[2], x_high[2];
#pragma GCC unroll 2
    for (int c = 0; c < columns; c++) {
      x_low[c] = kr_neon_unit(q + c * k + 4 * u);
      x_high[c] = kr_neon_unit(q + c * k + 16 + 4 * u);
    }
#pragma GCC unroll 4
    for (int r = 0; r < registers; r++) {
      uint8x16_t bytes = vld1q_u8(quants + u * KR_PACKED_UNIT + 16 * r);
      int8x16_t low = vreinterpretq_s8_u8(vandq_u8(bytes, vdupq_n_u8(15)));
      int8x16_t high = vreinterpretq_s8_u8(vshrq_n_u8(bytes, 4));
#pragma GCC unroll 2
      for (int c = 0; c < columns; c++) {
        int16x8_t *s = sum[c][r];
        s[0] = u ? kr_neon_add_low(s[0], low, x_low[c]) : kr_neon_product_low(low, x_low[c]);
        s[1] = u ? kr_neon_add_high(s[1], low, x_low[c]) : kr_neon_product_high(low, x_low[c]);
        s[0] = kr_neon_add_low(s[0], high, x_high[c]);
        s[1] = kr_neon_add_high(s[1], high, x_high[c]);
      }
    }
  }
#pragma GCC unroll 2
  for (int c = 0; c < columns; c++)
#pragma GCC unroll 4
    for (int r = 0; r < registers; r++)
      ret[c][r] = kr_neon_add_neighbours(vpaddlq_s16(sum[c][r][0]), vpaddlq_s16(sum[c][r][1]));
}

/* The same of w * q, int8 by int8. */
KR_INLINE void kr_neon_byte_sums(int registers, int columns, const uint8_t *quants, const int8_t *q,
                                 int64_t k, int32x4_t ret[][4]) {
  int32x4_t sum[2][4][2];
#pragma GCC unroll 4
  for (int u = 0; u < 8; u += 2) {
    int8x16_t x0[2], x1[2];
#pragma GCC unroll 2
    for (int c = 0; c < columns; c++) {
      x0[c] = kr_neon_unit(q + c * k + 4 * u);
      x1[c] = kr_neon_unit(q + c * k + 4 * u + 4);
    }
#pragma GCC unroll 4
    for (int r = 0; r < registers; r++) {
      const uint8_t *unit = quants + u * KR_PACKED_UNIT + 16 * r;
      int8x16_t w0 = vreinterpretq_s8_u8(vld1q_u8(unit));
      int8x16_t w1 = vreinterpretq_s8_u8(vld1q_u8(unit + KR_PACKED_UNIT));
#pragma GCC unroll 2
      for (int c = 0; c < columns; c++) {
        int32x4_t *s = sum[c][r];
        int16x8_t low = kr_neon_add_low(kr_neon_product_low(w0, x0[c]), w1, x1[c]);
        int16x8_t high = kr_neon_add_high(kr_neon_product_high(w0, x0[c]), w1, x1[c]);
        s[0] = u ? vpadalq_s16(s[0], low) : vpaddlq_s16(low);
        s[1] = u ? vpadalq_s16(s[1], high) : vpaddlq_s16(high);
      }
    }
  }
#pragma GCC unroll 2
  for (int c = 0; c < columns; c++)
#pragma GCC unroll 4
    for (int r = 0; r < registers; r++)
      ret[c][r] = kr_neon_add_neighbours(sum[c][r][0], sum[c][r][1]);
}

/* One block of registers by columns; d and s [columns] stand blocks apart. */
KR_INLINE void kr_neon_add_sums(kr_packed format, int registers, int columns, const uint8_t *quants,
                                const float32x4_t *scale, const float32x4_t *minimum,
                                const int8_t *q, const float *d, const int32_t *s, int64_t blocks,
                                float32x4_t acc[][4]) {
  int32x4_t isum[2][4];
  if (format == KR_PACKED_Q8_0)
    kr_neon_byte_sums(registers, columns, quants, q, blocks * KR_BLOCK, isum);
  else
    kr_neon_nibble_sums(registers, columns, quants, q, blocks * KR_BLOCK, isum);
#pragma GCC unroll 2
  for (int c = 0; c < columns; c++) {
    float dx = d[c * blocks];
#pragma GCC unroll 4
    for (int r = 0; r < registers; r++) {
      if (format == KR_PACKED_Q4_0)
        isum[c][r] = vsubq_s32(isum[c][r], vdupq_n_s32(8 * s[c * blocks]));
      acc[c][r] = kr_neon_add_block(acc[c][r], isum[c][r], vmulq_n_f32(scale[r], dx));
      if (format == KR_PACKED_Q4_1)
        acc[c][r] =
            vaddq_f32(acc[c][r], vmulq_n_f32(vmulq_n_f32(minimum[r], dx), (float)s[c * blocks]));
    }
  }
}

/* The rows of some registers of a group, first_register on, by columns: all blocks. */
KR_INLINE void kr_neon_tile(kr_packed format, int registers, int columns, bool stream,
                            const uint8_t *pair, int first_register, int64_t blocks,
                            const int8_t *q, const float *d, const int32_t *s, float *y,
                            int64_t ldy) {
  float32x4_t acc[2][4], scale[8], minimum[8];
#pragma GCC unroll 2
  for (int c = 0; c < columns; c++)
#pragma GCC unroll 4
    for (int r = 0; r < registers; r++) acc[c][r] = vdupq_n_f32(0);
  for (int64_t b = 0; b < blocks; b += 2, pair += kr_packed_pair(format)) {
    if (stream) kr_neon_prefetch(pair + KR_NEON_AHEAD, kr_packed_pair(format));
    kr_neon_scales(pair + 8 * first_register, registers, scale);
    if (format == KR_PACKED_Q4_1)
      kr_neon_scales(pair + KR_PACKED_MINIMA + 8 * first_register, registers, minimum);
#pragma GCC unroll 2
    for (int i = 0; i < 2; i++)
      kr_neon_add_sums(format, registers, columns,
                       pair + kr_packed_quants(format, i) + 16 * first_register,
                       scale + i * registers, minimum + i * registers, q + (b + i) * KR_BLOCK,
                       d + b + i, s + b + i, blocks, acc);
  }
#pragma GCC unroll 2
  for (int c = 0; c < columns; c++)
#pragma GCC unroll 4
    for (int r = 0; r < registers; r++)
      vst1q_f32(y + c * ldy + 4 * (first_register + r), acc[c][r]);
}

KR_INLINE void kr_neon_vector(kr_packed format, const kr_panel *w, int64_t first, int64_t last,
                              const kr_columns *x, float *y) {
  for (int64_t g = first; g < last; g++)
    kr_neon_tile(format, 4, 1, true, w->data + g * w->group_bytes, 0, w->k / KR_BLOCK, x->q, x->d,
                 x->s, y + g * KR_GROUP, 0);
}

KR_INLINE void kr_neon_matrix(kr_packed format, const kr_panel *w, int64_t first, int64_t last,
                              const kr_columns *x, float *y, int64_t ldy) {
  int64_t blocks = w->k / KR_BLOCK, step = kr_packed_columns(x->n, w->k, KR_NEON_COLUMNS);
  for (int64_t start = 0; start < x->n; start += step) {
    int64_t end = x->n - start < step ? x->n : start + step;
    for (int64_t g = first; g < last; g++) {
      const uint8_t *group = w->data + g * w->group_bytes;
      float *rows = y + g * KR_GROUP;
      int64_t c = start;
      for (; c + KR_NEON_COLUMNS <= end; c += KR_NEON_COLUMNS)
        for (int r = 0; r < 4; r += KR_NEON_REGISTERS)
          kr_neon_tile(format, KR_NEON_REGISTERS, KR_NEON_COLUMNS, false, group, r, blocks,
                       x->q + c * w->k, x->d + c * blocks, x->s + c * blocks, rows + c * ldy, ldy);
      for (; c < end; c++)
        kr_neon_tile(format, 4, 1, false, group, 0, blocks, x->q + c * w->k, x->d + c * blocks,
                     x->s + c * blocks, rows + c * ldy, ldy);
    }
  }
}

#endif
