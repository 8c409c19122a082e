/* Quantization of activations. Magnitudes are compared as integers, so that a NaN counts as the
 * largest. A register holds four values in order; their int32 sum may be taken in any order. */
#include "../common/neon.h"
#include "kernels.h"

#define SMALLEST_AMAX 0x1p-100f /* below it 127 / amax would leave the range of f32 */

static float largest_magnitude(const float32x4_t v[8]) {
  uint32x4_t top = vdupq_n_u32(0);
  for (int i = 0; i < 8; i++)
    top = vmaxq_u32(top, vbicq_u32(vreinterpretq_u32_f32(v[i]), vdupq_n_u32(0x80000000)));
  uint32x2_t two = vmax_u32(vget_low_u32(top), vget_high_u32(top));
  return kr_bits_float(vget_lane_u32(vpmax_u32(two, two), 0));
}

/* Four values as int16: what adding the magic number leaves in the low half. */
KR_INLINE int16x4_t rounded(float32x4_t v, float r) {
  float32x4_t sum = vaddq_f32(vmulq_n_f32(v, r), vdupq_n_f32(KR_ROUND_MAGIC));
  return vmovn_s32(vreinterpretq_s32_f32(sum));
}

static void quantize_block(const float *x, int8_t *q, float *d, int32_t *s) {
  float32x4_t v[8];
#pragma GCC unroll 8
  for (int i = 0; i < 8; i++) v[i] = vld1q_f32(x + 4 * i);
  float amax = largest_magnitude(v), r = 0;
  *d = 0;
  if (!(amax < SMALLEST_AMAX)) *d = amax / 127, r = 127 / amax;
  int16x8_t sum = vdupq_n_s16(0);
#pragma GCC unroll 2
  for (int i = 0; i < 2; i++) {
    int16x8_t low = vcombine_s16(rounded(v[4 * i], r), rounded(v[4 * i + 1], r));
    int16x8_t high = vcombine_s16(rounded(v[4 * i + 2], r), rounded(v[4 * i + 3], r));
    sum = vaddq_s16(sum, vaddq_s16(low, high));
    vst1q_s8(q + 16 * i, vcombine_s8(vmovn_s16(low), vmovn_s16(high)));
  }
  int32x4_t four = vpaddlq_s16(sum);
  int32x2_t two = vadd_s32(vget_low_s32(four), vget_high_s32(four));
  *s = vget_lane_s32(vpadd_s32(two, two), 0);
}

void kr_neon_quantize(const float *x, int64_t ldx, int64_t n, int64_t k, int64_t kp, int8_t *q,
                      float *d, int32_t *s) {
  int64_t blocks = kp / KR_BLOCK;
  for (int64_t c = 0; c < n; c++)
    for (int64_t b = 0; b < blocks; b++, q += KR_BLOCK, d++, s++) {
      const float *block = x + c * ldx + b * KR_BLOCK;
      int64_t left = k - b * KR_BLOCK;
      float last[KR_BLOCK] = {0};
      if (left < KR_BLOCK) {
        if (left > 0) memcpy(last, block, (size_t)left * sizeof *last);
        block = last;
      }
      quantize_block(block, q, d, s);
    }
}
