/* Quantization of activations, and of the keys and values of a q8 cache: the specification. */
#include "kernels.h"

#define SMALLEST_AMAX 0x1p-100f /* below it 127 / amax would leave the range of f32 */

static void quantize_block(const float *x, int64_t k, int8_t *q, float *d, int32_t *s) {
  uint32_t top = 0;
  for (int64_t i = 0; i < k; i++) {
    uint32_t magnitude = kr_float_bits(x[i]) & 0x7fffffff;
    if (magnitude > top) top = magnitude;
  }
  float amax = kr_bits_float(top), r = 0;
  *d = 0;
  if (!(amax < SMALLEST_AMAX)) *d = amax / 127, r = 127 / amax;
  int32_t sum = 0;
  for (int64_t i = 0; i < KR_BLOCK; i++) {
    uint32_t bits = i < k ? kr_float_bits(x[i] * r + KR_ROUND_MAGIC) : 0;
    q[i] = (int8_t)((int)((bits & 255) ^ 128) - 128); /* the low byte, with its sign */
    sum += q[i];
  }
  *s = sum;
}

void kr_scalar_quantize(const float *x, int64_t ldx, int64_t n, int64_t k, int64_t kp, int8_t *q,
                        float *d, int32_t *s) {
  int64_t blocks = kp / KR_BLOCK;
  for (int64_t c = 0; c < n; c++)
    for (int64_t b = 0; b < blocks; b++) {
      int64_t left = k - b * KR_BLOCK, count = left < 0 ? 0 : left < KR_BLOCK ? left : KR_BLOCK;
      quantize_block(x + c * ldx + b * KR_BLOCK, count, q + c * kp + b * KR_BLOCK,
                     d + c * blocks + b, s + c * blocks + b);
    }
}
