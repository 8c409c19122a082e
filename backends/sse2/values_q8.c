/* Values of attention from a q8 cache: sixteen dimensions side by side, positions ascending. */
#include "kernels.h"

/* Sixteen int8 as f32. */
KR_INLINE void widen(const int8_t *v, __m128 out[4]) {
  __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)v);
  __m128i low = _mm_unpacklo_epi8(bytes, bytes), high = _mm_unpackhi_epi8(bytes, bytes);
  out[0] = _mm_cvtepi32_ps(_mm_srai_epi32(_mm_unpacklo_epi16(low, low), 24));
  out[1] = _mm_cvtepi32_ps(_mm_srai_epi32(_mm_unpackhi_epi16(low, low), 24));
  out[2] = _mm_cvtepi32_ps(_mm_srai_epi32(_mm_unpacklo_epi16(high, high), 24));
  out[3] = _mm_cvtepi32_ps(_mm_srai_epi32(_mm_unpackhi_epi16(high, high), 24));
}

/* Sixteen dimensions of some rows; d is the scale of these dimensions at position 0. */
KR_INLINE void tile(int rows, const int8_t *v, const float *d, int64_t ldd, int64_t first,
                    int64_t last, const float *x, int64_t ldx, float *y, int64_t ldy) {
  __m128 acc[2][4], value[4];
  for (int r = 0; r < rows; r++)
    for (int i = 0; i < 4; i++) acc[r][i] = _mm_setzero_ps();
  for (int64_t p = first; p < last; p++) {
    widen(v + p * 16, value);
    for (int r = 0; r < rows; r++) {
      __m128 weight = _mm_set1_ps(x[r * ldx + p] * d[p * ldd]);
      for (int i = 0; i < 4; i++) acc[r][i] = _mm_add_ps(acc[r][i], _mm_mul_ps(weight, value[i]));
    }
  }
  for (int r = 0; r < rows; r++)
    for (int i = 0; i < 4; i++) _mm_storeu_ps(y + r * ldy + 4 * i, acc[r][i]);
}

void kr_sse2_values_q8(const int8_t *v, const float *d, int64_t dim, int64_t first, int64_t last,
                       const float *x, int64_t ldx, int64_t n, float *y, int64_t ldy) {
  int64_t ldd = dim / KR_BLOCK;
  for (int64_t e = 0; e < dim; e += 16) {
    const int8_t *column = v + e * KR_PAGE;
    int64_t r = 0;
    for (; r + 2 <= n; r += 2)
      tile(2, column, d + e / KR_BLOCK, ldd, first, last, x + r * ldx, ldx, y + r * ldy + e, ldy);
    if (r < n)
      tile(1, column, d + e / KR_BLOCK, ldd, first, last, x + r * ldx, ldx, y + r * ldy + e, ldy);
  }
}
