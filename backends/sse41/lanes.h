/* What the SSE4.1 kernels share: loads, sums, widening of halves. */
#ifndef KR_SSE41_LANES_H
#define KR_SSE41_LANES_H

#include "../common/scalar.h"
#include <smmintrin.h>

#define KR_INLINE static inline __attribute__((always_inline))

KR_INLINE __m128i load_bytes(const void *p) {
  return _mm_loadu_si128((const __m128i *)p);
}

/* Four consecutive k of 16 of a column, to the unit of every row. */
KR_INLINE __m128i spread_unit(__m128i q, int u) {
  return u == 0   ? _mm_shuffle_epi32(q, 0x00)
         : u == 1 ? _mm_shuffle_epi32(q, 0x55)
         : u == 2 ? _mm_shuffle_epi32(q, 0xaa)
                  : _mm_shuffle_epi32(q, 0xff);
}

/* Keeps a running sum a running sum: gcc knows that integer addition is associative and would turn
 * an unrolled sum into a tree, with every product waiting on the stack for its turn. */
KR_INLINE __m128i in_order(__m128i sum) {
  __asm__("" : "+x"(sum));
  return sum;
}

/* Sum of a vector's pairs of 16-bit lanes. */
KR_INLINE __m128i fold_pairs(__m128i sums) {
  return _mm_madd_epi16(sums, _mm_set1_epi16(1));
}

/* acc + (float)isum * (dw * dx), as the contract orders it. */
KR_INLINE __m128 add_scaled(__m128 acc, __m128i isum, __m128 dw, __m128 dx) {
  return _mm_add_ps(acc, _mm_mul_ps(_mm_cvtepi32_ps(isum), _mm_mul_ps(dw, dx)));
}

/* Four halves in 32-bit lanes, any of them, widened with integer steps and one exact product, since
 * subnormals are flushed: a subnormal half is its fraction * 2^-24. */
KR_INLINE __m128 any_halves(__m128i h) {
  __m128i sign = _mm_slli_epi32(_mm_and_si128(h, _mm_set1_epi32(0x8000)), 16);
  __m128i magnitude = _mm_and_si128(h, _mm_set1_epi32(0x7fff));
  __m128i rebias = _mm_set1_epi32(112 << 23);
  __m128i wide = _mm_add_epi32(_mm_slli_epi32(magnitude, 13), rebias);
  __m128i top = _mm_cmpgt_epi32(magnitude, _mm_set1_epi32(0x7bff)); /* infinities and NaN: 255 */
  wide = _mm_add_epi32(wide, _mm_and_si128(top, rebias));
  __m128 small = _mm_mul_ps(_mm_cvtepi32_ps(magnitude), _mm_set1_ps(0x1p-24f));
  __m128i is_small = _mm_cmpgt_epi32(_mm_set1_epi32(0x400), magnitude);
  wide = _mm_blendv_epi8(wide, _mm_castps_si128(small), is_small);
  return _mm_castsi128_ps(_mm_or_si128(wide, sign));
}

/* Four normal halves in the upper 16 bits of each lane: the exponent's bias is 112 less. The
 * arithmetic shift leaves the sign in place; the mask clears its copies. */
KR_INLINE __m128 normal_halves(__m128i h) {
  __m128i bits = _mm_and_si128(_mm_srai_epi32(h, 3), _mm_set1_epi32((int)0x8fffe000));
  return _mm_castsi128_ps(_mm_add_epi32(bits, _mm_set1_epi32(112 << 23)));
}

/* Sixteen halves of a group, rows 4 i .. 4 i + 3 in ret[i]. With the sign off and 1 added to the
 * exponent, zeros and subnormals are under 0x0800, and infinities and NaN are negative: rare in
 * scales, so that one test is worth a branch. */
KR_INLINE void load_halves(const uint8_t *p, __m128 ret[4]) {
  const __m128i magnitude = _mm_set1_epi16(0x7fff), one = _mm_set1_epi16(0x0400);
  __m128i low = load_bytes(p), high = load_bytes(p + 16), zero = _mm_setzero_si128();
  __m128i least = _mm_min_epi16(_mm_add_epi16(_mm_and_si128(low, magnitude), one),
                                _mm_add_epi16(_mm_and_si128(high, magnitude), one));
  if (__builtin_expect(_mm_movemask_epi8(_mm_cmpgt_epi16(_mm_set1_epi16(0x0800), least)), 0)) {
    ret[0] = any_halves(_mm_cvtepu16_epi32(low));
    ret[1] = any_halves(_mm_unpackhi_epi16(low, zero));
    ret[2] = any_halves(_mm_cvtepu16_epi32(high));
    ret[3] = any_halves(_mm_unpackhi_epi16(high, zero));
    return;
  }
  ret[0] = normal_halves(_mm_unpacklo_epi16(zero, low));
  ret[1] = normal_halves(_mm_unpackhi_epi16(zero, low));
  ret[2] = normal_halves(_mm_unpacklo_epi16(zero, high));
  ret[3] = normal_halves(_mm_unpackhi_epi16(zero, high));
}

#endif
