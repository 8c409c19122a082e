/* Kernels over one vector, on AVX-512: norm, softmax, gates, rotation, sum, conversion. Numerics:
 * backends/scalar/vector.c. A reduction's sixteen lanes are one vector: element k in lane k mod 16.
 * What is left of a vector goes through the same code under a mask. */
#include "kernels.h"
#include "lanes.h"

/* Lanes i .. i + 15 that are under n; the loops end when none is. */
KR_INLINE __mmask16 lanes_left(int64_t n, int64_t i) {
  return n - i < 16 ? first_lanes(n - i) : (__mmask16)0xffff;
}

void kr_avx512vnni_rms_norm(const float *x, const float *w, int64_t n, float eps, float *y) {
  __m512 lanes = _mm512_setzero_ps();
  for (int64_t i = 0; i < n; i += 16) { /* a lane past the end adds 0 * 0 to a sum of squares */
    __m512 v = _mm512_maskz_loadu_ps(lanes_left(n, i), x + i);
    lanes = _mm512_add_ps(lanes, _mm512_mul_ps(v, v));
  }
  float mean = fold_lanes(lanes) / (float)n;
  float r = 1 / _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(mean + eps)));
  __m512 factor = _mm512_set1_ps(r);
  for (int64_t i = 0; i < n; i += 16) {
    __mmask16 some = lanes_left(n, i);
    __m512 v = _mm512_mul_ps(_mm512_maskz_loadu_ps(some, x + i), factor);
    _mm512_mask_storeu_ps(y + i, some, _mm512_mul_ps(v, _mm512_maskz_loadu_ps(some, w + i)));
  }
}

/* Elements first .. last - 1 of the sixteen from i on. */
KR_INLINE __mmask16 range_lanes(int64_t i, int64_t first, int64_t last) {
  __mmask16 below = first > i ? lanes_left(first, i) : 0;
  return (__mmask16)(lanes_left(last, i) & ~below);
}

/* The largest x * scale of the range. All lanes start as the first value; vmaxps(t, max) is
 * t > max ? t : max, scalar's comparison, so a NaN is passed over as it is there. */
static float largest(const float *x, int64_t first, int64_t last, float scale) {
  __m512 factor = _mm512_set1_ps(scale), max = _mm512_set1_ps(x[first] * scale);
  for (int64_t i = first / 16 * 16; i < last; i += 16) {
    __m512 t = _mm512_mul_ps(_mm512_loadu_ps(x + i), factor);
    max = _mm512_mask_max_ps(max, range_lanes(i, first, last), t, max);
  }
  __m256 eight = _mm256_max_ps(_mm512_castps512_ps256(max), _mm512_extractf32x8_ps(max, 1));
  __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}

void kr_avx512vnni_softmax(float *x, int64_t first, int64_t last, int64_t n, float scale,
                           float *ret) {
  float max = largest(x, first, last, scale);
  __m512 factor = _mm512_set1_ps(scale), top = _mm512_set1_ps(max), lanes = _mm512_setzero_ps();
  int64_t begin = first / 16 * 16, end = (last + 15) / 16 * 16;
  memset(x, 0, (size_t)begin * sizeof *x);
  memset(x + end, 0, (size_t)(n - end) * sizeof *x);
  for (int64_t i = begin; i < end; i += 16) { /* lanes outside the range add +0 to sums >= 0 */
    __m512 t = _mm512_mul_ps(_mm512_loadu_ps(x + i), factor);
    __m512 e = exp_lanes(_mm512_sub_ps(t, top));
    e = _mm512_maskz_mov_ps(range_lanes(i, first, last), e);
    _mm512_storeu_ps(x + i, e);
    lanes = _mm512_add_ps(lanes, e);
  }
  ret[0] = max + 0.0f;
  ret[1] = fold_lanes(lanes);
}

/* z / (1 + exp(-u)) */
KR_INLINE __m512 gate_lanes(__m512 z, __m512 u) {
  __m512 minus = _mm512_xor_ps(u, _mm512_set1_ps(-0.0f));
  return _mm512_div_ps(z, _mm512_add_ps(_mm512_set1_ps(1), exp_lanes(minus)));
}

