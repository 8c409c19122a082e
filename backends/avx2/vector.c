/* Kernels over one vector, on AVX2: norm, softmax, gates, rotation, sum, conversion. Numerics:
 * backends/scalar/vector.c. A reduction's sixteen lanes are two vectors: element k in lane k mod 8
 * of vector k / 8 mod 2. What is left of a vector goes through scalar's own functions. */
#include "kernels.h"
#include "lanes.h"

/* Elements first .. last - 1 of the sixteen from i on, as masks of two vectors. */
KR_INLINE void range_masks(int64_t i, int64_t first, int64_t last, __m256 ret[2]) {
  int64_t from = first - i < 0 ? 0 : first - i, to = last - i > 16 ? 16 : last - i;
  __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  for (int h = 0; h < 2; h++) {
    __m256i index = _mm256_add_epi32(lane, _mm256_set1_epi32(8 * h));
    __m256i below = _mm256_cmpgt_epi32(_mm256_set1_epi32((int)from), index);
    __m256i inside = _mm256_cmpgt_epi32(_mm256_set1_epi32((int)to), index);
    ret[h] = _mm256_castsi256_ps(_mm256_andnot_si256(below, inside));
  }
}

void kr_avx2_rms_norm(const float *x, const float *w, int64_t n, float eps, float *y) {
  __m256 lanes[2] = {_mm256_setzero_ps(), _mm256_setzero_ps()};
  int64_t i = 0;
  for (; i < n; i += 16) {
    float rest[16] = {0}; /* a lane past the end gets 0 * 0, which changes no sum of squares */
    const float *from = x + i;
    if (n - i < 16) from = memcpy(rest, from, (size_t)(n - i) * sizeof *rest);
    for (int h = 0; h < 2; h++) {
      __m256 v = _mm256_loadu_ps(from + 8 * h);
      lanes[h] = _mm256_add_ps(lanes[h], _mm256_mul_ps(v, v));
    }
  }
  float mean = fold_lanes(lanes[0], lanes[1]) / (float)n;
  float r = 1 / _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(mean + eps)));
  __m256 factor = _mm256_set1_ps(r);
  for (i = 0; i + 8 <= n; i += 8)
    _mm256_storeu_ps(y + i, _mm256_mul_ps(_mm256_mul_ps(_mm256_loadu_ps(x + i), factor),
                                          _mm256_loadu_ps(w + i)));
  for (; i < n; i++) y[i] = (x[i] * r) * w[i];
}

/* Whether all sixteen from i on are inside: the masks are only made where a range begins or ends.
 */
KR_INLINE int is_whole(int64_t i, int64_t first, int64_t last) {
  return i >= first && i + 16 <= last;
}

/* The largest x * scale of the range. Lanes outside hold the first value; vmaxps(t, max) is
 * t > max ? t : max, scalar's comparison, so a NaN is passed over as it is there. */
static float largest(const float *x, int64_t first, int64_t last, float scale) {
  float start = x[first] * scale;
  __m256 factor = _mm256_set1_ps(scale), max[2] = {_mm256_set1_ps(start), _mm256_set1_ps(start)};
  for (int64_t i = first / 16 * 16; i < last; i += 16) {
    __m256 low = _mm256_mul_ps(_mm256_loadu_ps(x + i), factor);
    __m256 high = _mm256_mul_ps(_mm256_loadu_ps(x + i + 8), factor);
    if (!is_whole(i, first, last)) {
      __m256 inside[2];
      range_masks(i, first, last, inside);
      low = _mm256_blendv_ps(_mm256_set1_ps(start), low, inside[0]);
      high = _mm256_blendv_ps(_mm256_set1_ps(start), high, inside[1]);
    }
    max[0] = _mm256_max_ps(low, max[0]), max[1] = _mm256_max_ps(high, max[1]);
  }
  __m256 eight = _mm256_max_ps(max[0], max[1]);
  __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}

void kr_avx2_softmax(float *x, int64_t first, int64_t last, int64_t n, float scale, float *ret) {
  float max = largest(x, first, last, scale);
  __m256 factor = _mm256_set1_ps(scale), top = _mm256_set1_ps(max);
  __m256 lanes[2] = {_mm256_setzero_ps(), _mm256_setzero_ps()};
  int64_t begin = first / 16 * 16, end = (last + 15) / 16 * 16;
  memset(x, 0, (size_t)begin * sizeof *x);
  memset(x + end, 0, (size_t)(n - end) * sizeof *x);
  for (int64_t i = begin; i < end; i += 16) {
    __m256 low = _mm256_mul_ps(_mm256_loadu_ps(x + i), factor);
    __m256 high = _mm256_mul_ps(_mm256_loadu_ps(x + i + 8), factor);
    low = exp_lanes(_mm256_sub_ps(low, top)), high = exp_lanes(_mm256_sub_ps(high, top));
    if (!is_whole(i, first, last)) { /* lanes outside become +0, which changes no sum >= 0 */
      __m256 inside[2];
      range_masks(i, first, last, inside);
      low = _mm256_and_ps(low, inside[0]), high = _mm256_and_ps(high, inside[1]);
    }
    _mm256_storeu_ps(x + i, low);
    _mm256_storeu_ps(x + i + 8, high);
    lanes[0] = _mm256_add_ps(lanes[0], low), lanes[1] = _mm256_add_ps(lanes[1], high);
  }
  ret[0] = max + 0.0f;
  ret[1] = fold_lanes(lanes[0], lanes[1]);
}

