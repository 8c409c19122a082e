/* f16 to f32 with integer steps: SSE2 has no conversion, and subnormals are flushed, so that the
 * usual multiplication by 2^112 would lose the subnormal halves. */
#ifndef KR_SSE2_HALVES_H
#define KR_SSE2_HALVES_H

#include "kernels.h"

/* Four halves in the upper 16 bits of each lane, all of them normal: the exponent's bias is 112
 * less. The arithmetic shift leaves the sign in place; the mask clears its copies. */
KR_INLINE __m128 kr_sse2_normal_halves(__m128i h) {
  __m128i bits = _mm_and_si128(_mm_srai_epi32(h, 3), _mm_set1_epi32((int)0x8fffe000));
  return _mm_castsi128_ps(_mm_add_epi32(bits, _mm_set1_epi32(112 << 23)));
}

/* The same for zeros and subnormals too, but not for infinities and NaN.
 *
 * With that bias a subnormal of fraction m reads as g = 2^-15 (1 + m / 1024), less than 2^-14, and
 * is 2 g - 2^-14; a normal g is at least 2^-14. So both are g + min(g - 2^-14, 0), exactly. */
KR_INLINE __m128 kr_sse2_finite_halves(__m128i h) {
  __m128i sign = _mm_and_si128(h, _mm_set1_epi32((int)0x80000000));
  __m128i bits = _mm_srli_epi32(_mm_xor_si128(h, sign), 3);
  __m128 g = _mm_castsi128_ps(_mm_add_epi32(bits, _mm_set1_epi32(112 << 23)));
  __m128 less = _mm_min_ps(_mm_sub_ps(g, _mm_set1_ps(0x1p-14f)), _mm_setzero_ps());
  return _mm_or_ps(_mm_add_ps(g, less), _mm_castsi128_ps(sign));
}

/* The same for all halves: an exponent of 31 becomes 255. */
KR_INLINE __m128 kr_sse2_any_halves(__m128i h) {
  __m128i sign = _mm_and_si128(h, _mm_set1_epi32((int)0x80000000));
  __m128i bits = _mm_srli_epi32(_mm_xor_si128(h, sign), 3);
  __m128i top = _mm_cmpgt_epi32(bits, _mm_set1_epi32((31 << 23) - 1));
  __m128i infinite = _mm_or_si128(_mm_or_si128(bits, _mm_set1_epi32(0x7f800000)),
                                  sign); /* or NaN, fraction kept */
  __m128 finite = kr_sse2_finite_halves(h);
  return _mm_castsi128_ps(
      _mm_or_si128(_mm_and_si128(top, infinite), _mm_andnot_si128(top, _mm_castps_si128(finite))));
}

/* Lanes less than KR_SSE2_ODD where a half is zero, subnormal, infinite or NaN: rare in weights and
 * scales, so that one test of many is worth a branch. */
#define KR_SSE2_ODD 0x0800
KR_INLINE __m128i kr_sse2_range(__m128i h) {
  return _mm_add_epi16(_mm_and_si128(h, _mm_set1_epi16(0x7fff)), _mm_set1_epi16(0x0400));
}
KR_INLINE int kr_sse2_is_odd(__m128i least_range) {
  return _mm_movemask_epi8(_mm_cmpgt_epi16(_mm_set1_epi16(KR_SSE2_ODD), least_range));
}

/* The first and the last four of eight halves, each in the upper 16 bits of its lane. */
KR_INLINE __m128i kr_sse2_low_halves(__m128i h) {
  return _mm_unpacklo_epi16(_mm_setzero_si128(), h);
}
KR_INLINE __m128i kr_sse2_high_halves(__m128i h) {
  return _mm_unpackhi_epi16(_mm_setzero_si128(), h);
}

#endif
