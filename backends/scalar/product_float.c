/* Products with F32, F16 and BF16 weights: the specification. One accumulator a row, k ascending,
 * and each row's product and sum rounded on its own: rows may go side by side, k may not.
 *
 * Attention uses them too: scores are products with a page of keys as rows of positions, values
 * are products with a page of values as rows of dimensions. */
#include "kernels.h"

static float weight_f32(const uint8_t *p) {
  float f;
  memcpy(&f, p, sizeof f);
  return f;
}
static float weight_f16(const uint8_t *p) {
  return kr_f16_to_f32(kr_load_u16(p));
}
static float weight_bf16(const uint8_t *p) {
  return kr_bf16_to_f32(kr_load_u16(p));
}

static inline void product(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                           float *y, int64_t ldy, int bytes, float (*weight)(const uint8_t *)) {
  for (int64_t c = 0; c < x->n; c++)
    for (int64_t g = first; g < last; g++) {
      const uint8_t *group = w->data + g * w->group_bytes;
      float acc[KR_GROUP] = {0};
      for (int64_t k = 0; k < w->k; k++)
        for (int r = 0; r < KR_GROUP; r++)
          acc[r] = acc[r] + weight(group + (k * KR_GROUP + r) * bytes) * x->f[c * x->ldf + k];
      memcpy(y + c * ldy + g * KR_GROUP, acc, sizeof acc);
    }
}

void kr_scalar_product_f32(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                           float *y, int64_t ldy) {
  product(w, first, last, x, y, ldy, 4, weight_f32);
}
void kr_scalar_product_f16(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                           float *y, int64_t ldy) {
  product(w, first, last, x, y, ldy, 2, weight_f16);
}
void kr_scalar_product_bf16(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                            float *y, int64_t ldy) {
  product(w, first, last, x, y, ldy, 2, weight_bf16);
}
