/* What the NEON backends share: the same names on ARMv7 and AArch64, widening of halves, the float
 * part of the products.
 *
 * ARMv7 lacks the instructions that AArch64 added: a second half as an operand, sums of neighbours
 * in 128 bits, division. Its NEON always flushes subnormals, as the contract has every thread do.
 */
#ifndef KR_COMMON_NEON_H
#define KR_COMMON_NEON_H

#include "scalar.h"
#include <arm_neon.h>
#include <stdbool.h>

/* For bodies that are made for several constant arguments. */
#define KR_INLINE static inline __attribute__((always_inline))

/* Loads and stores stay on their side of it. Compilers would else load the operands of a whole
 * unrolled block first, and spill what the registers cannot hold. */
#define KR_NEON_BARRIER() __asm__ volatile("" : : : "memory")

/* ---- loads ---------------------------------------------------------------------------------- */

KR_INLINE float32x4_t kr_neon_load_f32(const uint8_t *p) {
  return vreinterpretq_f32_u8(vld1q_u8(p));
}

/* Asks for the lines of p .. p + count - 1 of a stream. Past its end this is harmless. */
KR_INLINE void kr_neon_prefetch(const uint8_t *p, int count) {
  for (int i = 0; i < count; i += 64) __builtin_prefetch(p + i);
}

/* ---- halves --------------------------------------------------------------------------------- */

/* Scales, minima or weights of f16 [8] as f32: every half exactly, in any flush mode. */
typedef struct kr_neon_eight {
  float32x4_t low, high;
} kr_neon_eight;

#if defined(__aarch64__)

KR_INLINE kr_neon_eight kr_neon_halves(const uint8_t *p) {
  float16x8_t h = vreinterpretq_f16_u8(vld1q_u8(p));
  return (kr_neon_eight){vcvt_f32_f16(vget_low_f16(h)), vcvt_high_f32_f16(h)};
}

#else

/* Four halves by integers: the first CPUs with NEON have no conversion. The sign of a zero may be
 * lost, which no sum that starts with +0 can tell.
 *
 * With the exponent moved up by 112, a subnormal of fraction m reads as g = 2^-15 (1 + m / 1024),
 * less than 2^-14, and is 2 g - 2^-14; a normal g is at least 2^-14. So both are
 * g + min(g - 2^-14, 0), exactly. An exponent of 31 reads as 2^16 or more and becomes 255. */
KR_INLINE float32x4_t kr_neon_any_halves(uint16x4_t h) {
  uint32x4_t wide = vshll_n_u16(h, 13), sign = vdupq_n_u32(0x80000000);
  uint32x4_t bits = vaddq_u32(vbicq_u32(wide, vdupq_n_u32(1u << 28)), vdupq_n_u32(112u << 23));
  uint32x4_t top = vcgeq_u32(bits, vdupq_n_u32(143u << 23));
  float32x4_t g = vreinterpretq_f32_u32(bits);
  float32x4_t less = vminq_f32(vsubq_f32(g, vdupq_n_f32(0x1p-14f)), vdupq_n_f32(0));
  uint32x4_t finite = vreinterpretq_u32_f32(vaddq_f32(g, less));
  uint32x4_t infinite = vorrq_u32(bits, vdupq_n_u32(0x7f800000)); /* or NaN */
  return vreinterpretq_f32_u32(
      vbslq_u32(sign, vshlq_n_u32(wide, 3), vbslq_u32(top, infinite, finite)));
}

/* The same for normal halves alone: the shift carries the sign to its place. */
KR_INLINE float32x4_t kr_neon_normal_halves(uint16x4_t h) {
  int32x4_t wide = vshll_n_s16(vreinterpret_s16_u16(h), 13);
  int32x4_t bits = vandq_s32(wide, vdupq_n_s32((int32_t)0x8fffe000));
  return vreinterpretq_f32_s32(vaddq_s32(bits, vdupq_n_s32(112 << 23)));
}

KR_INLINE kr_neon_eight kr_neon_halves(const uint8_t *p) {
  uint16x8_t h = vreinterpretq_u16_u8(vld1q_u8(p));
  return (kr_neon_eight){kr_neon_any_halves(vget_low_u16(h)), kr_neon_any_halves(vget_high_u16(h))};
}

