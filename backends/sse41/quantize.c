/* Quantization of activations on SSE4.1. Numerics: backends/scalar/quantize.c. */
#include "kernels.h"
#include "lanes.h"

#define SMALLEST_AMAX 0x1p-100f /* below it 127 / amax would leave the range of f32 */

/* The largest of four magnitudes, as bit patterns: with the sign cleared, order of integers. */
KR_INLINE uint32_t largest(__m128i four) {
  __m128i two = _mm_max_epi32(four, _mm_shuffle_epi32(four, 0x4e));
  return (uint32_t)_mm_cvtsi128_si32(_mm_max_epi32(two, _mm_shuffle_epi32(two, 0xb1)));
}

/* 16 values, 4 a vector in order: after the addition the low byte of a lane is q. */
KR_INLINE __m128i round_lanes(const __m128 v[4], __m128 r) {
  const __m128 magic = _mm_set1_ps(KR_ROUND_MAGIC);
  __m128i bits[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; i++)
    bits[i] = _mm_and_si128(_mm_castps_si128(_mm_add_ps(_mm_mul_ps(v[i], r), magic)),
                            _mm_set1_epi32(255));
  return _mm_packus_epi16(_mm_packus_epi32(bits[0], bits[1]), _mm_packus_epi32(bits[2], bits[3]));
}

KR_INLINE void quantize_block(const float *x, int8_t *q, float *d, int32_t *s) {
  __m128 v[8];
  __m128i top = _mm_setzero_si128();
#pragma GCC unroll 8
  for (int i = 0; i < 8; i++) {
    v[i] = _mm_loadu_ps(x + 4 * i);
    top = _mm_max_epi32(top, _mm_and_si128(_mm_castps_si128(v[i]), _mm_set1_epi32(0x7fffffff)));
  }
  float amax = kr_bits_float(largest(top)), r = 0;
  *d = 0;
  if (!(amax < SMALLEST_AMAX)) *d = amax / 127, r = 127 / amax;
  __m128i low = round_lanes(v, _mm_set1_ps(r)), high = round_lanes(v + 4, _mm_set1_ps(r));
  _mm_storeu_si128((__m128i *)(void *)q, low);
  _mm_storeu_si128((__m128i *)(void *)(q + 16), high);
  const __m128i ones = _mm_set1_epi8(1);
  __m128i four =
      fold_pairs(_mm_add_epi16(_mm_maddubs_epi16(ones, low), _mm_maddubs_epi16(ones, high)));
  __m128i two = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4e));
  *s = _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32(two, 0xb1)));
}

void kr_sse41_quantize(const float *x, int64_t ldx, int64_t n, int64_t k, int64_t kp, int8_t *q,
                       float *d, int32_t *s) {
  int64_t blocks = kp / KR_BLOCK, whole = k / KR_BLOCK;
  for (int64_t c = 0; c < n; c++, x += ldx, q += kp, d += blocks, s += blocks) {
    for (int64_t b = 0; b < whole; b++)
      quantize_block(x + b * KR_BLOCK, q + b * KR_BLOCK, d + b, s + b);
    for (int64_t b = whole; b < blocks; b++) { /* padding: zero values quantize to zero */
      float padded[KR_BLOCK] = {0};
      if (b == whole) memcpy(padded, x + b * KR_BLOCK, (size_t)(k % KR_BLOCK) * sizeof *padded);
      quantize_block(padded, q + b * KR_BLOCK, d + b, s + b);
    }
  }
}
