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

/* A tile is registers of four rows by columns. ARMv7 has half of AArch64's registers, and makes the
 * integer sums of two at a time. */
#if defined(__aarch64__)
enum { KR_NEON_REGISTERS = 4, KR_NEON_PART = 4 };
#else
enum { KR_NEON_REGISTERS = 2, KR_NEON_PART = 2 };
#endif
enum { KR_NEON_COLUMNS = 2 };

enum { KR_NEON_AHEAD = 1024 }; /* bytes that the stream of weights is asked for in advance */

/* ---- a unit of weights by a unit of a column ------------------------------------------------ */

/* A unit of one column, repeated; and sum + w * x of the first or the last two rows of a register.
 */
#if defined(__aarch64__)

typedef int8x16_t kr_neon_unit;

/* Two units that follow each other. */
KR_INLINE void kr_neon_units(const int8_t *q, kr_neon_unit x[2]) {
  int32_t unit[2];
  memcpy(unit, q, sizeof unit);
  x[0] = vreinterpretq_s8_s32(vdupq_n_s32(unit[0]));
  x[1] = vreinterpretq_s8_s32(vdupq_n_s32(unit[1]));
}
KR_INLINE int16x8_t kr_neon_low(int8x16_t w, kr_neon_unit x) {
  return vmull_s8(vget_low_s8(w), vget_low_s8(x));
}
KR_INLINE int16x8_t kr_neon_high(int8x16_t w, kr_neon_unit x) {
  return vmull_high_s8(w, x);
}
KR_INLINE int16x8_t kr_neon_add_low(int16x8_t sum, int8x16_t w, kr_neon_unit x) {
  return vmlal_s8(sum, vget_low_s8(w), vget_low_s8(x));
}
KR_INLINE int16x8_t kr_neon_add_high(int16x8_t sum, int8x16_t w, kr_neon_unit x) {
  return vmlal_high_s8(sum, w, x);
}

#else

typedef int8x8_t kr_neon_unit;

KR_INLINE void kr_neon_units(const int8_t *q, kr_neon_unit x[2]) {
  int32x2_t units = vreinterpret_s32_s8(vld1_s8(q));
  x[0] = vreinterpret_s8_s32(vdup_lane_s32(units, 0));
  x[1] = vreinterpret_s8_s32(vdup_lane_s32(units, 1));
}
KR_INLINE int16x8_t kr_neon_low(int8x16_t w, kr_neon_unit x) {
  return vmull_s8(vget_low_s8(w), x);
}
KR_INLINE int16x8_t kr_neon_high(int8x16_t w, kr_neon_unit x) {
  return vmull_s8(vget_high_s8(w), x);
}
KR_INLINE int16x8_t kr_neon_add_low(int16x8_t sum, int8x16_t w, kr_neon_unit x) {
  return vmlal_s8(sum, vget_low_s8(w), x);
}
KR_INLINE int16x8_t kr_neon_add_high(int16x8_t sum, int8x16_t w, kr_neon_unit x) {
  return vmlal_s8(sum, vget_high_s8(w), x);
}

#endif

/* ---- the integer sums of one block ---------------------------------------------------------- */

