/* Kernels over one vector: norm, softmax, gates, rotation, sum, conversion. A reduction's sixteen
 * lanes are four registers: element k in lane k mod 4 of register k / 4 mod 4. What is left of a
 * vector goes through scalar's own functions. */
#include "elementary.h"
#include "kernels.h"
#include <math.h>

KR_INLINE void add_squares(const float *x, float32x4_t lane[4]) {
#pragma GCC unroll 4
  for (int j = 0; j < 4; j++) {
    float32x4_t v = vld1q_f32(x + 4 * j);
    lane[j] = vaddq_f32(lane[j], vmulq_f32(v, v));
  }
}

void kr_neon_rms_norm(const float *x, const float *w, int64_t n, float eps, float *y) {
  float32x4_t lane[4] = {vdupq_n_f32(0), vdupq_n_f32(0), vdupq_n_f32(0), vdupq_n_f32(0)};
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) add_squares(x + i, lane);
  if (i < n) { /* lanes are >= 0, so that zeros change none */
    float last[16] = {0};
    memcpy(last, x + i, (size_t)(n - i) * sizeof *x);
    add_squares(last, lane);
  }
  float mean = kr_neon_fold(lane) / (float)n;
  float r = 1 / sqrtf(mean + eps); /* one instruction: the flags ask for no errno */
  for (i = 0; i + 4 <= n; i += 4)
    vst1q_f32(y + i, vmulq_f32(vmulq_n_f32(vld1q_f32(x + i), r), vld1q_f32(w + i)));
  for (; i < n; i++) y[i] = (x[i] * r) * w[i];
}

/* The greater, a where they cannot be compared: scalar's comparison, which passes over a NaN. */
KR_INLINE float32x4_t greater(float32x4_t a, float32x4_t b) {
  return vbslq_f32(vcgtq_f32(b, a), b, a);
}

/* Scales x and returns the largest, 0 of either sign. */
static float scale_and_max(float *x, int64_t n, float scale) {
  float32x4_t top = vdupq_n_f32(x[0] * scale);
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    float32x4_t t = vmulq_n_f32(vld1q_f32(x + i), scale);
    vst1q_f32(x + i, t);
    top = greater(top, t);
  }
  top = greater(top, vextq_f32(top, top, 2));
  top = greater(top, vextq_f32(top, top, 1));
  float max = vgetq_lane_f32(top, 0);
  for (; i < n; i++) {
    x[i] = x[i] * scale;
    if (x[i] > max) max = x[i];
  }
  return max;
}

void kr_neon_softmax(float *x, int64_t first, int64_t last, int64_t n, float scale, float *ret) {
  float max = scale_and_max(x + first, last - first, scale);
  float32x4_t lane[4] = {vdupq_n_f32(0), vdupq_n_f32(0), vdupq_n_f32(0), vdupq_n_f32(0)};
  int64_t begin = first / 16 * 16, end = (last + 15) / 16 * 16;
  memset(x, 0, (size_t)begin * sizeof *x);
  memset(x + end, 0, (size_t)(n - end) * sizeof *x);
  for (int64_t i = begin; i < first; i++) x[i] = -INFINITY; /* exp gives 0 */
  for (int64_t i = last; i < end; i++) x[i] = -INFINITY;
  for (int64_t i = begin; i < end; i += 16)
#pragma GCC unroll 4
    for (int j = 0; j < 4; j++) {
      float32x4_t e = exp_lanes(vsubq_f32(vld1q_f32(x + i + 4 * j), vdupq_n_f32(max)));
      vst1q_f32(x + i + 4 * j, e);
      lane[j] = vaddq_f32(lane[j], e);
    }
  ret[0] = max + 0.0f;
  ret[1] = kr_neon_fold(lane);
}

void kr_neon_silu_gate(const float *gate, const float *up, int64_t n, float *y) {
  int64_t i = 0;
  for (; i + 4 <= n; i += 4)
    vst1q_f32(y + i, vmulq_f32(silu_lanes(vld1q_f32(gate + i)), vld1q_f32(up + i)));
  for (; i < n; i++) y[i] = kr_scalar_silu(gate[i]) * up[i];
}

void kr_neon_gelu_gate(const float *gate, const float *up, int64_t n, float *y) {
  int64_t i = 0;
  for (; i + 4 <= n; i += 4)
    vst1q_f32(y + i, vmulq_f32(gelu_lanes(vld1q_f32(gate + i)), vld1q_f32(up + i)));
  for (; i < n; i++) y[i] = kr_scalar_gelu(gate[i]) * up[i];
}

