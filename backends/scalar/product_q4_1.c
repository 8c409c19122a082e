/* Q4_1 products: the specification. Layout in krafla/backend.h. The minimum m of a block meets the
 * block's sum of q in a term of its own, added right after the block's. */
#include "kernels.h"

enum { PAIR_BYTES = 640, MINIMA = 64, QUANTS = 128, BLOCK_BYTES = 256, UNIT_BYTES = 64 };

static int32_t block_sum(const uint8_t *quants, int row, const int8_t *q) {
  int32_t sum = 0;
  for (int u = 0; u < 4; u++)
    for (int j = 0; j < 4; j++) {
      uint8_t byte = quants[u * UNIT_BYTES + row * 4 + j];
      sum += (byte & 15) * q[4 * u + j] + (byte >> 4) * q[16 + 4 * u + j];
    }
  return sum;
}

static float row_product(const uint8_t *group, int row, int64_t blocks, const int8_t *q,
                         const float *d, const int32_t *s) {
  float acc = 0;
  for (int64_t b = 0; b < blocks; b++) {
    const uint8_t *pair = group + b / 2 * PAIR_BYTES, *scale = pair + b % 2 * 32 + row * 2;
    float dw = kr_f16_to_f32(kr_load_u16(scale)), mw = kr_f16_to_f32(kr_load_u16(scale + MINIMA));
    int32_t isum = block_sum(pair + QUANTS + b % 2 * BLOCK_BYTES, row, q + b * KR_BLOCK);
    acc = acc + (float)isum * (dw * d[b]);
    acc = acc + (float)s[b] * (mw * d[b]);
  }
  return acc;
}

void kr_scalar_product_q4_1(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                            float *y, int64_t ldy) {
  int64_t blocks = w->k / KR_BLOCK;
  for (int64_t c = 0; c < x->n; c++)
    for (int64_t g = first; g < last; g++)
      for (int r = 0; r < KR_GROUP; r++)
        y[c * ldy + g * KR_GROUP + r] =
            row_product(w->data + g * w->group_bytes, r, blocks, x->q + c * w->k, x->d + c * blocks,
                        x->s + c * blocks);
}
