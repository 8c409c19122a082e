/* Products of float panels on NEON: 16 rows of weights, [k][16], by columns of f32.
 *
 * A register holds the same k of four rows, so each row has its one accumulator in a lane of its
 * own, and k goes up one at a time, product and sum rounded apart: scalar's order exactly. Only
 * rows and columns go side by side. */
#ifndef KR_NEON_PANEL_H
#define KR_NEON_PANEL_H

#include "../common/neon.h"

/* What a weight is. */
typedef enum panel_type { PANEL_F32, PANEL_F16, PANEL_BF16, PANEL_I8 } panel_type;

/* Columns of a tile: with four registers of weights and as many accumulators for each column. */
#if defined(__aarch64__)
enum { PANEL_COLUMNS = 4 };
#else
enum { PANEL_COLUMNS = 2 };
#endif

KR_INLINE int panel_bytes(panel_type type) {
  return type == PANEL_F32 ? 4 : type == PANEL_I8 ? 1 : 2;
}

/* The weights of one k: sixteen rows, widened exactly. */
KR_INLINE void panel_load(panel_type type, const uint8_t *p, float32x4_t w[4]) {
  if (type == PANEL_F32) {
    for (int r = 0; r < 4; r++) w[r] = kr_neon_load_f32(p + 16 * r);
  } else if (type == PANEL_I8) {
    int8x16_t bytes = vreinterpretq_s8_u8(vld1q_u8(p));
    int16x8_t low = vmovl_s8(vget_low_s8(bytes)), high = vmovl_s8(vget_high_s8(bytes));
    w[0] = vcvtq_f32_s32(vmovl_s16(vget_low_s16(low)));
    w[1] = vcvtq_f32_s32(vmovl_s16(vget_high_s16(low)));
    w[2] = vcvtq_f32_s32(vmovl_s16(vget_low_s16(high)));
    w[3] = vcvtq_f32_s32(vmovl_s16(vget_high_s16(high)));
  } else {
    for (int i = 0; i < 2; i++)
      if (type == PANEL_F16) {
        kr_neon_eight eight = kr_neon_halves(p + 16 * i);
        w[2 * i] = eight.low, w[2 * i + 1] = eight.high;
      } else {
        uint16x8_t h = vreinterpretq_u16_u8(vld1q_u8(p + 16 * i));
        w[2 * i] = vreinterpretq_f32_u32(vshll_n_u16(vget_low_u16(h), 16));
        w[2 * i + 1] = vreinterpretq_f32_u32(vshll_n_u16(vget_high_u16(h), 16));
      }
  }
}

/* y[c][0..15] of n <= PANEL_COLUMNS columns x [n][ldx]; again: the sums go on from what y holds. */
KR_INLINE void panel_tile(panel_type type, int n, bool again, const uint8_t *w, int64_t k,
                          const float *x, int64_t ldx, float *y, int64_t ldy) {
  float32x4_t acc[PANEL_COLUMNS][4], weight[4];
#pragma GCC unroll 4
  for (int c = 0; c < n; c++)
#pragma GCC unroll 4
    for (int r = 0; r < 4; r++) acc[c][r] = again ? vld1q_f32(y + c * ldy + 4 * r) : vdupq_n_f32(0);
  for (int64_t i = 0; i < k; i++, w += KR_GROUP * panel_bytes(type)) {
    panel_load(type, w, weight);
#pragma GCC unroll 4
    for (int c = 0; c < n; c++)
#pragma GCC unroll 4
      for (int r = 0; r < 4; r++)
        acc[c][r] = vaddq_f32(acc[c][r], vmulq_n_f32(weight[r], x[c * ldx + i]));
  }
#pragma GCC unroll 4
  for (int c = 0; c < n; c++)
#pragma GCC unroll 4
    for (int r = 0; r < 4; r++) vst1q_f32(y + c * ldy + 4 * r, acc[c][r]);
}

/* The same of any number of columns. */
KR_INLINE void panel_columns(panel_type type, bool again, const uint8_t *w, int64_t k,
                             const float *x, int64_t ldx, int64_t n, float *y, int64_t ldy) {
  for (; n >= PANEL_COLUMNS; n -= PANEL_COLUMNS) {
    panel_tile(type, PANEL_COLUMNS, again, w, k, x, ldx, y, ldy);
    x += PANEL_COLUMNS * ldx, y += PANEL_COLUMNS * ldy;
  }
  if (PANEL_COLUMNS > 2 && n > 2) panel_tile(type, 3, again, w, k, x, ldx, y, ldy);
  if (PANEL_COLUMNS > 2 && n == 2) panel_tile(type, 2, again, w, k, x, ldx, y, ldy);
  if (n == 1) panel_tile(type, 1, again, w, k, x, ldx, y, ldy);
}

#endif