void kr_avx512vnni_silu_gate(const float *gate, const float *up, int64_t n, float *y) {
  for (int64_t i = 0; i < n; i += 16) {
    __mmask16 some = lanes_left(n, i);
    __m512 z = _mm512_maskz_loadu_ps(some, gate + i), u = _mm512_maskz_loadu_ps(some, up + i);
    _mm512_mask_storeu_ps(y + i, some, _mm512_mul_ps(gate_lanes(z, z), u));
  }
}

void kr_avx512vnni_gelu_gate(const float *gate, const float *up, int64_t n, float *y) {
  for (int64_t i = 0; i < n; i += 16) {
    __mmask16 some = lanes_left(n, i);
    __m512 z = _mm512_maskz_loadu_ps(some, gate + i), cube = _mm512_mul_ps(_mm512_mul_ps(z, z), z);
    __m512 u = _mm512_add_ps(z, _mm512_mul_ps(_mm512_set1_ps(KR_GELU_CUBE), cube));
    u = _mm512_mul_ps(u, _mm512_set1_ps(KR_GELU_TWO));
    __m512 act = gate_lanes(z, u);
    _mm512_mask_storeu_ps(y + i, some, _mm512_mul_ps(act, _mm512_maskz_loadu_ps(some, up + i)));
  }
}

void kr_avx512vnni_rope_pairs(float *x, int64_t ldx, int64_t n, int64_t pairs, const float *c,
                              const float *s) {
  const __m512i twice = _mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
  for (int64_t i = 0; i < pairs; i += 8) { /* a vector holds a0 b0 .. a7 b7, head after head */
    __mmask16 few = lanes_left(pairs < i + 8 ? pairs : i + 8, i),
              some = lanes_left(2 * pairs, 2 * i);
    __m512 cc = _mm512_permutexvar_ps(twice, _mm512_maskz_loadu_ps(few, c + i));
    __m512 ss = _mm512_permutexvar_ps(twice, _mm512_maskz_loadu_ps(few, s + i));
    for (int64_t h = 0; h < n; h++) {
      float *at = x + h * ldx + 2 * i;
      __m512 v = _mm512_maskz_loadu_ps(some, at), swapped = _mm512_permute_ps(v, 0xb1);
      __m512 left = _mm512_mul_ps(v, cc), right = _mm512_mul_ps(swapped, ss);
      __m512 turned = _mm512_mask_sub_ps(_mm512_add_ps(left, right), 0x5555, left, right);
      _mm512_mask_storeu_ps(at, some, turned);
    }
  }
}

void kr_avx512vnni_rope_halves(float *x, int64_t ldx, int64_t n, int64_t pairs, const float *c,
                               const float *s) {
  for (int64_t i = 0; i < pairs; i += 16) { /* sixteen a's and their b's, head after head */
    __mmask16 some = lanes_left(pairs, i);
    __m512 cc = _mm512_maskz_loadu_ps(some, c + i), ss = _mm512_maskz_loadu_ps(some, s + i);
    for (int64_t h = 0; h < n; h++) {
      float *at = x + h * ldx + i;
      __m512 a = _mm512_maskz_loadu_ps(some, at), b = _mm512_maskz_loadu_ps(some, at + pairs);
      _mm512_mask_storeu_ps(at, some, _mm512_sub_ps(_mm512_mul_ps(a, cc), _mm512_mul_ps(b, ss)));
      _mm512_mask_storeu_ps(at + pairs, some,
                            _mm512_add_ps(_mm512_mul_ps(b, cc), _mm512_mul_ps(a, ss)));
    }
  }
}

void kr_avx512vnni_add(float *x, const float *y, int64_t n) {
  for (int64_t i = 0; i < n; i += 16) {
    __mmask16 some = lanes_left(n, i);
    __m512 sum =
        _mm512_add_ps(_mm512_maskz_loadu_ps(some, x + i), _mm512_maskz_loadu_ps(some, y + i));
    _mm512_mask_storeu_ps(x + i, some, sum);
  }
}

/* vcvtps2ph keeps subnormal halves in any flush mode; subnormal floats round to zero anyway. */
void kr_avx512vnni_to_f16(const float *x, int64_t n, uint16_t *y) {
  for (int64_t i = 0; i < n; i += 16) {
    __mmask16 some = lanes_left(n, i);
    __m256i halves = _mm512_cvtps_ph(_mm512_maskz_loadu_ps(some, x + i), _MM_FROUND_TO_NEAREST_INT);
    _mm256_mask_storeu_epi16(y + i, some, halves);
  }
}
