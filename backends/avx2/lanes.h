/* What the AVX2 kernels share: loads, the elementary function, the fold of lanes. */
#ifndef KR_AVX2_LANES_H
#define KR_AVX2_LANES_H

#include "../common/scalar.h"
#include <immintrin.h>

#define KR_INLINE static inline __attribute__((always_inline))

KR_INLINE __m256i load_bytes(const void *p) {
  return _mm256_loadu_si256((const __m256i *)p);
}

/* Four consecutive k of one column, to the unit of every row: one load, no arithmetic. */
KR_INLINE __m256i broadcast_unit(const int8_t *q) {
  int32_t four;
  memcpy(&four, q, sizeof four);
  return _mm256_set1_epi32(four);
}

/* Eight halves, widened exactly: vcvtph2ps heeds no flush mode. */
KR_INLINE __m256 load_halves(const uint8_t *p) {
  return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p));
}

/* Keeps a running sum a running sum: gcc knows that integer addition is associative and would turn
 * an unrolled sum into a tree, with every product waiting on the stack for its turn. */
KR_INLINE __m256i in_order(__m256i sum) {
  __asm__("" : "+x"(sum));
  return sum;
}

/* Sum of a vector's pairs of 16-bit lanes: lane i is the sum of row i. */
KR_INLINE __m256i fold_pairs(__m256i sums) {
  return _mm256_madd_epi16(sums, _mm256_set1_epi16(1));
}

/* acc + (float)isum * (dw * dx), as the contract orders it. */
KR_INLINE __m256 add_scaled(__m256 acc, __m256i isum, __m256 dw, __m256 dx) {
  return _mm256_add_ps(acc, _mm256_mul_ps(_mm256_cvtepi32_ps(isum), _mm256_mul_ps(dw, dx)));
}

/* Sixteen lanes, 0-7 in low and 8-15 in high, folded 8, 4, 2, 1 in kr_scalar_fold's order. */
KR_INLINE float fold_lanes(__m256 low, __m256 high) {
  __m256 eight = _mm256_add_ps(low, high);
  __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

/* kr_scalar_exp, step by step, of eight lanes. Lanes at or under KR_EXP_MIN and NaN run through
 * with nonsense and are cleared at the end. */
KR_INLINE __m256 exp_lanes(__m256 x) {
  const __m256 magic = _mm256_set1_ps(KR_ROUND_MAGIC);
  __m256 keep = _mm256_cmp_ps(x, _mm256_set1_ps(KR_EXP_MIN), _CMP_GT_OQ);
  x = _mm256_min_ps(x, _mm256_set1_ps(KR_EXP_MAX));
  __m256 n = _mm256_mul_ps(x, _mm256_set1_ps(KR_LOG2_E));
  n = _mm256_sub_ps(_mm256_add_ps(n, magic), magic);
  __m256 r = _mm256_sub_ps(x, _mm256_mul_ps(n, _mm256_set1_ps(KR_LN2_HI)));
  r = _mm256_sub_ps(r, _mm256_mul_ps(n, _mm256_set1_ps(KR_LN2_LO)));
  __m256 p = _mm256_set1_ps(KR_EXP_C4);
  p = _mm256_add_ps(_mm256_mul_ps(p, r), _mm256_set1_ps(KR_EXP_C3));
  p = _mm256_add_ps(_mm256_mul_ps(p, r), _mm256_set1_ps(KR_EXP_C2));
  p = _mm256_add_ps(_mm256_mul_ps(p, r), _mm256_set1_ps(KR_EXP_C1));
  p = _mm256_add_ps(_mm256_mul_ps(p, r), _mm256_set1_ps(KR_EXP_C0));
  p = _mm256_mul_ps(p, _mm256_mul_ps(r, r));
  p = _mm256_add_ps(_mm256_add_ps(p, r), _mm256_set1_ps(1));
  __m256i exponent = _mm256_add_epi32(_mm256_cvttps_epi32(n), _mm256_set1_epi32(127));
  __m256 power = _mm256_castsi256_ps(_mm256_slli_epi32(exponent, 23));
  return _mm256_and_ps(_mm256_mul_ps(p, power), keep);
}

#endif
