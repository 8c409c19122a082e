/* Kernels over one vector: norm, softmax, gates, rotation, sum, conversion. The specification. */
#include "kernels.h"
#include <math.h>

void kr_scalar_rms_norm(const float *x, const float *w, int64_t n, float eps, float *y) {
  float lanes[16] = {0};
  for (int64_t i = 0; i < n; i++) lanes[i % 16] = lanes[i % 16] + x[i] * x[i];
  float mean = kr_scalar_fold(lanes) / (float)n;
  float r = 1 / sqrtf(mean + eps); /* both are correctly rounded everywhere */
  for (int64_t i = 0; i < n; i++) y[i] = (x[i] * r) * w[i];
}

void kr_scalar_softmax(float *x, int64_t first, int64_t last, int64_t n, float scale, float *ret) {
  float max = x[first] * scale, lanes[16] = {0};
  for (int64_t i = first; i < last; i++) {
    x[i] = x[i] * scale;
    if (x[i] > max) max = x[i];
  }
  for (int64_t i = 0; i < n; i++) {
    x[i] = i >= first && i < last ? kr_scalar_exp(x[i] - max) : 0;
    lanes[i % 16] = lanes[i % 16] + x[i];
  }
  ret[0] = max + 0.0f;
  ret[1] = kr_scalar_fold(lanes);
}

void kr_scalar_silu_gate(const float *gate, const float *up, int64_t n, float *y) {
  for (int64_t i = 0; i < n; i++) y[i] = kr_scalar_silu(gate[i]) * up[i];
}

void kr_scalar_gelu_gate(const float *gate, const float *up, int64_t n, float *y) {
  for (int64_t i = 0; i < n; i++) y[i] = kr_scalar_gelu(gate[i]) * up[i];
}

static void rotate(float *a, float *b, float c, float s) {
  float x = *a, y = *b;
  *a = x * c - y * s;
  *b = y * c + x * s;
}

void kr_scalar_rope_pairs(float *x, int64_t ldx, int64_t n, int64_t pairs, const float *c,
                          const float *s) {
  for (int64_t h = 0; h < n; h++)
    for (int64_t i = 0; i < pairs; i++)
      rotate(x + h * ldx + 2 * i, x + h * ldx + 2 * i + 1, c[i], s[i]);
}

void kr_scalar_rope_halves(float *x, int64_t ldx, int64_t n, int64_t pairs, const float *c,
                           const float *s) {
  for (int64_t h = 0; h < n; h++)
    for (int64_t i = 0; i < pairs; i++)
      rotate(x + h * ldx + i, x + h * ldx + i + pairs, c[i], s[i]);
}

void kr_scalar_add(float *x, const float *y, int64_t n) {
  for (int64_t i = 0; i < n; i++) x[i] = x[i] + y[i];
}

void kr_scalar_to_f16(const float *x, int64_t n, uint16_t *y) {
  for (int64_t i = 0; i < n; i++) y[i] = kr_f32_to_f16(x[i]);
}
