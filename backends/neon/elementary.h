/* exp, SiLU and GELU on four lanes: the steps of common/scalar.h, each lane a value. */
#ifndef KR_NEON_ELEMENTARY_H
#define KR_NEON_ELEMENTARY_H

#include "../common/neon.h"

/* Lanes at or under KR_EXP_MIN and NaN run through with nonsense and are cleared at the end. */
KR_INLINE float32x4_t exp_lanes(float32x4_t x) {
  const float32x4_t magic = vdupq_n_f32(KR_ROUND_MAGIC);
  uint32x4_t keep = vcgtq_f32(x, vdupq_n_f32(KR_EXP_MIN)); /* false for NaN */
  x = vminq_f32(x, vdupq_n_f32(KR_EXP_MAX));
  float32x4_t t = vaddq_f32(vmulq_n_f32(x, KR_LOG2_E), magic), n = vsubq_f32(t, magic);
  float32x4_t r = vsubq_f32(x, vmulq_n_f32(n, KR_LN2_HI));
  r = vsubq_f32(r, vmulq_n_f32(n, KR_LN2_LO));
  float32x4_t p = vdupq_n_f32(KR_EXP_C4);
  p = vaddq_f32(vmulq_f32(p, r), vdupq_n_f32(KR_EXP_C3));
  p = vaddq_f32(vmulq_f32(p, r), vdupq_n_f32(KR_EXP_C2));
  p = vaddq_f32(vmulq_f32(p, r), vdupq_n_f32(KR_EXP_C1));
  p = vaddq_f32(vmulq_f32(p, r), vdupq_n_f32(KR_EXP_C0));
  p = vmulq_f32(p, vmulq_f32(r, r));
  p = vaddq_f32(vaddq_f32(p, r), vdupq_n_f32(1));
  /* the magic number's own bits are shifted out above n's */
  int32x4_t power = vshlq_n_s32(vaddq_s32(vreinterpretq_s32_f32(t), vdupq_n_s32(127)), 23);
  float32x4_t e = vmulq_f32(p, vreinterpretq_f32_s32(power));
  return vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_f32(e), keep));
}

/* z / (1 + exp(-u)) */
KR_INLINE float32x4_t gate_lanes(float32x4_t z, float32x4_t u) {
  return kr_neon_divide(z, vaddq_f32(vdupq_n_f32(1), exp_lanes(vnegq_f32(u))));
}

KR_INLINE float32x4_t silu_lanes(float32x4_t z) {
  return gate_lanes(z, z);
}

KR_INLINE float32x4_t gelu_lanes(float32x4_t z) {
  float32x4_t cube = vmulq_f32(vmulq_f32(z, z), z);
  float32x4_t u = vaddq_f32(z, vmulq_n_f32(cube, KR_GELU_CUBE));
  return gate_lanes(z, vmulq_n_f32(u, KR_GELU_TWO));
}

#endif
