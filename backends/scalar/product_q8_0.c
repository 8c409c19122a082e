/* Q8_0 products: the specification. Layout in krafla/backend.h. A weight may be -128, which foreign
 * files hold; the activations never are. */
#include "kernels.h"

enum { PAIR_BYTES = 1088, QUANTS = 64, BLOCK_BYTES = 512, UNIT_BYTES = 64 };

static int32_t block_sum(const int8_t *quants, int row, const int8_t *q) {
  int32_t sum = 0;
  for (int u = 0; u < 8; u++)
    for (int j = 0; j < 4; j++) sum += quants[u * UNIT_BYTES + row * 4 + j] * q[4 * u + j];
  return sum;
}

static float row_product(const uint8_t *group, int row, int64_t blocks, const int8_t *q,
                         const float *d) {
  float acc = 0;
  for (int64_t b = 0; b < blocks; b++) {
    const uint8_t *pair = group + b / 2 * PAIR_BYTES;
    float dw = kr_f16_to_f32(kr_load_u16(pair + b % 2 * 32 + row * 2));
    int32_t isum =
        block_sum((const int8_t *)pair + QUANTS + b % 2 * BLOCK_BYTES, row, q + b * KR_BLOCK);
    acc = acc + (float)isum * (dw * d[b]);
  }
  return acc;
}

void kr_scalar_product_q8_0(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                            float *y, int64_t ldy) {
  int64_t blocks = w->k / KR_BLOCK;
  for (int64_t c = 0; c < x->n; c++)
    for (int64_t g = first; g < last; g++)
      for (int r = 0; r < KR_GROUP; r++)
        y[c * ldy + g * KR_GROUP + r] = row_product(w->data + g * w->group_bytes, r, blocks,
                                                    x->q + c * w->k, x->d + c * blocks);
}
