/* f32 to f16 on SSE4.1, with integer steps. Numerics: kr_f32_to_f16 in backends/common/scalar.h. */
#include "kernels.h"
#include "lanes.h"

/* Four halves in the low 16 bits of each lane. */
KR_INLINE __m128i halves(__m128 x) {
  __m128i bits = _mm_castps_si128(x), a = _mm_and_si128(bits, _mm_set1_epi32(0x7fffffff));
  __m128i sign = _mm_and_si128(_mm_srli_epi32(bits, 16), _mm_set1_epi32(0x8000));
  /* normal: half of the last place less one, and one for an odd result, make a tie go to even; the
   * exponent's bias is 112 less */
  __m128i odd = _mm_and_si128(_mm_srli_epi32(a, 13), _mm_set1_epi32(1));
  __m128i h = _mm_add_epi32(_mm_add_epi32(a, _mm_set1_epi32(0xfff - (112 << 23))), odd);
  h = _mm_srli_epi32(h, 13);
  /* overflow gives infinity; NaN stays NaN, with what fits of its fraction */
  __m128i nan = _mm_and_si128(_mm_srli_epi32(a, 13), _mm_set1_epi32(0x3ff));
  nan = _mm_or_si128(nan, _mm_set1_epi32(0x200));
  nan = _mm_and_si128(nan, _mm_cmpgt_epi32(a, _mm_set1_epi32(0x7f800000)));
  __m128i top = _mm_or_si128(nan, _mm_set1_epi32(0x7c00));
  h = _mm_blendv_epi8(h, top, _mm_cmpgt_epi32(a, _mm_set1_epi32(0x477fefff)));
  /* subnormal: 0.5's last place is 2^-24, the unit of subnormal halves; the sum rounds */
  __m128 half = _mm_set1_ps(0.5f);
  __m128i small = _mm_castps_si128(_mm_add_ps(_mm_castsi128_ps(a), half));
  small = _mm_sub_epi32(small, _mm_castps_si128(half));
  h = _mm_blendv_epi8(h, small, _mm_cmpgt_epi32(_mm_set1_epi32(0x38800000), a));
  return _mm_or_si128(h, sign);
}

void kr_sse41_to_f16(const float *x, int64_t n, uint16_t *y) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm_storeu_si128((__m128i *)(void *)(y + i), _mm_packus_epi32(halves(_mm_loadu_ps(x + i)),
                                                                  halves(_mm_loadu_ps(x + i + 4))));
  for (; i < n; i++) y[i] = kr_f32_to_f16(x[i]);
}