/* The scales or minima of a pair of blocks, f16 [32]. Zeros and subnormals are rare, infinities
 * mean a damaged model: one test for all. Without its sign a half is normal from 0x0800 to 0xf7ff.
 */
KR_INLINE void kr_neon_widen_scales(const uint8_t *halves, float ret[32]) {
  uint16x8_t most = vdupq_n_u16(0);
#pragma GCC unroll 4
  for (int i = 0; i < 4; i++) {
    uint16x8_t h = vreinterpretq_u16_u8(vld1q_u8(halves + 16 * i));
    vst1q_f32(ret + 8 * i, kr_neon_normal_halves(vget_low_u16(h)));
    vst1q_f32(ret + 8 * i + 4, kr_neon_normal_halves(vget_high_u16(h)));
    most = vmaxq_u16(most, vsubq_u16(vshlq_n_u16(h, 1), vdupq_n_u16(0x0800)));
  }
  uint8x8_t odd = vmovn_u16(vcgeq_u16(most, vdupq_n_u16(0xf000)));
  if (__builtin_expect(vget_lane_u64(vreinterpret_u64_u8(odd), 0) == 0, 1)) return;
  for (int i = 0; i < 4; i++) {
    kr_neon_eight eight = kr_neon_halves(halves + 16 * i);
    vst1q_f32(ret + 8 * i, eight.low), vst1q_f32(ret + 8 * i + 4, eight.high);
  }
}

#endif

/* ---- arithmetic ----------------------------------------------------------------------------- */

/* a0 + a1, a2 + a3, b0 + b1, b2 + b3. */
KR_INLINE int32x4_t kr_neon_add_neighbours(int32x4_t a, int32x4_t b) {
#if defined(__aarch64__)
  return vpaddq_s32(a, b);
#else
  return vcombine_s32(vpadd_s32(vget_low_s32(a), vget_high_s32(a)),
                      vpadd_s32(vget_low_s32(b), vget_high_s32(b)));
#endif
}

/* acc + (float)isum * (dw * dx), each step rounded, as the contract orders it. */
KR_INLINE float32x4_t kr_neon_add_block(float32x4_t acc, int32x4_t isum, float32x4_t scale) {
  return vaddq_f32(acc, vmulq_f32(vcvtq_f32_s32(isum), scale));
}

/* The same of a sum that began with KR_NEON_START: as a float it is 1.5 * 2^23 + isum, since |isum|
 * < 2^22, so that a subtraction converts it, exactly; CPUs have more units for that than for scvtf.
 */
#define KR_NEON_START 0x4b400000 /* the bits of KR_ROUND_MAGIC */

KR_INLINE float32x4_t kr_neon_add_started(float32x4_t acc, int32x4_t sum, float32x4_t scale) {
  float32x4_t isum = vsubq_f32(vreinterpretq_f32_s32(sum), vdupq_n_f32(KR_ROUND_MAGIC));
  return vaddq_f32(acc, vmulq_f32(isum, scale));
}

KR_INLINE float32x4_t kr_neon_divide(float32x4_t a, float32x4_t b) {
#if defined(__aarch64__)
  return vdivq_f32(a, b);
#else
  float x[4], y[4];
  vst1q_f32(x, a), vst1q_f32(y, b);
  for (int i = 0; i < 4; i++) x[i] = x[i] / y[i]; /* by VFP, correctly rounded */
  return vld1q_f32(x);
#endif
}

/* Sixteen lanes, 4 i + j in element j of lane[i], folded 8, 4, 2, 1 as kr_scalar_fold does. */
KR_INLINE float kr_neon_fold(const float32x4_t lane[4]) {
  float32x4_t four = vaddq_f32(vaddq_f32(lane[0], lane[2]), vaddq_f32(lane[1], lane[3]));
  float32x2_t two = vadd_f32(vget_low_f32(four), vget_high_f32(four));
  return vget_lane_f32(two, 0) + vget_lane_f32(two, 1);
}

#endif