void kr_avx2_silu_gate(const float *gate, const float *up, int64_t n, float *y) {
  const __m256 sign = _mm256_set1_ps(-0.0f), one = _mm256_set1_ps(1);
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    __m256 z = _mm256_loadu_ps(gate + i);
    __m256 act = _mm256_div_ps(z, _mm256_add_ps(one, exp_lanes(_mm256_xor_ps(z, sign))));
    _mm256_storeu_ps(y + i, _mm256_mul_ps(act, _mm256_loadu_ps(up + i)));
  }
  for (; i < n; i++) y[i] = kr_scalar_silu(gate[i]) * up[i];
}

void kr_avx2_gelu_gate(const float *gate, const float *up, int64_t n, float *y) {
  const __m256 sign = _mm256_set1_ps(-0.0f), one = _mm256_set1_ps(1);
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    __m256 z = _mm256_loadu_ps(gate + i), cube = _mm256_mul_ps(_mm256_mul_ps(z, z), z);
    __m256 u = _mm256_add_ps(z, _mm256_mul_ps(_mm256_set1_ps(KR_GELU_CUBE), cube));
    u = _mm256_mul_ps(u, _mm256_set1_ps(KR_GELU_TWO));
    __m256 act = _mm256_div_ps(z, _mm256_add_ps(one, exp_lanes(_mm256_xor_ps(u, sign))));
    _mm256_storeu_ps(y + i, _mm256_mul_ps(act, _mm256_loadu_ps(up + i)));
  }
  for (; i < n; i++) y[i] = kr_scalar_gelu(gate[i]) * up[i];
}

static void rotate(float *a, float *b, float c, float s) {
  float x = *a, y = *b;
  *a = x * c - y * s;
  *b = y * c + x * s;
}

void kr_avx2_rope_pairs(float *x, int64_t ldx, int64_t n, int64_t pairs, const float *c,
                        const float *s) {
  int64_t i = 0;
  for (; i + 4 <= pairs; i += 4) { /* a vector holds a0 b0 .. a3 b3, of one head after the other */
    const __m256i twice = _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3);
    __m256 cc = _mm256_permutevar8x32_ps(_mm256_castps128_ps256(_mm_loadu_ps(c + i)), twice);
    __m256 ss = _mm256_permutevar8x32_ps(_mm256_castps128_ps256(_mm_loadu_ps(s + i)), twice);
    for (int64_t h = 0; h < n; h++) {
      float *at = x + h * ldx + 2 * i;
      __m256 v = _mm256_loadu_ps(at), swapped = _mm256_permute_ps(v, 0xb1);
      _mm256_storeu_ps(at, _mm256_addsub_ps(_mm256_mul_ps(v, cc), _mm256_mul_ps(swapped, ss)));
    }
  }
  for (int64_t h = 0; h < n; h++)
    for (int64_t j = i; j < pairs; j++)
      rotate(x + h * ldx + 2 * j, x + h * ldx + 2 * j + 1, c[j], s[j]);
}

void kr_avx2_rope_halves(float *x, int64_t ldx, int64_t n, int64_t pairs, const float *c,
                         const float *s) {
  int64_t i = 0;
  for (; i + 8 <= pairs; i += 8) { /* eight a's and their eight b's, of one head after the other */
    __m256 cc = _mm256_loadu_ps(c + i), ss = _mm256_loadu_ps(s + i);
    for (int64_t h = 0; h < n; h++) {
      float *at = x + h * ldx + i;
      __m256 a = _mm256_loadu_ps(at), b = _mm256_loadu_ps(at + pairs);
      _mm256_storeu_ps(at, _mm256_sub_ps(_mm256_mul_ps(a, cc), _mm256_mul_ps(b, ss)));
      _mm256_storeu_ps(at + pairs, _mm256_add_ps(_mm256_mul_ps(b, cc), _mm256_mul_ps(a, ss)));
    }
  }
  for (int64_t h = 0; h < n; h++)
    for (int64_t j = i; j < pairs; j++)
      rotate(x + h * ldx + j, x + h * ldx + j + pairs, c[j], s[j]);
}

void kr_avx2_add(float *x, const float *y, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm256_storeu_ps(x + i, _mm256_add_ps(_mm256_loadu_ps(x + i), _mm256_loadu_ps(y + i)));
  for (; i < n; i++) x[i] = x[i] + y[i];
}

/* vcvtps2ph keeps subnormal halves in any flush mode; subnormal floats round to zero anyway. */
void kr_avx2_to_f16(const float *x, int64_t n, uint16_t *y) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm_storeu_si128((__m128i *)(y + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT));
  for (; i < n; i++) y[i] = kr_f32_to_f16(x[i]);
}