KR_INLINE void rotate4(float32x4_t *a, float32x4_t *b, float32x4_t c, float32x4_t s) {
  float32x4_t x = *a, y = *b;
  *a = vsubq_f32(vmulq_f32(x, c), vmulq_f32(y, s));
  *b = vaddq_f32(vmulq_f32(y, c), vmulq_f32(x, s));
}
KR_INLINE void rotate(float *a, float *b, float c, float s) {
  float x = *a, y = *b;
  *a = x * c - y * s;
  *b = y * c + x * s;
}

void kr_neon_rope_pairs(float *x, int64_t ldx, int64_t n, int64_t pairs, const float *c,
                        const float *s) {
  for (int64_t h = 0; h < n; h++, x += ldx) {
    int64_t i = 0;
    for (; i + 4 <= pairs; i += 4) {
      float32x4x2_t ab = vld2q_f32(x + 2 * i);
      rotate4(&ab.val[0], &ab.val[1], vld1q_f32(c + i), vld1q_f32(s + i));
      vst2q_f32(x + 2 * i, ab);
    }
    for (; i < pairs; i++) rotate(x + 2 * i, x + 2 * i + 1, c[i], s[i]);
  }
}

void kr_neon_rope_halves(float *x, int64_t ldx, int64_t n, int64_t pairs, const float *c,
                         const float *s) {
  for (int64_t h = 0; h < n; h++, x += ldx) {
    int64_t i = 0;
    for (; i + 4 <= pairs; i += 4) {
      float32x4_t a = vld1q_f32(x + i), b = vld1q_f32(x + i + pairs);
      rotate4(&a, &b, vld1q_f32(c + i), vld1q_f32(s + i));
      vst1q_f32(x + i, a);
      vst1q_f32(x + i + pairs, b);
    }
    for (; i < pairs; i++) rotate(x + i, x + i + pairs, c[i], s[i]);
  }
}

void kr_neon_add(float *x, const float *y, int64_t n) {
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) vst1q_f32(x + i, vaddq_f32(vld1q_f32(x + i), vld1q_f32(y + i)));
  for (; i < n; i++) x[i] = x[i] + y[i];
}

/* Four halves, to nearest even, subnormal ones kept. */
#if defined(__aarch64__)

KR_INLINE uint16x4_t halves(float32x4_t x) {
  return vreinterpret_u16_f16(vcvt_f16_f32(x)); /* heeds no flush mode but that of its input */
}

#else

KR_INLINE uint16x4_t halves(float32x4_t x) {
  uint32x4_t bits = vreinterpretq_u32_f32(x), a = vbicq_u32(bits, vdupq_n_u32(0x80000000));
  uint32x4_t sign = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(0x8000));
  /* normal: half of the last place less one, and one for an odd result, make a tie go to even */
  uint32x4_t odd = vandq_u32(vshrq_n_u32(a, 13), vdupq_n_u32(1));
  uint32x4_t normal = vaddq_u32(vaddq_u32(a, vdupq_n_u32(0xfff - (112u << 23))), odd);
  normal = vshrq_n_u32(normal, 13);
  /* subnormal: 0.5's last place is 2^-24, the unit of subnormal halves; the sum rounds */
  float32x4_t half = vdupq_n_f32(0.5f), moved = vaddq_f32(vreinterpretq_f32_u32(a), half);
  uint32x4_t small = vsubq_u32(vreinterpretq_u32_f32(moved), vreinterpretq_u32_f32(half));
  uint32x4_t nan = vandq_u32(vshrq_n_u32(a, 13), vdupq_n_u32(0x3ff));
  uint32x4_t h = vbslq_u32(vcltq_u32(a, vdupq_n_u32(0x38800000)), small, normal);
  h = vbslq_u32(vcgeq_u32(a, vdupq_n_u32(0x477ff000)), vdupq_n_u32(0x7c00), h);
  h = vbslq_u32(vcgtq_u32(a, vdupq_n_u32(0x7f800000)), vorrq_u32(nan, vdupq_n_u32(0x7e00)), h);
  return vmovn_u32(vorrq_u32(h, sign));
}

#endif

void kr_neon_to_f16(const float *x, int64_t n, uint16_t *y) {
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) vst1_u16(y + i, halves(vld1q_f32(x + i)));
  for (; i < n; i++) y[i] = kr_f32_to_f16(x[i]);
}
