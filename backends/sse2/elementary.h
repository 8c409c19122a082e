/* exp, SiLU and GELU on four lanes: the steps of common/scalar.h. */
#ifndef KR_SSE2_ELEMENTARY_H
#define KR_SSE2_ELEMENTARY_H

#include "kernels.h"

KR_INLINE __m128 kr_sse2_exp(__m128 x) {
  __m128 magic = _mm_set1_ps(KR_ROUND_MAGIC);
  __m128 some = _mm_cmpgt_ps(x, _mm_set1_ps(KR_EXP_MIN)); /* false for NaN */
  x = _mm_min_ps(x, _mm_set1_ps(KR_EXP_MAX));
  __m128 t = _mm_add_ps(_mm_mul_ps(x, _mm_set1_ps(KR_LOG2_E)), magic);
  __m128 n = _mm_sub_ps(t, magic);
  __m128 r = _mm_sub_ps(x, _mm_mul_ps(n, _mm_set1_ps(KR_LN2_HI)));
  r = _mm_sub_ps(r, _mm_mul_ps(n, _mm_set1_ps(KR_LN2_LO)));
  __m128 p = _mm_set1_ps(KR_EXP_C4);
  p = _mm_add_ps(_mm_mul_ps(p, r), _mm_set1_ps(KR_EXP_C3));
  p = _mm_add_ps(_mm_mul_ps(p, r), _mm_set1_ps(KR_EXP_C2));
  p = _mm_add_ps(_mm_mul_ps(p, r), _mm_set1_ps(KR_EXP_C1));
  p = _mm_add_ps(_mm_mul_ps(p, r), _mm_set1_ps(KR_EXP_C0));
  p = _mm_mul_ps(p, _mm_mul_ps(r, r));
  p = _mm_add_ps(p, r);
  p = _mm_add_ps(p, _mm_set1_ps(1));
  /* the magic number's own bits are shifted out above n's */
  __m128i power = _mm_slli_epi32(_mm_add_epi32(_mm_castps_si128(t), _mm_set1_epi32(127)), 23);
  return _mm_and_ps(some, _mm_mul_ps(p, _mm_castsi128_ps(power)));
}

/* z / (1 + exp(-u)) */
KR_INLINE __m128 kr_sse2_gate(__m128 z, __m128 u) {
  __m128 minus = _mm_xor_ps(u, _mm_set1_ps(-0.0f));
  return _mm_div_ps(z, _mm_add_ps(_mm_set1_ps(1), kr_sse2_exp(minus)));
}

KR_INLINE __m128 kr_sse2_silu(__m128 z) {
  return kr_sse2_gate(z, z);
}

KR_INLINE __m128 kr_sse2_gelu(__m128 z) {
  __m128 cube = _mm_mul_ps(_mm_mul_ps(z, z), z);
  __m128 u = _mm_add_ps(z, _mm_mul_ps(_mm_set1_ps(KR_GELU_CUBE), cube));
  return kr_sse2_gate(z, _mm_mul_ps(u, _mm_set1_ps(KR_GELU_TWO)));
}

/* The sixteen lanes of a sum, lane 4 i + j in element j of lane[i], folded 8, 4, 2, 1. */
KR_INLINE float kr_sse2_fold(const __m128 lane[4]) {
  __m128 four = _mm_add_ps(_mm_add_ps(lane[0], lane[2]), _mm_add_ps(lane[1], lane[3]));
  __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
}

#endif
