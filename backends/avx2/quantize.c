/* Quantization of activations on AVX2. Numerics: backends/scalar/quantize.c. */
#include "kernels.h"
#include "lanes.h"

#define SMALLEST_AMAX 0x1p-100f /* below it 127 / amax would leave the range of f32 */

/* The largest of eight magnitudes, as bit patterns: with the sign cleared, order of integers. */
KR_INLINE uint32_t largest(__m256i bits) {
  __m128i four = _mm_max_epi32(_mm256_castsi256_si128(bits), _mm256_extracti128_si256(bits, 1));
  __m128i two = _mm_max_epi32(four, _mm_shuffle_epi32(four, 0x4e));
  return (uint32_t)_mm_cvtsi128_si32(_mm_max_epi32(two, _mm_shuffle_epi32(two, 0xb1)));
}

/* 32 values, 8 a vector in order. */
KR_INLINE void quantize_block(const float *x, int8_t *q, float *d, int32_t *s) {
  const __m256i magnitude = _mm256_set1_epi32(0x7fffffff), byte = _mm256_set1_epi32(255);
  __m256 v[4];
  __m256i top = _mm256_setzero_si256(), bits[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; i++) {
    v[i] = _mm256_loadu_ps(x + 8 * i);
    top = _mm256_max_epi32(top, _mm256_and_si256(_mm256_castps_si256(v[i]), magnitude));
  }
  float amax = kr_bits_float(largest(top)), r = 0;
  *d = 0;
  if (!(amax < SMALLEST_AMAX)) *d = amax / 127, r = 127 / amax;
    /* After the addition the low byte of a lane is q; the packs keep 128-bit halves apart, so the
     * last permutation puts the four-byte groups (0,2,4,6 | 1,3,5,7 of the block's eight) in order.
     */
#pragma GCC unroll 4
  for (int i = 0; i < 4; i++) {
    __m256 sum =
        _mm256_add_ps(_mm256_mul_ps(v[i], _mm256_set1_ps(r)), _mm256_set1_ps(KR_ROUND_MAGIC));
    bits[i] = _mm256_and_si256(_mm256_castps_si256(sum), byte);
  }
  __m256i bytes = _mm256_packus_epi16(_mm256_packus_epi32(bits[0], bits[1]),
                                      _mm256_packus_epi32(bits[2], bits[3]));
  bytes = _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
  _mm256_storeu_si256((__m256i *)q, bytes);
  __m256i four = fold_pairs(_mm256_maddubs_epi16(_mm256_set1_epi8(1), bytes));
  __m128i two = _mm_add_epi32(_mm256_castsi256_si128(four), _mm256_extracti128_si256(four, 1));
  two = _mm_add_epi32(two, _mm_shuffle_epi32(two, 0x4e));
  *s = _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32(two, 0xb1)));
}

void kr_avx2_quantize(const float *x, int64_t ldx, int64_t n, int64_t k, int64_t kp, int8_t *q,
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
