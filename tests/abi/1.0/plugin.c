/* A plug-in as it was written for ABI 1.0, compiled against that header: it must load in every
 * later core of ABI 1, and be equal bit by bit. Never changed. */
#include <krafla/backend.h>
#include <string.h>

static void add(float *x, const float *y, int64_t n) {
  for (int64_t i = 0; i < n; i++) x[i] = x[i] + y[i];
}

static void product_f32(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                        float *y, int64_t ldy) {
  for (int64_t c = 0; c < x->n; c++)
    for (int64_t g = first; g < last; g++) {
      float acc[KR_GROUP] = {0}, weight;
      for (int64_t i = 0; i < w->k * KR_GROUP; i++) {
        memcpy(&weight, w->data + g * w->group_bytes + i * 4, sizeof weight);
        acc[i % KR_GROUP] = acc[i % KR_GROUP] + weight * x->f[c * x->ldf + i / KR_GROUP];
      }
      memcpy(y + c * ldy + g * KR_GROUP, acc, sizeof acc);
    }
}

/* A subnormal half is mantissa * 2^-24, exact in f32 where it is normal. */
static float half_value(const uint8_t *p) {
  uint32_t h = (uint32_t)(p[0] | p[1] << 8), exponent = h >> 10 & 31, mantissa = h & 1023;
  float magnitude = (float)mantissa * 0x1p-24f;
  if (exponent) {
    uint32_t bits = (exponent == 31 ? 255 : exponent + 112) << 23 | mantissa << 13;
    memcpy(&magnitude, &bits, sizeof magnitude);
  }
  return h & 0x8000 ? -magnitude : magnitude;
}

static float row_q4_1(const uint8_t *group, int r, const kr_columns *x, int64_t k, int64_t c) {
  float acc = 0;
  for (int64_t b = 0; b < k / KR_BLOCK; b++) {
    const uint8_t *pair = group + b / 2 * 640, *scale = pair + b % 2 * 32 + r * 2;
    const uint8_t *quants = pair + 128 + b % 2 * 256 + r * 4;
    const int8_t *q = x->q + c * k + b * KR_BLOCK;
    int64_t at = c * (k / KR_BLOCK) + b;
    int32_t sum = 0;
    for (int i = 0; i < 16; i++) {
      uint8_t byte = quants[i / 4 * 64 + i % 4];
      sum += (byte & 15) * q[i] + (byte >> 4) * q[16 + i];
    }
    acc = acc + (float)sum * (half_value(scale) * x->d[at]);
    acc = acc + (float)x->s[at] * (half_value(scale + 64) * x->d[at]);
  }
  return acc;
}

static void product_q4_1(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                         float *y, int64_t ldy) {
  for (int64_t c = 0; c < x->n; c++)
    for (int64_t g = first; g < last; g++)
      for (int r = 0; r < KR_GROUP; r++)
        y[c * ldy + g * KR_GROUP + r] = row_q4_1(w->data + g * w->group_bytes, r, x, w->k, c);
}

static const kr_kernels kernels = {.struct_size = sizeof kernels,
                                   .vector_q4_1 = product_q4_1,
                                   .matrix_q4_1 = product_q4_1,
                                   .vector_f32 = product_f32,
                                   .matrix_f32 = product_f32,
                                   .add = add};

KR_BACKEND_EXPORT const kr_backend krafla_backend = {KR_BACKEND_DESCRIPTOR,
                                                     .rank = 1000,
                                                     .name = "made_for_1_0",
                                                     .features = "",
                                                     .provenance = "1.0, MIT, Krafla",
                                                     .kernels = &kernels};
