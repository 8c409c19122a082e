/* Kernels over one vector. */
#include "elementary.h"
#include <math.h>

void kr_sse2_rms_norm(const float *x, const float *w, int64_t n, float eps, float *y) {
  __m128 lane[4] = {_mm_setzero_ps(), _mm_setzero_ps(), _mm_setzero_ps(), _mm_setzero_ps()};
  int64_t i = 0;
  for (; i + 16 <= n; i += 16)
    for (int j = 0; j < 4; j++) {
      __m128 v = _mm_loadu_ps(x + i + 4 * j);
      lane[j] = _mm_add_ps(lane[j], _mm_mul_ps(v, v));
    }
  if (i < n) { /* lanes are >= 0, so that zeros change none */
    float last[16] = {0};
    memcpy(last, x + i, (size_t)(n - i) * sizeof *x);
    for (int j = 0; j < 4; j++) {
      __m128 v = _mm_loadu_ps(last + 4 * j);
      lane[j] = _mm_add_ps(lane[j], _mm_mul_ps(v, v));
    }
  }
  float mean = kr_sse2_fold(lane) / (float)n;
  float r = 1 / _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(mean + eps))); /* no libm in a plug-in */
  __m128 factor = _mm_set1_ps(r);
  for (i = 0; i + 4 <= n; i += 4)
    _mm_storeu_ps(y + i, _mm_mul_ps(_mm_mul_ps(_mm_loadu_ps(x + i), factor), _mm_loadu_ps(w + i)));
  for (; i < n; i++) y[i] = (x[i] * r) * w[i];
}

/* Scales x and returns the largest, 0 of either sign. */
static float scale_and_max(float *x, int64_t n, float scale) {
  __m128 factor = _mm_set1_ps(scale), top = _mm_set1_ps(x[0] * scale);
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    __m128 t = _mm_mul_ps(_mm_loadu_ps(x + i), factor);
    _mm_storeu_ps(x + i, t);
    top = _mm_max_ps(t, top);
  }
  top = _mm_max_ps(_mm_movehl_ps(top, top), top);
  top = _mm_max_ss(_mm_shuffle_ps(top, top, 1), top);
  float max = _mm_cvtss_f32(top);
  for (; i < n; i++) {
    x[i] = x[i] * scale;
    if (x[i] > max) max = x[i];
  }
  return max;
}

void kr_sse2_softmax(float *x, int64_t first, int64_t last, int64_t n, float scale, float *ret) {
  float max = scale_and_max(x + first, last - first, scale);
  __m128 lane[4] = {_mm_setzero_ps(), _mm_setzero_ps(), _mm_setzero_ps(), _mm_setzero_ps()};
  __m128 subtract = _mm_set1_ps(max);
  for (int64_t i = 0; i < n; i += 16) {
    if (i + 16 <= first || i >= last) {
      for (int j = 0; j < 4; j++) _mm_storeu_ps(x + i + 4 * j, _mm_setzero_ps());
      continue;
    }
    for (int64_t j = i; j < first; j++) x[j] = -INFINITY; /* exp gives 0 */
    for (int64_t j = i + 15; j >= last; j--) x[j] = -INFINITY;
    __m128 e[4];
    for (int j = 0; j < 4; j++) e[j] = _mm_sub_ps(_mm_loadu_ps(x + i + 4 * j), subtract);
    kr_sse2_exp(e);
    for (int j = 0; j < 4; j++) {
      _mm_storeu_ps(x + i + 4 * j, e[j]);
      lane[j] = _mm_add_ps(lane[j], e[j]);
    }
  }
  ret[0] = max + 0.0f;
  ret[1] = kr_sse2_fold(lane);
}

void kr_sse2_silu_gate(const float *gate, const float *up, int64_t n, float *y) {
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    __m128 z[4], u[4];
    for (int j = 0; j < 4; j++)
      z[j] = _mm_loadu_ps(gate + i + 4 * j), u[j] = _mm_loadu_ps(up + i + 4 * j);
    kr_sse2_silu(z);
    for (int j = 0; j < 4; j++) _mm_storeu_ps(y + i + 4 * j, _mm_mul_ps(z[j], u[j]));
  }
  for (; i < n; i++) y[i] = kr_scalar_silu(gate[i]) * up[i];
}

void kr_sse2_gelu_gate(const float *gate, const float *up, int64_t n, float *y) {
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    __m128 z[4], u[4];
    for (int j = 0; j < 4; j++)
      z[j] = _mm_loadu_ps(gate + i + 4 * j), u[j] = _mm_loadu_ps(up + i + 4 * j);
    kr_sse2_gelu(z);
    for (int j = 0; j < 4; j++) _mm_storeu_ps(y + i + 4 * j, _mm_mul_ps(z[j], u[j]));
  }
  for (; i < n; i++) y[i] = kr_scalar_gelu(gate[i]) * up[i];
}

