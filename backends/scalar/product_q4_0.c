/* Q4_0 products: the specification.
 *
 * Layout in krafla/backend.h. The -8 of every nibble is taken out through the block's sum of q,
 * which is exact, so an implementation may multiply the nibbles as they stand. */
#include "kernels.h"

enum { PAIR_BYTES = 576, QUANTS = 64, BLOCK_BYTES = 256, UNIT_BYTES = 64 };

static int32_t block_sum(const uint8_t *quants, int row, const int8_t *q, int32_t q_sum) {
  int32_t sum = 0;
  for (int u = 0; u < 4; u++)
    for (int j = 0; j < 4; j++) {
      uint8_t byte = quants[u * UNIT_BYTES + row * 4 + j];
      sum += (byte & 15) * q[4 * u + j] + (byte >> 4) * q[16 + 4 * u + j];
    }
  return sum - 8 * q_sum;
}

static float row_product(const uint8_t *group, int row, int64_t blocks, const int8_t *q,
                         const float *d, const int32_t *s) {
  float acc = 0;
  for (int64_t b = 0; b < blocks; b++) {
    const uint8_t *pair = group + b / 2 * PAIR_BYTES;
    float dw = kr_f16_to_f32(kr_load_u16(pair + b % 2 * 32 + row * 2));
    int32_t isum = block_sum(pair + QUANTS + b % 2 * BLOCK_BYTES, row, q + b * KR_BLOCK, s[b]);
    acc = acc + (float)isum * (dw * d[b]);
  }
  return acc;
}

void kr_scalar_product_q4_0(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                            float *y, int64_t ldy) {
  int64_t blocks = w->k / KR_BLOCK;
  for (int64_t c = 0; c < x->n; c++)
    for (int64_t g = first; g < last; g++)
      for (int r = 0; r < KR_GROUP; r++)
        y[c * ldy + g * KR_GROUP + r] =
            row_product(w->data + g * w->group_bytes, r, blocks, x->q + c * w->k, x->d + c * blocks,
                        x->s + c * blocks);
}
