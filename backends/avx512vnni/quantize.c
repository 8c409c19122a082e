/* Quantization of activations on AVX-512. Numerics: backends/scalar/quantize.c. A block is two
 * vectors, 16 values in each, in order. */
#include "kernels.h"
#include "lanes.h"

#define SMALLEST_AMAX 0x1p-100f /* below it 127 / amax would leave the range of f32 */

/* The largest of sixteen magnitudes, as bit patterns: with the sign cleared, order of integers. */
KR_INLINE uint32_t largest(__m512i bits) {
  __m256i eight =
      _mm256_max_epi32(_mm512_castsi512_si256(bits), _mm512_extracti64x4_epi64(bits, 1));
  __m128i four = _mm_max_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
  __m128i two = _mm_max_epi32(four, _mm_shuffle_epi32(four, 0x4e));
  return (uint32_t)_mm_cvtsi128_si32(_mm_max_epi32(two, _mm_shuffle_epi32(two, 0xb1)));
}

/* After the addition the low byte of a lane is q. */
KR_INLINE __m128i round_lanes(__m512 x, __m512 r) {
  __m512 sum = _mm512_add_ps(_mm512_mul_ps(x, r), _mm512_set1_ps(KR_ROUND_MAGIC));
  return _mm512_cvtepi32_epi8(_mm512_castps_si512(sum));
}

/* The sum of 32 signed bytes: as unsigned ones, 128 more each, in four lanes of 64 bits. */
KR_INLINE int32_t sum_bytes(__m256i q) {
  __m256i more = _mm256_xor_si256(q, _mm256_set1_epi8((char)128));
  __m256i four = _mm256_sad_epu8(more, _mm256_setzero_si256());
  __m128i two = _mm_add_epi32(_mm256_castsi256_si128(four), _mm256_extracti128_si256(four, 1));
  return _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_unpackhi_epi64(two, two))) - 128 * KR_BLOCK;
}

KR_INLINE void quantize_block(__m512 low, __m512 high, int8_t *q, float *d, int32_t *s) {
  const __m512i magnitude = _mm512_set1_epi32(0x7fffffff);
  __m512i top = _mm512_max_epu32(_mm512_and_si512(_mm512_castps_si512(low), magnitude),
                                 _mm512_and_si512(_mm512_castps_si512(high), magnitude));
  float amax = kr_bits_float(largest(top)), r = 0;
  *d = 0;
  if (!(amax < SMALLEST_AMAX)) *d = amax / 127, r = 127 / amax;
  __m512 factor = _mm512_set1_ps(r);
  __m256i bytes = _mm256_set_m128i(round_lanes(high, factor), round_lanes(low, factor));
  _mm256_storeu_si256((__m256i *)q, bytes);
  *s = sum_bytes(bytes);
}

void kr_avx512vnni_quantize(const float *x, int64_t ldx, int64_t n, int64_t k, int64_t kp,
                            int8_t *q, float *d, int32_t *s) {
  int64_t blocks = kp / KR_BLOCK, whole = k / KR_BLOCK;
  for (int64_t c = 0; c < n; c++, x += ldx, q += kp, d += blocks, s += blocks) {
    for (int64_t b = 0; b < whole; b++)
      quantize_block(_mm512_loadu_ps(x + b * KR_BLOCK), _mm512_loadu_ps(x + b * KR_BLOCK + 16),
                     q + b * KR_BLOCK, d + b, s + b);
    for (int64_t b = whole; b < blocks; b++) { /* padding: zero values quantize to zero */
      int64_t left = k > b * KR_BLOCK ? k - b * KR_BLOCK : 0;
      __mmask16 low = first_lanes(left < 16 ? left : 16),
                high = first_lanes(left > 16 ? left - 16 : 0);
      quantize_block(_mm512_maskz_loadu_ps(low, x + b * KR_BLOCK),
                     _mm512_maskz_loadu_ps(high, x + b * KR_BLOCK + 16), q + b * KR_BLOCK, d + b,
                     s + b);
    }
  }
}