KR_INLINE void rotate4(__m128 *a, __m128 *b, __m128 c, __m128 s) {
  __m128 x = *a, y = *b;
  *a = _mm_sub_ps(_mm_mul_ps(x, c), _mm_mul_ps(y, s));
  *b = _mm_add_ps(_mm_mul_ps(y, c), _mm_mul_ps(x, s));
}
KR_INLINE void rotate(float *a, float *b, float c, float s) {
  float x = *a, y = *b;
  *a = x * c - y * s;
  *b = y * c + x * s;
}

void kr_sse2_rope_pairs(float *x, int64_t ldx, int64_t n, int64_t pairs, const float *c,
                        const float *s) {
  for (int64_t h = 0; h < n; h++, x += ldx) {
    int64_t i = 0;
    for (; i + 4 <= pairs; i += 4) {
      __m128 low = _mm_loadu_ps(x + 2 * i), high = _mm_loadu_ps(x + 2 * i + 4);
      __m128 a = _mm_shuffle_ps(low, high, 0x88), b = _mm_shuffle_ps(low, high, 0xdd);
      rotate4(&a, &b, _mm_loadu_ps(c + i), _mm_loadu_ps(s + i));
      _mm_storeu_ps(x + 2 * i, _mm_unpacklo_ps(a, b));
      _mm_storeu_ps(x + 2 * i + 4, _mm_unpackhi_ps(a, b));
    }
    for (; i < pairs; i++) rotate(x + 2 * i, x + 2 * i + 1, c[i], s[i]);
  }
}

void kr_sse2_rope_halves(float *x, int64_t ldx, int64_t n, int64_t pairs, const float *c,
                         const float *s) {
  for (int64_t h = 0; h < n; h++, x += ldx) {
    int64_t i = 0;
    for (; i + 4 <= pairs; i += 4) {
      __m128 a = _mm_loadu_ps(x + i), b = _mm_loadu_ps(x + i + pairs);
      rotate4(&a, &b, _mm_loadu_ps(c + i), _mm_loadu_ps(s + i));
      _mm_storeu_ps(x + i, a);
      _mm_storeu_ps(x + i + pairs, b);
    }
    for (; i < pairs; i++) rotate(x + i, x + i + pairs, c[i], s[i]);
  }
}

void kr_sse2_add(float *x, const float *y, int64_t n) {
  int64_t i = 0;
  for (; i + 4 <= n; i += 4)
    _mm_storeu_ps(x + i, _mm_add_ps(_mm_loadu_ps(x + i), _mm_loadu_ps(y + i)));
  for (; i < n; i++) x[i] = x[i] + y[i];
}

KR_INLINE __m128i choose(__m128i mask, __m128i yes, __m128i no) {
  return _mm_or_si128(_mm_and_si128(mask, yes), _mm_andnot_si128(mask, no));
}

/* Four halves in the low 16 bits of each lane, the sign copied above them as packs needs it. */
KR_INLINE __m128i halves(__m128 x) {
  __m128i bits = _mm_castps_si128(x), a = _mm_and_si128(bits, _mm_set1_epi32(0x7fffffff));
  __m128i sign = _mm_and_si128(_mm_srai_epi32(bits, 16), _mm_set1_epi32((int)0xffff8000));
  /* normal: half of the last place less one, and one for an odd result, make a tie go to even */
  __m128i odd = _mm_and_si128(_mm_srli_epi32(a, 13), _mm_set1_epi32(1));
  __m128i normal = _mm_add_epi32(_mm_add_epi32(a, _mm_set1_epi32(0xfff)), odd);
  normal = _mm_srli_epi32(_mm_sub_epi32(normal, _mm_set1_epi32(112 << 23)), 13);
  /* subnormal: 0.5's last place is 2^-24, the unit of subnormal halves; the sum rounds */
  __m128 half = _mm_set1_ps(0.5f);
  __m128i small = _mm_castps_si128(_mm_add_ps(_mm_castsi128_ps(a), half));
  small = _mm_sub_epi32(small, _mm_castps_si128(half));
  __m128i nan = _mm_and_si128(_mm_srli_epi32(a, 13), _mm_set1_epi32(0x3ff));
  nan = _mm_or_si128(nan, _mm_set1_epi32(0x7e00));
  __m128i h = choose(_mm_cmpgt_epi32(_mm_set1_epi32(0x38800000), a), small, normal);
  h = choose(_mm_cmpgt_epi32(a, _mm_set1_epi32(0x477fefff)), _mm_set1_epi32(0x7c00), h);
  h = choose(_mm_cmpgt_epi32(a, _mm_set1_epi32(0x7f800000)), nan, h);
  return _mm_or_si128(h, sign);
}

void kr_sse2_to_f16(const float *x, int64_t n, uint16_t *y) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm_storeu_si128((__m128i *)(void *)(y + i),
                     _mm_packs_epi32(halves(_mm_loadu_ps(x + i)), halves(_mm_loadu_ps(x + i + 4))));
  for (; i < n; i++) y[i] = kr_f32_to_f16(x[i]);
}