/* The sums of nibble * q; q [columns][k]. ret[c][r]: lane i is row 4 r + i. */
KR_INLINE void kr_neon_nibble_sums(int registers, int columns, const uint8_t *quants,
                                   const int8_t *q, ptrdiff_t k, int32x4_t ret[][4]) {
  int16x8_t sum[2][4][2];
  kr_neon_unit x_low[2][2], x_high[2][2];
#pragma GCC unroll 4
  for (int u = 0; u < 4; u++) {
    KR_NEON_BARRIER();
    if (u % 2 == 0)
#pragma GCC unroll 2
      for (int c = 0; c < columns; c++) {
        kr_neon_units(q + c * k + 4 * u, x_low[c]);
        kr_neon_units(q + c * k + 16 + 4 * u, x_high[c]);
      }
#pragma GCC unroll 4
    for (int r = 0; r < registers; r++) {
      uint8x16_t bytes = vld1q_u8(quants + u * KR_PACKED_UNIT + 16 * r);
      int8x16_t low = vreinterpretq_s8_u8(vandq_u8(bytes, vdupq_n_u8(15)));
      int8x16_t high = vreinterpretq_s8_u8(vshrq_n_u8(bytes, 4));
#pragma GCC unroll 2
      for (int c = 0; c < columns; c++) {
        int16x8_t *s = sum[c][r];
        kr_neon_unit x = x_low[c][u % 2];
        s[0] = u ? kr_neon_add_low(s[0], low, x) : kr_neon_low(low, x);
        s[1] = u ? kr_neon_add_high(s[1], low, x) : kr_neon_high(low, x);
        s[0] = kr_neon_add_low(s[0], high, x_high[c][u % 2]);
        s[1] = kr_neon_add_high(s[1], high, x_high[c][u % 2]);
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
                                 ptrdiff_t k, int32x4_t ret[][4]) {
  int32x4_t sum[2][4][2];
#pragma GCC unroll 4
  for (int u = 0; u < 8; u += 2) {
    kr_neon_unit x[2][2];
    KR_NEON_BARRIER();
#pragma GCC unroll 2
    for (int c = 0; c < columns; c++) kr_neon_units(q + c * k + 4 * u, x[c]);
#pragma GCC unroll 4
    for (int r = 0; r < registers; r++) {
      const uint8_t *unit = quants + u * KR_PACKED_UNIT + 16 * r;
      int8x16_t w0 = vreinterpretq_s8_u8(vld1q_u8(unit));
      int8x16_t w1 = vreinterpretq_s8_u8(vld1q_u8(unit + KR_PACKED_UNIT));
#pragma GCC unroll 2
      for (int c = 0; c < columns; c++) {
        int32x4_t *s = sum[c][r];
        int16x8_t low = kr_neon_add_low(kr_neon_low(w0, x[c][0]), w1, x[c][1]);
        int16x8_t high = kr_neon_add_high(kr_neon_high(w0, x[c][0]), w1, x[c][1]);
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

/* ---- the float sums ------------------------------------------------------------------------- */

/* The scales or minima of a pair: halves where an instruction widens them, f32 elsewhere. */
#if defined(__aarch64__)
typedef const uint8_t *kr_neon_scales;
KR_INLINE void kr_neon_get_scales(kr_neon_scales from, int block, int row, int registers,
                                  float32x4_t *scale) {
#pragma GCC unroll 2
  for (int r = 0; r < registers; r += 2) {
    kr_neon_eight eight = kr_neon_halves(from + block * KR_PACKED_SCALES + 2 * row + 8 * r);
    scale[r] = eight.low, scale[r + 1] = eight.high;
  }
}
#else
typedef const float *kr_neon_scales;
KR_INLINE void kr_neon_get_scales(kr_neon_scales from, int block, int row, int registers,
                                  float32x4_t *scale) {
#pragma GCC unroll 2
  for (int r = 0; r < registers; r++) scale[r] = vld1q_f32(from + block * KR_GROUP + row + 4 * r);
}
#endif

/* One block of registers, row the first, by columns; acc[c][at] is its
 * accumulator. The d and s of columns stand blocks apart. */
KR_INLINE void kr_neon_add_sums(kr_packed format, int registers, int columns, const uint8_t *quants,
                                int block, int row, kr_neon_scales scales, kr_neon_scales minima,
                                const int8_t *q, const float *d, const int32_t *s, ptrdiff_t blocks,
                                float32x4_t acc[][4], int at) {
  int32x4_t isum[2][4];
  float32x4_t scale[4], minimum[4];
  if (format == KR_PACKED_Q8_0)
    kr_neon_byte_sums(registers, columns, quants, q, blocks * KR_BLOCK, isum);
  else
    kr_neon_nibble_sums(registers, columns, quants, q, blocks * KR_BLOCK, isum);
  KR_NEON_BARRIER();
  kr_neon_get_scales(scales, block, row, registers, scale);
  if (format == KR_PACKED_Q4_1) kr_neon_get_scales(minima, block, row, registers, minimum);
#pragma GCC unroll 2
  for (int c = 0; c < columns; c++) {
    float dx = d[c * blocks];
#pragma GCC unroll 4
    for (int r = 0; r < registers; r++) {
      float32x4_t *a = &acc[c][at + r];
      if (format == KR_PACKED_Q4_0)
        isum[c][r] = vsubq_s32(isum[c][r], vdupq_n_s32(8 * s[c * blocks]));
      *a = kr_neon_add_block(*a, isum[c][r], vmulq_n_f32(scale[r], dx));
      if (format == KR_PACKED_Q4_1)
        *a = vaddq_f32(*a, vmulq_n_f32(vmulq_n_f32(minimum[r], dx), (float)s[c * blocks]));
    }
  }
}

/* The rows of some registers of a group by columns: all blocks. pair stands at the first of these
 * rows: first is its register. */
KR_INLINE void kr_neon_tile(kr_packed format, int registers, int columns, bool stream,
                            const uint8_t *pair, int first, int64_t n_blocks, const int8_t *q,
                            const float *d, const int32_t *s, float *y, int64_t ldy) {
  const ptrdiff_t blocks = (ptrdiff_t)n_blocks;
  float32x4_t acc[2][4];
#pragma GCC unroll 2
  for (int c = 0; c < columns; c++)
#pragma GCC unroll 4
    for (int r = 0; r < registers; r++) acc[c][r] = vdupq_n_f32(0);
  for (ptrdiff_t b = 0; b < blocks; b += 2, pair += kr_packed_pair(format)) {
    if (stream) kr_neon_prefetch(pair + KR_NEON_AHEAD, kr_packed_pair(format));
#if defined(__aarch64__)
    kr_neon_scales scales = pair, minima = pair + KR_PACKED_MINIMA;
#else
    float scales[32], minima[32];
    kr_neon_widen_scales(pair, scales);
    if (format == KR_PACKED_Q4_1) kr_neon_widen_scales(pair + KR_PACKED_MINIMA, minima);
#endif
#pragma GCC unroll 2
    for (int i = 0; i < 2; i++)
#pragma GCC unroll 2
      for (int r = 0; r < registers; r += KR_NEON_PART)
        kr_neon_add_sums(format, KR_NEON_PART, columns,
                         pair + kr_packed_quants(format, i) + 16 * (first + r), i, 4 * (first + r),
                         scales, minima, q + i * KR_BLOCK, d + i, s + i, blocks, acc, r);
    q += 2 * KR_BLOCK, d += 2, s += 2;
  }
#pragma GCC unroll 2
  for (int c = 0; c < columns; c++)
#pragma GCC unroll 4
    for (int r = 0; r < registers; r++) vst1q_f32(y + c * ldy + 4 * (first + r), acc[c][r]);
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
