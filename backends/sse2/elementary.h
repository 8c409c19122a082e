/* exp, SiLU and GELU: the steps of common/scalar.h, sixteen values at a time.
 *
 * The steps of one exp wait for each other, so four registers take turns: their chains overlap even
 * where the CPU looks ahead only a little. */
#ifndef KR_SSE2_ELEMENTARY_H
#define KR_SSE2_ELEMENTARY_H

#include "kernels.h"

/* p[j] = p[j] * r[j] + c */
KR_INLINE void kr_sse2_horner(__m128 p[4], const __m128 r[4], float c) {
  for (int j = 0; j < 4; j++) p[j] = _mm_add_ps(_mm_mul_ps(p[j], r[j]), _mm_set1_ps(c));
}

/* x[j] = exp(x[j]) */
KR_INLINE void kr_sse2_exp(__m128 x[4]) {
  __m128 magic = _mm_set1_ps(KR_ROUND_MAGIC), some[4], n[4], r[4], p[4], power[4];
  for (int j = 0; j < 4; j++) {
    some[j] = _mm_cmpgt_ps(x[j], _mm_set1_ps(KR_EXP_MIN)); /* false for NaN */
    r[j] = _mm_min_ps(x[j], _mm_set1_ps(KR_EXP_MAX));
  }
  for (int j = 0; j < 4; j++) {
    __m128 t = _mm_add_ps(_mm_mul_ps(r[j], _mm_set1_ps(KR_LOG2_E)), magic);
    n[j] = _mm_sub_ps(t, magic);
    /* the magic number's own bits are shifted out above n's */
    __m128i exponent = _mm_add_epi32(_mm_castps_si128(t), _mm_set1_epi32(127));
    power[j] = _mm_castsi128_ps(_mm_slli_epi32(exponent, 23));
  }
  for (int j = 0; j < 4; j++) r[j] = _mm_sub_ps(r[j], _mm_mul_ps(n[j], _mm_set1_ps(KR_LN2_HI)));
  for (int j = 0; j < 4; j++) r[j] = _mm_sub_ps(r[j], _mm_mul_ps(n[j], _mm_set1_ps(KR_LN2_LO)));
  for (int j = 0; j < 4; j++) p[j] = _mm_set1_ps(KR_EXP_C4);
  kr_sse2_horner(p, r, KR_EXP_C3);
  kr_sse2_horner(p, r, KR_EXP_C2);
  kr_sse2_horner(p, r, KR_EXP_C1);
  kr_sse2_horner(p, r, KR_EXP_C0);
  for (int j = 0; j < 4; j++) p[j] = _mm_add_ps(_mm_mul_ps(p[j], _mm_mul_ps(r[j], r[j])), r[j]);
  for (int j = 0; j < 4; j++)
    x[j] = _mm_and_ps(some[j], _mm_mul_ps(_mm_add_ps(p[j], _mm_set1_ps(1)), power[j]));
}

/* z[j] = z[j] / (1 + exp(-u[j])) */
KR_INLINE void kr_sse2_gate(__m128 z[4], __m128 u[4]) {
  for (int j = 0; j < 4; j++) u[j] = _mm_xor_ps(u[j], _mm_set1_ps(-0.0f));
  kr_sse2_exp(u);
  for (int j = 0; j < 4; j++) z[j] = _mm_div_ps(z[j], _mm_add_ps(_mm_set1_ps(1), u[j]));
}

KR_INLINE void kr_sse2_silu(__m128 z[4]) {
  __m128 u[4] = {z[0], z[1], z[2], z[3]};
  kr_sse2_gate(z, u);
}

KR_INLINE void kr_sse2_gelu(__m128 z[4]) {
  __m128 u[4];
  for (int j = 0; j < 4; j++) {
    __m128 cube = _mm_mul_ps(_mm_mul_ps(z[j], z[j]), z[j]);
    u[j] = _mm_add_ps(z[j], _mm_mul_ps(_mm_set1_ps(KR_GELU_CUBE), cube));
    u[j] = _mm_mul_ps(u[j], _mm_set1_ps(KR_GELU_TWO));
  }
  kr_sse2_gate(z, u);
}

/* The sixteen lanes of a sum, lane 4 i + j in element j of lane[i], folded 8, 4, 2, 1. */
KR_INLINE float kr_sse2_fold(const __m128 lane[4]) {
  __m128 four = _mm_add_ps(_mm_add_ps(lane[0], lane[2]), _mm_add_ps(lane[1], lane[3]));
  __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
}

#endif
