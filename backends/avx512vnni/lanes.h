/* What the AVX-512 kernels share: loads, the elementary function, the fold of lanes. One vector is
 * sixteen 32-bit lanes: the sixteen rows of a group, or the sixteen lanes of a reduction. */
#ifndef KR_AVX512VNNI_LANES_H
#define KR_AVX512VNNI_LANES_H

#include "../common/scalar.h"
#include <immintrin.h>

#define KR_INLINE static inline __attribute__((always_inline))

KR_INLINE __m512i load_bytes(const void *p) {
  return _mm512_loadu_si512(p);
}

/* Loops over what stays in registers must be gone before arrays are given their places. */
#if defined(__clang__)
#define KR_UNROLL _Pragma("clang loop unroll(full)")
#else
#define KR_UNROLL _Pragma("GCC unroll 16")
#endif

/* Four consecutive k of one column, to the unit of every row. */
KR_INLINE __m512i broadcast_unit(const int8_t *q) {
  int32_t four;
  memcpy(&four, q, sizeof four);
  return _mm512_set1_epi32(four);
}

/* One float to every lane, through vpbroadcastd: on Zen 4 vbroadcastss of memory does one a cycle
 * and holds up additions (4 of it with 8 products and 8 sums take 12 cycles, 4 vpbroadcastd 8.5).
 */
KR_INLINE __m512 broadcast_float(const float *x) {
  int32_t bits;
  memcpy(&bits, x, sizeof bits);
  return _mm512_castsi512_ps(_mm512_set1_epi32(bits));
}

/* Sixteen halves, widened exactly: vcvtph2ps heeds no flush mode. They are loaded first: on Zen 4
 * the form of vcvtph2ps that loads takes longer than both. */
KR_INLINE __m512 load_halves(const uint8_t *p) {
  __m256i halves = _mm256_loadu_si256((const __m256i *)p);
  __asm__("" : "+v"(halves));
  return _mm512_cvtph_ps(halves);
}

/* The first n <= 16 lanes. */
KR_INLINE __mmask16 first_lanes(int64_t n) {
  return (__mmask16)((1u << n) - 1);
}

/* Sixteen lanes folded 8, 4, 2, 1 in kr_scalar_fold's order: lane i meets lane i + 8, and so on. */
KR_INLINE float fold_lanes(__m512 sixteen) {
  __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(sixteen), _mm512_extractf32x8_ps(sixteen, 1));
  __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

/* kr_scalar_exp, step by step, of sixteen lanes. Lanes at or under KR_EXP_MIN and NaN run through
 * with nonsense and are cleared at the end. */
KR_INLINE __m512 exp_lanes(__m512 x) {
  const __m512 magic = _mm512_set1_ps(KR_ROUND_MAGIC);
  __mmask16 keep = _mm512_cmp_ps_mask(x, _mm512_set1_ps(KR_EXP_MIN), _CMP_GT_OQ);
  x = _mm512_min_ps(x, _mm512_set1_ps(KR_EXP_MAX));
  __m512 n = _mm512_mul_ps(x, _mm512_set1_ps(KR_LOG2_E));
  n = _mm512_sub_ps(_mm512_add_ps(n, magic), magic);
  __m512 r = _mm512_sub_ps(x, _mm512_mul_ps(n, _mm512_set1_ps(KR_LN2_HI)));
  r = _mm512_sub_ps(r, _mm512_mul_ps(n, _mm512_set1_ps(KR_LN2_LO)));
  __m512 p = _mm512_set1_ps(KR_EXP_C4);
  p = _mm512_add_ps(_mm512_mul_ps(p, r), _mm512_set1_ps(KR_EXP_C3));
  p = _mm512_add_ps(_mm512_mul_ps(p, r), _mm512_set1_ps(KR_EXP_C2));
  p = _mm512_add_ps(_mm512_mul_ps(p, r), _mm512_set1_ps(KR_EXP_C1));
  p = _mm512_add_ps(_mm512_mul_ps(p, r), _mm512_set1_ps(KR_EXP_C0));
  p = _mm512_mul_ps(p, _mm512_mul_ps(r, r));
  p = _mm512_add_ps(_mm512_add_ps(p, r), _mm512_set1_ps(1));
  __m512i exponent = _mm512_add_epi32(_mm512_cvttps_epi32(n), _mm512_set1_epi32(127));
  __m512 power = _mm512_castsi512_ps(_mm512_slli_epi32(exponent, 23));
  return _mm512_maskz_mul_ps(keep, p, power);
}

#endif
