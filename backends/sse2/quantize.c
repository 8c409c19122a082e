/* Quantization of activations. Magnitudes are compared as integers, so that a NaN counts as the
 * largest; SSE2 has no maximum of int32, hence the compare and masks. */
#include "kernels.h"

KR_INLINE __m128i larger(__m128i a, __m128i b) {
  __m128i greater = _mm_cmpgt_epi32(a, b);
  return _mm_or_si128(_mm_and_si128(greater, a), _mm_andnot_si128(greater, b));
}

static float largest_magnitude(const float *x) {
  __m128i magnitude = _mm_set1_epi32(0x7fffffff), top = _mm_setzero_si128();
  for (int i = 0; i < 8; i++)
    top = larger(_mm_and_si128(_mm_castps_si128(_mm_loadu_ps(x + 4 * i)), magnitude), top);
  top = larger(top, _mm_shuffle_epi32(top, 0x4e));
  top = larger(top, _mm_shuffle_epi32(top, 0xb1));
  return kr_bits_float((uint32_t)_mm_cvtsi128_si32(top));
}

/* Four values as int32: what adding the magic number leaves in the low bits. */
KR_INLINE __m128i rounded(const float *x, __m128 r) {
  __m128 magic = _mm_set1_ps(KR_ROUND_MAGIC);
  __m128 sum = _mm_add_ps(_mm_mul_ps(_mm_loadu_ps(x), r), magic);
  return _mm_sub_epi32(_mm_castps_si128(sum), _mm_castps_si128(magic));
}

static void quantize_block(const float *x, int8_t *q, float *d, int32_t *s) {
  float amax = largest_magnitude(x), r = 0;
  *d = 0;
  if (!(amax < 0x1p-100f)) *d = amax / 127, r = 127 / amax;
  __m128 factor = _mm_set1_ps(r);
  __m128i sum = _mm_setzero_si128();
  for (int i = 0; i < 2; i++) {
    const float *p = x + 16 * i;
    __m128i low = _mm_packs_epi32(rounded(p, factor), rounded(p + 4, factor));
    __m128i high = _mm_packs_epi32(rounded(p + 8, factor), rounded(p + 12, factor));
    sum = _mm_add_epi32(sum, _mm_madd_epi16(_mm_add_epi16(low, high), _mm_set1_epi16(1)));
    _mm_storeu_si128((__m128i *)(void *)(q + 16 * i), _mm_packs_epi16(low, high));
  }
  sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4e));
  sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xb1));
  *s = _mm_cvtsi128_si32(sum);
}

void kr_sse2_quantize(const float *x, int64_t ldx, int64_t n, int64_t k, int64_t kp, int8_t *q,
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
