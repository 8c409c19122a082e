/* A backend with one defect a kernel, for the test of krafla-check. rope_pairs has none. */
#include "../../backends/common/scalar.h"

/* One unit in the last place too much, in one element of long vectors. */
static void add(float *x, const float *y, int64_t n) {
  for (int64_t i = 0; i < n; i++) x[i] = x[i] + y[i];
  if (n > 40) x[37] = kr_bits_float(kr_float_bits(x[37]) + 1);
}

/* One element past the end. */
static void rms_norm(const float *x, const float *w, int64_t n, float eps, float *y) {
  float lanes[16] = {0};
  for (int64_t i = 0; i < n; i++) lanes[i % 16] = lanes[i % 16] + x[i] * x[i];
  float mean = kr_scalar_fold(lanes) / (float)n;
  float r = 1 / __builtin_sqrtf(mean + eps);
  for (int64_t i = 0; i < n; i++) y[i] = (x[i] * r) * w[i];
  y[n] = 0;
}

/* Right values, and a group of rows past the last one. */
static void vector_f32(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                       float *y, int64_t ldy) {
  (void)ldy;
  for (int64_t g = first; g <= last; g++)
    for (int r = 0; r < KR_GROUP; r++) {
      const uint8_t *row = w->data + (g < last ? g : first) * w->group_bytes + r * 4;
      float acc = 0;
      for (int64_t k = 0; k < w->k; k++) {
        float weight;
        memcpy(&weight, row + k * KR_GROUP * 4, sizeof weight);
        acc = acc + weight * x->f[k];
      }
      y[g * KR_GROUP + r] = acc;
    }
}

/* The second of two columns is that of the first: a tile's edge. */
static void matrix_f32(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                       float *y, int64_t ldy) {
  for (int64_t c = 0; c < x->n; c++)
    for (int64_t g = first; g < last; g++)
      for (int r = 0; r < KR_GROUP; r++) {
        const uint8_t *row = w->data + g * w->group_bytes + r * 4;
        float acc = 0;
        for (int64_t k = 0; k < w->k; k++) {
          float weight;
          memcpy(&weight, row + k * KR_GROUP * 4, sizeof weight);
          acc = acc + weight * x->f[(c == 1 ? 0 : c) * x->ldf + k];
        }
        y[c * ldy + g * KR_GROUP + r] = acc;
      }
}

/* Right results, but it reads on past the input. */
static void to_f16(const float *x, int64_t n, uint16_t *y) {
  volatile float sink;
  for (int64_t i = 0; i < n; i++) y[i] = kr_f32_to_f16(x[i]);
  sink = x[n];
  (void)sink;
}

/* Writes to an input. */
static void silu_gate(const float *gate, const float *up, int64_t n, float *y) {
  for (int64_t i = 0; i < n; i++) y[i] = kr_scalar_silu(gate[i]) * up[i];
  memset((void *)(uintptr_t)(gate == y ? up : gate), 0, 4);
}

/* Forgets the products that are added after the rotation of the first head. */
static void rope_halves(float *x, int64_t ldx, int64_t n, int64_t pairs, const float *c,
                        const float *s) {
  (void)ldx, (void)n;
  for (int64_t i = 0; i < pairs; i++) {
    float a = x[i], b = x[i + pairs];
    x[i] = a * c[i] - b * s[i], x[i + pairs] = b * c[i] + a * s[i];
  }
}

static void rope_pairs(float *x, int64_t ldx, int64_t n, int64_t pairs, const float *c,
                       const float *s) {
  for (int64_t h = 0; h < n; h++)
    for (int64_t i = 0; i < pairs; i++) {
      float *p = x + h * ldx + 2 * i, a = p[0], b = p[1];
      p[0] = a * c[i] - b * s[i], p[1] = b * c[i] + a * s[i];
    }
}

static const kr_kernels kernels = {
    .struct_size = sizeof kernels,
    .vector_f32 = vector_f32,
    .matrix_f32 = matrix_f32,
    .rms_norm = rms_norm,
    .silu_gate = silu_gate,
    .rope_pairs = rope_pairs,
    .rope_halves = rope_halves,
    .add = add,
    .to_f16 = to_f16,
};

KR_BACKEND_EXPORT const kr_backend krafla_backend = {KR_BACKEND_DESCRIPTOR,
                                                     .rank = 1,
                                                     .name = "wrong",
                                                     .features = "",
                                                     .provenance = "1.0, MIT, Krafla's tests",
                                                     .kernels = &kernels};
